// Judges the solutions of the technique cards in full on a GPU: each one that it can run is correct.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "agent/campaign/devices.h"
#include "agent/campaign/program_fixture.h"
#include "agent/prompting/cards.h"
#include "sandbox/solution.h"

namespace agent::campaign {
namespace {

TEST(FragmentsOnGpu, OfCardsAreCorrect) {
  const std::string device = gpu_devices(core::installed_paths(), benchsuite::Backend::cuda).at(0).architecture;
  const test::Home home;
  std::vector<std::string> args{"--json", "judge", "--device", "cuda"};
  const size_t options = args.size();
  for (const prompting::Card& card : prompting::load_cards(core::installed_paths().prompts() / "techniques")) {
    const sandbox::Solution solution = sandbox::parse_solution(card.fragment, card.name);
    if (std::find(solution.backends.begin(), solution.backends.end(), "cuda") == solution.backends.end()) continue;
    if (!sandbox::gpu::driver::runs_on(device, solution.arch)) continue;
    args.push_back((home.folder() / (card.name + ".cu")).string());
    std::ofstream(args.back()) << card.fragment;
  }
  ASSERT_GT(args.size(), options + 15);
  const test::Ended ended = home.run(args);
  EXPECT_EQ(ended.exit_code, 0) << ended.out << ended.err;
}

}  // namespace
}  // namespace agent::campaign

// kernelwright new, with the real program: what it makes can be audited and judged as it stands.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "agent/campaign/program_fixture.h"
#include "core/strict_json.h"

namespace agent::cli::commands {
namespace {
namespace fs = std::filesystem;
using campaign::test::Ended;
using campaign::test::Home;
using core::Json;
using testing::HasSubstr;

class NewProblem : public testing::Test {
 protected:
  fs::path made(const std::string& name) const {
    const Ended ended = home_.run({"--json", "new", name, "--out", home_.folder().string()});
    EXPECT_EQ(ended.exit_code, 0) << ended.err;
    return Json::parse(ended.out).at("folder").get<std::string>();
  }
  void refused(const std::string& name, const std::string& why) const {
    const Ended ended = home_.run({"new", name, "--out", home_.folder().string()});
    EXPECT_EQ(ended.exit_code, 1);
    EXPECT_THAT(ended.err, HasSubstr(why));
  }
  Home home_;
};

TEST_F(NewProblem, PassesItsAuditAndHasAKernelThatIsRight) {
  for (const char* name : {"mine_f32", "mine_f16", "mine_bf16", "mine_f8e4m3", "mine_f8e5m2"}) {
    const fs::path folder = made(name);
    const Ended audit = home_.run({"audit", folder.string()});
    EXPECT_EQ(audit.exit_code, 0) << audit.out << audit.err;
    const std::string kernel = (folder / "kernel.cu").string();
    const Ended judged = home_.run({"--json", "--problems", folder.string(), "judge", kernel, "--screen"});
    EXPECT_EQ(judged.exit_code, 0) << judged.out << judged.err;
    const Ended checked = home_.run({"--problems", folder.string(), "check", kernel, "--arch", "sm_90"});
    EXPECT_EQ(checked.exit_code, 0) << checked.out << checked.err;
  }
}

TEST_F(NewProblem, RefusesWhatIsThereOrCannotBeAName) {
  const fs::path folder = made("mine_f32");
  std::ofstream(folder / "notes.txt") << "mine";
  refused("mine_f32", "already exists");
  EXPECT_TRUE(fs::exists(folder / "notes.txt"));
  refused("mine", "end the name in its dtype");
  refused("1st_f32", "is not a name");
  refused("../mine_f32", "is not a name");
  EXPECT_FALSE(fs::exists(home_.folder() / "../mine_f32"));
}

}  // namespace
}  // namespace agent::cli::commands

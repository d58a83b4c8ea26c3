#include "agent/mcp/tools.h"
#include "agent/prompting/cards.h"
#include "agent/prompting/facts.h"
#include "core/text.h"

namespace agent::mcp {
namespace {
using core::Json;
constexpr size_t kMostFormatBytes = size_t{1} << 20;

constexpr const char* kInstructions =
    "Kernelwright verifies and times GPU kernels written in CUDA C++. To optimise a problem: problems and problem show "
    "what to compute. The resource kernelwright://format/solution says how a solution file looks, "
    "kernelwright://device what it runs on, and kernelwright://cards/... how kernels get faster. check finds faults "
    "without running. judge with effort screen is quick, full decides, and confirm enters the leaderboard (best). Each "
    "judgement costs some of the session's budget. Inputs are secret and new in each judgement, so only a kernel that "
    "is right everywhere passes. Do what the diagnosis says, and make the important numbers tunables.";

Resource format(Workspace& workspace, const std::string& name, const std::string& title,
                const std::string& description) {
  const auto file = workspace.paths().formats() / (name + "-format.md");
  return {"kernelwright://format/" + name, name + "-format", title, description, "text/markdown", [file](Call&) {
            return core::read_file(file, kMostFormatBytes);
          }};
}

Resource card_resource(const prompting::Card& card) {
  return {"kernelwright://cards/" + card.name,
          "card-" + card.name,
          card.title,
          "A technique that makes kernels faster, with an example",
          "text/markdown",
          [text = "# " + card.title + "\n\n" + card.text](Call&) { return text; }};
}

std::string device_facts(Workspace& workspace) {
  Json facts = workspace.session().environment();
  const prompting::DeviceText text = workspace.device_text();
  facts["in_words"] = prompting::device_words(text);
  if (text.calibration) facts["calibration"] = to_json(*text.calibration);
  return facts.dump(2, ' ', true, Json::error_handler_t::replace);
}
}  // namespace

std::vector<Resource> resources_of(Workspace& workspace) {
  std::vector<Resource> all{
      format(workspace, "solution", "Format of solutions", "How a kernel's file looks, with its launch plan"),
      format(workspace, "problem", "Format of problems", "How a problem's folder looks"),
      {"kernelwright://device", "device", "The device", "What kernels run on: sizes, compiler, measured peaks",
       "application/json", [&workspace](Call&) { return device_facts(workspace); }}};
  for (const prompting::Card& card : prompting::load_cards(workspace.paths().prompts() / "techniques")) {
    all.push_back(card_resource(card));
  }
  return all;
}

Offer offer_of(Workspace& workspace) {
  Offer offer{kInstructions, problem_tools(workspace), resources_of(workspace)};
  for (const auto& more : {judging_tools(workspace), result_tools(workspace)}) {
    offer.tools.insert(offer.tools.end(), more.begin(), more.end());
  }
  return offer;
}

}  // namespace agent::mcp

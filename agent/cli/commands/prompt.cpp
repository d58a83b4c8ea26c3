// kernelwright prompt PROBLEM: prints the first prompt for a model, with its token count.
#include <CLI/CLI.hpp>
#include <memory>

#include "agent/actions/first_prompt.h"
#include "agent/campaign/device_session.h"
#include "agent/campaign/startup.h"
#include "agent/cli/commands/commands.h"
#include "agent/cli/loading.h"
#include "agent/cli/output.h"
#include "agent/search/request_ledger.h"
#include "core/text.h"

namespace agent::cli::commands {
namespace {
struct PromptOptions {
  std::string problem, device = "cpu";
  std::string task;  // empty: improve the best known solution, or start fresh if there is none
  int wanted = 1;
};

void show(const PromptOptions& options, Invocation& invocation) {
  campaign::LoadedData data = load_data(invocation);
  const benchsuite::Problem& problem = data.catalogue.find_or_load(options.problem, "prompt");
  const campaign::DeviceChoice device = campaign::parse_device(options.device);
  results::archive::Recorder archive = campaign::open_seeded_archive(invocation.archive, data);
  const campaign::DeviceSession session(data.paths, device, false, 1);
  const prompting::MadePrompt made = actions::first_prompt(archive, session, device.kind(), problem,
                                                           {options.task, options.wanted}, data.paths.prompts());
  if (invocation.json) {
    print_json({{"prompt", search::to_json(made.prompt)}, {"tokens", made.tokens}, {"hash", made.prompt.hash()}});
    return;
  }
  print("{}\n", core::clean_text(made.prompt.as_text(), made.prompt.as_text().size()));
  print("--- about {} tokens; technique cards: {}\n", made.tokens,
        made.cards.empty() ? "none" : core::join(made.cards, ", "));
}
}  // namespace

void add_prompt_command(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<PromptOptions>();
  CLI::App* command =
      app.add_subcommand("prompt", "Show the prompt that a language model would get, with its token count");
  command->add_option("PROBLEM", options->problem, "The problem, by name or folder")->required();
  command->add_option("--device", options->device, "Where candidates would run: cpu, cuda");
  command->add_option("--operator", options->task, "fresh, improve, repair, cross (default: improve the best known)")
      ->check(CLI::IsMember({"fresh", "improve", "repair", "cross"}));
  command->add_option("--wanted", options->wanted, "Solutions in the reply")->check(CLI::Range(1, 8));
  command->callback([options, &invocation] { show(*options, invocation); });
}

}  // namespace agent::cli::commands

// kernelwright prompt PROBLEM: prints the first prompt for a model, with its token count.
#include <CLI/CLI.hpp>
#include <memory>

#include "agent/actions/first_prompt.h"
#include "agent/campaign/startup.h"
#include "agent/cli/commands/commands.h"
#include "agent/cli/loading.h"
#include "agent/cli/output.h"
#include "agent/cli/running/context_options.h"
#include "agent/cli/running/prompt_device.h"
#include "agent/cli/table.h"
#include "agent/search/request_ledger.h"
#include "core/text.h"
#include "results/view/exchange_texts.h"

namespace agent::cli::commands {
namespace {
constexpr size_t kTitleBytes = 60;

struct PromptOptions {
  std::string problem, device = "cpu", architecture;
  std::string task;  // empty: improve the best known solution, or start fresh if there is none
  int wanted = 1;
  bool held_out = false;
  models::Sampling sampling;
};

void show(const PromptOptions& options, Invocation& invocation) {
  campaign::LoadedData data = load_data(invocation);
  const benchsuite::Problem& problem = data.catalogue.find_or_load(options.problem, "prompt");
  results::archive::Recorder archive = campaign::open_seeded_archive(invocation.archive, data);
  const running::PromptDevice device =
      running::prompt_device(data.paths, archive, options.device, options.architecture);
  const prompting::MadePrompt made = actions::first_prompt(
      archive, device.text, device.kind, problem,
      {options.task, options.wanted, prompting::limits_for(options.sampling), !options.held_out}, data.paths.prompts());
  const std::vector<results::view::PromptSection> sections = results::view::sections_of(search::to_json(made.prompt));
  if (invocation.json) {
    core::Json rows = core::Json::array();
    for (const results::view::PromptSection& one : sections)
      rows.push_back({{"title", one.title}, {"tokens", one.tokens}});
    return print_json({{"prompt", search::to_json(made.prompt)},
                       {"tokens", made.tokens},
                       {"cards", made.cards},
                       {"exemplar", made.exemplar},
                       {"sections", rows},
                       {"left_out", made.left_out},
                       {"hash", made.prompt.hash()}});
  }
  print("{}\n", core::clean_text(made.prompt.as_text(), made.prompt.as_text().size()));
  Table table({{"SECTION", Table::Align::left}, {"TOKENS", Table::Align::right}});
  for (const results::view::PromptSection& one : sections) {
    table.add_row({core::clean_line(one.title, kTitleBytes), std::to_string(one.tokens)});
  }
  print("---\n{}About {} tokens; technique cards: {}\n", table.text(), made.tokens,
        made.cards.empty() ? "none" : core::join(made.cards, ", "));
  if (!made.left_out.empty()) print("Left out, to fit the context: {}\n", core::join(made.left_out, ", "));
  if (!device.source.empty()) print("{}\n", device.source);
}
}  // namespace

void add_prompt_command(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<PromptOptions>();
  CLI::App* command =
      app.add_subcommand("prompt", "Show the prompt that a language model would get, with its token count");
  command->add_option("PROBLEM", options->problem, "The problem, by name or folder")->required();
  command->add_option("--device", options->device,
                      "Where candidates would run: cpu, cuda; or a GPU that is not here, by name: \"NVIDIA H200\"");
  command->add_option("--arch", options->architecture, "The same by its architecture: sm_90a");
  command->add_option("--operator", options->task, "fresh, improve, repair, cross (default: improve the best known)")
      ->check(CLI::IsMember({"fresh", "improve", "repair", "cross"}));
  command->add_option("--wanted", options->wanted, "Solutions in the reply")->check(CLI::Range(1, 8));
  command->add_flag("--hold-out", options->held_out, "As kernelwright run --hold-out would send it");
  running::add_context_options(*command, options->sampling);
  command->callback([options, &invocation] { show(*options, invocation); });
}

}  // namespace agent::cli::commands

// kernelwright transcript [CAMPAIGN]: writes a campaign's prompts and replies to a file for --proposer replay:FILE.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "agent/campaign/campaign.h"
#include "agent/campaign/startup.h"
#include "agent/cli/commands/commands.h"
#include "agent/cli/output.h"
#include "agent/models/transcript.h"
#include "core/error.h"
#include "core/text.h"

namespace agent::cli::commands {
namespace {
struct TranscriptOptions {
  std::string campaign, file, author, note;
};

// `author` replaces the proposer's own name, which may be a path.
models::TranscriptEntry entry_of(const results::archive::RequestRecord& record, const std::string& author) {
  models::TranscriptEntry entry{
      {record.request.problem, record.request.number}, record.request.prompt_hash, search::answer_of(*record.reply)};
  auto* completion = std::get_if<models::Completion>(&entry.answer);
  if (completion != nullptr && !author.empty()) completion->model = author;
  return entry;
}

void write(const TranscriptOptions& options, const Invocation& invocation) {
  const results::archive::Reader archive = campaign::open_existing_archive(invocation.archive);
  const results::archive::CampaignRecord campaign = archive.find_campaign(options.campaign);
  const auto settings =
      campaign::campaign_settings_from_json(core::JsonView(campaign.settings, "campaign " + campaign.name));
  models::Transcript transcript;
  transcript.header = {options.author.empty() ? core::join(settings.proposers, ", ") : options.author, campaign.started,
                       KW_VERSION, settings.device, options.note};
  size_t unanswered = 0;
  for (const results::archive::RequestRecord& record : archive.requests_of_campaign(campaign.id)) {
    if (record.reply) {
      transcript.entries.push_back(entry_of(record, options.author));
    } else {
      ++unanswered;
    }
  }
  if (transcript.entries.empty()) {
    throw core::InputError("transcript", "campaign " + campaign.name + " used no model",
                           "name one that ran with --proposer; kernelwright show lists them");
  }
  models::write_transcript(transcript, options.file);
  if (invocation.json) {
    print_json({{"campaign", campaign.name},
                {"file", options.file},
                {"exchanges", transcript.entries.size()},
                {"unanswered", unanswered}});
    return;
  }
  print("{} prompts of campaign {} with their replies in {}", transcript.entries.size(), campaign.name,
        core::clean_line(options.file));
  print("{}\n", unanswered == 0 ? "" : fmt::format("; {} requests had no answer", unanswered));
  print("Replay them with: kernelwright run {} --proposer replay:{}\n", core::join(settings.problems, " "),
        core::clean_line(options.file));
}
}  // namespace

void add_transcript_command(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<TranscriptOptions>();
  CLI::App* command = app.add_subcommand(
      "transcript", "Write a campaign's prompts and replies to a file; run --proposer replay:FILE reads it back");
  command->add_option("CAMPAIGN", options->campaign, "Its name or a prefix of it (default: the newest)");
  command->add_option("-o,--output", options->file, "The file to write")->required();
  command->add_option("--author", options->author, "Who wrote the replies (default: the proposer's name)");
  command->add_option("--note", options->note, "A note for readers of the file");
  command->callback([options, &invocation] { write(*options, invocation); });
}

}  // namespace agent::cli::commands

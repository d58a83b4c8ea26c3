// kernelwright archive: export, import, copy, check and shrink archives.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <memory>
#include <utility>

#include "agent/campaign/startup.h"
#include "agent/cli/commands/commands.h"
#include "agent/cli/output.h"
#include "agent/cli/table.h"
#include "core/error.h"
#include "core/text.h"
#include "results/transfer/new_file.h"
#include "results/transfer/transfer.h"

namespace agent::cli::commands {
namespace {
using core::Json;

struct ArchiveOptions {
  std::string out = "-", campaign;
  std::vector<std::string> files;
  std::string file;
  bool all = false, apply = false;
};

std::string in_bytes(int64_t bytes) {
  return bytes < 10'000       ? fmt::format("{} B", bytes)
         : bytes < 10'000'000 ? fmt::format("{} kB", bytes / 1000)
                              : fmt::format("{} MB", bytes / 1'000'000);
}

// A progress line on a terminal; prints nothing elsewhere.
class Meter {
 public:
  explicit Meter(std::string what) : what_(std::move(what)), shown_(::isatty(STDERR_FILENO) == 1) {}
  ~Meter() {
    if (shown_) line_.clear();
  }
  Meter(const Meter&) = delete;
  Meter& operator=(const Meter&) = delete;

  results::transfer::Watch watch() {
    if (!shown_) return {};
    return [this](int64_t done, int64_t total) {
      const int64_t percent = total > 0 ? 100 * done / total : 100;
      if (percent != std::exchange(percent_, percent)) line_.show({fmt::format("{}: {} %", what_, percent)});
    };
  }

 private:
  std::string what_;
  bool shown_;
  int64_t percent_ = -1;
  LiveLines line_{Stream::error};
};

std::optional<int64_t> campaign_in(const results::archive::Reader& archive, const std::string& name) {
  if (name.empty()) return std::nullopt;
  return archive.find_campaign(name).id;
}

void show_info(const Invocation& invocation) {
  const results::archive::Reader archive = campaign::open_existing_archive(invocation.archive);
  const results::transfer::ArchiveInfo info = results::transfer::info_of(archive, invocation.archive);
  const auto campaigns = archive.campaigns();
  if (invocation.json) {
    Json tables = Json::array();
    for (const auto& table : info.tables) {
      tables.push_back({{"table", table.table}, {"rows", table.rows}, {"bytes", nullptr}});
      if (table.bytes) tables.back()["bytes"] = *table.bytes;
    }
    Json json{{"file", invocation.archive.string()}, {"schema", info.schema},         {"file_bytes", info.file_bytes},
              {"log_bytes", info.log_bytes},         {"free_bytes", info.free_bytes}, {"tables", tables}};
    if (!campaigns.empty()) json["newest_campaign"] = campaigns[0].name;
    return print_json(json);
  }
  print("{}: schema {}, {}{}{}\n", core::clean_line(invocation.archive.string()), info.schema,
        in_bytes(info.file_bytes), info.log_bytes > 0 ? " and " + in_bytes(info.log_bytes) + " in its log" : "",
        info.free_bytes > 0 ? ", " + in_bytes(info.free_bytes) + " of it unused" : "");
  if (!campaigns.empty()) {
    print("{} campaign{}, the newest {} ({}, {})\n", campaigns.size(), campaigns.size() == 1 ? "" : "s",
          core::clean_line(campaigns[0].name), campaigns[0].status, core::clean_line(campaigns[0].started));
  }
  Table table({{"table"}, {"rows", Table::Align::right}, {"size with indices", Table::Align::right}});
  for (const auto& row : info.tables) {
    table.add_row({row.table, std::to_string(row.rows), row.bytes ? in_bytes(*row.bytes) : "not known"});
  }
  print("\n{}", table.text());
}

void export_archive(const ArchiveOptions& options, const Invocation& invocation) {
  const results::archive::Reader archive = campaign::open_existing_archive(invocation.archive);
  const auto campaign = campaign_in(archive, options.campaign);
  if (options.out == "-") return results::transfer::export_records(archive, campaign, print_json);
  results::transfer::NewFile file(options.out);
  Meter meter("exported");
  std::ofstream out(file.aside(), std::ios::binary);
  int64_t lines = -1;  // the header does not count
  results::transfer::export_records(
      archive, campaign,
      [&](const Json& line) {
        out << line.dump(-1, ' ', true) << '\n';
        ++lines;
      },
      meter.watch());
  out.close();
  if (!out) throw core::SystemError("cannot write " + options.out + ": is the disk full?");
  file.keep();
  if (invocation.json) return print_json({{"file", options.out}, {"records", lines}});
  print("{} records in {}\n", lines, core::clean_line(options.out));
}

Json merged_json(const results::transfer::Merged& merged) {
  Json tables = Json::object();
  for (const auto& [name, count] : merged.tables) tables[name] = {{"added", count.added}, {"known", count.known}};
  return {{"tables", tables}, {"continued", merged.continued}, {"separated", merged.separated}};
}

void show_merged(const results::transfer::Merged& merged, const Invocation& invocation) {
  if (invocation.json) return print_json(merged_json(merged));
  Table table({{"table"}, {"added", Table::Align::right}, {"already there", Table::Align::right}});
  for (const auto& [name, count] : merged.tables) {
    table.add_row({name, std::to_string(count.added), std::to_string(count.known)});
  }
  print("{}", table.text());
  for (const std::string& name : merged.continued)
    print("campaign {} continued in the other archive: its new records are added\n", name);
  for (const auto& [name, here] : merged.separated) {
    print("campaign {} continued in both archives: the other's version is added as {}\n", name, here);
  }
}

void merge_sources(results::transfer::Sources& sources, const Invocation& invocation) {
  results::archive::Recorder archive(invocation.archive);
  results::transfer::Merged merged;
  {
    Meter meter("merged");
    merged = sources.merge_into(archive, meter.watch());
  }
  show_merged(merged, invocation);
}

void import_files(const ArchiveOptions& options, const Invocation& invocation) {
  results::transfer::Sources sources;
  for (const std::string& file : options.files) {
    Meter meter("checked " + file);
    sources.add_records(file, meter.watch());
  }
  merge_sources(sources, invocation);
}

void merge_archives(const ArchiveOptions& options, const Invocation& invocation) {
  results::transfer::Sources sources;
  for (const std::string& file : options.files) {
    Meter meter("checked " + file);
    sources.add_archive(file, meter.watch());
  }
  merge_sources(sources, invocation);
}

void recover_archive(const ArchiveOptions& options, Invocation& invocation) {
  if (std::filesystem::exists(invocation.archive)) {
    throw core::InputError(invocation.archive.string(), "already exists",
                           "give --archive a new file for the saved records; kernelwright archive merge joins the two");
  }
  results::transfer::Sources sources;
  const results::transfer::Salvaged salvaged = sources.salvage(options.file);
  if (!salvaged.lost.empty()) invocation.exit_code = kRefused;
  results::archive::Recorder archive(invocation.archive);
  sources.merge_into(archive);
  if (invocation.json) return print_json({{"kept", salvaged.kept}, {"lost", salvaged.lost.size()}});
  Table table({{"table"}, {"saved", Table::Align::right}});
  for (const auto& [name, count] : salvaged.kept) table.add_row({name, std::to_string(count)});
  print("{}", table.text());
  for (const auto& lost : salvaged.lost) print("lost: {} {}: {}\n", lost.table, lost.row, core::clean_line(lost.what));
}

void verify_archive(Invocation& invocation) {
  const results::archive::Reader archive = campaign::open_existing_archive(invocation.archive);
  std::vector<results::transfer::Finding> findings;
  {
    Meter meter("verified");
    findings = results::transfer::verify(archive, 100, meter.watch());
  }
  if (!findings.empty()) invocation.exit_code = kRefused;
  const int64_t attempts = archive.count_attempts();
  if (invocation.json) {
    Json all = Json::array();
    for (const auto& f : findings) all.push_back({{"table", f.table}, {"row", f.row}, {"what", f.what}});
    return print_json({{"attempts", attempts}, {"sound", findings.empty()}, {"findings", all}});
  }
  if (findings.empty()) {
    return print("{} is sound: {} attempts, and their figures match their samples\n",
                 core::clean_line(invocation.archive.string()), attempts);
  }
  for (const auto& f : findings) {
    print("{}{}: {}\n", f.table, f.row > 0 ? " " + std::to_string(f.row) : "", core::clean_line(f.what));
  }
  print(
      "{}{} findings. Restore a copy (made by kernelwright archive backup), or save the sound records: kernelwright "
      "--archive NEW archive recover {}\n",
      findings.size() == 100 ? "the first " : "", findings.size(), core::clean_line(invocation.archive.string()));
}

void prune_archive(const ArchiveOptions& options, const Invocation& invocation) {
  if (options.all && options.campaign.empty()) {
    throw core::UsageError("--all", "is for one campaign", "name it with --campaign");
  }
  results::archive::Recorder archive = campaign::open_existing_archive(invocation.archive);
  const auto parts =
      results::transfer::prune(archive, {campaign_in(archive, options.campaign), options.all}, options.apply);
  if (invocation.json) {
    Json all = Json::object();
    for (const auto& part : parts) all[std::string(name_of(part.what))] = {{"rows", part.rows}, {"bytes", part.bytes}};
    return print_json({{"applied", options.apply}, {"parts", all}});
  }
  Table table({{options.apply ? "removed" : "would be removed"},
               {"rows", Table::Align::right},
               {"bytes", Table::Align::right}});
  for (const auto& part : parts) {
    table.add_row({std::string(name_of(part.what)), std::to_string(part.rows), in_bytes(part.bytes)});
  }
  print("{}", table.text());
  if (!options.apply)
    print("Nothing is changed. --apply removes this data for good; make a copy first: kernelwright archive backup.\n");
}

void back_up_archive(const ArchiveOptions& options, const Invocation& invocation) {
  const results::archive::Reader archive = campaign::open_existing_archive(invocation.archive);
  results::transfer::back_up(archive, options.file);
  if (invocation.json) return print_json({{"file", options.file}});
  print("{} is a sound copy\n", core::clean_line(options.file));
}

void add_in_and_out(CLI::App& command, const std::shared_ptr<ArchiveOptions>& options, Invocation& invocation) {
  CLI::App* out =
      command.add_subcommand("export", "Write everything as JSON Lines; import restores an archive from them");
  out->add_option("-o,--output", options->out, "A new file, or - for the standard output");
  out->add_option("--campaign", options->campaign, "Only this campaign, with everything that its replay needs");
  out->callback([options, &invocation] { export_archive(*options, invocation); });
  CLI::App* in = command.add_subcommand("import", "Add the records of files that archive export wrote");
  in->add_option("FILE", options->files, "The files; all are read and checked before anything is added")->required();
  in->callback([options, &invocation] { import_files(*options, invocation); });
  CLI::App* merge =
      command.add_subcommand("merge", "Add the records of other archives; existing records are not added twice");
  merge->add_option("FILE", options->files, "The archives to read; they do not change")->required();
  merge->callback([options, &invocation] { merge_archives(*options, invocation); });
}

void add_care(CLI::App& command, const std::shared_ptr<ArchiveOptions>& options, Invocation& invocation) {
  command.add_subcommand("verify", "Check the file, its hashes and references, and every figure against its samples")
      ->callback([&invocation] { verify_archive(invocation); });
  CLI::App* recover =
      command.add_subcommand("recover", "Save the readable records of a damaged archive into a new one");
  recover->add_option("FILE", options->file, "The damaged archive; it does not change")->required();
  recover->callback([options, &invocation] { recover_archive(*options, invocation); });
  CLI::App* prune = command.add_subcommand("prune", "Show removable data and its size, or remove it");
  prune->add_option("--campaign", options->campaign, "Only this campaign (default: all finished ones)");
  prune->add_flag("--all", options->all, "Include data needed to resume or replay that campaign");
  prune->add_flag("--apply", options->apply, "Remove it");
  prune->footer(
      "Prune can remove the timing samples of unconfirmed attempts and the texts of prompts; with --all, also "
      "compilers'\nmessages. Confirmed results stay complete, as do all verdicts, medians, intervals, sources and "
      "replies.");
  prune->callback([options, &invocation] { prune_archive(*options, invocation); });
  CLI::App* copy = command.add_subcommand("backup", "Copy the archive; campaigns may continue meanwhile");
  copy->add_option("FILE", options->file, "A new file")->required();
  copy->callback([options, &invocation] { back_up_archive(*options, invocation); });
}
}  // namespace

void add_archive_command(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<ArchiveOptions>();
  CLI::App* command = app.add_subcommand("archive",
                                         "Show the sizes of the archive's tables; subcommands export, import, merge, "
                                         "verify, prune, back up and recover it");
  command->require_subcommand(0, 1);
  add_in_and_out(*command, options, invocation);
  add_care(*command, options, invocation);
  command->callback([command, &invocation] {
    if (command->get_subcommands().empty()) show_info(invocation);
  });
}

}  // namespace agent::cli::commands

// kernelwright report -o FILE: writes the archive as one HTML file for a browser, a printer or a mail.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <ctime>
#include <fstream>
#include <memory>

#include "agent/actions/resolve.h"
#include "agent/campaign/startup.h"
#include "agent/cli/commands/commands.h"
#include "agent/cli/loading.h"
#include "agent/cli/output.h"
#include "core/error.h"
#include "core/text.h"
#include "results/web/page_data.h"
#include "results/web/report.h"

namespace agent::cli::commands {
namespace {
struct ReportOptions {
  std::string file;
  results::web::PageScope scope;
};

// Writes beside the file, then renames: a report is complete or absent.
void write_file(const std::filesystem::path& file, const std::string& text) {
  std::filesystem::path aside = file;
  aside += ".new";
  std::ofstream out(aside, std::ios::binary);
  out << text;
  out.close();
  std::error_code failed;
  if (out) std::filesystem::rename(aside, file, failed);
  if (out && !failed) return;
  std::error_code ignored;
  std::filesystem::remove(aside, ignored);
  throw core::InputError(file.string(), "cannot be written", "give another file with -o");
}

void report(const ReportOptions& options, const Invocation& invocation) {
  const results::archive::Reader archive = campaign::open_existing_archive(invocation.archive);
  campaign::LoadedData loaded = load_data(invocation);
  const core::Paths& paths = loaded.paths;
  results::web::PageScope scope = options.scope;
  scope.device = actions::resolve_device(archive, scope.device);
  if (benchsuite::names_a_folder(scope.problem)) {
    scope.problem = loaded.catalogue.find_or_load(scope.problem, "--problem").name;
  }
  scope.here = campaign::hashes_here(loaded.catalogue);
  scope.suites = benchsuite::usable_suites(paths.suites(), loaded.catalogue);
  results::web::PageData data(archive, scope);
  const core::Json answers = data.report();
  const std::string made = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  const std::string page = results::web::report_html(paths.pages(), paths.vendor(),
                                                     {{"answers", answers}, {"version", KW_VERSION}, {"made", made}});
  write_file(options.file, page);
  if (invocation.json) {
    print_json({{"file", options.file}, {"bytes", page.size()}, {"parts", answers.size()}});
    return;
  }
  print("report in {}, {:.1f} MB; it needs no network\n", core::clean_line(options.file),
        static_cast<double>(page.size()) / 1e6);
}
}  // namespace

void add_report_command(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<ReportOptions>();
  CLI::App* command = app.add_subcommand("report", "Write the archive as one HTML file");
  command->add_option("-o,--output", options->file, "The file to write")->required();
  command->add_option("--campaign", options->scope.campaign, "Only this campaign and its problems");
  command->add_option("--problem", options->scope.problem, "Only this problem, by name or folder");
  command->add_option("--device", options->scope.device,
                      "Only this device: cpu, cuda, or a part of its name such as H200");
  command->callback([options, &invocation] { report(*options, invocation); });
}

}  // namespace agent::cli::commands

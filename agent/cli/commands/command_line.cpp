#include "agent/cli/commands/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>

#include "agent/campaign/startup.h"
#include "agent/cli/commands/commands.h"
#include "agent/cli/help.h"
#include "agent/cli/output.h"
#include "agent/search/interrupt.h"
#include "core/error.h"
#include "core/strict_json.h"
#include "core/suggest.h"
#include "sandbox/gpu/driver/driver.h"
#include "sandbox/process/worker.h"

namespace agent::cli::commands {
namespace {
constexpr const char* kArchiveWithoutHome = "kernelwright.db";

std::filesystem::path default_archive() {
  const auto folder = campaign::user_data_folder();
  return folder ? *folder / "archive.db" : kArchiveWithoutHome;
}

using Adder = void (*)(CLI::App&, Invocation&);
const std::pair<const char*, std::vector<Adder>> kGroups[] = {
    {"Search", {add_run_command, add_resume_command, add_strategies_command, add_replay_command}},
    {"Judge",
     {add_judge_command, add_check_command, add_audit_command, add_selftest_command, add_problems_command,
      add_new_command, add_import_command}},
    {"Results",
     {add_leaderboard_command, add_show_command, add_diff_command, add_lineage_command, add_query_command,
      add_export_command, add_report_command, add_serve_command, add_archive_command}},
    {"Models", {add_prompt_command, add_transcript_command, add_mcp_command}},
    {"Host", {add_doctor_command, add_calibrate_command, add_baselines_command, add_node_command}}};

// Adds the unlisted command `help`: prints the text of --help, or docs/commands.md.
void add_help_command(CLI::App& app) {
  auto markdown = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand("help", "Print this help, or all help texts as docs/commands.md")->group("");
  command->add_flag("--markdown", *markdown, "Print docs/commands.md");
  command->callback([markdown, &app] { print_text(*markdown ? commands_page(app) : app.help()); });
}

// CLI11 only reports that a command is missing, even if an unknown word stands in its place.
std::string explain_missing_command(const CLI::App& app, int argc, const char* const* argv) {
  std::vector<std::string> commands;
  for (const CLI::App* command : app.get_subcommands(nullptr)) commands.push_back(command->get_name());
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--archive" || word == "--sandbox" || word == "--problems") ++i;
    if (word.empty() || word[0] == '-') continue;
    return "there is no command \"" + word + "\"\n  " + core::did_you_mean(word, commands, "commands");
  }
  return "which command? " + core::did_you_mean("", commands, "commands");
}

// Prints CLI11's message through output.h, since it quotes the command line.
int exit_by(const CLI::App& app, const CLI::Error& error) {
  std::ostringstream out, err;
  const int code = app.exit(error, out, err);
  print_text(out.str());
  print_error(err.str());
  return code;
}

int report_failure(const Invocation& invocation, int code, const std::string& what) {
  if (invocation.json) print_json({{"error", what}, {"exit_code", code}});
  print_error("kernelwright: " + what + "\n");
  return code;
}
}  // namespace

int run_command_line(int argc, const char* const* argv) {
  Invocation invocation;
  invocation.archive = default_archive();
  CLI::App app("Searches for faster GPU kernels, and verifies each one.");
  app.name("kernelwright");
  app.formatter(help_formatter());
  app.set_version_flag("--version", KW_VERSION);
  app.require_subcommand(1);
  app.parse_complete_callback([&invocation] {
    if (invocation.archive != kArchiveWithoutHome) return;
    print_error(
        "kernelwright: neither HOME nor XDG_DATA_HOME is set, so the archive is kernelwright.db in this folder; "
        "--archive names another\n");
  });
  app.fallthrough();
  app.add_flag("--json", invocation.json, "Print JSON instead of text, to stdout");
  app.add_option("--archive", invocation.archive,
                 "The archive, one SQLite file (default: kernelwright/archive.db in $XDG_DATA_HOME or ~/.local/share)");
  app.add_option("--problems", invocation.problem_folders,
                 "A folder of problems, or a problem's own folder; may be repeated")
      ->type_name("DIR")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option_function<std::string>(
         "--sandbox", [&invocation](const std::string& text) { invocation.sandbox_level = text.back() - '0'; },
         "Refuse to run below this level of the sandbox, 0 to 4 (default: require:1); "
         "kernelwright doctor shows the level that this host reaches")
      ->type_name("require:N")
      ->check([](const std::string& text) {
        const bool right = text.size() == 9 && text.rfind("require:", 0) == 0 && text[8] >= '0' && text[8] <= '4';
        return right ? "" : "must be require:0 to require:4, not \"" + text + "\"";
      });
  app.option_defaults()->always_capture_default();  // shown in the help
  for (const auto& [group, commands] : kGroups) {
    for (const Adder add : commands) {
      add(app, invocation);
      app.get_subcommands(nullptr).back()->group(group);
    }
  }
  add_help_command(app);
  // After the commands are added: they would inherit it.
  app.footer(
      "Exit codes: 0 done, 1 refused, 2 our fault, 64 usage, 130 interrupted.\n\n"
      "    kernelwright run --suite quick --seconds 20   # start here");
  try {
    app.parse(argc, argv);
    return invocation.exit_code;
  } catch (const CLI::Success& asked_for_help) {
    return exit_by(app, asked_for_help);
  } catch (const CLI::ParseError& error) {
    if (!app.get_subcommands().empty()) {
      exit_by(app, error);
      // The flag may stand behind the mistake, unread.
      if (std::find(argv, argv + argc, std::string_view("--json")) != argv + argc) {
        print_json({{"error", error.what()}, {"exit_code", static_cast<int>(kUsage)}});
      }
      return kUsage;
    }
    return report_failure(invocation, kUsage, explain_missing_command(app, argc, argv));
  } catch (const core::UsageError& error) {
    return report_failure(invocation, kUsage, error.what());
  } catch (const core::InputError& error) {
    return report_failure(invocation, kRefused, error.what());
  } catch (const sandbox::process::LevelNotReached& error) {
    return report_failure(invocation, kRefused, error.what());
  } catch (const sandbox::gpu::driver::NoGpu& error) {
    return report_failure(invocation, kRefused, error.what());
  } catch (const std::exception& error) {
    return report_failure(invocation, kOurFault, error.what());
  }
}

}  // namespace agent::cli::commands

#include "agent/cli/commands/command_line.h"

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <sstream>

#include "agent/cli/commands/commands.h"
#include "agent/cli/output.h"
#include "agent/search/interrupt.h"
#include "core/error.h"
#include "core/strict_json.h"
#include "core/suggest.h"
#include "sandbox/process/worker.h"

namespace agent::cli::commands {
namespace {
std::filesystem::path default_archive() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::filesystem::path(value != nullptr ? value : "");
  };
  if (const auto data = variable("XDG_DATA_HOME"); !data.empty()) return data / "kernelwright" / "archive.db";
  if (const auto home = variable("HOME"); !home.empty()) return home / ".local/share/kernelwright/archive.db";
  return "kernelwright.db";
}

// CLI11 only says that a command is missing, whatever stands in its place.
std::string explain_missing_command(const CLI::App& app, int argc, const char* const* argv) {
  std::vector<std::string> commands;
  for (const CLI::App* command : app.get_subcommands(nullptr)) commands.push_back(command->get_name());
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--archive" || word == "--sandbox") ++i;
    if (word.empty() || word[0] == '-') continue;
    return "there is no command \"" + word + "\"\n  " + core::did_you_mean(word, commands, "commands");
  }
  return "which command? " + core::did_you_mean("", commands, "commands");
}

// What CLI11 has to say, which repeats the words of the command line.
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
  CLI::App app("Searches for faster GPU kernels, and proves each one.");
  app.name("kernelwright");
  app.set_version_flag("--version", KW_VERSION);
  app.require_subcommand(1);
  app.fallthrough();
  app.add_flag("--json", invocation.json, "Machine-readable output on stdout");
  app.add_option("--archive", invocation.archive, "The archive: one SQLite file")->capture_default_str();
  app.add_option_function<std::string>(
         "--sandbox", [&invocation](const std::string& text) { invocation.sandbox_level = text.back() - '0'; },
         "Refuse to run below this level of the sandbox, 0 to 4 (default: require:1); doctor shows what is reached")
      ->type_name("require:N")
      ->check([](const std::string& text) {
        const bool right = text.size() == 9 && text.rfind("require:", 0) == 0 && text[8] >= '0' && text[8] <= '4';
        return right ? "" : "must be require:0 to require:4, not \"" + text + "\"";
      });
  app.footer(
      "Exit codes: 0 done, 1 refused, 2 our fault, 64 usage, 130 interrupted.\n"
      "Start with: kernelwright run --suite quick --seconds 20");
  add_run_command(app, invocation);
  add_resume_command(app, invocation);
  add_judge_command(app, invocation);
  add_check_command(app, invocation);
  add_audit_command(app, invocation);
  add_problems_command(app, invocation);
  add_leaderboard_command(app, invocation);
  add_show_command(app, invocation);
  add_diff_command(app, invocation);
  add_lineage_command(app, invocation);
  add_query_command(app, invocation);
  add_export_command(app, invocation);
  add_calibrate_command(app, invocation);
  add_baselines_command(app, invocation);
  add_prompt_command(app, invocation);
  add_transcript_command(app, invocation);
  add_replay_command(app, invocation);
  add_report_command(app, invocation);
  add_serve_command(app, invocation);
  add_selftest_command(app, invocation);
  add_archive_command(app, invocation);
  add_doctor_command(app, invocation);
  try {
    app.parse(argc, argv);
    return invocation.exit_code;
  } catch (const CLI::Success& asked_for_help) {
    return exit_by(app, asked_for_help);
  } catch (const CLI::ParseError& error) {
    if (!app.get_subcommands().empty()) {
      exit_by(app, error);
      return kUsage;
    }
    return report_failure(invocation, kUsage, explain_missing_command(app, argc, argv));
  } catch (const core::InputError& error) {
    return report_failure(invocation, kRefused, error.what());
  } catch (const sandbox::process::LevelNotReached& error) {
    return report_failure(invocation, kRefused, error.what());
  } catch (const std::exception& error) {
    return report_failure(invocation, kOurFault, error.what());
  }
}

}  // namespace agent::cli::commands

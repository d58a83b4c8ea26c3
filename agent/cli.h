// The command line: one file per command in agent/commands/, gathered here.
#pragma once

#include <filesystem>

namespace CLI {
class App;
}

namespace agent {

enum ExitCode : int {
  kDone = 0,
  kRefused = 1,       // the input was refused, or the candidate was not correct
  kOurFault = 2,      // something of ours failed
  kUsage = 64,        // the command line was not understood
  kInterrupted = 130  // Ctrl-C; what was recorded stays
};

// What every command shares.
struct Shell {
  bool json = false;              // --json: one JSON value (or one per line) on stdout instead of text
  std::filesystem::path archive;  // --archive
  int sandbox_level = 1;          // --sandbox require:N: without it no candidate is compiled or run
  int exit_code = kDone;          // set by the command
};

// Parses and runs. Returns the exit code; never throws.
int run_command_line(int argc, const char* const* argv);

// Each adds its subcommand to `app`; the shell outlives the app.
void add_run_command(CLI::App& app, Shell& shell);
void add_resume_command(CLI::App& app, Shell& shell);
void add_judge_command(CLI::App& app, Shell& shell);
void add_check_command(CLI::App& app, Shell& shell);
void add_audit_command(CLI::App& app, Shell& shell);
void add_problems_command(CLI::App& app, Shell& shell);
void add_leaderboard_command(CLI::App& app, Shell& shell);
void add_show_command(CLI::App& app, Shell& shell);
void add_diff_command(CLI::App& app, Shell& shell);
void add_lineage_command(CLI::App& app, Shell& shell);
void add_query_command(CLI::App& app, Shell& shell);
void add_export_command(CLI::App& app, Shell& shell);
void add_calibrate_command(CLI::App& app, Shell& shell);
void add_baselines_command(CLI::App& app, Shell& shell);
void add_prompt_command(CLI::App& app, Shell& shell);
void add_transcript_command(CLI::App& app, Shell& shell);
void add_replay_command(CLI::App& app, Shell& shell);
void add_report_command(CLI::App& app, Shell& shell);
void add_serve_command(CLI::App& app, Shell& shell);
void add_selftest_command(CLI::App& app, Shell& shell);
void add_archive_command(CLI::App& app, Shell& shell);
void add_doctor_command(CLI::App& app, Shell& shell);

}  // namespace agent

// The commands: one file each in this folder, gathered by command_line.cpp.
#pragma once

#include "agent/cli/invocation.h"

namespace CLI {
class App;
}

namespace agent::cli::commands {

// Each adds its subcommand to `app`; the invocation outlives the app.
void add_run_command(CLI::App& app, Invocation& invocation);
void add_resume_command(CLI::App& app, Invocation& invocation);
void add_strategies_command(CLI::App& app, Invocation& invocation);
void add_judge_command(CLI::App& app, Invocation& invocation);
void add_check_command(CLI::App& app, Invocation& invocation);
void add_audit_command(CLI::App& app, Invocation& invocation);
void add_new_command(CLI::App& app, Invocation& invocation);
void add_import_command(CLI::App& app, Invocation& invocation);
void add_problems_command(CLI::App& app, Invocation& invocation);
void add_leaderboard_command(CLI::App& app, Invocation& invocation);
void add_show_command(CLI::App& app, Invocation& invocation);
void add_diff_command(CLI::App& app, Invocation& invocation);
void add_lineage_command(CLI::App& app, Invocation& invocation);
void add_query_command(CLI::App& app, Invocation& invocation);
void add_export_command(CLI::App& app, Invocation& invocation);
void add_calibrate_command(CLI::App& app, Invocation& invocation);
void add_baselines_command(CLI::App& app, Invocation& invocation);
void add_prompt_command(CLI::App& app, Invocation& invocation);
void add_transcript_command(CLI::App& app, Invocation& invocation);
void add_replay_command(CLI::App& app, Invocation& invocation);
void add_report_command(CLI::App& app, Invocation& invocation);
void add_serve_command(CLI::App& app, Invocation& invocation);
void add_selftest_command(CLI::App& app, Invocation& invocation);
void add_archive_command(CLI::App& app, Invocation& invocation);
void add_mcp_command(CLI::App& app, Invocation& invocation);
void add_node_command(CLI::App& app, Invocation& invocation);
void add_doctor_command(CLI::App& app, Invocation& invocation);

}  // namespace agent::cli::commands

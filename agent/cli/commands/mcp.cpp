// kernelwright mcp: serves coding agents over the Model Context Protocol, on standard input and output.
#include <CLI/CLI.hpp>
#include <csignal>
#include <memory>

#include "agent/campaign/devices.h"
#include "agent/cli/commands/commands.h"
#include "agent/cli/loading.h"
#include "agent/cli/output.h"
#include "agent/mcp/server.h"
#include "agent/mcp/stdio_channel.h"
#include "agent/mcp/tools.h"
#include "agent/search/interrupt.h"
#include "core/text.h"

namespace agent::cli::commands {
namespace {
struct McpOptions {
  std::string device = "cpu", dialect, imports;
  bool hot = false;
  int64_t attempts = 500;
  double seconds = 3600;
};

void log_line(const std::string& line) { print_error("kernelwright mcp: " + core::clean_line(line) + "\n"); }

std::filesystem::path folder_for_imports(const McpOptions& options) {
  if (!options.imports.empty()) return options.imports;
  const auto folder = campaign::user_data_folder();
  return folder ? *folder / "problems" : std::filesystem::path("problems");
}

void serve_client(const McpOptions& options, const Invocation& invocation) {
  std::signal(SIGPIPE, SIG_IGN);  // a client that has gone is noticed by the write
  mcp::StdioChannel channel = mcp::StdioChannel::of_program();
  mcp::WorkspaceSettings settings;
  settings.archive = invocation.archive;
  settings.device = campaign::parse_device(campaign::device_in_dialect(options.device, options.dialect));
  settings.hot = options.hot;
  settings.budget = {options.attempts, options.seconds};
  settings.imports = folder_for_imports(options);
  mcp::Workspace workspace(load_data(invocation), std::move(settings), log_line);
  mcp::Server server(channel, mcp::offer_of(workspace), log_line);
  search::watch_for_interrupt();
  server.serve(search::interrupted);
}
}  // namespace

void add_mcp_command(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<McpOptions>();
  CLI::App* command =
      app.add_subcommand("mcp", "Serve a coding agent over the Model Context Protocol, on standard input and output");
  command->add_option("--device", options->device, "Where kernels run: cpu, cuda, cuda:N, hip, hip:N");
  add_dialect_option(*command, options->dialect);
  command->add_flag("--hot", options->hot, "On a GPU: time with a warm L2 cache");
  command->add_option("--attempts,--budget", options->attempts, "Judgements that a session may make")
      ->check(CLI::Range(int64_t{1}, int64_t{1'000'000'000}));
  command->add_option("--seconds", options->seconds, "Seconds that its judgements may take together")
      ->check(CLI::PositiveNumber);
  command->add_option("--imports", options->imports,
                      "Where import_problem makes problems (default: kernelwright/problems in $XDG_DATA_HOME or "
                      "~/.local/share)");
  command->callback([options, &invocation] { serve_client(*options, invocation); });
}

}  // namespace agent::cli::commands

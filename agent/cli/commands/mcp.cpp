// kernelwright mcp: serves coding agents over the Model Context Protocol, on standard input and output.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <memory>

#include "agent/campaign/devices.h"
#include "agent/cli/commands/commands.h"
#include "agent/cli/loading.h"
#include "agent/cli/output.h"
#include "agent/cli/running/run_options.h"
#include "agent/mcp/client_config.h"
#include "agent/mcp/server.h"
#include "agent/mcp/stdio_channel.h"
#include "agent/mcp/tools.h"
#include "agent/search/interrupt.h"
#include "core/paths.h"
#include "core/text.h"

namespace agent::cli::commands {
namespace {
struct McpOptions {
  std::string device = "cpu", dialect, imports, print_config;
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
  if (::isatty(STDIN_FILENO) != 0) {
    print_error(
        "kernelwright mcp waits for a client on standard input. --print-config CLIENT prints what a client needs to "
        "start it; Ctrl-C ends it.\n");
  }
  std::signal(SIGPIPE, SIG_IGN);  // a client that has gone is noticed by the write
  mcp::StdioChannel channel;
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

// The command line that starts this server again, from any folder.
std::vector<std::string> command_of(const CLI::App& command, const McpOptions& options, const Invocation& invocation) {
  std::vector<std::string> all{(core::installed_paths().program_folder / "kernelwright").string()};
  for (const std::filesystem::path& folder : invocation.problem_folders) {
    all.insert(all.end(), {"--problems", std::filesystem::absolute(folder).lexically_normal().string()});
  }
  all.insert(all.end(),
             {"--archive", std::filesystem::absolute(invocation.archive).lexically_normal().string(), "mcp"});
  if (command.get_parent()->count("--sandbox") > 0) {
    all.insert(all.end() - 1, {"--sandbox", "require:" + std::to_string(invocation.sandbox_level)});
  }
  all.insert(all.end(), {"--device", campaign::device_in_dialect(options.device, options.dialect)});
  if (options.hot) all.emplace_back("--hot");
  for (const char* limit : {"--attempts", "--seconds"}) {
    if (command.count(limit) > 0) all.insert(all.end(), {limit, command.get_option(limit)->results().back()});
  }
  if (!options.imports.empty()) {
    all.insert(all.end(), {"--imports", std::filesystem::absolute(options.imports).lexically_normal().string()});
  }
  return all;
}

void print_config(const std::string& client, const std::vector<std::string>& command) {
  const mcp::ClientConfig config = mcp::config_for(client, command);
  print_error(config.place + " docs/mcp.md says more.\n");
  print("{}", config.text);
}
}  // namespace

void add_mcp_command(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<McpOptions>();
  CLI::App* command =
      app.add_subcommand("mcp", "Serve a coding agent over the Model Context Protocol, on standard input and output");
  command->add_option("--device", options->device, "Where kernels run: cpu, cuda, cuda:N, hip, hip:N");
  running::add_dialect_option(*command, options->dialect);
  command->add_flag("--hot", options->hot, "On a GPU: time with a warm L2 cache");
  command->add_option("--attempts,--budget", options->attempts, "Judgements that a session may make")
      ->check(CLI::Range(int64_t{1}, int64_t{1'000'000'000}));
  command->add_option("--seconds", options->seconds, "Seconds that its judgements and imports may take together")
      ->check(CLI::PositiveNumber);
  command->add_option("--imports", options->imports,
                      "Where import_problem makes problems (default: kernelwright/problems in $XDG_DATA_HOME or "
                      "~/.local/share)");
  command->add_option("--print-config", options->print_config,
                      "Print what this client's configuration needs to start this server with these options: " +
                          core::join(mcp::client_names(), ", "));
  command->footer(
      "A client starts this command and writes to its standard input. Each call of the judge costs some of the "
      "session's\nbudget. docs/mcp.md has the tools and their limits.\n\n"
      "    kernelwright mcp --print-config claude-code > .mcp.json\n"
      "    kernelwright mcp --device cuda --attempts 2000");
  command->callback([options, command, &invocation] {
    if (options->print_config.empty()) return serve_client(*options, invocation);
    print_config(options->print_config, command_of(*command, *options, invocation));
  });
}

}  // namespace agent::cli::commands

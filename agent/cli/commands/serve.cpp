// kernelwright serve: shows the archive in a browser, live while campaigns run.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cstdlib>
#include <memory>
#include <random>

#include "agent/campaign/startup.h"
#include "agent/cli/commands/commands.h"
#include "agent/cli/loading.h"
#include "agent/cli/output.h"
#include "agent/search/interrupt.h"
#include "core/error.h"
#include "core/text.h"
#include "results/web/server.h"

namespace agent::cli::commands {
namespace {
constexpr size_t kLeastToken = 16;  // letters and digits

struct ServeOptions {
  std::string host = "127.0.0.1", token_file;
  int port = 0;
};

std::string new_token() {
  std::random_device chance;
  std::string token;
  for (int i = 0; i < 4; ++i) token += fmt::format("{:08x}", chance());
  return token;
}

void check_token(const std::string& token, const std::string& where) {
  const bool plain =
      token.find_first_not_of("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_") == std::string::npos;
  if (plain && token.size() >= kLeastToken) return;
  throw core::InputError(where, "holds no token", "a token is at least 16 letters, digits, dashes or underscores");
}

// The token from the file or the environment; otherwise a new one if needed, else empty.
std::string token_for(const ServeOptions& options) {
  if (!options.token_file.empty()) {
    const std::string token = core::split(core::read_file(options.token_file, 4096), '\n').at(0);
    check_token(token, options.token_file);
    return token;
  }
  if (const char* token = std::getenv("KW_SERVE_TOKEN"); token != nullptr) {
    check_token(token, "KW_SERVE_TOKEN");
    return token;
  }
  return results::web::is_loopback(options.host) ? "" : new_token();
}

void serve(const ServeOptions& options, Invocation& invocation) {
  const results::archive::Reader archive = campaign::open_existing_archive(invocation.archive);
  const campaign::LoadedData data = load_data(invocation);
  results::web::ServeSettings settings;
  settings.pages = data.paths.pages();
  settings.vendor = data.paths.vendor();
  settings.here = campaign::hashes_here(data.catalogue);
  settings.suites = benchsuite::usable_suites(data.paths.suites(), data.catalogue);
  settings.host = options.host;
  settings.port = options.port;
  settings.token = token_for(options);
  results::web::PageServer server(archive, settings);
  search::watch_for_interrupt();
  if (invocation.json) {
    print_json({{"url", server.url()}, {"port", server.port()}});
  } else {
    print("{} is at {}\n", core::clean_line(invocation.archive.string()), core::clean_line(server.url()));
    if (!results::web::is_loopback(options.host)) {
      print(
          "Anyone with this address can read the archive, and so can eavesdroppers: the connection is not "
          "encrypted.\n");
    }
    print("Ctrl-C ends it.\n");
  }
  flush_output();
  server.serve(search::interrupted);
}
}  // namespace

void add_serve_command(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<ServeOptions>();
  CLI::App* command =
      app.add_subcommand("serve", "Show the archive in a browser: leaderboard, sources, campaigns as they run");
  command->add_option("--port", options->port, "The port to listen on (default: any free one)")
      ->check(CLI::Range(0, 65535));
  command->add_option("--host", options->host,
                      "An address of this machine that others reach; they need the token that is printed");
  command->add_option("--token-file", options->token_file,
                      "Ask for the token in this file's first line; so does the environment variable KW_SERVE_TOKEN");
  command->callback([options, &invocation] { serve(*options, invocation); });
}

}  // namespace agent::cli::commands

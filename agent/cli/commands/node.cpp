// kernelwright node: judges for a campaign that runs elsewhere, on standard input and output.
#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "agent/campaign/calibrations.h"
#include "agent/cli/commands/commands.h"
#include "agent/nodes/node_server.h"
#include "core/error.h"
#include "core/line_stream.h"
#include "core/paths.h"

namespace agent::cli::commands {
namespace {
struct NodeOptions {
  std::string device = "cpu";
  bool hot = false;
};

// Removed with this.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "kernelwright-node-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw core::SystemError("no folder " + name, errno);
    path_ = name;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

void serve(const NodeOptions& options, const Invocation& invocation) {
  std::signal(SIGPIPE, SIG_IGN);  // a campaign that is gone is noticed by the write
  core::LineStream stream = core::LineStream::of_program(nodes::kMostLineBytes);
  core::Paths paths = core::installed_paths();
  paths.sandbox_level = invocation.sandbox_level;
  const campaign::DeviceChoice device = campaign::parse_device(options.device);
  campaign::DeviceSession session(paths, device, options.hot, campaign::background_compile_workers());
  const ScratchFolder folder;
  results::archive::Recorder scratch(folder.path() / "archive.db");
  nodes::NodeServer server(stream, session, scratch,
                           campaign::newest_or_new_calibration(scratch, paths, device, session.device()));
  server.serve();
}
}  // namespace

void add_node_command(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<NodeOptions>();
  CLI::App* command = app.add_subcommand("node", "Judge for a campaign elsewhere; run --launcher starts it");
  command->add_option("--device", options->device, "cpu, cuda, cuda:N, cuda:all; hip likewise");
  command->add_flag("--hot", options->hot, "On a GPU: time with a warm L2 cache");
  command->footer(
      "It speaks lines of JSON on standard input and output, and ends when the campaign does. It keeps nothing, and "
      "has\n"
      "no key of a model. docs/cluster.md says how campaigns use it.");
  command->callback([options, &invocation] { serve(*options, invocation); });
}

}  // namespace agent::cli::commands

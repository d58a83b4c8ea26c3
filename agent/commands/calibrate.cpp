// kernelwright calibrate: what a GPU can reach, measured once and kept for the bounds of everything timed there.
#include "agent/calibrations.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "agent/cli.h"
#include "agent/opening.h"
#include "agent/output.h"

namespace agent {
namespace {
void calibrate_command(const std::string& device, Shell& shell) {
  DeviceChoice choice = parse_device(device);
  const Data data = load_data(shell);
  results::archive::Recorder archive = open_seeded_archive(shell, data);
  const int last = choice.all ? static_cast<int>(cuda_devices().size()) - 1 : choice.index;
  for (; choice.index <= last; ++choice.index) {
    const verifier::verdicts::Calibration calibration = calibrate(archive, data.paths, choice);
    if (shell.json) {
      print_json(to_json(calibration));
    } else {
      print("{}", calibration_text(calibration));
    }
  }
}
}  // namespace

void add_calibrate_command(CLI::App& app, Shell& shell) {
  auto device = std::make_shared<std::string>("cuda:0");
  CLI::App* command =
      app.add_subcommand("calibrate", "Measure what a GPU can reach, for the bounds of what is timed on it");
  command->add_option("--device", *device, "Which GPU: cuda, cuda:N, cuda:all")->capture_default_str();
  command->callback([device, &shell] { calibrate_command(*device, shell); });
}

}  // namespace agent

// kernelwright calibrate: measures a GPU's peak rates, which bound the times measured on it.
#include "agent/campaign/calibrations.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "agent/campaign/startup.h"
#include "agent/cli/calibration_text.h"
#include "agent/cli/commands/commands.h"
#include "agent/cli/loading.h"
#include "agent/cli/output.h"

namespace agent::cli::commands {
namespace {
void calibrate_command(const std::string& device, Invocation& invocation) {
  campaign::DeviceChoice choice = campaign::parse_device(device);
  const campaign::LoadedData data = load_data(invocation);
  results::archive::Recorder archive = campaign::open_seeded_archive(invocation.archive, data);
  const int last =
      choice.all ? static_cast<int>(campaign::gpu_devices(data.paths, choice.backend).size()) - 1 : choice.index;
  for (; choice.index <= last; ++choice.index) {
    const verifier::verdicts::Calibration calibration = campaign::calibrate(archive, data.paths, choice);
    if (invocation.json) {
      print_json(to_json(calibration));
    } else {
      print("{}", calibration_text(calibration));
    }
  }
}
}  // namespace

void add_calibrate_command(CLI::App& app, Invocation& invocation) {
  auto device = std::make_shared<std::string>("cuda:0");
  CLI::App* command = app.add_subcommand(
      "calibrate", "Measure the bandwidth and arithmetic rates of a GPU, which bound the kernels' times");
  command->add_option("--device", *device, "Which GPU: cuda, cuda:N, cuda:all; AMD: hip, hip:N, hip:all");
  command->footer("The first campaign on a GPU also calibrates it.");
  command->callback([device, &invocation] { calibrate_command(*device, invocation); });
}

}  // namespace agent::cli::commands

#include "agent/campaign/calibrations.h"

#include "core/error.h"
#include "verifier/devices/gpu/calibration.h"

namespace agent::campaign {
namespace {
constexpr int kCompileWorkers = 2;  // one per source file
}  // namespace

verifier::verdicts::Calibration calibrate(results::archive::Recorder& archive, const core::Paths& paths,
                                          const DeviceChoice& choice) {
  if (!benchsuite::is_gpu(choice.backend)) {
    throw core::InputError("--device", "the cpu device has no calibration: its times are rough and have no bound",
                           "calibrate a GPU, for example --device cuda:0");
  }
  const verifier::judging::JudgedDevice device = judged_device(paths, choice.backend, choice.index);
  sandbox::process::WorkerCommand command = device.worker;
  command.args.insert(command.args.end(), {"--role", "judge"});
  sandbox::process::Worker judge = sandbox::process::Worker::start(command);
  verifier::judging::share_device(judge, device.turns_in);
  sandbox::CompilePool pool(gpu_compile_worker(paths, judge.greeting().at("architecture").get<std::string>()),
                            kCompileWorkers);
  const verifier::verdicts::Calibration calibration =
      verifier::devices::gpu::ask_for_calibration(judge, pool, paths.gpu_kernels());
  archive.add_calibration(choice.backend_name() + " " + calibration.device, calibration);
  return calibration;
}

std::optional<verifier::verdicts::Calibration> newest_or_new_calibration(results::archive::Recorder& archive,
                                                                         const core::Paths& paths,
                                                                         const DeviceChoice& choice,
                                                                         const std::string& device) {
  if (!benchsuite::is_gpu(choice.backend)) return std::nullopt;
  if (auto known = archive.newest_calibration(device)) return known;
  return calibrate(archive, paths, choice);
}

}  // namespace agent::campaign

#include "agent/calibrations.h"

#include <fmt/format.h>

#include "agent/table.h"
#include "core/error.h"
#include "verifier/devices/cuda/calibration.h"

namespace agent {
namespace {
constexpr int kCompileWorkers = 2;  // as many as there are files

// mma.sync is all that older architectures have; on 9.0 and 10.x others reach more.
bool tensor_peak_is_low(const verifier::verdicts::Calibration& c) {
  const bool newer = c.architecture.rfind("sm_9", 0) == 0 || c.architecture.rfind("sm_10", 0) == 0;
  return newer && c.tensor_instruction == "mma.sync";
}

std::string tera(double value, const char* unit) { return fmt::format("{:.2f} T{}", value, unit); }
}  // namespace

verifier::verdicts::Calibration calibrate(results::archive::Recorder& archive, const core::Paths& paths,
                                          const DeviceChoice& choice) {
  if (choice.backend == "cpu") {
    throw core::InputError("--device", "the cpu device has no calibration: its times are rough and know no bound",
                           "calibrate a GPU, as in --device cuda:0");
  }
  sandbox::process::WorkerCommand command = judged_device(paths, choice.backend, choice.index).worker;
  command.args.insert(command.args.end(), {"--role", "judge"});
  sandbox::process::Worker judge = sandbox::process::Worker::start(command);
  sandbox::CompilePool pool(cuda_compile_worker(paths, judge.greeting().at("architecture").get<std::string>()),
                            kCompileWorkers);
  const verifier::verdicts::Calibration calibration =
      verifier::devices::cuda::ask_for_calibration(judge, pool, paths.cuda_kernels());
  archive.add_calibration(choice.backend + " " + calibration.device, calibration);
  return calibration;
}

std::optional<verifier::verdicts::Calibration> newest_or_new_calibration(results::archive::Recorder& archive,
                                                                         const core::Paths& paths,
                                                                         const DeviceChoice& choice,
                                                                         const std::string& device) {
  if (choice.backend == "cpu") return std::nullopt;
  if (auto known = archive.newest_calibration(device)) return known;
  return calibrate(archive, paths, choice);
}

std::string calibration_text(const verifier::verdicts::Calibration& c) {
  Table table({{"  WHAT"}, {"BEST", Table::Align::right}, {"HOW"}});
  table.add_row({"  memory, read", tera(c.dram_read_gb_s / 1e3, "B/s"), "16-byte loads"});
  table.add_row({"  memory, written", tera(c.dram_write_gb_s / 1e3, "B/s"), "16-byte stores"});
  table.add_row({"  memory, copied", tera(c.dram_copy_gb_s / 1e3, "B/s"), "bytes read and bytes written"});
  table.add_row({"  L2, read", tera(c.l2_read_gb_s / 1e3, "B/s"), "about a quarter of it, again and again"});
  table.add_row({"  f32", tera(c.fp32_flop_s / 1e12, "FLOP/s"), "fused multiply-adds in registers"});
  table.add_row({"  f64", tera(c.fp64_flop_s / 1e12, "FLOP/s"), "fused multiply-adds in registers"});
  const std::string how = c.tensor_instruction + ", random operands, sums in f32";
  table.add_row({"  tensor f16", tera(c.tensor_f16_flop_s / 1e12, "FLOP/s"), how});
  table.add_row({"  tensor bf16", tera(c.tensor_bf16_flop_s / 1e12, "FLOP/s"), how});
  table.add_row({"  tensor tf32", tera(c.tensor_tf32_flop_s / 1e12, "FLOP/s"), how});
  table.add_row({"  empty launch", format_time_us(c.launch_floor_us), "median between two events"});
  return fmt::format("{}: {}, {} multiprocessors, {} MiB of L2, driver for CUDA {}, {}\n{}{}", c.device, c.architecture,
                     c.multiprocessors, c.l2_bytes >> 20, c.driver, c.made, table.text(),
                     tensor_peak_is_low(c)
                         ? "mma.sync does not reach this GPU's tensor peaks: where they set the bound, "
                           "shares of it can exceed 100 %.\n"
                         : "");
}

}  // namespace agent

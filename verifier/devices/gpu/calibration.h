// Measuring what a GPU can do: both ends of the request "calibrate" to a judge worker.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "sandbox/compile_pool.h"
#include "sandbox/gpu/driver/context.h"
#include "sandbox/gpu/run/platform.h"
#include "sandbox/process/worker.h"
#include "verifier/verdicts/calibration.h"

namespace verifier::devices::gpu {

// In the agent: compiles the kernels of `folder` (core::Paths::gpu_kernels) with the pool, which must compile for the
// device's own architecture, and has a judge worker measure its device with them; a few seconds. Throws
// core::SystemError, sandbox::process::WorkerLost.
verdicts::Calibration ask_for_calibration(sandbox::process::Worker& judge, sandbox::CompilePool& pool,
                                          const std::filesystem::path& folder);

// In the judge worker, which answers {"op": "calibrate"} and two descriptors (the binaries of calibrate_kernels.cu
// and calibrate_tensor.cu, or on AMD calibrate_matrix.cu) with {"calibration": ...}, still without the day it was made.
// The device must have nothing else to do. Takes 2 GiB of its memory while it lasts, less on small devices. Throws
// DriverError, and core::SystemError when there is too little memory.
verdicts::Calibration measure_device(const sandbox::gpu::driver::Context& context,
                                     const sandbox::gpu::run::Platform& platform, const std::string& kernels,
                                     const std::string& tensor);

// The highest rate at which work was done, in units a second: `work` is what one launch does, and `time_us(n)` says how
// long n launches took, one after the other. Looks at several runs of at least 5 ms each, after one to warm up. Throws
// core::SystemError for a clock that stands still.
double best_rate(double work, const std::function<double(int launches)>& time_us);

}  // namespace verifier::devices::gpu

// kernelwright-cuda: the worker program of the cuda device. Started by kernelwright, never by hand.
#include <cstdlib>
#include <string>

#include "sandbox/cuda/compiler/compile_role.h"
#include "sandbox/cuda/run/cublas.h"
#include "sandbox/cuda/run/platform.h"
#include "sandbox/cuda/run/roles.h"
#include "sandbox/gpu/run/library_role.h"
#include "sandbox/gpu/run/run_role.h"
#include "sandbox/process/worker_program.h"
#include "verifier/devices/gpu/device.h"

int main(int argc, char** argv) {
  sandbox::process::WorkerOptions options("The worker program of kernelwright's cuda device; kernelwright starts it.",
                                          {"compile", "run", "judge", "library", "watched"});
  std::string scratch, visible;
  int device = 0;
  sandbox::cuda::compiler::CompileRoleSettings compile;
  options.add("device-headers", compile.device_headers).add("arch", compile.architecture);
  options.add("cuda-home", compile.cuda_home).add("include", compile.include_folders);
  options.add("deadline", compile.deadline_s).add("memory-mib", compile.memory_mib).add("scratch", scratch);
  options.add("device", device).add("visible-devices", visible);
  return options.run(argc, argv, [&](sandbox::process::Channel& owner) {
    const sandbox::cuda::run::CudaPlatform platform;
    if (!visible.empty()) ::setenv("CUDA_VISIBLE_DEVICES", visible.c_str(), 1);
    if (options.role() == "compile") sandbox::cuda::compiler::serve_compile_role(owner, compile);
    if (options.role() == "run") sandbox::gpu::run::serve_run_role(owner, platform, device);
    if (options.role() == "library") {
      const auto make = [&](const sandbox::gpu::driver::Context& context, const std::string& name) {
        return name == "cublaslt" ? sandbox::cuda::run::make_cublas_lt(context, compile.cuda_home)
                                  : sandbox::cuda::run::make_cublas(context, compile.cuda_home);
      };
      sandbox::gpu::run::serve_library_role(owner, platform, device, make);
    }
    if (options.role() == "watched") sandbox::cuda::run::serve_watched_role(owner, device);
    if (options.role() == "judge") verifier::devices::gpu::serve_judge_role(owner, platform, device);
  });
}

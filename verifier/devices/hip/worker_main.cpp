// kernelwright-hip: the worker program of the hip device. Started by kernelwright, never by hand.
#include <cstdlib>
#include <filesystem>
#include <string>

#include "sandbox/gpu/run/library_role.h"
#include "sandbox/gpu/run/run_role.h"
#include "sandbox/hip/compiler/compile_role.h"
#include "sandbox/hip/run/platform.h"
#include "sandbox/hip/run/rocblas.h"
#include "sandbox/process/worker_program.h"
#include "verifier/devices/gpu/device.h"

int main(int argc, char** argv) {
  sandbox::process::WorkerOptions options("The worker program of kernelwright's hip device; kernelwright starts it.",
                                          {"compile", "run", "judge", "library"});
  std::string visible;
  int device = 0;
  std::filesystem::path library;  // the HIP runtime to open, for tests
  sandbox::hip::compiler::CompileRoleSettings compile;
  options.add("device-headers", compile.device_headers).add("hip-headers", compile.hip_headers);
  options.add("arch", compile.architecture).add("deadline", compile.deadline_s);
  options.add("memory-mib", compile.memory_mib).add("scratch", compile.scratch);
  options.add("device", device).add("visible-devices", visible).add("hip-library", library);
  return options.run(argc, argv, [&](sandbox::process::Channel& owner) {
    if (!visible.empty()) ::setenv("HIP_VISIBLE_DEVICES", visible.c_str(), 1);
    if (options.role() == "compile") sandbox::hip::compiler::serve_compile_role(owner, compile);
    const sandbox::hip::run::HipPlatform platform(library);
    if (options.role() == "run") sandbox::gpu::run::serve_run_role(owner, platform, device);
    if (options.role() == "library") {
      const auto make = [&](const sandbox::gpu::driver::Context& context, const std::string&) {
        return sandbox::hip::run::make_rocblas(context, library);
      };
      sandbox::gpu::run::serve_library_role(owner, platform, device, make);
    }
    if (options.role() == "judge") verifier::devices::gpu::serve_judge_role(owner, platform, device);
  });
}

// kernelwright-cuda: the worker program of the cuda device. Started by kernelwright, never by hand.
#include <CLI/CLI.hpp>
#include <cstdlib>
#include <string>

#include "sandbox/cuda/compiler/compile_role.h"
#include "sandbox/cuda/run/cublas.h"
#include "sandbox/cuda/run/platform.h"
#include "sandbox/cuda/run/roles.h"
#include "sandbox/gpu/run/library_role.h"
#include "sandbox/gpu/run/run_role.h"
#include "sandbox/process/worker.h"
#include "verifier/devices/gpu/device.h"

int main(int argc, char** argv) {
  CLI::App app("The worker program of kernelwright's cuda device; kernelwright starts it.");
  std::string role, scratch, visible;
  int device = 0;
  sandbox::cuda::compiler::CompileRoleSettings compile;
  app.add_option("--role", role)->required()->check(CLI::IsMember({"compile", "run", "judge", "library", "watched"}));
  app.add_option("--device-headers", compile.device_headers)->required();
  app.add_option("--arch", compile.architecture);
  app.add_option("--cuda-home", compile.cuda_home);
  app.add_option("--include", compile.include_folders);
  app.add_option("--deadline", compile.deadline_s);
  app.add_option("--memory-mib", compile.memory_mib);
  app.add_option("--scratch", scratch);
  app.add_option("--device", device);
  app.add_option("--visible-devices", visible);
  CLI11_PARSE(app, argc, argv);
  sandbox::process::Channel owner{core::UniqueFd(sandbox::process::kWorkerChannelFd)};
  const sandbox::cuda::run::CudaPlatform platform;
  try {
    if (!visible.empty()) ::setenv("CUDA_VISIBLE_DEVICES", visible.c_str(), 1);
    if (role == "compile") sandbox::cuda::compiler::serve_compile_role(owner, compile);
    if (role == "run") sandbox::gpu::run::serve_run_role(owner, platform, device);
    if (role == "library") {
      const auto make = [&](const sandbox::gpu::driver::Context& context, const std::string& name) {
        return name == "cublaslt" ? sandbox::cuda::run::make_cublas_lt(context, compile.cuda_home)
                                  : sandbox::cuda::run::make_cublas(context, compile.cuda_home);
      };
      sandbox::gpu::run::serve_library_role(owner, platform, device, make);
    }
    if (role == "watched") sandbox::cuda::run::serve_watched_role(owner, device);
    if (role == "judge") verifier::devices::gpu::serve_judge_role(owner, platform, device);
  } catch (const sandbox::process::ChannelClosed&) {
    return 0;  // the owner hung up
  } catch (const std::exception& error) {
    owner.send({{"error", error.what()}});  // nobody listens to the standard streams
    return 1;
  }
}

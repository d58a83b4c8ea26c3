// kernelwright-hip: the worker program of the hip device. Started by kernelwright, never by hand.
#include <CLI/CLI.hpp>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "sandbox/gpu/run/library_role.h"
#include "sandbox/gpu/run/run_role.h"
#include "sandbox/hip/compiler/compile_role.h"
#include "sandbox/hip/run/platform.h"
#include "sandbox/hip/run/rocblas.h"
#include "sandbox/process/worker.h"
#include "verifier/devices/gpu/device.h"

int main(int argc, char** argv) {
  CLI::App app("The worker program of kernelwright's hip device; kernelwright starts it.");
  std::string role, visible;
  int device = 0;
  std::filesystem::path library;
  sandbox::hip::compiler::CompileRoleSettings compile;
  app.add_option("--role", role)->required()->check(CLI::IsMember({"compile", "run", "judge", "library"}));
  app.add_option("--device-headers", compile.device_headers)->required();
  app.add_option("--hip-headers", compile.hip_headers);
  app.add_option("--arch", compile.architecture);
  app.add_option("--deadline", compile.deadline_s);
  app.add_option("--memory-mib", compile.memory_mib);
  app.add_option("--scratch", compile.scratch);
  app.add_option("--device", device);
  app.add_option("--visible-devices", visible);
  app.add_option("--hip-library", library, "The HIP runtime to open, for tests");
  CLI11_PARSE(app, argc, argv);
  sandbox::process::Channel owner{core::UniqueFd(sandbox::process::kWorkerChannelFd)};
  try {
    if (!visible.empty()) ::setenv("HIP_VISIBLE_DEVICES", visible.c_str(), 1);
    if (role == "compile") sandbox::hip::compiler::serve_compile_role(owner, compile);
    const sandbox::hip::run::HipPlatform platform(library);
    if (role == "run") sandbox::gpu::run::serve_run_role(owner, platform, device);
    if (role == "library") {
      const auto make = [&](const sandbox::gpu::driver::Context& context, const std::string&) {
        return sandbox::hip::run::make_rocblas(context, library);
      };
      sandbox::gpu::run::serve_library_role(owner, platform, device, make);
    }
    if (role == "judge") verifier::devices::gpu::serve_judge_role(owner, platform, device);
  } catch (const sandbox::process::ChannelClosed&) {
    return 0;  // the owner hung up
  } catch (const std::exception& error) {
    owner.send({{"error", error.what()}});  // nobody listens to the standard streams
    return 1;
  }
}

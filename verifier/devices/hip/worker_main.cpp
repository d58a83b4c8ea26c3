// kernelwright-hip: the worker program of the hip device. Started by kernelwright, never by hand.
#include <CLI/CLI.hpp>
#include <string>

#include "sandbox/hip/compiler/compile_role.h"
#include "sandbox/process/worker.h"

int main(int argc, char** argv) {
  CLI::App app("The worker program of kernelwright's hip device; kernelwright starts it.");
  std::string role;
  sandbox::hip::compiler::CompileRoleSettings compile;
  app.add_option("--role", role)->required()->check(CLI::IsMember({"compile"}));
  app.add_option("--device-headers", compile.device_headers)->required();
  app.add_option("--hip-headers", compile.hip_headers)->required();
  app.add_option("--arch", compile.architecture);
  app.add_option("--deadline", compile.deadline_s);
  app.add_option("--memory-mib", compile.memory_mib);
  app.add_option("--scratch", compile.scratch);
  CLI11_PARSE(app, argc, argv);
  sandbox::process::Channel owner{core::UniqueFd(sandbox::process::kWorkerChannelFd)};
  try {
    sandbox::hip::compiler::serve_compile_role(owner, compile);
  } catch (const sandbox::process::ChannelClosed&) {
    return 0;  // the owner hung up
  } catch (const std::exception& error) {
    owner.send({{"error", error.what()}});  // nobody listens to the standard streams
    return 1;
  }
}

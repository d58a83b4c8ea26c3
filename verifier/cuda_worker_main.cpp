// kernelwright-cuda: the worker program of the cuda device. Started by kernelwright, never by hand.
#include <CLI/CLI.hpp>
#include <string>

#include "sandbox/cuda/compile_role.h"
#include "sandbox/worker.h"

int main(int argc, char** argv) {
  CLI::App app("The worker program of kernelwright's cuda device; kernelwright starts it.");
  std::string role, scratch;
  sandbox::cuda::CompileRoleSettings compile;
  app.add_option("--role", role)->required()->check(CLI::IsMember({"compile"}));
  app.add_option("--device-headers", compile.device_headers)->required();
  app.add_option("--arch", compile.architecture)->required();
  app.add_option("--cuda-home", compile.cuda_home);
  app.add_option("--include", compile.include_folders);
  app.add_option("--deadline", compile.deadline_s);
  app.add_option("--scratch", scratch);
  CLI11_PARSE(app, argc, argv);
  sandbox::Channel owner{core::UniqueFd(sandbox::kWorkerChannelFd)};
  try {
    sandbox::cuda::serve_compile_role(owner, compile);
  } catch (const sandbox::ChannelClosed&) {
    return 0;  // the owner hung up
  } catch (const std::exception& error) {
    owner.send({{"error", error.what()}});  // nobody listens to the standard streams
    return 1;
  }
}

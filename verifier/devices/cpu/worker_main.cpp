// kernelwright-cpu: the worker program of the cpu device. Started by kernelwright, never by hand.
#include <CLI/CLI.hpp>
#include <string>

#include "core/error.h"
#include "sandbox/cpu/compiler/compile_role.h"
#include "sandbox/cpu/run/run_role.h"
#include "sandbox/process/worker.h"
#include "sandbox/python/python_role.h"
#include "verifier/devices/cpu/device.h"

int main(int argc, char** argv) {
  CLI::App app("The worker program of kernelwright's cpu device; kernelwright starts it.");
  std::string role, device_headers, scratch, dialect = "cuda";
  sandbox::python::PythonRoleSettings python;
  app.add_option("--role", role)->required()->check(CLI::IsMember({"compile", "run", "judge", "python"}));
  app.add_option("--device-headers", device_headers)->required();
  app.add_option("--scratch", scratch);
  app.add_option("--dialect", dialect)->check(CLI::IsMember(core::enum_names<sandbox::Dialect>()));
  app.add_option("--interpreter", python.interpreter);
  app.add_option("--argument", python.arguments)->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option("--folder", python.folders)->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option("--variable", python.environment)->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option("--memory-mib", python.memory_mib);
  app.add_option("--processor-s", python.processor_s);
  app.add_flag("--gpu", python.gpu);
  CLI11_PARSE(app, argc, argv);
  sandbox::process::Channel owner{core::UniqueFd(sandbox::process::kWorkerChannelFd)};
  try {
    if (role == "compile") {
      sandbox::cpu::compiler::serve_compile_role(owner, device_headers, scratch,
                                                 core::enum_from_name<sandbox::Dialect>(dialect).value());
    }
    if (role == "run") sandbox::cpu::run::serve_run_role(owner);
    if (role == "python") {
      python.scratch = scratch;
      sandbox::python::become_python(python);
    }
    if (role == "judge") verifier::devices::cpu::serve_judge_role(owner);
  } catch (const sandbox::process::ChannelClosed&) {
    return 0;  // the owner hung up
  } catch (const std::exception& error) {
    owner.send({{"error", error.what()}});  // nobody listens to the standard streams
    return 1;
  }
}

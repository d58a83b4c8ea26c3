// kernelwright-cpu: the worker program of the cpu device. Started by kernelwright, never by hand.
#include <string>

#include "core/error.h"
#include "sandbox/cpu/compiler/compile_role.h"
#include "sandbox/cpu/run/run_role.h"
#include "sandbox/process/worker_program.h"
#include "sandbox/python/python_role.h"
#include "verifier/devices/cpu/device.h"

namespace {
sandbox::Dialect dialect_named(const std::string& name) {
  if (const auto dialect = core::enum_from_name<sandbox::Dialect>(name)) return *dialect;
  throw core::SystemError("--dialect " + name + " is none");
}
}  // namespace

int main(int argc, char** argv) {
  sandbox::process::WorkerOptions options("The worker program of kernelwright's cpu device; kernelwright starts it.",
                                          {"compile", "run", "judge", "python"});
  std::string device_headers, scratch, dialect = "cuda";
  sandbox::python::PythonRoleSettings python;
  options.add("device-headers", device_headers).add("scratch", scratch).add("dialect", dialect);
  options.add("interpreter", python.interpreter).add("argument", python.arguments).add("folder", python.folders);
  options.add("variable", python.environment).add("memory-mib", python.memory_mib);
  options.add("processor-s", python.processor_s).add("gpu", python.gpu);
  return options.run(argc, argv, [&](sandbox::process::Channel& owner) {
    if (options.role() == "compile") {
      sandbox::cpu::compiler::serve_compile_role(owner, device_headers, scratch, dialect_named(dialect));
    }
    if (options.role() == "run") sandbox::cpu::run::serve_run_role(owner);
    if (options.role() == "python") {
      python.scratch = scratch;
      sandbox::python::become_python(python);
    }
    if (options.role() == "judge") verifier::devices::cpu::serve_judge_role(owner);
  });
}

#include "sandbox/gpu/compile_service.h"

#include <unistd.h>

#include <fstream>
#include <utility>

#include "core/error.h"
#include "sandbox/jail/namespaces.h"
#include "sandbox/wire.h"

namespace sandbox::gpu {
namespace {
// NVRTC reserves gigabytes of address space on hosts with many cores.
size_t address_space_now() {
  size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<size_t>(::sysconf(_SC_PAGESIZE));
}

std::pair<ReadyCompiler, jail::Namespaces> make_ready_in_namespaces(const CompileServiceSettings& settings,
                                                                    const std::function<ReadyCompiler()>& make_ready) {
  jail::NamespaceTrial trial = jail::NamespaceTrial::begin(jail::Pids::shared);
  try {
    ReadyCompiler ready = make_ready();
    trial.keep();
    return {std::move(ready), trial.namespaces()};
  } catch (const std::exception& error) {
    trial.fall_back({error.what(), settings.remedy});
    throw;
  }
}
}  // namespace

void require_warm(const Compilation& warm_up, const std::string& compiler, const std::string& architecture) {
  if (const auto* rejected = std::get_if<Rejected>(&warm_up)) {
    throw core::SystemError(compiler + " does not compile for " + architecture + ": " + rejected->message);
  }
}

void serve_compilations(process::Channel& owner, const CompileServiceSettings& settings,
                        const std::function<ReadyCompiler()>& make_ready) {
  const auto [ready, namespaces] = make_ready_in_namespaces(settings, make_ready);
  const ReadyCompiler& compiler = ready;
  jail::JailLimits limits;
  limits.address_space_bytes = address_space_now() + (settings.memory_mib << 20);
  core::Json greeting = compiler.facts;
  greeting.update({{"role", "compile"}, {"deadline_s", settings.deadline_s}});
  jail::enter_jail(compiler.profile, compiler.folders, limits, namespaces).describe(greeting);
  owner.send(greeting);
  process::serve<core::SystemError>(owner, [&](const process::Message& request) {
    const core::JsonView json(request.json, "compile request");
    send_compilation(owner, compiler.compile(compile_request_from_json(json)));
  });
}

}  // namespace sandbox::gpu

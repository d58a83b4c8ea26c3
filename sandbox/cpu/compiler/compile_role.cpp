#include "sandbox/cpu/compiler/compile_role.h"

#include "core/error.h"
#include "sandbox/cpu/compiler/compiler.h"
#include "sandbox/jail/jail.h"
#include "sandbox/jail/namespaces.h"
#include "sandbox/wire.h"

namespace sandbox::cpu::compiler {

namespace {
// Root may read what others keep to themselves; without its capabilities it may not.
void require_readable(const std::filesystem::path& folder) {
  std::error_code failed;
  const std::filesystem::directory_iterator readable(folder, failed);
  if (failed) throw core::SystemError("cannot read " + folder.string() + ": " + failed.message());
}

CompilerSettings find_settings(const std::filesystem::path& device_headers, const std::filesystem::path& scratch,
                               Dialect dialect) {
  const std::optional<HostCompiler> host = find_host_compiler();
  if (!host) throw core::SystemError("the cpu device needs g++ 12 or newer, or clang++ 14 or newer; install one");
  CompilerSettings settings;
  settings.host = *host;
  settings.dialect = dialect;
  settings.device_headers = std::filesystem::canonical(device_headers);
  settings.scratch = std::filesystem::canonical(scratch);
  require_readable(settings.device_headers);
  return settings;
}
}  // namespace

void serve_compile_role(process::Channel& owner, const std::filesystem::path& device_headers,
                        const std::filesystem::path& scratch, Dialect dialect) {
  jail::NamespaceTrial trial = jail::NamespaceTrial::begin(jail::Pids::own);
  CompilerSettings settings;
  try {
    settings = find_settings(device_headers, scratch, dialect);
  } catch (const std::exception& error) {
    trial.fall_back({error.what(), "install kernelwright where its user may read it"});
    throw;
  }
  trial.keep();
  jail::JailLimits limits;
  limits.address_space_bytes = 0;  // the compiler's own limit is in its settings
  const jail::JailFolders folders{{"/usr", "/lib", "/lib64", "/bin", "/etc/ld.so.cache", settings.device_headers},
                                  {settings.scratch, "/dev/null"}};
  core::Json greeting{{"role", "compile"},
                      {"compiler", settings.host.program.string()},
                      {"compiler_version", settings.host.version},
                      {"dialect", name_of(dialect)},
                      {"check_build", true}};
  jail::enter_jail(jail::JailProfile::compile, folders, limits, trial.namespaces()).describe(greeting);
  owner.send(greeting);
  process::serve<core::SystemError>(owner, [&](const process::Message& request) {
    const core::JsonView json(request.json, "compile request");
    send_compilation(owner, compile(compile_request_from_json(json), settings));
  });
}

}  // namespace sandbox::cpu::compiler

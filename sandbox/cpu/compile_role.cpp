#include "sandbox/cpu/compile_role.h"

#include "core/error.h"
#include "sandbox/cpu/compiler.h"
#include "sandbox/jail.h"
#include "sandbox/wire.h"

namespace sandbox::cpu {

void serve_compile_role(Channel& owner, const std::filesystem::path& device_headers,
                        const std::filesystem::path& scratch) {
  const std::optional<HostCompiler> host = find_host_compiler();
  if (!host) throw core::SystemError("the cpu device needs g++ 12 or newer, or clang++ 14 or newer; install one");
  CompilerSettings settings;
  settings.host = *host;
  settings.device_headers = std::filesystem::canonical(device_headers);
  settings.scratch = std::filesystem::canonical(scratch);
  JailLimits limits;
  limits.address_space_bytes = 0;  // the compiler's own limit is in its settings
  const JailFolders folders{{"/usr", "/lib", "/lib64", "/bin", "/etc/ld.so.cache", settings.device_headers},
                            {settings.scratch, "/dev/null"}};
  const JailReport jail = enter_jail(JailProfile::compile, folders, limits);
  owner.send({{"role", "compile"},
              {"sandbox_level", jail.level},
              {"sandbox", jail.detail},
              {"compiler", host->program.string()},
              {"compiler_version", host->version},
              {"check_build", true}});
  while (true) {
    const Message request = owner.receive();
    try {
      const core::JsonView json(request.json, "compile request");
      send_compilation(owner, compile(compile_request_from_json(json), settings));
    } catch (const core::SystemError& error) {
      owner.send({{"error", error.what()}});
    }
  }
}

}  // namespace sandbox::cpu

#include "sandbox/python/python_role.h"

#include <unistd.h>

#include <cerrno>

#include "core/error.h"
#include "sandbox/jail/jail.h"
#include "sandbox/jail/namespaces.h"

namespace sandbox::python {
namespace {
namespace fs = std::filesystem;

// Compilers, their headers and libraries, and what they read to find them.
void add_compilers(jail::JailFolders& folders, const fs::path& scratch) {
  for (const char* system :
       {"/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/os-release"}) {
    folders.read_only.emplace_back(system);
  }
  folders.read_write.push_back(fs::canonical(scratch));
}

jail::JailFolders folders_of(const PythonRoleSettings& settings) {
  jail::JailFolders folders{settings.folders, {"/dev/null"}};
  for (const char* system : {"/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/etc/ld.so.cache",
                             "/dev/urandom", "/proc/cpuinfo", "/proc/meminfo", "/sys/devices/system/cpu"}) {
    folders.read_only.emplace_back(system);
  }
  folders.read_only.push_back(fs::canonical(settings.interpreter));
  if (!settings.scratch.empty()) add_compilers(folders, settings.scratch);
  if (!settings.gpu) return folders;
  folders.read_only.insert(folders.read_only.end(),
                           {"/proc/driver/nvidia", "/sys/bus/pci", "/sys/devices", "/opt/rocm"});
  folders.read_write.emplace_back("/proc/self");  // the driver gives up where it cannot name its threads
  folders.read_write.emplace_back("/dev/kfd");    // AMD's, with the files below
  for (const auto& [folder, prefix] : {std::pair("/dev", "nvidia"), std::pair("/dev/dri", "renderD")}) {
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(folder, none)) {
      if (entry.path().filename().string().starts_with(prefix)) folders.read_write.push_back(entry.path());
    }
  }
  return folders;
}

jail::JailProfile profile_of(const PythonRoleSettings& settings) {
  using jail::JailProfile;
  if (settings.scratch.empty()) return settings.gpu ? JailProfile::gpu_python : JailProfile::python;
  return settings.gpu ? JailProfile::gpu_python_compile : JailProfile::python_compile;
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (const std::string& text : texts) all.push_back(const_cast<char*>(text.c_str()));
  all.push_back(nullptr);
  return all;
}
}  // namespace

void become_python(const PythonRoleSettings& settings) {
  jail::Namespaces namespaces;
  if (settings.gpu) {
    namespaces.missing = jail::Shortfall{"PyTorch opens the GPU's driver outside of namespaces", "there is no way"};
  } else {
    namespaces = jail::enter_namespaces(jail::Pids::own);
  }
  if (!settings.scratch.empty() && namespaces.missing) jail::fork_into_guarded_group();
  jail::JailLimits limits;
  limits.address_space_bytes = 0;  // libraries for GPUs reserve far more than they use
  limits.data_bytes = settings.memory_mib << 20;
  limits.processor_s = settings.processor_s;
  limits.open_files = 1024;
  core::Json greeting;
  jail::enter_jail(profile_of(settings), folders_of(settings), limits, namespaces).describe(greeting);
  std::vector<std::string> argv{settings.interpreter.string()};
  argv.insert(argv.end(), settings.arguments.begin(), settings.arguments.end());
  argv.insert(argv.end(), {"--greeting", greeting.dump()});
  ::execve(argv[0].c_str(), pointers(argv).data(), pointers(settings.environment).data());
  throw core::SystemError("cannot start " + argv[0], errno);
}

}  // namespace sandbox::python

#include "core/paths.h"

#include "core/error.h"

namespace core {

Paths installed_paths() {
  Paths paths;
  paths.program_folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  paths.data = paths.program_folder.parent_path() / "share" / "kernelwright";
  if (!std::filesystem::is_directory(paths.data)) {
    throw SystemError("the data folder " + paths.data.string() +
                      " is missing: keep the installation's bin/ and share/ together");
  }
  return paths;
}

}  // namespace core

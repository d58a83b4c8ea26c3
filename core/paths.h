// All paths that the program uses. Data is found relative to the program, so an installed tree runs from any folder:
// <prefix>/bin/kernelwright,
// <prefix>/share/kernelwright/{problems,suites,skeleton,kernels,prompts,cpu,hip,gpu,torch,import,adversarial,pages,vendor,formats}.
// A build tree has the same shape, with links to the sources.
#pragma once

#include <filesystem>
#include <string>

namespace core {

struct Paths {
  std::filesystem::path program_folder;  // holds kernelwright and its worker programs
  std::filesystem::path data;            // <prefix>/share/kernelwright
  int sandbox_level = 1;                 // the least sandbox level for worker programs (--sandbox)
  std::filesystem::path hip_library;     // opened in place of the host's HIP runtime, if set; only tests set it

  std::filesystem::path problems() const { return data / "problems"; }  // one folder per problem
  std::filesystem::path suites() const { return data / "suites"; }      // <suite>.json
  std::filesystem::path skeleton() const { return data / "skeleton"; }  // the files of a new problem
  std::filesystem::path kernels() const { return data / "kernels"; }    // <problem>/<name>.cu, include/kw/<name>.cuh
  std::filesystem::path prompts() const { return data / "prompts"; }
  std::filesystem::path device_headers() const { return data / "cpu"; }       // the cpu device's CUDA headers
  std::filesystem::path hip_headers() const { return data / "hip"; }          // CUDA's names on AMD GPUs
  std::filesystem::path gpu_kernels() const { return data / "gpu"; }          // the judge's own kernels on GPUs
  std::filesystem::path torch() const { return data / "torch"; }              // Python that runs in PyTorch's workers
  std::filesystem::path importing() const { return data / "import"; }         // Python that reads files of PyTorch
  std::filesystem::path adversarial() const { return data / "adversarial"; }  // kernels that must be refused, and twins
  std::filesystem::path pages() const { return data / "pages"; }              // HTML, scripts and styles
  std::filesystem::path vendor() const { return data / "vendor"; }            // third-party scripts of the pages
  std::filesystem::path exports() const { return data / "export"; }           // templates of exported projects
  std::filesystem::path formats() const { return data / "formats"; }          // {solution,problem}-format.md
  std::filesystem::path licence() const { return data / "LICENSE"; }
  std::filesystem::path worker(const std::string& backend) const {
    return program_folder / ("kernelwright-" + backend);
  }
};

// The paths of the running program. Throws SystemError if the data folder is missing.
Paths installed_paths();

}  // namespace core

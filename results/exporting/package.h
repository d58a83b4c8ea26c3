// A package: one problem, its chosen kernels, and the kernel for each shape.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "benchsuite/problem.h"
#include "results/archive/records.h"
#include "sandbox/solution.h"

namespace results::exporting {

// A candidate and the attempt that measured it.
struct ExportedKernel {
  sandbox::Solution solution;
  sandbox::TunableBinding binding;
  std::string id;  // its name in code: unique in the package
  archive::RecordedAttempt attempt;
  std::string architecture;  // it was measured on, "sm_90a"; "" for the cpu device, which says nothing about a GPU

  bool confirmed() const;
  bool measured_on_gpu() const { return !architecture.empty(); }
};

// Selects a kernel on an architecture for shapes near this one.
struct Route {
  size_t kernel = 0;
  std::string architecture;  // "" for any
  core::Bindings shape;
  std::string workload;
  bool measured = true;  // on this architecture; false if the user added it
};

// The kernels that a problem itself has.
struct ProblemKernels {
  sandbox::Solution naive, reference;
};

struct Package {
  std::shared_ptr<const benchsuite::Problem> problem;  // as its kernels were judged
  std::string name;                                    // of the project, its namespace and its target: an identifier
  std::vector<ExportedKernel> kernels;
  std::vector<Route> routes;
  std::optional<ProblemKernels> own;  // nullopt: the problem's truth is reference.py
  std::vector<std::string> remarks;   // of the import that made the problem
  std::string archive;                // the file's name, for provenance

  // Eight digits of a hash that identify this package's code.
  std::string version() const;
  bool all_confirmed() const;
  // Throws core::InputError with advice if the test of `format`, which is in C++, cannot do without them, or cannot
  // draw or compare what the problem needs.
  const ProblemKernels& own_kernels(const std::string& format) const;
};

// The installed templates folder and licence text.
struct ExportData {
  std::filesystem::path templates, licence;
  std::filesystem::path prelude;  // declarations for device code under NVRTC
};

// A kernel compiled for one architecture.
struct KernelBinary {
  std::string architecture;
  std::string cubin;
};
using KernelBinaries = std::map<std::string, std::vector<KernelBinary>>;  // by kernel name, "naive" too

// The files of one exported project, by path in its folder.
using Files = std::map<std::string, std::string>;

// The architectures for which a kernel is compiled; empty: any.
std::vector<std::string> compiled_for(const Package& package, size_t kernel);

// "sm_90a" and "sm_90" as 90; 0 for "".
int capability_of(const std::string& architecture);

}  // namespace results::exporting

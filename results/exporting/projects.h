// The export formats.
#pragma once

#include <string>
#include <vector>

#include "core/strict_json.h"
#include "results/exporting/package.h"

namespace results::exporting {

// A CUDA library: sources, header, CMake package, self-test, example.
Files cuda_project(const Package& package, const ExportData& data, const std::string& made);

// The same for hipcc. Throws core::InputError for features that HIP lacks.
Files hip_project(const Package& package, const ExportData& data, const std::string& made);

// One header that compiles the kernels with NVRTC at run time, or contains `binaries` if given.
Files header_project(const Package& package, const ExportData& data, const std::string& made,
                     const KernelBinaries& binaries);

// An extension of PyTorch around the CUDA library.
Files torch_project(const Package& package, const ExportData& data, const std::string& made);

// Only csrc/; Python finds the operator by the given registration.
enum class Registration { library, module };  // TORCH_LIBRARY, or a pybind11 module with `run`
Files torch_sources(const Package& package, const ExportData& data, const std::string& made, Registration registration);

// A dataset of FlashInfer-Bench. Throws core::InputError for problems that its format cannot describe.
Files flashinfer_project(const Package& package, const ExportData& data, const std::string& made);

}  // namespace results::exporting

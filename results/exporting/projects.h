// The export formats.
#pragma once

#include <string>
#include <vector>

#include "core/strict_json.h"
#include "results/exporting/package.h"

namespace results::exporting {

// A CUDA library: sources, header, CMake package, self-test, example. This and the formats below but PyTorch's throw
// core::InputError for a problem whose truth is reference.py: their tests need its kernels.
Files cuda_project(const Package& package, const ExportData& data, const std::string& made);

// Its src/ and include/, which other formats contain. Without a naive kernel where the problem has none: a launch then
// returns Code::unsupported if no kernel fits.
Files library_sources(const Package& package, const ExportData& data);

// The same for hipcc. Throws core::InputError for features that HIP lacks.
Files hip_project(const Package& package, const ExportData& data, const std::string& made);

// One header that compiles the kernels with NVRTC at run time, or contains `binaries` if given.
Files header_project(const Package& package, const ExportData& data, const std::string& made,
                     const KernelBinaries& binaries);

// An extension of PyTorch around the CUDA library. If the problem's truth is reference.py, a function that calls it or,
// where the kernels do not apply, forward() of that file.
Files torch_project(const Package& package, const ExportData& data, const std::string& made);

// Only csrc/; Python finds the operator by the given registration.
enum class Registration { library, module };  // TORCH_LIBRARY, or a pybind11 module with `run`
Files torch_sources(const Package& package, const ExportData& data, Registration registration);

// A dataset of FlashInfer-Bench. Throws core::InputError for problems that its format cannot describe.
Files flashinfer_project(const Package& package, const ExportData& data, const std::string& made);

}  // namespace results::exporting

// Exported kernels compiled here, by the workers that compile candidates: no GPU and no nvcc is needed, NVRTC is.
#pragma once

#include <string>
#include <vector>

#include "core/paths.h"
#include "results/exporting/package.h"

namespace agent::campaign {

// Of every kernel and of the naive one, for each of the architectures that it may be used on. Throws core::InputError
// when a kernel does not compile for one, core::SystemError when NVRTC is missing.
results::exporting::KernelBinaries compile_exported(const core::Paths& paths,
                                                    const results::exporting::Package& package,
                                                    const std::vector<std::string>& architectures);

// That each kernel is device code alone, which NVRTC insists on: nothing runs when the project's host compiler builds
// or starts it. An imported kernel may never have been compiled here. Throws likewise.
void check_exported(const core::Paths& paths, const results::exporting::Package& package);

}  // namespace agent::campaign

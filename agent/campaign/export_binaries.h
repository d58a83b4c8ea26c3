// Compiles exported kernels with the workers that compile candidates. Needs NVRTC, but no GPU and no nvcc.
#pragma once

#include <string>
#include <vector>

#include "core/paths.h"
#include "results/exporting/package.h"

namespace agent::campaign {

// Compiles every kernel, and the naive one if there is one, for each architecture that they may be used on. Throws
// core::InputError when a kernel does not compile for one, core::SystemError when NVRTC is missing.
results::exporting::KernelBinaries compile_exported(const core::Paths& paths,
                                                    const results::exporting::Package& package,
                                                    const std::vector<std::string>& architectures);

// Checks with NVRTC, or hiprtc for a kernel that is for HIP alone, that each kernel is device code alone, so that none
// of it runs when somebody builds or starts the project. (An imported kernel may never have been compiled here.) Throws
// as above.
void check_exported(const core::Paths& paths, const results::exporting::Package& package);

}  // namespace agent::campaign

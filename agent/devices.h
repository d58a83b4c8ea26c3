// The devices a host offers, and finding problems by name.
#pragma once

#include <map>
#include <string>

#include "benchsuite/problem.h"
#include "core/paths.h"
#include "sandbox/worker.h"

namespace agent {

// The worker program of the cpu device. Throws core::SystemError when it is not installed.
sandbox::WorkerCommand cpu_worker(const core::Paths& paths);

// The compile worker for an NVIDIA architecture ("sm_90"), with the toolkit that $CUDA_HOME names and the CUTLASS that
// $KW_CUTLASS names, where these are set. Throws core::InputError when the latter is no CUTLASS.
sandbox::WorkerCommand cuda_compile_worker(const core::Paths& paths, const std::string& architecture);

// Throws core::InputError for a device that this build does not know.
void require_device(const std::string& device);

// Throws core::InputError at `where`, with the nearest name.
const benchsuite::Problem& find_problem(const std::map<std::string, benchsuite::Problem>& problems,
                                        const std::string& name, const std::string& where);

}  // namespace agent

// The devices a host offers, and finding problems by name.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "benchsuite/problem.h"
#include "core/paths.h"
#include "sandbox/cuda/driver/driver.h"
#include "sandbox/process/worker.h"
#include "verifier/judging/judge.h"

namespace agent::campaign {

// The worker program of the cpu device. Throws core::SystemError when it is not installed.
sandbox::process::WorkerCommand cpu_worker(const core::Paths& paths);

// The compile worker for an NVIDIA architecture ("sm_90"), with the toolkit that $CUDA_HOME names and the CUTLASS that
// $KW_CUTLASS names, where these are set. Throws core::InputError when the latter is no CUTLASS.
sandbox::process::WorkerCommand cuda_compile_worker(const core::Paths& paths, const std::string& architecture);

// Where candidates are to be judged: "cpu", "cuda" (its first GPU), "cuda:1", "cuda:all".
struct DeviceChoice {
  std::string backend;  // "cpu", "cuda"
  int index = 0;        // of a GPU
  bool all = false;     // every GPU
};
// Throws core::InputError for what is no device.
DeviceChoice parse_device(const std::string& device);

// A program ("compute-sanitizer", "ncu") of the CUDA Toolkit that $CUDA_HOME names, else of $PATH; nullopt where it is
// not.
std::optional<std::filesystem::path> find_cuda_tool(const std::string& name);

// The judge's side of a device: its workers and our own device code. Throws core::SystemError when the worker program
// is not installed.
verifier::judging::JudgedDevice judged_device(const core::Paths& paths, const std::string& backend, int index);

// As the driver counts them, $CUDA_VISIBLE_DEVICES considered. Throws core::SystemError where there is no driver or no
// GPU.
std::vector<sandbox::cuda::driver::DeviceFacts> cuda_devices();

// Throws core::InputError at `where`, with the nearest name.
const benchsuite::Problem& find_problem(const std::map<std::string, benchsuite::Problem>& problems,
                                        const std::string& name, const std::string& where);

}  // namespace agent::campaign

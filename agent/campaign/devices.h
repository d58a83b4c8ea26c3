// The devices a host offers.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "benchsuite/backend.h"
#include "core/paths.h"
#include "sandbox/compilation.h"
#include "sandbox/gpu/driver/driver.h"
#include "sandbox/process/worker.h"
#include "verifier/judging/judge.h"

namespace agent::campaign {

// The worker program of the cpu device; as a compile worker it takes sources for this dialect. Throws core::SystemError
// when it is not installed.
sandbox::process::WorkerCommand cpu_worker(const core::Paths& paths, sandbox::Dialect dialect = sandbox::Dialect::cuda);

// The compile worker for an NVIDIA architecture ("sm_90"), with the toolkit that $CUDA_HOME names and the CUTLASS that
// $KW_CUTLASS names, where these are set. Throws core::InputError when $KW_CUTLASS holds no CUTLASS.
sandbox::process::WorkerCommand cuda_compile_worker(const core::Paths& paths, const std::string& architecture);

// The compile worker for an AMD architecture ("gfx90a").
sandbox::process::WorkerCommand hip_compile_worker(const core::Paths& paths, const std::string& architecture);

// The compile worker for an architecture of a GPU, "sm_90" or "gfx90a". Throws core::InputError for other names.
sandbox::process::WorkerCommand gpu_compile_worker(const core::Paths& paths, const std::string& architecture);

// The device that --device names: "cpu", "cpu-hip", "cpu-hip32", "cuda" (the first GPU), "cuda:1", "cuda:all",
// and "hip" likewise.
struct DeviceChoice {
  benchsuite::Backend backend = benchsuite::Backend::cpu;
  int index = 0;                                      // of a GPU
  bool all = false;                                   // every GPU
  sandbox::Dialect dialect = sandbox::Dialect::cuda;  // of the cpu device
  size_t lane = 0, lanes = 1;                         // of all GPUs, this one and each so many further on

  std::string backend_name() const { return std::string(name_of(backend)); }
  // The name that leaderboards keep apart, without a GPU's model: "cpu", "cpu-hip", "cpu-hip32", "cuda".
  std::string kind() const;
};
// Throws core::UsageError for any other text.
DeviceChoice parse_device(const std::string& device);

// `device` in the dialect that --dialect names; the same when that is empty. Throws core::UsageError for a GPU, which
// has only its own.
std::string device_in_dialect(const std::string& device, const std::string& dialect);

// The dialect of the cpu device for a solution when nobody names one: hip if it names hip and not cuda.
sandbox::Dialect own_dialect(const sandbox::Solution& solution);

// Why a solution's "backends" rule out this device, in one sentence; nullopt when they do not.
std::optional<std::string> why_not_on(const DeviceChoice& device, const sandbox::Solution& solution);
// The same of a device of this architecture ("sm_90a"; empty: the cpu device), which may be too old for it.
std::optional<std::string> why_not_on(const DeviceChoice& device, const std::string& architecture,
                                      const sandbox::Solution& solution);

// Finds a CUDA Toolkit program ("compute-sanitizer", "ncu") below $CUDA_HOME, else on $PATH; nullopt if there is none.
std::optional<std::filesystem::path> find_cuda_tool(const std::string& name);

// The judge's side of a device: its workers and our own device code. Throws core::SystemError when the worker program
// is not installed, NoGpu without the driver of a GPU's vendor.
verifier::judging::JudgedDevice judged_device(const core::Paths& paths, benchsuite::Backend backend, int index);

// The driver of this vendor's GPUs. Throws sandbox::gpu::driver::NoGpu with the remedy without a driver or a GPU.
sandbox::gpu::driver::Driver open_driver(const core::Paths& paths, benchsuite::Backend backend);

// GPUs of a vendor in the driver's order, after $CUDA_VISIBLE_DEVICES or $HIP_VISIBLE_DEVICES. Throws likewise.
std::vector<sandbox::gpu::driver::DeviceFacts> gpu_devices(const core::Paths& paths, benchsuite::Backend backend);

}  // namespace agent::campaign

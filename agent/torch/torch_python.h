// A Python with PyTorch, as this host has it, and the jailed workers that run in it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/paths.h"
#include "sandbox/process/worker.h"

namespace agent::torch {

struct TorchPython {
  std::filesystem::path interpreter;
  std::string python, torch;                   // versions: "3.11.2", "2.11.0+cu130"
  std::vector<std::filesystem::path> modules;  // that are searched beside its own, of $PYTHONPATH and the user's
  std::vector<std::filesystem::path> folders;  // that it reads its modules and libraries from
};

// The Python that $KW_PYTHON names, else python3 on $PATH. nullopt: there is none. Throws core::InputError when the
// variable is set and names no program.
std::optional<std::filesystem::path> find_python();

// The first of find_python() and the distribution's python3 that has PyTorch; otherwise a sentence that says why there
// is none. Starts each of them once to ask. Throws core::InputError as find_python() does.
std::variant<TorchPython, std::string> find_torch_python();

// How to get PyTorch, one sentence.
std::string torch_remedy();

struct PythonLimits {
  size_t memory_mib = 0;     // 0: no limit
  unsigned processor_s = 0;  // 0: no limit
  bool gpu = false;          // the worker opens a GPU
  // A folder of the worker's own. If set, it may start compilers, which write there alone, as PyTorch's caches do.
  std::filesystem::path scratch = {};
};
// A jailed worker (sandbox/python/python_role.h) that runs `script`; modules of core::Paths::torch() are at hand.
sandbox::process::WorkerCommand python_worker(const core::Paths& paths, const TorchPython& python,
                                              const std::filesystem::path& script,
                                              const std::vector<std::string>& arguments, const PythonLimits& limits);

// The worker of a problem's reference.py; `gpu`: a GPU's number. Throws core::InputError where there is no PyTorch.
sandbox::process::WorkerCommand reference_worker(const core::Paths& paths, std::optional<int> gpu, bool rocm = false);
// The worker that times torch.compile of a problem's reference.py on a GPU; `scratch` as above. Throws as
// reference_worker() does.
sandbox::process::WorkerCommand compiled_reference_worker(const core::Paths& paths, int gpu, bool rocm,
                                                          const std::filesystem::path& scratch);

}  // namespace agent::torch

// Makes problems of files of PyTorch: a jailed worker runs the file (benchsuite/import), this side writes the folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <variant>
#include <vector>

#include "agent/torch/torch_python.h"
#include "core/paths.h"
#include "core/strict_json.h"

namespace agent::torch {

struct ImportOrder {
  std::filesystem::path file;
  std::string name;                        // of the problem
  bool add_dtype = true;                   // append "_f32": the dtype of the first output
  std::filesystem::path into = {};         // the folder in which the problem's is made
  uint64_t fit_bytes = uint64_t{4} << 30;  // of all tensors at the bench workload of GPUs
  int seconds = 120;
};

struct Imported {
  std::string name;
  std::filesystem::path folder;
  std::vector<std::string> remarks;
};
struct ImportRefused {
  std::string why;
};

// A name for a problem: letters, digits and '_' of `stem`, in lower case.
std::string problem_name(const std::string& stem);

// One worker for this file alone, which ends with it. Nothing is written where it refuses. Throws core::InputError when
// the folder exists or cannot be written, core::SystemError when the worker does not start.
std::variant<Imported, ImportRefused> import_file(const core::Paths& paths, const TorchPython& python,
                                                  const ImportOrder& order);

}  // namespace agent::torch

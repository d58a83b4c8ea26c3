// Makes problems of files of PyTorch and of Definitions: a jailed worker runs the file (benchsuite/import), this side
// writes the folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "agent/torch/torch_python.h"
#include "benchsuite/problem.h"
#include "core/paths.h"
#include "core/strict_json.h"

namespace agent::torch {

struct ImportOrder {
  std::filesystem::path file;              // of PyTorch, or what `make_source` takes
  std::string name;                        // of the problem
  bool add_dtype = true;                   // append "_f32": the dtype of the first output
  std::filesystem::path into = {};         // the folder in which the problem's is made
  uint64_t fit_bytes = uint64_t{4} << 30;  // of all tensors at the bench workload of GPUs
  int seconds = 120;
  // Makes a file of PyTorch of a benchmark's; takes the texts of `file` and `beside`, and a name for errors.
  std::function<std::string(const std::string&, const std::string&, const std::string&)> make_source = {};
  std::filesystem::path beside = {};  // another file that it needs; optional
  // The folder of the data files that a Definition's Workloads name. If they give data, no worker imports it.
  std::filesystem::path data_root = {};
  // Files to be written beside the problem's own; optional.
  std::function<benchsuite::SourceFiles(const benchsuite::Problem&)> more_files = {};
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
// the folder exists or cannot be written, LevelNotReached.
std::variant<Imported, ImportRefused> import_file(const core::Paths& paths, const TorchPython& python,
                                                  const ImportOrder& order);

}  // namespace agent::torch

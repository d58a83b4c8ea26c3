// Definitions of FlashInfer-Bench (schema: flashinfer-bench's docs, "Definition" and "Trace"), as files of PyTorch.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/strict_json.h"

namespace agent::torch {

struct DefinitionFile {
  std::filesystem::path definition;
  std::filesystem::path workloads;  // of its Workloads; empty where there is none
  std::filesystem::path root;       // what paths of data files begin at
};

// The Definition in `path`, or all in definitions/ of a folder, else in the folder itself; in order. Throws
// core::InputError where there is none.
std::vector<DefinitionFile> definitions_at(const std::filesystem::path& path);

// The reference of a Definition as a file that import takes: variable axes are whole numbers (those of the largest
// Workload, or kSizeWithoutWorkloads), tensors are N(0, 1), and scalars are those of that Workload, or of `scalars`,
// numbers by name. `workloads` holds JSON Lines and may be empty. Throws core::InputError for what it cannot say:
// integers whose range nobody gives, dtypes that no problem has. definition_problem.h is for Definitions whose
// Workloads give data.
inline constexpr int kSizeWithoutWorkloads = 1024;
using Scalars = std::map<std::string, core::Json>;
std::string source_of_definition(const std::string& definition, const std::string& workloads, const std::string& file,
                                 const Scalars& scalars = {});

}  // namespace agent::torch

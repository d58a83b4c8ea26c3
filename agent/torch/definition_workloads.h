// The Workloads of a Definition, as FlashInfer-Bench and SOL-ExecBench write them: JSON Lines.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/expr.h"
#include "core/strict_json.h"

namespace agent::torch {

// {"workload": {"axes": {"M": 8}, "inputs": {"eps": {"type": "scalar", "value": 1e-6}, "x": {"type": "random"}}}}, or
// the inner object alone.
struct DefinitionWorkload {
  struct Source {
    std::string type;       // "random", "safetensors" or "custom"
    std::string path, key;  // of safetensors: the file below the data set's root, and the tensor
  };
  core::Bindings axes;  // variable ones
  std::map<std::string, core::Json> scalars;
  std::map<std::string, Source> inputs;
  int64_t bytes = 0;  // of all tensors, where somebody counted them
};

// Those without empty axes. `file` names the text in errors. Throws core::InputError.
std::vector<DefinitionWorkload> definition_workloads(const std::string& lines, const std::string& file);

}  // namespace agent::torch

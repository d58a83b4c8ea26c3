// Definitions whose Workloads give data: as problems without tracing, since their axes, shapes and data are all said.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "agent/torch/flashinfer_bench.h"
#include "benchsuite/problem.h"

namespace agent::torch {

// Whether a Definition needs that: an input of whole numbers has no range, and Workloads give it as a safetensors file,
// or a function of the Definition makes it ("custom", as in SOL-ExecBench).
bool gives_data(const std::string& definition, const std::string& workloads, const std::string& file);

struct DefinitionProblem {
  std::string json, reference;       // the texts of problem.json and reference.py
  benchsuite::SourceFiles data;      // bytes of its data files by name
  std::vector<std::string> remarks;  // what was left out, and why
};
// The problem of such a Definition. Axes take the sizes of its Workloads: small ones in which each axis has different
// sizes are tests, the largest of at most `fit_bytes` are timed. `name`: of the problem, without the dtype of its first
// output if `add_dtype`. Throws core::InputError.
DefinitionProblem problem_of_definition(const DefinitionFile& files, const std::string& name, bool add_dtype,
                                        uint64_t fit_bytes);

}  // namespace agent::torch

// The formats that kernels are exported to.
#pragma once

#include <string>
#include <vector>

#include "core/strict_json.h"
#include "results/exporting/package.h"

namespace results {

// A CUDA library: sources, header, CMake package, self-test, example.
Files cuda_project(const Package& package, const ExportData& data, const std::string& made);

}  // namespace results

// Template values that describe a problem to exports for PyTorch.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "results/exporting/template_values.h"

namespace results::exporting {

// For each axis, the input and dimension that give its size; other axes are arguments of the operator.
struct TorchAxes {
  std::map<std::string, std::pair<size_t, size_t>> of_inputs;
  std::vector<std::string> arguments;
};
TorchAxes torch_axes(const benchsuite::Problem& problem);

// Python over the problem's axes as variables: "2 * M // 3"; "(M, N, )".
std::string python_value(const core::Expr& expr);
std::string python_shape(const benchsuite::Tensor& tensor);

// How the outputs are compared, as a tuple: ("elements",), ("indices", place of x, place of the values or None, order).
std::string python_rules(const benchsuite::Problem& problem);

// Those of the C++ binding, of the operator in Python and of its test, besides common_values.
TemplateValues torch_values(const Package& package);

// Those of a package whose problem's truth is reference.py, besides torch_values.
void add_reference_values(const Package& package, const ExportData& data, TemplateValues& values);

}  // namespace results::exporting

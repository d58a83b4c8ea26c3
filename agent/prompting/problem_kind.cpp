#include "agent/prompting/problem_kind.h"

#include <algorithm>
#include <cctype>
#include <string>

namespace agent::prompting {
namespace {
using benchsuite::Tensor;
using Shape = std::vector<std::string>;

Shape shape_of(const Tensor& tensor) {
  Shape shape;
  for (const core::Expr& size : tensor.shape) shape.push_back(size.text());
  return shape;
}

std::string words_of(const benchsuite::Problem& problem) {
  std::string words = problem.name + " " + problem.title + " " + problem.description;
  std::transform(words.begin(), words.end(), words.begin(), [](unsigned char c) { return std::tolower(c); });
  return words;
}
bool says(const std::string& words, std::initializer_list<const char*> any) {
  return std::any_of(any.begin(), any.end(), [&](const char* word) { return words.find(word) != std::string::npos; });
}

bool has_shape(const std::vector<Tensor>& tensors, const Shape& shape) {
  return std::any_of(tensors.begin(), tensors.end(), [&](const Tensor& t) { return shape_of(t) == shape; });
}
// Two inputs whose matrices meet along one axis: [M, K] and [K, N].
bool has_product(const std::vector<Tensor>& inputs) {
  for (const Tensor& left : inputs) {
    for (const Tensor& right : inputs) {
      const Shape a = shape_of(left), b = shape_of(right);
      if (&left != &right && a.size() == 2 && b.size() == 2 && a[1] == b[0]) return true;
    }
  }
  return false;
}

// What its shapes and words make it.
std::set<ProblemKind> shapes_of(const benchsuite::Problem& problem) {
  const std::string words = words_of(problem);
  std::set<ProblemKind> kinds;
  if (says(words, {"attention"})) kinds.insert(ProblemKind::attention);
  if (says(words, {"cumsum", "prefix sum", "running sum", "inclusive scan", "exclusive scan"})) {
    kinds.insert(ProblemKind::scan);
  }
  if (says(words, {"histogram", "bincount"})) kinds.insert(ProblemKind::histogram);
  if (!problem.equivalents.gemm.empty() || has_product(problem.inputs)) kinds.insert(ProblemKind::gemm);
  if (!kinds.empty()) return kinds;

  const bool by_row = says(words, {"row", "softmax", "norm"});
  for (const Tensor& output : problem.outputs) {
    const Shape shape = shape_of(output), reversed(shape.rbegin(), shape.rend());
    if (shape.size() == 2 && shape[0] != shape[1] && has_shape(problem.inputs, reversed) &&
        !has_shape(problem.inputs, shape)) {
      kinds.insert(ProblemKind::transpose);
    } else if (has_shape(problem.inputs, shape) && !by_row) {
      kinds.insert(ProblemKind::elementwise);
    } else if (has_shape(problem.inputs, shape) && shape.size() >= 2) {
      kinds.insert(ProblemKind::rowwise);
    } else {
      kinds.insert(ProblemKind::reduction);
      if (by_row) kinds.insert(ProblemKind::rowwise);
    }
  }
  return kinds;
}
}  // namespace

std::string_view name_of(ProblemKind kind) {
  switch (kind) {
    case ProblemKind::elementwise:
      return "elementwise";
    case ProblemKind::rowwise:
      return "rowwise";
    case ProblemKind::reduction:
      return "reduction";
    case ProblemKind::transpose:
      return "transpose";
    case ProblemKind::gemm:
      return "gemm";
    case ProblemKind::histogram:
      return "histogram";
    case ProblemKind::scan:
      return "scan";
    case ProblemKind::attention:
      return "attention";
    case ProblemKind::transcendental:
      return "transcendental";
    case ProblemKind::narrow:
      return "narrow";
  }
  return "";
}

const std::vector<ProblemKind>& all_problem_kinds() {
  using enum ProblemKind;
  static const std::vector<ProblemKind> all{elementwise, rowwise, reduction, transpose,      gemm,
                                            histogram,   scan,    attention, transcendental, narrow};
  return all;
}

std::optional<ProblemKind> problem_kind_from_name(std::string_view name) {
  for (const ProblemKind each : all_problem_kinds()) {
    if (name_of(each) == name) return each;
  }
  return std::nullopt;
}

std::set<ProblemKind> kinds_of(const benchsuite::Problem& problem) {
  std::set<ProblemKind> kinds = shapes_of(problem);
  if (std::any_of(problem.inputs.begin(), problem.inputs.end(), [](const Tensor& input) {
        return core::size_bytes(input.dtype) <= (core::is_floating(input.dtype) ? 2 : 1);
      })) {
    kinds.insert(ProblemKind::narrow);
  }
  if (says(words_of(problem), {"exp(", "log(", "erf(", "tanh("})) kinds.insert(ProblemKind::transcendental);
  return kinds;
}

}  // namespace agent::prompting

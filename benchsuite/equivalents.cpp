#include "benchsuite/equivalents.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "core/suggest.h"

namespace benchsuite {
namespace {
using core::JsonView;

bool starts_name(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool in_name(char c) { return starts_name(c) || std::isdigit(static_cast<unsigned char>(c)) != 0; }

size_t past_spaces(std::string_view text, size_t at) {
  while (at < text.size() && text[at] == ' ') ++at;
  return at;
}

// The position after the closing quote; fails at an unterminated string.
size_t past_quoted(const JsonView& view, std::string_view text, size_t at) {
  const size_t end = text.find(text[at], at + 1);
  if (end == std::string_view::npos) view.fail("has an unterminated quote");
  return end + 1;
}

// True for a free name: not an attribute (x.sum), not a keyword argument (dim=1).
bool is_free(std::string_view text, size_t begin, size_t end) {
  size_t before = begin;
  while (before > 0 && text[before - 1] == ' ') --before;
  if (before > 0 && text[before - 1] == '.') return false;
  const size_t after = past_spaces(text, end);
  const bool assigned =
      after < text.size() && text[after] == '=' && (after + 1 == text.size() || text[after + 1] != '=');
  return !assigned;
}

// Checks characters, brackets and names without Python. Python's own parser decides in the worker.
void check_expression(const JsonView& view, const std::string& text, const std::vector<std::string>& known) {
  constexpr std::string_view kPunctuation = " .,()[]+-*/%@=<>'\":";
  std::string open;
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '\'' || c == '"') {
      at = past_quoted(view, text, at);
      continue;
    }
    if (starts_name(c)) {
      size_t end = at;
      while (end < text.size() && in_name(text[end])) ++end;
      const std::string name = text.substr(at, end - at);
      if (name.find("__") != std::string::npos) view.fail("\"" + name + "\" has two underscores side by side");
      if (is_free(text, at, end) && std::find(known.begin(), known.end(), name) == known.end()) {
        view.fail("\"" + name + "\" is neither an input nor an axis", core::did_you_mean(name, known));
      }
      at = end;
      continue;
    }
    if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
      while (at < text.size() && (in_name(text[at]) || text[at] == '.')) ++at;  // 1e-5 continues as "- 5"
      continue;
    }
    if (kPunctuation.find(c) == std::string_view::npos) {
      view.fail(std::string("holds '") + c + "'", "write one Python expression without statements or lambdas");
    }
    if (c == '(' || c == '[') open += c;
    if (c == ')' || c == ']') {
      if (open.empty() || open.back() != (c == ')' ? '(' : '[')) view.fail("has brackets that do not match");
      open.pop_back();
    }
    ++at;
  }
  if (!open.empty()) view.fail("has brackets that do not match");
}

std::string parse_pytorch(const JsonView& view, const Problem& problem) {
  const std::string text = view.string();
  if (text.empty() || text.size() > 300) view.fail("is not one line of at most 300 characters");
  std::vector<std::string> known{"torch", "F", "True", "False", "None"};
  for (const std::string& axis : problem.axis_names()) known.push_back(axis);
  for (const Tensor& input : problem.inputs) known.push_back(input.name);
  check_expression(view, text, known);
  return text;
}

bool same_shape(const Tensor& tensor, const core::Expr& rows, const core::Expr& columns, const core::Bindings& axes) {
  return tensor.shape[0].eval(axes) == rows.eval(axes) && tensor.shape[1].eval(axes) == columns.eval(axes);
}

std::vector<std::string> parse_gemm(const JsonView& view, const Problem& problem) {
  std::vector<std::string> names;
  std::vector<const Tensor*> tensors;
  for (const JsonView& item : view.items()) {
    const bool output = names.size() == 2;
    std::vector<std::string> known;
    for (const Tensor& tensor : output ? problem.outputs : problem.inputs) known.push_back(tensor.name);
    names.push_back(item.one_of(known, output ? "outputs" : "inputs"));
    tensors.push_back(problem.find_tensor(names.back()));
  }
  if (names.size() != 3 || problem.outputs.size() != 1) {
    view.fail("does not name two inputs and the only output", "write [\"a\", \"b\", \"c\"] for c = a b");
  }
  for (const Tensor* tensor : tensors) {
    const bool known = tensor->dtype == core::DType::f16 || tensor->dtype == core::DType::bf16 ||
                       tensor->dtype == core::DType::f32 || tensor->dtype == core::DType::f64;
    if (!known || tensor->shape.size() != 2 || tensor->dtype != tensors[0]->dtype) {
      view.fail("\"" + tensor->name + "\" is not a matrix of the same floating dtype as the others");
    }
  }
  for (const Workload& workload : problem.workloads) {
    if (same_shape(*tensors[1], tensors[0]->shape[1], tensors[2]->shape[1], workload.axes) &&
        same_shape(*tensors[2], tensors[0]->shape[0], tensors[1]->shape[1], workload.axes)) {
      continue;
    }
    view.fail("the shapes do not form a matrix product (workload " + workload.name + ")",
              "c = a b needs a: [M, K], b: [K, N] and c: [M, N]");
  }
  return names;
}
}  // namespace

Equivalents parse_equivalents(const JsonView& view, const Problem& problem) {
  view.expect_object({}, {"pytorch", "cublas"});
  Equivalents equivalents;
  if (view.has("pytorch")) equivalents.pytorch = parse_pytorch(view.at("pytorch"), problem);
  if (view.has("cublas")) {
    view.at("cublas").expect_object({"gemm"});
    equivalents.gemm = parse_gemm(view.at("cublas").at("gemm"), problem);
  }
  return equivalents;
}

}  // namespace benchsuite

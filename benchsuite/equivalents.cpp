#include "benchsuite/equivalents.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "core/suggest.h"
#include "core/text.h"

namespace benchsuite {
namespace {
using core::JsonView;
constexpr std::string_view kFunction = "def equivalent(";
constexpr size_t kMostFunction = 4000;  // characters

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

constexpr std::string_view kInExpressions = " .,()[]+-*/%@=<>'\":", kInFunctions = " .,()[]+-*/%@=<>'\":{}&|^~!\n";

// Checks characters, brackets and names without Python. Python's own parser decides in the worker.
void check_code(const JsonView& view, std::string_view text, std::string_view punctuation,
                const std::vector<std::string>& known) {
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
      const std::string name(text.substr(at, end - at));
      if (name.find("__") != std::string::npos) view.fail("\"" + name + "\" has two underscores side by side");
      if (is_free(text, at, end) && std::find(known.begin(), known.end(), name) == known.end()) {
        view.fail("\"" + name + "\" is neither an input, an axis nor a scalar", core::did_you_mean(name, known));
      }
      at = end;
      continue;
    }
    if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
      while (at < text.size() && (in_name(text[at]) || text[at] == '.')) ++at;  // 1e-5 continues as "- 5"
      continue;
    }
    if (punctuation.find(c) == std::string_view::npos) {
      view.fail(std::string("holds '") + c + "'",
                "write one Python expression without statements or lambdas, or the lines of \"def equivalent(...):\"");
    }
    if (c == '(' || c == '[' || c == '{') open += c;
    if (c == ')' || c == ']' || c == '}') {
      if (open.empty() || open.back() != (c == ')' ? '(' : c == ']' ? '[' : '{')) {
        view.fail("has brackets that do not match");
      }
      open.pop_back();
    }
    ++at;
  }
  if (!open.empty()) view.fail("has brackets that do not match");
}

// The names that statements assign: those before a "=", and between "for" and "in".
std::vector<std::string> assigned_names(const JsonView& view, std::string_view body) {
  std::vector<std::string> assigned, statement;
  int depth = 0;
  const auto assign = [&] { assigned.insert(assigned.end(), statement.begin(), statement.end()); };
  for (size_t at = 0; at < body.size();) {
    const char c = body[at];
    if (c == '\'' || c == '"') {
      at = past_quoted(view, body, at);
      continue;
    }
    if (starts_name(c)) {
      size_t end = at;
      while (end < body.size() && in_name(body[end])) ++end;
      const std::string name(body.substr(at, end - at));
      if (name == "in" && !statement.empty() && statement[0] == "for") assign();
      statement.push_back(name);
      at = end;
      continue;
    }
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
    const bool compares = body.substr(at, 2) == "==" || (at > 0 && std::string_view("=<>!").find(body[at - 1]) < 4);
    if (c == '=' && depth == 0 && !compares) assign();
    if (depth == 0 && (c == '\n' || c == '=')) statement.clear();
    ++at;
  }
  return assigned;
}

std::vector<std::string> known_names(const Problem& problem) {
  std::vector<std::string> known{"torch", "F", "True", "False", "None"};
  for (const std::string& axis : problem.axis_names()) known.push_back(axis);
  for (const Tensor& input : problem.inputs) known.push_back(input.name);
  for (const NamedScalar& scalar : problem.scalars) known.push_back(scalar.name);
  return known;
}

// "def equivalent(x, N):" and the lines of its body. Returns its parameters.
std::vector<std::string> check_function(const JsonView& view, std::string_view text, const Problem& problem) {
  const std::string remedy = "begin with \"def equivalent(\", the inputs, axes and scalars that it needs, and \"):\"";
  const size_t close = text.find("):\n");
  if (text.substr(0, kFunction.size()) != kFunction || close == std::string_view::npos) {
    view.fail("is neither one line nor a function of the name equivalent", remedy);
  }
  std::vector<std::string> given = known_names(problem), parameters;
  given.erase(given.begin(), given.begin() + 5);  // inputs, axes and scalars alone
  for (size_t at = kFunction.size(); at < close;) {
    const size_t end = std::min(text.find(',', at), close);
    const std::string name(core::trimmed(text.substr(at, end - at)));
    if (std::find(given.begin(), given.end(), name) == given.end()) {
      view.fail("the parameter \"" + name + "\" is neither an input, an axis nor a scalar",
                core::did_you_mean(name, given));
    }
    if (std::find(parameters.begin(), parameters.end(), name) != parameters.end()) {
      view.fail("has two parameters \"" + name + "\"");
    }
    parameters.push_back(name);
    at = end + 1;
  }
  if (parameters.empty()) view.fail("has no parameters", remedy);
  const std::string_view body = text.substr(close + 3);
  std::vector<std::string> known{"torch", "F",  "True", "False", "None", "return", "if",  "elif",  "else", "for",
                                 "in",    "is", "and",  "or",    "not",  "range",  "len", "float", "int"};
  for (const auto& more : {parameters, assigned_names(view, body)}) known.insert(known.end(), more.begin(), more.end());
  check_code(view, body, kInFunctions, known);
  return parameters;
}

void parse_pytorch(const JsonView& view, const Problem& problem, Equivalents& equivalents) {
  std::string text;
  if (view.json().is_array()) {
    for (const JsonView& line : view.items()) text += line.string() + "\n";
  } else {
    text = view.string();
  }
  if (!view.json().is_array() && text.find('\n') == std::string::npos) {
    if (text.empty() || text.size() > 300) view.fail("is not one line of at most 300 characters");
    check_code(view, text, kInExpressions, known_names(problem));
  } else {
    if (text.size() > kMostFunction) view.fail("is longer than " + std::to_string(kMostFunction) + " characters");
    equivalents.parameters = check_function(view, text, problem);
  }
  equivalents.pytorch = std::move(text);
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
    if (core::is_f8(tensor->dtype)) {
      view.fail("\"" + tensor->name + "\" is " + std::string(core::name_of(tensor->dtype)) +
                    ", and cuBLAS multiplies such matrices with scales and layouts of its own",
                "leave cublas out; \"pytorch\" may call F.scaled_mm");
    }
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

std::string Equivalents::call() const {
  return parameters.empty() ? pytorch : "equivalent(" + core::join(parameters, ", ") + ")";
}

Equivalents parse_equivalents(const JsonView& view, const Problem& problem) {
  view.expect_object({}, {"pytorch", "cublas"});
  Equivalents equivalents;
  if (view.has("pytorch")) parse_pytorch(view.at("pytorch"), problem, equivalents);
  if (view.has("cublas")) {
    view.at("cublas").expect_object({"gemm"});
    equivalents.gemm = parse_gemm(view.at("cublas").at("gemm"), problem);
  }
  return equivalents;
}

}  // namespace benchsuite

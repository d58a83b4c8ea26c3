#include "agent/prompting/failure_words.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "core/text.h"

namespace agent {
namespace {
// "M=7 N=1023", as sandbox::describe writes it.
core::Bindings bindings_from(const std::string& text) {
  core::Bindings bindings;
  for (const std::string& part : core::split(text, ' ')) {
    const size_t equals = part.find('=');
    int64_t value = 0;
    if (equals == std::string::npos) continue;
    const char* end = part.data() + part.size();
    if (std::from_chars(part.data() + equals + 1, end, value).ptr == end) bindings[part.substr(0, equals)] = value;
  }
  return bindings;
}

struct Place {
  std::vector<int64_t> shape, at;
};
std::optional<Place> decoded(const benchsuite::Problem& problem, const std::string& output, const std::string& axes,
                             int64_t index) {
  const benchsuite::Tensor* tensor = problem.find_tensor(output);
  if (tensor == nullptr || index < 0) return std::nullopt;
  const core::Bindings bindings = bindings_from(axes);
  Place place;
  try {
    for (const core::Expr& size : tensor->shape) place.shape.push_back(size.eval(bindings));
  } catch (const core::ExprError&) {
    return std::nullopt;
  }
  place.at.resize(place.shape.size());
  for (size_t d = place.shape.size(); d-- > 0;) {
    if (place.shape[d] < 1) return std::nullopt;
    place.at[d] = index % place.shape[d];
    index /= place.shape[d];
  }
  return index == 0 ? std::optional(place) : std::nullopt;
}

std::string listed(const std::vector<int64_t>& numbers) {
  std::vector<std::string> parts;
  for (const int64_t number : numbers) parts.push_back(std::to_string(number));
  return "[" + core::join(parts, ", ") + "]";
}

bool near(double a, double b) { return std::fabs(a - b) < 2e-3 * std::fabs(b); }

// The line that a compiler names: "kernel.cu:12:5: error: ..." or "solution.cu(12): error: ...".
std::optional<int64_t> line_of_error(const std::string& text) {
  for (const std::string_view mark : {".cu:", ".cu("}) {
    const size_t at = text.find(mark);
    if (at == std::string::npos) continue;
    int64_t line = 0;
    const char* begin = text.data() + at + mark.size();
    if (std::from_chars(begin, text.data() + text.size(), line).ec == std::errc() && line > 0) return line;
  }
  return std::nullopt;
}

std::string size_remark(const verifier::WrongResult& wrong, const sandbox::TunableBinding& binding) {
  std::vector<std::string> odd;
  for (const auto& [axis, size] : bindings_from(wrong.where.axes)) {
    int64_t most = 0;
    for (const auto& [name, value] : binding) most = std::max(most, value);
    if (size % 4 != 0) {
      odd.push_back(axis + "=" + std::to_string(size) + " is no multiple of 4");
    } else if (most > 1 && size % most != 0) {
      odd.push_back(axis + "=" + std::to_string(size) + " is no multiple of " + std::to_string(most));
    }
  }
  return odd.empty() ? "" : "At this shape " + core::join(odd, ", ") + ".";
}
}  // namespace

std::string quoted_line(const std::string& source, int64_t line) {
  const std::vector<std::string> lines = core::split(source, '\n');
  if (line < 1 || line > static_cast<int64_t>(lines.size())) return "";
  std::string text;
  for (int64_t i = std::max<int64_t>(1, line - 1); i <= line; ++i) {
    text += (i == line ? "> " : "  ") + std::to_string(i) + " | " +
            core::clean_line(lines[static_cast<size_t>(i - 1)], 200) + "\n";
  }
  return text;
}

std::string first_errors(const std::string& log, const std::string& source, size_t most) {
  std::string text;
  std::set<std::string> seen;
  for (const std::string& line : core::split(log, '\n')) {
    const size_t error = line.find("error: ");
    if (error == std::string::npos || seen.size() >= most) continue;
    const std::string message = core::clean_line(line.substr(error + 7), 300);
    const std::optional<int64_t> number = line_of_error(line.substr(0, error));
    if (!seen.insert(message).second) continue;
    text += (number ? "line " + std::to_string(*number) + ": " : std::string()) + message + "\n";
    if (number) text += quoted_line(source, *number);
  }
  return text;
}

std::string place_in_output(const benchsuite::Problem& problem, const std::string& output, const std::string& axes,
                            int64_t index) {
  const std::optional<Place> place = decoded(problem, output, axes, index);
  if (!place || place->shape.size() < 2) return "";
  return listed(place->at) + " of " + listed(place->shape);
}

std::string pattern_of(const verifier::WrongResult& wrong, const benchsuite::Problem& problem,
                       const sandbox::TunableBinding& binding) {
  if (wrong.pattern) return size_remark(wrong, binding);
  std::vector<std::string> remarks;
  const double ratio = wrong.expected != 0 ? wrong.got / wrong.expected : 0;
  if (wrong.got == 0 && wrong.expected != 0) {
    remarks.emplace_back("It is zero: what was computed for it did not reach it, or was zeroed afterwards.");
  } else if (near(ratio, 2) || near(ratio, 3) || near(ratio, 4) || near(ratio, 8)) {
    remarks.push_back("It is " + std::to_string(std::lround(ratio)) +
                      " times what is right: terms are added more than once.");
  } else if (near(ratio, 0.5) || near(ratio, 0.25) || near(ratio, 0.125)) {
    remarks.push_back("It is 1/" + std::to_string(std::lround(1 / ratio)) +
                      " of what is right: a part of the sum is lost, such as that of other warps.");
  } else if (near(ratio, -1)) {
    remarks.emplace_back("Its sign is wrong.");
  } else if (std::fabs(wrong.got - wrong.expected) < 0.02 * std::fabs(wrong.expected)) {
    remarks.emplace_back(
        "It is nearly right: look at precision (type of the sums, approximate functions) before indexing.");
  }
  if (wrong.wrong_elements == wrong.elements) {
    remarks.emplace_back("Every element is wrong: it is the formula or the indexing as a whole, not an edge.");
  } else if (const auto place = decoded(problem, wrong.output, wrong.where.axes, wrong.index)) {
    for (size_t d = place->at.size(); d-- > 0;) {
      if (place->shape[d] > 1 && place->at[d] == place->shape[d] - 1) {
        remarks.push_back("It lies at the very end of dimension " + std::to_string(d) + ".");
        break;
      }
    }
  }
  if (const std::string sizes = size_remark(wrong, binding); !sizes.empty()) remarks.push_back(sizes);
  return core::join(remarks, " ");
}

}  // namespace agent

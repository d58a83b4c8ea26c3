#include "benchsuite/problem_checks.h"

#include <algorithm>
#include <limits>

#include "benchsuite/backend.h"
#include "core/error.h"
#include "core/suggest.h"

namespace benchsuite {
namespace {
using core::Bindings;
using core::JsonView;

// One binding of all axes, and its name in messages.
struct Point {
  std::string name;
  Bindings axes;
};

std::string describe(const Bindings& axes) {
  std::string text;
  for (const auto& [name, value] : axes) text += (text.empty() ? "" : " ") + name + "=" + std::to_string(value);
  return text;
}

// Every workload, and every corner of the box that the axis domains span.
std::vector<Point> points_of(const Problem& problem) {
  std::vector<Point> points;
  for (const Workload& workload : problem.workloads) {
    points.push_back({"workload " + workload.name + ", " + describe(workload.axes), workload.axes});
  }
  for (size_t corner = 0; corner < (size_t{1} << problem.axes.size()); ++corner) {
    Bindings axes;
    for (size_t i = 0; i < problem.axes.size(); ++i) {
      axes[problem.axes[i].name] = (corner >> i & 1) != 0 ? problem.axes[i].max : problem.axes[i].min;
    }
    points.push_back({"end of the axis domains, " + describe(axes), axes});
  }
  return points;
}

// Evaluates `value` at a point; an ExprError becomes an InputError at `view` that names the point.
template <typename Function>
int64_t at_point(const JsonView& view, const Point& point, Function value) {
  try {
    return value(point.axes);
  } catch (const core::ExprError& error) {
    view.fail(std::string(error.what()) + " (" + point.name + ")", "narrow the axis domains, or fix the expression");
  }
}

struct Range {
  int64_t least, most;
};
Range range_of(core::DType dtype) {
  switch (dtype) {
    case core::DType::i8:
      return {-128, 127};
    case core::DType::boolean:
      return {0, 1};
    case core::DType::u8:
      return {0, 255};
    case core::DType::i32:
      return {INT32_MIN, INT32_MAX};
    case core::DType::u32:
      return {0, UINT32_MAX};
    case core::DType::f16:
      return {-2048, 2048};  // every integer in between is exact
    case core::DType::bf16:
      return {-256, 256};
    case core::DType::f8e4m3:
      return {-16, 16};
    case core::DType::f8e5m2:
      return {-8, 8};
    case core::DType::f32:
      return {-(1 << 24), 1 << 24};
    default:
      return {INT64_MIN, INT64_MAX};
  }
}

void check_integer_bounds(const Tensor& input, const JsonView& init, const Point& point) {
  const Range range = range_of(input.dtype);
  const auto bound = [&](const char* field, const core::Expr& expr) {
    const JsonView view = init.at(field);
    const int64_t value = at_point(view, point, [&](const Bindings& axes) { return expr.eval(axes); });
    if (value < range.least || value > range.most) {
      view.fail("is " + std::to_string(value) + " (" + point.name + "), which " +
                    std::string(core::name_of(input.dtype)) + " cannot hold exactly",
                "stay between " + std::to_string(range.least) + " and " + std::to_string(range.most));
    }
    return value;
  };
  const int64_t least = bound("low", input.init.least), most = bound("high", input.init.most);
  if (least > most) {
    init.fail("low is " + std::to_string(least) + " and high is " + std::to_string(most) + " (" + point.name + ")",
              "low must not be above high; both are inclusive");
  }
}

// Rows of a permutation hold whole numbers up to their length, which the dtype must tell apart.
void check_permutation(const Tensor& input, const JsonView& view, const Point& point) {
  const JsonView columns = view.at("shape").items().back();
  const int64_t length = at_point(columns, point, [&](const Bindings& axes) { return input.shape.back().eval(axes); });
  const int64_t most = range_of(input.dtype).most;
  if (length - 1 <= most) return;
  columns.fail("rows of " + std::to_string(length) + " elements (" + point.name + ") have numbers which " +
                   std::string(core::name_of(input.dtype)) + " cannot hold exactly",
               "a permutation of this dtype has rows of at most " + std::to_string(most + 1));
}

void check_init(const Tensor& input, const JsonView& view, const Point& point) {
  const Init kind = input.init.kind;
  if (kind == Init::permutation) check_permutation(input, view, point);
  if (kind == Init::integers || input.init.bounded || (kind == Init::sorted && !core::is_floating(input.dtype))) {
    check_integer_bounds(input, view.at("init"), point);
  }
}

void check_counts(const Problem& problem, const JsonView& json, const Point& point) {
  const auto check = [&](const JsonView& view, const core::Expr& expr, int64_t least) {
    const int64_t value = at_point(view, point, [&](const Bindings& axes) { return expr.eval(axes); });
    if (value < least) {
      view.fail("is " + std::to_string(value) + " (" + point.name + ")",
                "it must be at least " + std::to_string(least));
    }
  };
  check(json.at("cost").at("flops"), problem.cost.flops, 0);
  check(json.at("cost").at("bytes_read"), problem.cost.bytes_read, 1);
  check(json.at("cost").at("bytes_written"), problem.cost.bytes_written, 1);
  if (problem.contract.sums) check(json.at("contract").at("sums"), *problem.contract.sums, 1);
}

void check_binding(const Problem& problem, const Workload& workload, const JsonView& axes) {
  const std::vector<std::string> known = problem.axis_names();
  for (const auto& [name, view] : axes.members()) {
    const auto axis = std::find_if(problem.axes.begin(), problem.axes.end(),
                                   [&name = name](const Axis& candidate) { return candidate.name == name; });
    if (axis == problem.axes.end()) view.fail("\"" + name + "\" is no axis", core::did_you_mean(name, known, "axes"));
    const int64_t value = workload.axes.at(name);
    if (axis->contains(value)) continue;
    view.fail(name + " is " + std::to_string(value) + ", outside its domain",
              axis->values.empty()
                  ? "take a multiple of " + std::to_string(axis->multiple_of) + " from " + std::to_string(axis->min) +
                        " to " + std::to_string(axis->max) + ", or widen the domain"
                  : "take " + axis->domain() + ", or add it to the axis's \"values\"");
  }
  for (const std::string& name : known) {
    if (!axes.has(name)) axes.fail("axis \"" + name + "\" is left out", "bind every axis of the problem");
  }
}
}  // namespace

void check_names_are_distinct(const Problem& problem, const JsonView& json) {
  std::map<std::string, std::string> taken;
  for (const Axis& axis : problem.axes) taken.emplace(axis.name, "axis");
  const auto take = [&](const auto& named, const char* field, const char* kind) {
    for (const auto& one : named) {
      const auto [first, inserted] = taken.emplace(one.name, kind);
      if (!inserted) {
        json.at(field).at(one.name).fail("there is already an " + first->second + " \"" + one.name + "\"",
                                         "rename one of them: launch plans use these names side by side");
      }
    }
  };
  take(problem.inputs, "inputs", "input");
  take(problem.outputs, "outputs", "output");
  take(problem.scalars, "scalars", "scalar");
}

namespace {
std::vector<std::string> shape_words(const Tensor& tensor) {
  std::vector<std::string> words;
  for (const core::Expr& extent : tensor.shape) words.push_back(extent.text());
  return words;
}

const Tensor& named(const std::vector<Tensor>& tensors, const std::string& name, const JsonView& view,
                    const std::string& kind) {
  std::vector<std::string> known;
  for (const Tensor& tensor : tensors) {
    if (tensor.name == name) return tensor;
    known.push_back(tensor.name);
  }
  view.fail("\"" + name + "\" is no " + kind, core::did_you_mean(name, known, kind + "s"));
}

// One index for each row of the input, or a row of them.
bool leads_into(const Tensor& output, const Tensor& input) {
  std::vector<std::string> places = shape_words(output), rows = shape_words(input);
  if (places.size() == rows.size()) places.pop_back();
  rows.pop_back();
  return places == rows;
}

void check_indices(const Problem& problem, const Tensor& output, const JsonView& view) {
  const OutputComparison& comparison = output.comparison;
  const JsonView into = view.at("indices_into");
  if (!leads_into(output, named(problem.inputs, comparison.into, into, "input"))) {
    into.fail("the shape of \"" + comparison.into + "\" does not fit",
              "indices of shape [M] or [M, K] lead into an input of shape [M, N]: places in its rows");
  }
  if (comparison.values.empty()) return;
  const Tensor& values = named(problem.outputs, comparison.values, view.at("values"), "output");
  if (shape_words(values) != shape_words(output)) {
    view.at("values").fail("\"" + values.name + "\" has another shape than \"" + output.name + "\"",
                           "each index belongs to the value at the same place");
  }
  if ((values.comparison.rule == OutputRule::any_order) != comparison.in_any_order) {
    view.fail("\"" + values.name + "\" and its indices do not agree about their order",
              R"(give the indices "any_order": true, and the values "compare": "any_order", or neither)");
  }
}
}  // namespace

void check_comparisons(const Problem& problem, const JsonView& json) {
  for (const Tensor& output : problem.outputs) {
    if (output.comparison.rule != OutputRule::indices) continue;
    check_indices(problem, output, json.at("outputs").at(output.name).at("compare"));
  }
}

void check_workloads(const Problem& problem, const JsonView& json) {
  const JsonView list = json.at("workloads");
  const std::vector<JsonView> items = list.items();
  for (size_t i = 0; i < problem.workloads.size(); ++i) {
    const Workload& workload = problem.workloads[i];
    for (size_t earlier = 0; earlier < i; ++earlier) {
      if (problem.workloads[earlier].name == workload.name) {
        items[i].at("name").fail("there is already a workload \"" + workload.name + "\"", "give each its own name");
      }
    }
    check_binding(problem, workload, items[i].at("axes"));
    for (const auto& [input, file] : workload.inputs) {
      named(problem.inputs, input, items[i].at("inputs").at(input), "input");
    }
  }
  for (const std::string& backend : backend_names()) {
    for (const Role role : {Role::test, Role::bench}) {
      const auto serves = [&](const Workload& w) { return w.role == role && w.runs_on(backend); };
      if (std::none_of(problem.workloads.begin(), problem.workloads.end(), serves)) {
        list.fail("no " + std::string(name_of(role)) + " workload is for \"" + backend + "\"",
                  "add one with \"role\": \"" + std::string(name_of(role)) + "\" and \"devices\": [\"" + backend +
                      "\"], or without \"devices\" to mean all");
      }
    }
  }
}

void check_expressions(const Problem& problem, const JsonView& json) {
  for (const Tensor& input : problem.inputs) {
    const JsonView view = json.at("inputs").at(input.name);
    if (input.init.is_triangular() && input.shape.size() < 2) {
      view.at("init").fail("a triangular input has rows and columns", "give it two dimensions or more");
    }
  }
  for (const Point& point : points_of(problem)) {
    const auto check_tensor = [&](const Tensor& tensor, const JsonView& view) {
      for (const JsonView& extent : view.at("shape").items()) {
        const int64_t value = at_point(extent, point, [&](const Bindings& axes) { return extent.expr().eval(axes); });
        if (value < 1) {
          extent.fail("is " + std::to_string(value) + " (" + point.name + ")", "every dimension must be at least 1");
        }
      }
      at_point(view.at("shape"), point, [&](const Bindings& axes) { return tensor.bytes(axes); });
    };
    for (const Tensor& input : problem.inputs) {
      const JsonView view = json.at("inputs").at(input.name);
      check_tensor(input, view);
      check_init(input, view, point);
    }
    for (const Tensor& output : problem.outputs) check_tensor(output, json.at("outputs").at(output.name));
    check_counts(problem, json, point);
  }
}

}  // namespace benchsuite

// Parses problem.json field by field. Checks across fields are in problem_checks.h.
#include <algorithm>
#include <cctype>

#include "benchsuite/backend.h"
#include "benchsuite/equivalents.h"
#include "benchsuite/problem.h"
#include "benchsuite/problem_checks.h"
#include "core/strict_json.h"
#include "core/suggest.h"

namespace benchsuite {
namespace {
using core::JsonView;

constexpr size_t kMaxAxes = 8, kMaxTensors = 64, kMaxDimensions = 8, kMaxWorkloads = 64, kMaxScalars = 16,
                 kMaxAxisValues = 64;

void limit_count(const JsonView& view, size_t least, size_t most, const std::string& what) {
  const size_t count = view.json().size();
  if (count < least || count > most) {
    view.fail("has " + std::to_string(count) + " " + what,
              "give between " + std::to_string(least) + " and " + std::to_string(most));
  }
}

// One line of text for people: not empty, no control characters.
std::string line_of_text(const JsonView& view) {
  std::string text = view.string();
  const auto control = [](unsigned char c) { return std::iscntrl(c) != 0; };
  if (text.empty()) view.fail("is empty", "use a few words");
  if (text.size() > 2000 || std::any_of(text.begin(), text.end(), control)) {
    view.fail("is not one line of at most 2000 characters", "remove line breaks and control characters");
  }
  return text;
}

// A member's key as a name that expressions and launch plans can use.
std::string member_name(const std::string& key, const JsonView& value) {
  const core::Json json = key;
  const std::string name = JsonView(json, value.file(), value.pointer()).identifier();
  if (name == "min" || name == "max" || name == "ceil_div") {
    value.fail("\"" + name + "\" is a function of expressions", "take another name");
  }
  return name;
}

core::DType parse_dtype(const JsonView& view) { return view.one_of<core::DType>("dtypes"); }

core::Expr parse_axis_expr(const JsonView& view, const std::vector<std::string>& axes) {
  core::Expr expr = view.expr();
  for (const std::string& name : expr.names()) {
    if (std::find(axes.begin(), axes.end(), name) == axes.end()) {
      view.fail("\"" + name + "\" is no axis", core::did_you_mean(name, axes, "axes"));
    }
  }
  return expr;
}

// Sizes are launch arguments, which have 32 bits.
int64_t parse_size(const JsonView& view) { return view.integer(1, INT32_MAX); }

void parse_values(const JsonView& view, Axis& axis) {
  limit_count(view, 1, kMaxAxisValues, "values");
  for (const JsonView& item : view.items()) {
    const int64_t size = parse_size(item);
    if (!axis.values.empty() && size <= axis.values.back()) {
      item.fail("does not ascend", "list the values from the least to the greatest, each once");
    }
    axis.values.push_back(size);
  }
  axis.min = axis.values.front();
  axis.max = axis.values.back();
}

void parse_range(const JsonView& view, Axis& axis) {
  if (view.has("multiple_of")) axis.multiple_of = parse_size(view.at("multiple_of"));
  axis.min = parse_size(view.at("min"));
  axis.max = parse_size(view.at("max"));
  for (const char* end : {"min", "max"}) {
    const int64_t value = view.at(end).integer();
    if (value % axis.multiple_of == 0) continue;
    const int64_t below = value / axis.multiple_of * axis.multiple_of;
    view.at(end).fail(
        "is " + std::to_string(value) + ", not a multiple of " + std::to_string(axis.multiple_of),
        "take " + (below == 0 ? "" : std::to_string(below) + " or ") + std::to_string(below + axis.multiple_of));
  }
  if (axis.min > axis.max) view.at("min").fail("is above max", "swap them");
}

std::vector<Axis> parse_axes(const JsonView& view) {
  std::vector<Axis> axes;
  for (const auto& [name, entry] : view.members()) {
    const bool listed = entry.json().is_object() && entry.has("values");
    if (listed) {
      for (const char* field : {"min", "max", "multiple_of"}) {
        if (entry.has(field)) entry.at(field).fail("stands beside \"values\"", "keep one: a list, or a range");
      }
      entry.expect_object({"description", "values"});
    } else {
      entry.expect_object({"description", "min", "max"}, {"multiple_of"});
    }
    Axis axis;
    axis.name = member_name(name, entry);
    axis.description = line_of_text(entry.at("description"));
    listed ? parse_values(entry.at("values"), axis) : parse_range(entry, axis);
    axes.push_back(std::move(axis));
  }
  limit_count(view, 1, kMaxAxes, "axes");
  return axes;
}

// The farthest from zero that an init may say: f8e4m3 ends at 448. Seven deviations must fit.
constexpr double most_bound(core::DType dtype) { return dtype == core::DType::f8e4m3 ? 448 : 1e4; }
constexpr double most_scale(core::DType dtype) {
  return dtype == core::DType::f8e4m3 ? 64 : dtype == core::DType::f8e5m2 ? 8192 : 1e4;
}

double parse_scale(const JsonView& view, core::DType dtype) {
  const double scale = view.number(), most = most_scale(dtype);
  if (!(scale > 0 && scale <= most)) {
    view.fail("is " + view.json().dump(),
              "take a number above 0 and at most " + std::to_string(static_cast<int64_t>(most)));
  }
  return scale;
}

double parse_largest(const JsonView& view, core::DType dtype) {
  constexpr double kLeast = 1e16;  // what adversarial draws reach by themselves
  const double largest = view.number();
  const char* end = dtype == core::DType::f16      ? "65504"
                    : dtype == core::DType::f8e4m3 ? "448"
                    : dtype == core::DType::f8e5m2 ? "57344"
                                                   : nullptr;
  if (end != nullptr) {
    view.fail("does not fit dtype " + std::string(core::name_of(dtype)),
              "its numbers end at " + std::string(end) + ": leave the field out");
  }
  if (!(largest >= kLeast && largest <= 1e38)) {
    view.fail("is " + view.json().dump(), "take a number from 1e16 to 1e38");
  }
  return largest;
}

void parse_bounds(const JsonView& view, InputInit& init, core::DType dtype) {
  init.low = view.at("low").number();
  init.high = view.at("high").number();
  if (!(init.low < init.high)) view.fail("low is not below high", "numbers are drawn from [low, high)");
  const double most = most_bound(dtype);
  if (!(init.low >= -most && init.high <= most)) {
    view.fail("low and high must be within " + std::to_string(static_cast<int64_t>(most)) + " of zero");
  }
}

bool fits(Init kind, core::DType dtype) {
  if (core::is_floating(dtype) || kind == Init::given) return true;
  if (dtype == core::DType::boolean) return kind == Init::integers || kind == Init::sorted;
  return kind == Init::integers || kind == Init::permutation || kind == Init::sorted;
}

InputInit parse_init(const JsonView& view, core::DType dtype, const std::vector<std::string>& axes) {
  InputInit init;
  init.kind = view.at("kind").one_of<Init>("kinds");
  if (!fits(init.kind, dtype)) {
    view.at("kind").fail(
        "\"" + std::string(name_of(init.kind)) + "\" does not fit dtype " + std::string(core::name_of(dtype)),
        dtype == core::DType::boolean ? R"(use {"kind": "integers", "low": 0, "high": 1})"
                                      : R"(use {"kind": "integers", "low": 0, "high": 9})");
  }
  switch (init.kind) {
    case Init::normal:
    case Init::triangular:
    case Init::upper_triangular:
      view.expect_object({"kind", "scale"}, {"largest"});
      init.scale = parse_scale(view.at("scale"), dtype);
      if (view.has("largest")) init.largest = parse_largest(view.at("largest"), dtype);
      return init;
    case Init::permutation:
    case Init::probabilities:
      view.expect_object({"kind"});
      return init;
    case Init::given:
      init.bounded = view.has("low") || view.has("high");
      if (!init.bounded) {
        view.expect_object({"kind"});
        return init;
      }
      if (core::is_floating(dtype)) view.fail("has bounds, which only integers can have", "leave low and high out");
      [[fallthrough]];
    default:
      view.expect_object({"kind", "low", "high"});
  }
  if (init.kind == Init::uniform || (init.kind == Init::sorted && core::is_floating(dtype))) {
    parse_bounds(view, init, dtype);
  } else {
    init.least = parse_axis_expr(view.at("low"), axes);
    init.most = parse_axis_expr(view.at("high"), axes);
  }
  return init;
}

// "any_order", or {"indices_into": "x", "values": "top", "any_order": true}.
OutputComparison parse_comparison(const JsonView& view, core::DType dtype) {
  OutputComparison comparison;
  if (view.json().is_object()) {
    view.expect_object({"indices_into"}, {"values", "any_order"});
    comparison = {OutputRule::indices, view.at("indices_into").identifier(),
                  view.has("values") ? view.at("values").identifier() : "",
                  view.has("any_order") && view.at("any_order").boolean()};
  } else {
    comparison.rule = view.one_of<OutputRule>("comparisons");
    if (comparison.rule == OutputRule::indices) {
      view.fail("does not say what the indices lead to", "name the input: {\"indices_into\": \"x\"}");
    }
  }
  const bool of_integers = comparison.rule == OutputRule::indices || comparison.rule == OutputRule::quanta;
  if (of_integers && (core::is_floating(dtype) || dtype == core::DType::boolean)) {
    view.fail("does not fit dtype " + std::string(core::name_of(dtype)), "indices and quanta are integers");
  }
  if (comparison.rule == OutputRule::between && dtype != core::DType::i64) {
    view.fail("does not fit dtype " + std::string(core::name_of(dtype)),
              "use i64: the reference holds two numbers of 32 bits in each element");
  }
  return comparison;
}

std::vector<Tensor> parse_tensors(const JsonView& view, bool input, const std::vector<std::string>& axes) {
  std::vector<Tensor> tensors;
  for (const auto& [name, entry] : view.members()) {
    std::vector<std::string> required{"dtype", "shape"};
    if (input) required.emplace_back("init");
    entry.expect_object(required, input ? std::vector<std::string>{} : std::vector<std::string>{"compare"});
    Tensor tensor{member_name(name, entry), parse_dtype(entry.at("dtype")), {}, {}};
    for (const JsonView& extent : entry.at("shape").items()) tensor.shape.push_back(parse_axis_expr(extent, axes));
    limit_count(entry.at("shape"), 1, kMaxDimensions, "dimensions");
    if (input) tensor.init = parse_init(entry.at("init"), tensor.dtype, axes);
    if (entry.has("compare")) tensor.comparison = parse_comparison(entry.at("compare"), tensor.dtype);
    tensors.push_back(std::move(tensor));
  }
  limit_count(view, 1, kMaxTensors, input ? "inputs" : "outputs");
  return tensors;
}

std::vector<NamedScalar> parse_scalars(const JsonView& view) {
  std::vector<NamedScalar> scalars;
  for (const auto& [name, entry] : view.members()) {
    entry.expect_object({"dtype", "value"});
    const std::string dtype = entry.at("dtype").one_of({"f32", "f64", "i32", "i64"}, "dtypes of scalars");
    scalars.push_back(
        {member_name(name, entry), core::scalar_at(entry.at("value"), *core::enum_from_name<core::DType>(dtype))});
  }
  limit_count(view, 1, kMaxScalars, "scalars");
  return scalars;
}

Contract parse_contract(const JsonView& view, const std::vector<std::string>& axes) {
  view.expect_object({"accumulate"}, {"tf32", "nan", "exact_integers", "sums"});
  Contract contract{};
  contract.accumulate = parse_dtype(view.at("accumulate"));
  if (contract.accumulate == core::DType::boolean) {
    view.at("accumulate")
        .fail("is bool, which holds no sums", "name the type of the sums, or i32 where there are none");
  }
  contract.tf32 = view.has("tf32") && view.at("tf32").boolean();
  contract.nan = view.has("nan") && view.at("nan").boolean();
  contract.exact_integers = view.has("exact_integers") && view.at("exact_integers").boolean();
  if (view.has("sums")) contract.sums = parse_axis_expr(view.at("sums"), axes);
  return contract;
}

std::vector<std::string> shape_of(const Tensor& tensor) {
  std::vector<std::string> shape;
  for (const core::Expr& size : tensor.shape) shape.push_back(size.text());
  return shape;
}

// Two inputs whose matrices meet along one axis: [M, K] and [K, N].
bool has_product(const std::vector<Tensor>& inputs) {
  for (const Tensor& left : inputs) {
    for (const Tensor& right : inputs) {
      const auto a = shape_of(left), b = shape_of(right);
      if (&left != &right && a.size() == 2 && b.size() == 2 && a[1] == b[0]) return true;
    }
  }
  return false;
}

// The kind of a problem that does not name one, by the shapes of its inputs and its first output.
ProblemKind kind_by_structure(const Problem& problem) {
  if (!problem.equivalents.gemm.empty() || has_product(problem.inputs)) return ProblemKind::gemm;
  const auto shape = shape_of(problem.outputs.front());
  const std::vector<std::string> reversed(shape.rbegin(), shape.rend());
  bool same = false, transposed = false, per_row = false;
  for (const Tensor& input : problem.inputs) {
    const auto of = shape_of(input);
    same |= of == shape;
    transposed |= shape.size() == 2 && of == reversed;
    per_row |= of.size() > shape.size() && std::equal(shape.begin(), shape.end(), of.begin());
  }
  if (transposed && !same) return ProblemKind::transpose;
  if (per_row || (same && shape.size() >= 2 && problem.contract.sums)) return ProblemKind::row_reduction;
  return same ? ProblemKind::elementwise : ProblemKind::reduction;
}

double parse_weight(const JsonView& view, Role role) {
  if (role != Role::bench) view.fail("belongs to a workload that is not timed", "only bench workloads have a weight");
  const double weight = view.number();
  if (!(weight >= 1e-6 && weight <= 1e9)) {
    view.fail("is " + view.json().dump(), "take a number above 0 (1e-6 to 1e9): how often the shape occurs");
  }
  return weight;
}

InputFile parse_input_file(const std::string& input, const JsonView& view) {
  view.expect_object({"file"}, {"tensor"});
  InputFile named{view.at("file").string(), view.has("tensor") ? view.at("tensor").string() : input};
  const auto plain = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.'; };
  if (!named.file.ends_with(".safetensors") || named.file.front() == '.' || named.file.size() > 200 ||
      !std::ranges::all_of(named.file, plain)) {
    view.at("file").fail("\"" + named.file + "\" is not the name of a data file",
                         "put a .safetensors file into the problem's folder and name it without a path: letters, "
                         "digits, '_', '-' and '.'");
  }
  return named;
}

Workload parse_workload(const JsonView& view) {
  view.expect_object({"name", "role", "axes"}, {"devices", "weight", "inputs"});
  Workload workload;
  workload.name = view.at("name").string();
  const auto plain = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.'; };
  if (workload.name.empty() || workload.name.size() > 64 ||
      !std::all_of(workload.name.begin(), workload.name.end(), plain)) {
    view.at("name").fail("\"" + workload.name + "\" is not a valid workload name",
                         "use letters, digits, '_', '-' and '.', at most 64");
  }
  workload.role = view.at("role").one_of<Role>("roles");
  for (const auto& [name, value] : view.at("axes").members()) workload.axes[name] = value.integer(1, INT32_MAX);
  if (view.has("weight")) workload.weight = parse_weight(view.at("weight"), workload.role);
  if (view.has("inputs")) {
    for (const auto& [input, file] : view.at("inputs").members()) {
      workload.inputs.emplace(input, parse_input_file(input, file));
    }
  }
  if (!view.has("devices")) return workload;
  for (const JsonView& device : view.at("devices").items()) {
    workload.devices.push_back(device.one_of(backend_names(), "backends"));
  }
  if (workload.devices.empty()) view.at("devices").fail("is empty", "leave \"devices\" out to mean all");
  return workload;
}
}  // namespace

Problem parse_problem(std::string_view json_text, const std::string& file) {
  const core::Json json = core::parse_json(json_text, file);
  const JsonView view(json, file);
  view.expect_object({"name", "title", "description", "axes", "inputs", "outputs", "contract", "cost", "workloads"},
                     {"kind", "equivalents", "scalars"});
  Problem problem;
  problem.name = view.at("name").identifier();
  problem.title = line_of_text(view.at("title"));
  problem.description = line_of_text(view.at("description"));
  problem.axes = parse_axes(view.at("axes"));
  const std::vector<std::string> axes = problem.axis_names();
  problem.inputs = parse_tensors(view.at("inputs"), true, axes);
  problem.outputs = parse_tensors(view.at("outputs"), false, axes);
  if (const size_t count = problem.inputs.size() + problem.outputs.size(); count > kMaxTensors) {
    view.at("inputs").fail("has " + std::to_string(problem.inputs.size()) + " tensors beside " +
                               std::to_string(problem.outputs.size()) + " outputs",
                           "a problem has at most " + std::to_string(kMaxTensors) + " tensors: join some of them");
  }
  if (view.has("scalars")) problem.scalars = parse_scalars(view.at("scalars"));
  problem.contract = parse_contract(view.at("contract"), axes);
  const JsonView cost = view.at("cost");
  cost.expect_object({"flops", "bytes_read", "bytes_written"});
  problem.cost = {parse_axis_expr(cost.at("flops"), axes), parse_axis_expr(cost.at("bytes_read"), axes),
                  parse_axis_expr(cost.at("bytes_written"), axes)};
  for (const JsonView& workload : view.at("workloads").items()) problem.workloads.push_back(parse_workload(workload));
  limit_count(view.at("workloads"), 1, kMaxWorkloads, "workloads");
  problem.json_text = json_text;
  check_names_are_distinct(problem, view);
  check_comparisons(problem, view);
  check_workloads(problem, view);
  check_expressions(problem, view);
  if (view.has("equivalents")) problem.equivalents = parse_equivalents(view.at("equivalents"), problem);
  problem.kind = view.has("kind") ? view.at("kind").one_of<ProblemKind>("kinds") : kind_by_structure(problem);
  return problem;
}

}  // namespace benchsuite

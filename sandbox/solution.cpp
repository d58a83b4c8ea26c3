#include "sandbox/solution.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "benchsuite/backend.h"
#include "benchsuite/shared_headers.h"
#include "core/error.h"
#include "core/hash.h"
#include "core/suggest.h"
#include "core/text.h"
#include "sandbox/tokens.h"

namespace sandbox {
namespace {
using core::InputError;
using core::JsonView;

constexpr std::string_view kOpening = "/* kernelwright";
constexpr size_t kMaxSourceBytes = size_t{1} << 20;
constexpr size_t kMaxTunables = 16, kMaxValues = 64, kMaxLaunches = 128, kMaxWorkspaces = 64, kMaxArgs = 128,
                 kMaxTensorMaps = 16, kMaxDescription = 1000;

// The header's JSON text, preceded by the same number of newlines as in the file, so that JSON errors name lines of the
// file.
std::string cut_header(const std::string& source, const std::string& file) {
  const std::string remedy =
      "begin the file with \"/* kernelwright\", a JSON object with the launch plan, and \"*/\"; "
      "docs/solution-format.md shows one";
  const size_t begin = source.find_first_not_of(" \t\r\n");
  if (begin == std::string::npos) throw InputError(file, "is empty", remedy);
  if (source.compare(begin, kOpening.size(), kOpening) != 0) {
    throw InputError(file, "has no kernelwright header", remedy);
  }
  const size_t json_begin = begin + kOpening.size();
  const size_t end = source.find("*/", json_begin);
  if (end == std::string::npos) throw InputError(file, "the header comment is never closed", "close it with \"*/\"");
  const auto lines = std::count(source.begin(), source.begin() + static_cast<std::ptrdiff_t>(json_begin), '\n');
  return std::string(static_cast<size_t>(lines), '\n') + source.substr(json_begin, end - json_begin);
}

bool is_macro_name(const std::string& name) {
  const auto fits = [](unsigned char c) { return std::isupper(c) || std::isdigit(c) || c == '_'; };
  return !name.empty() && name.size() <= 32 && std::isupper(static_cast<unsigned char>(name[0])) &&
         std::ranges::all_of(name, fits);
}

void limit_count(const JsonView& view, size_t most) {
  if (view.json().size() > most)
    view.fail("has " + std::to_string(view.json().size()) + " entries; at most " + std::to_string(most) +
              " are allowed");
}

void require_identifier(const std::string& name, const JsonView& entry) {
  const core::Json json = name;
  JsonView(json, entry.file(), entry.pointer()).identifier();
}

std::string parse_description(const JsonView& view) {
  std::string text = view.string();
  if (text.size() > kMaxDescription) {
    view.fail(
        "has " + std::to_string(text.size()) + " bytes; at most " + std::to_string(kMaxDescription) + " are allowed",
        "write one line; the rest can be a comment");
  }
  return text;
}

std::vector<Tunable> parse_tunables(const JsonView& view) {
  limit_count(view, kMaxTunables);
  std::vector<Tunable> tunables;
  for (const auto& [name, values] : view.members()) {
    if (!is_macro_name(name)) {
      values.fail("\"" + name + "\" cannot be a tunable", "tunables are macros: capitals, digits and '_', at most 32");
    }
    if (name.size() == 1) {
      values.fail(
          "\"" + name + "\" cannot be a tunable",
          "take a name of two or more letters: CUDA's own headers use single letters, which the macro would replace");
    }
    if (is_taken_macro(name)) {
      values.fail(
          "\"" + name + "\" cannot be a tunable",
          "take another name: device headers or compilers define this one, or may, and the macro would replace it");
    }
    limit_count(values, kMaxValues);
    Tunable tunable{name, {}};
    for (const JsonView& value : values.items()) {
      const int64_t number = value.integer(-(int64_t{1} << 31), (int64_t{1} << 31) - 1);
      if (std::ranges::count(tunable.values, number)) value.fail("this value occurs twice");
      tunable.values.push_back(number);
    }
    if (tunable.values.empty()) values.fail("a tunable needs at least one value");
    tunables.push_back(std::move(tunable));
  }
  return tunables;
}

std::array<core::Expr, 3> parse_extent(const JsonView& view) {
  const std::vector<JsonView> items = view.items();
  if (items.empty() || items.size() > 3) view.fail("must have one to three entries: x, y, z");
  std::array<core::Expr, 3> extent{core::Expr::constant(1), core::Expr::constant(1), core::Expr::constant(1)};
  for (size_t i = 0; i < items.size(); ++i) extent[i] = items[i].expr();
  return extent;
}

Launch parse_launch(const JsonView& view) {
  if (view.has("tensor_maps")) view.fail("has tensor maps of its own", "put \"tensor_maps\" beside \"launches\"");
  view.expect_object({"kernel", "grid", "block", "args"},
                     {"shared_bytes", "cluster", "cooperative", "overlaps_previous", "when"});
  Launch launch;
  launch.kernel = view.at("kernel").identifier();
  launch.grid = parse_extent(view.at("grid"));
  launch.block = parse_extent(view.at("block"));
  launch.shared_bytes = view.has("shared_bytes") ? view.at("shared_bytes").expr() : core::Expr::constant(0);
  launch.cluster.fill(core::Expr::constant(1));
  if (view.has("cluster")) launch.cluster = parse_extent(view.at("cluster"));
  launch.cooperative = view.has("cooperative") && view.at("cooperative").boolean();
  launch.overlaps_previous = view.has("overlaps_previous") && view.at("overlaps_previous").boolean();
  if (view.has("when")) launch.when = view.at("when").expr();
  limit_count(view.at("args"), kMaxArgs);
  for (const JsonView& arg : view.at("args").items()) {
    arg.expr();  // a name is an expression too
    launch.args.push_back(arg.json().is_string() ? arg.string() : std::to_string(arg.integer()));
  }
  return launch;
}

std::vector<Launch> parse_launches(const JsonView& view) {
  limit_count(view, kMaxLaunches);
  std::vector<Launch> launches;
  for (const JsonView& launch : view.items()) launches.push_back(parse_launch(launch));
  if (launches.empty()) view.fail("a solution needs at least one launch");
  if (launches[0].overlaps_previous) {
    view.items()[0].at("overlaps_previous").fail("there is no launch before the first one", "leave the field out");
  }
  return launches;
}

Solution parse_plan(const core::Json& json, const std::string& file) {
  const JsonView view(json, file);
  view.expect_object({"problem", "launches"},
                     {"backends", "arch", "description", "tunables", "constraints", "workspace", "tensor_maps"});
  Solution solution;
  solution.file = file;
  solution.problem = view.at("problem").identifier();
  solution.backends = benchsuite::backend_names();
  if (view.has("backends")) {
    solution.backends.clear();
    for (const JsonView& backend : view.at("backends").items()) {
      solution.backends.push_back(backend.one_of(benchsuite::backend_names(), "backends"));
    }
    if (solution.backends.empty()) view.at("backends").fail("names no backend", "leave the field out to allow all");
  }
  if (view.has("arch")) {
    solution.arch = view.at("arch").one_of(
        {"sm_80", "sm_86", "sm_89", "sm_90", "sm_90a", "sm_100", "sm_100a", "sm_120"}, "architectures");
  }
  if (view.has("description")) solution.description = parse_description(view.at("description"));
  if (view.has("tunables")) solution.tunables = parse_tunables(view.at("tunables"));
  if (view.has("constraints")) {
    limit_count(view.at("constraints"), kMaxLaunches);
    std::vector<std::string> known;
    for (const Tunable& tunable : solution.tunables) known.push_back(tunable.name);
    for (const JsonView& constraint : view.at("constraints").items()) {
      solution.constraints.push_back(constraint.expr());
      for (const std::string& name : solution.constraints.back().names()) {
        if (!std::ranges::count(known, name)) {
          constraint.fail("\"" + name + "\" is not a tunable", core::did_you_mean(name, known, "tunables"));
        }
      }
    }
  }
  if (view.has("workspace")) {
    limit_count(view.at("workspace"), kMaxWorkspaces);
    for (const auto& [name, entry] : view.at("workspace").members()) {
      require_identifier(name, entry);
      entry.expect_object({"bytes"}, {"zeroed"});
      solution.workspaces.push_back(
          {name, entry.at("bytes").expr(), entry.has("zeroed") && entry.at("zeroed").boolean()});
    }
  }
  if (view.has("tensor_maps")) {
    limit_count(view.at("tensor_maps"), kMaxTensorMaps);
    for (const auto& [name, entry] : view.at("tensor_maps").members()) {
      require_identifier(name, entry);
      solution.tensor_maps.push_back(parse_tensor_map(name, entry));
    }
  }
  solution.launches = parse_launches(view.at("launches"));
  if (!satisfies_constraints(solution, default_binding(solution))) {
    view.at("tunables")
        .fail("the first value of each tunable is the default point, and it breaks a constraint",
              "put values that satisfy every constraint first");
  }
  return solution;
}

bool has_word(const std::string& text, const std::string& word) {
  const auto inside = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    const bool begins = at == 0 || !inside(text[at - 1]);
    const bool ends = at + word.size() >= text.size() || !inside(text[at + word.size()]);
    if (begins && ends) return true;
  }
  return false;
}

// The names that the plan may use.
struct Scope {
  std::vector<std::string> axes, tunables, tensors, scalars, workspaces, tensor_maps;

  std::vector<std::string> numbers() const {
    std::vector<std::string> all = axes;
    all.insert(all.end(), tunables.begin(), tunables.end());
    return all;
  }
  std::vector<std::string> buffers() const {
    std::vector<std::string> all = tensors;
    all.insert(all.end(), workspaces.begin(), workspaces.end());
    return all;
  }
};

Scope scope_of(const Solution& solution, const benchsuite::Problem& problem) {
  Scope scope;
  scope.axes = problem.axis_names();
  for (const auto& tensor : problem.inputs) scope.tensors.push_back(tensor.name);
  for (const auto& tensor : problem.outputs) scope.tensors.push_back(tensor.name);
  std::set<std::string> taken(scope.axes.begin(), scope.axes.end());
  taken.insert(scope.tensors.begin(), scope.tensors.end());
  for (const auto& scalar : problem.scalars) scope.scalars.push_back(scalar.name);
  taken.insert(scope.scalars.begin(), scope.scalars.end());
  const auto take = [&](const std::string& name, const char* kind) {
    if (!taken.insert(name).second) {
      throw InputError(solution.file, std::string(kind) + " \"" + name + "\" is already the name of something else",
                       "rename it");
    }
  };
  for (const Tunable& tunable : solution.tunables) {
    take(tunable.name, "tunable");
    scope.tunables.push_back(tunable.name);
  }
  for (const Workspace& workspace : solution.workspaces) {
    take(workspace.name, "workspace");
    scope.workspaces.push_back(workspace.name);
  }
  for (const TensorMap& map : solution.tensor_maps) {
    take(map.name, "tensor map");
    scope.tensor_maps.push_back(map.name);
  }
  return scope;
}

void check_names(const core::Expr& expr, const Scope& scope, const std::string& where) {
  const std::vector<std::string> known = scope.numbers();
  for (const std::string& name : expr.names()) {
    if (!std::ranges::count(known, name)) {
      throw InputError(where, "\"" + name + "\" is neither an axis nor a tunable",
                       core::did_you_mean(name, known, "axes and tunables"));
    }
  }
}

void check_arg(const std::string& arg, const Scope& scope, const std::string& where) {
  std::vector<std::string> passed = scope.buffers();
  passed.insert(passed.end(), scope.tensor_maps.begin(), scope.tensor_maps.end());
  passed.insert(passed.end(), scope.scalars.begin(), scope.scalars.end());
  if (std::ranges::count(passed, arg)) return;
  std::vector<std::string> all = scope.numbers();
  const std::vector<std::string> numbers = all;
  all.insert(all.end(), passed.begin(), passed.end());
  for (const std::string& name : core::Expr::parse(arg).names()) {
    if (std::ranges::count(scope.scalars, name)) {
      throw InputError(where, "the scalar \"" + name + "\" stands in an expression",
                       "pass \"" + name + "\" by itself, and compute with it in the kernel");
    }
    if (!std::ranges::count(numbers, name)) {
      throw InputError(where,
                       "argument \"" + name + "\" is not a tensor, workspace, tensor map, scalar, axis or tunable",
                       core::did_you_mean(name, all, "arguments"));
    }
  }
}

void check_tensor_map(const TensorMap& map, const Scope& scope, const std::string& where) {
  const std::vector<std::string> buffers = scope.buffers();
  if (!std::ranges::count(buffers, map.buffer)) {
    throw InputError(where + "/tensor", "\"" + map.buffer + "\" is neither a tensor nor a workspace",
                     core::did_you_mean(map.buffer, buffers, "tensors and workspaces"));
  }
  for (const core::Expr* expr : map.expressions()) check_names(*expr, scope, where);
}

// True if a launch takes the tensor, directly or through a tensor map.
bool passes(const Solution& solution, const Launch& launch, const std::string& tensor) {
  const auto names_it = [&](const std::string& arg) {
    const auto maps_it = [&](const TensorMap& map) { return map.name == arg && map.buffer == tensor; };
    return arg == tensor || std::ranges::any_of(solution.tensor_maps, maps_it);
  };
  return std::ranges::any_of(launch.args, names_it);
}

}  // namespace

std::string Solution::hash() const { return core::sha256_hex(source); }

Solution parse_header(const std::string& header_json, const std::string& file) {
  const core::Json json = core::parse_json(header_json, file);
  Solution solution = parse_plan(json, file);
  solution.header = header_json;
  return solution;
}

Solution parse_solution(std::string source, const std::string& file) {
  if (source.size() > kMaxSourceBytes)
    throw InputError(file, "is larger than 1 MiB", "a kernel this large is not judged");
  if (source.find('\0') != std::string::npos) throw InputError(file, "holds a zero byte", "save it as plain text");
  source = benchsuite::with_shared_headers(source, file);
  Solution solution = parse_header(cut_header(source, file), file);
  for (size_t i = 0; i < solution.launches.size(); ++i) {
    if (!has_word(source.substr(source.find("*/")), solution.launches[i].kernel)) {
      throw InputError(file + "#/launches/" + std::to_string(i) + "/kernel",
                       "the source defines no \"" + solution.launches[i].kernel + "\"",
                       "name an extern \"C\" __global__ function of this file");
    }
  }
  solution.source = std::move(source);
  return solution;
}

Solution load_solution(const std::filesystem::path& file) {
  return parse_solution(core::read_file(file, kMaxSourceBytes + 1), file.string());
}

Solution own_solution(const benchsuite::Problem& problem, std::string_view file) {
  const std::string place = problem.place_of(file).string();
  const auto text = problem.files.find(file);
  if (text == problem.files.end()) throw InputError(place, "is missing");
  return parse_solution(text->second, place);
}

void validate_solution(const Solution& solution, const benchsuite::Problem& problem) {
  const Scope scope = scope_of(solution, problem);
  for (size_t i = 0; i < solution.workspaces.size(); ++i) {
    check_names(solution.workspaces[i].bytes, scope, solution.file + "#/workspace/" + solution.workspaces[i].name);
  }
  for (const TensorMap& map : solution.tensor_maps) {
    check_tensor_map(map, scope, solution.file + "#/tensor_maps/" + map.name);
  }
  for (size_t i = 0; i < solution.launches.size(); ++i) {
    const Launch& launch = solution.launches[i];
    const std::string where = solution.file + "#/launches/" + std::to_string(i);
    for (const core::Expr& expr : launch.grid) check_names(expr, scope, where + "/grid");
    for (const core::Expr& expr : launch.block) check_names(expr, scope, where + "/block");
    for (const core::Expr& expr : launch.cluster) check_names(expr, scope, where + "/cluster");
    check_names(launch.shared_bytes, scope, where + "/shared_bytes");
    check_names(launch.when, scope, where + "/when");
    for (size_t a = 0; a < launch.args.size(); ++a) {
      check_arg(launch.args[a], scope, where + "/args/" + std::to_string(a));
    }
  }
  for (const benchsuite::Tensor& output : problem.outputs) {
    const auto passed = [&](const Launch& launch) { return passes(solution, launch, output.name); };
    if (std::ranges::none_of(solution.launches, passed)) {
      throw InputError(solution.file, "no launch takes the output \"" + output.name + "\"", "pass it in \"args\"");
    }
  }
  for (const benchsuite::Workload& workload : problem.workloads) {
    try {
      bind_plan(solution, default_binding(solution), workload.axes, &problem);
    } catch (const InputError& error) {
      throw InputError(error.where(), error.problem() + " (workload " + workload.name + ")", error.remedy());
    }
  }
}

TunableBinding default_binding(const Solution& solution) {
  TunableBinding binding;
  for (const Tunable& tunable : solution.tunables) binding[tunable.name] = tunable.values.front();
  return binding;
}

bool satisfies_constraints(const Solution& solution, const TunableBinding& binding) {
  const auto holds = [&](const core::Expr& constraint) {
    try {
      return constraint.eval(binding) != 0;
    } catch (const core::ExprError& error) {
      throw InputError(solution.file + "#/constraints", error.what(), "constraints must have a value at every point");
    }
  };
  return std::ranges::all_of(solution.constraints, holds);
}

std::string describe(const TunableBinding& binding) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : binding) parts.push_back(name + "=" + std::to_string(value));
  return core::join(parts, " ");
}

}  // namespace sandbox

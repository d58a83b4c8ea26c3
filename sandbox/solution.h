// A solution: one .cu file with its launch plan in the header comment. A candidate: a solution with its tunables bound.
//
// The header is a comment that opens with "/* kernelwright" and holds one JSON object. docs/solution-format.md shows
// every field.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "benchsuite/problem.h"
#include "core/expr.h"
#include "core/scalar.h"
#include "core/strict_json.h"
#include "sandbox/tensor_map.h"

namespace sandbox {

struct Tunable {
  std::string name;             // reaches the source as a macro
  std::vector<int64_t> values;  // distinct; the first is the default
};

struct Workspace {
  std::string name;
  core::Expr bytes;     // over axes and tunables
  bool zeroed = false;  // cleared (and timed) before each launch sequence; otherwise undefined
};

struct Launch {
  std::string kernel;  // an extern "C" __global__ function of the source
  std::array<core::Expr, 3> grid, block;
  std::array<core::Expr, 3> cluster;  // 1, 1, 1 if the header has none
  core::Expr shared_bytes;
  bool cooperative = false;        // all blocks are resident at once and may wait for each other
  bool overlaps_previous = false;  // programmatic dependent launch: may begin before the previous launch has ended
  core::Expr when = core::Expr::constant(1);  // zero: it is left out at this shape
  // Names of tensors, workspaces, tensor maps or the problem's scalars, or integer expressions (32-bit int).
  std::vector<std::string> args;

  bool is_conditional() const { return when.text() != "1"; }
};

struct Solution {
  std::string file;     // the file's name, for messages
  std::string problem;  // the problem's name
  std::vector<std::string> backends;
  std::string arch;         // least CUDA architecture, "sm_80"; "" means any
  std::string description;  // optional, one line
  std::vector<Tunable> tunables;
  std::vector<core::Expr> constraints;  // each must be non-zero for a point to be valid
  std::vector<Workspace> workspaces;
  std::vector<TensorMap> tensor_maps;
  std::vector<Launch> launches;
  std::string source;  // the whole file with its header comment, and shared headers in their places
  std::string header;  // the header's JSON text: the plan, without any device code

  std::string hash() const;  // of the source text
};

inline constexpr int64_t kMostWorkspaceBytes = int64_t{4} << 30;  // of one workspace, on any device

using TunableBinding = core::Bindings;  // tunable name -> value

// Puts shared headers in their places and parses the header comment. Throws core::InputError with file, JSON pointer
// and remedy.
Solution parse_solution(std::string source, const std::string& file);
// The same from a header's JSON text alone (the judge never sees device code); `source` stays empty.
Solution parse_header(const std::string& header_json, const std::string& file);
Solution load_solution(const std::filesystem::path& file);
// One of a problem's own solutions: benchsuite::kReferenceFile or kNaiveFile.
Solution own_solution(const benchsuite::Problem& problem, std::string_view file);
// Checks the plan against its problem: names, arguments, the default binding at every workload of its backends.
void validate_solution(const Solution& solution, const benchsuite::Problem& problem);

TunableBinding default_binding(const Solution& solution);
bool satisfies_constraints(const Solution& solution, const TunableBinding& binding);
// "BLOCK=256 VEC=4", in order of name; "" if there are none.
std::string describe(const TunableBinding& binding);

// One argument of one launch, resolved.
struct BufferArg {
  std::string name;  // of a tensor or workspace
};
struct ScalarArg {
  core::Scalar value;
};
struct TensorMapArg {
  std::string name;  // of LaunchPlan::tensor_maps
};
using PlanArg = std::variant<BufferArg, ScalarArg, TensorMapArg>;

struct PlannedLaunch {
  std::string kernel;
  std::array<int64_t, 3> grid, block;
  int64_t shared_bytes = 0;
  std::vector<PlanArg> args;
  std::array<int64_t, 3> cluster{1, 1, 1};  // blocks; the grid is a multiple of it
  bool cooperative = false, overlaps_previous = false;
  size_t place = 0;  // among the solution's launches, of which some may be left out; not sent to workers

  bool clustered() const { return cluster != std::array<int64_t, 3>{1, 1, 1}; }
};
struct PlannedWorkspace {
  std::string name;
  int64_t bytes = 0;
  bool zeroed = false;
};
// A launch plan with every expression evaluated for one shape and one binding.
struct LaunchPlan {
  std::vector<PlannedWorkspace> workspaces;
  std::vector<PlannedLaunch> launches;
  std::vector<PlannedTensorMap> tensor_maps;
};

// Throws core::InputError when an expression fails or exceeds a limit of every device (block over 1024 threads, cluster
// over 16 blocks, grid dimensions below 1, workspace over 4 GiB, a tensor map that cannot be encoded, no launch at
// all). Launches whose `when` is zero are left out, and not evaluated any further. `problem` gives
// the problem's scalars, and the dtype and shape of mapped tensors; without it no plan may name either.
LaunchPlan bind_plan(const Solution& solution, const TunableBinding& binding, const core::Bindings& axes,
                     const benchsuite::Problem* problem = nullptr);

}  // namespace sandbox

// How far a device gets with a plan: what it launches at a shape, and nearer shapes for more than is affordable.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "benchsuite/problem.h"
#include "sandbox/solution.h"
#include "verifier/statistics/keys.h"

namespace verifier::draws {

// A solution at a point.
struct Plan {
  const sandbox::Solution& solution;
  const sandbox::TunableBinding& binding;
};

// Threads that the plan launches at a shape; 0 where it cannot be bound, which is said when it is launched.
int64_t threads_of(const Plan& plan, const benchsuite::Problem& problem, const core::Bindings& axes);

// Of the launch that has the most; 0 where the plan cannot be bound.
int64_t most_blocks(const Plan& plan, const benchsuite::Problem& problem, const core::Bindings& axes);

// The shape, or one nearer at which the plan launches no more threads. `share`: of the largest axis, that is left at
// each step. A persistent grid has as many threads at every shape, which are then no reason for a nearer one.
core::Bindings within_reach(const Plan& plan, const benchsuite::Problem& problem, const core::Bindings& axes,
                            int64_t most_threads, double share = 0.75);

// The shape, or one nearer at which its tensors fit into so many bytes of the device together with what they are
// compared with: a second output of each kind and a reference in double. nullopt where no nearer shape does.
std::optional<core::Bindings> within_memory(const benchsuite::Problem& problem, const core::Bindings& axes,
                                            int64_t most_bytes);

// Whether so many threads or more are launched and half of the largest axis has as many.
bool has_persistent_grid(const Plan& plan, const benchsuite::Problem& problem, const core::Bindings& axes,
                         int64_t least_threads);

// For each launch whose grid stops growing along an axis, a shape for each such axis, the two smallest at most, at
// which its blocks come round, up to four times: what they leave in shared memory for the next round is seen there. The
// other axes are short or middling. `most_threads`: of the plan, each counted as often as it comes round.
std::vector<core::Bindings> shapes_of_rounds(const Plan& plan, const benchsuite::Problem& problem,
                                             int64_t most_elements, int64_t most_flops, int64_t most_threads,
                                             statistics::Keys& keys);

// For each launch whose blocks share the elements of the largest tensor evenly, shapes that have up to seven elements
// more than whole blocks take: a grid that divides by a vector's length before it rounds up leaves them out.
std::vector<core::Bindings> shapes_beyond_whole_blocks(const Plan& plan, const benchsuite::Problem& problem,
                                                       int64_t most_elements, int64_t most_flops,
                                                       statistics::Keys& keys);

// For each two axes along which a launch's grid grows, shapes with few blocks along one and many along the other, an
// odd number: an order of blocks that goes by bands or groups loses some where the last band is not whole. The other
// axes are as short as they may be.
std::vector<core::Bindings> shapes_of_grids(const Plan& plan, const benchsuite::Problem& problem, int64_t most_elements,
                                            int64_t most_flops, statistics::Keys& keys);

// Whether the device lends what the plan asks for at a shape. A workspace of more than some copies of the tensors has
// no such excuse.
bool lends_enough(const Plan& plan, const benchsuite::Problem& problem, const core::Bindings& axes,
                  int64_t most_workspace_bytes);

}  // namespace verifier::draws

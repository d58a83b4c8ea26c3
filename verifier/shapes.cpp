#include "verifier/shapes.h"

#include <algorithm>

namespace verifier {
namespace {
constexpr int64_t kAwkward[] = {1,   2,   3,   7,   13,  31,  32,  33,   61,   63,   64,   65,   97,   127,  128,
                                129, 251, 255, 257, 509, 513, 769, 1021, 1025, 2047, 2049, 4093, 8191, 16381};

int64_t draw_axis(const benchsuite::Axis& axis, Keys& keys) {
  // Half the time an awkward value, half the time any small one; both moved into the domain.
  const int64_t wanted =
      keys.coin() ? kAwkward[keys.below(std::size(kAwkward))] : 1 + static_cast<int64_t>(keys.below(700));
  const int64_t unit = axis.multiple_of;
  const int64_t rounded = (std::clamp(wanted, axis.min, axis.max) + unit - 1) / unit * unit;
  return std::clamp(rounded, axis.min, axis.max);
}

bool small_enough(const benchsuite::Problem& problem, const core::Bindings& axes, int64_t most_elements,
                  int64_t most_flops) {
  try {
    for (const auto* tensors : {&problem.inputs, &problem.outputs}) {
      for (const benchsuite::Tensor& tensor : *tensors) {
        const int64_t elements = tensor.elements(axes);
        if (elements < 1 || elements > most_elements) return false;
      }
    }
    return problem.cost.flops.eval(axes) <= most_flops;
  } catch (const core::ExprError&) {
    return false;
  }
}
}  // namespace

std::vector<core::Bindings> draw_unseen_shapes(const benchsuite::Problem& problem, int count, int64_t most_elements,
                                               int64_t most_flops, Keys& keys) {
  std::vector<core::Bindings> shapes;
  constexpr int kTries = 400;
  for (int i = 0; i < kTries && static_cast<int>(shapes.size()) < count; ++i) {
    core::Bindings axes;
    for (const benchsuite::Axis& axis : problem.axes) axes[axis.name] = draw_axis(axis, keys);
    const auto listed = [&](const benchsuite::Workload& workload) { return workload.axes == axes; };
    if (!small_enough(problem, axes, most_elements, most_flops) || std::count(shapes.begin(), shapes.end(), axes) > 0 ||
        std::any_of(problem.workloads.begin(), problem.workloads.end(), listed)) {
      continue;
    }
    shapes.push_back(std::move(axes));
  }
  return shapes;
}

}  // namespace verifier

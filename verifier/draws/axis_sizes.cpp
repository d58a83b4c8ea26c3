#include "verifier/draws/axis_sizes.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace verifier::draws {
namespace {
constexpr int64_t kLeastSizes = 8;           // that a free axis has
constexpr int64_t kMostReachable = 1 << 24;  // elements of a tensor: no device is too small for them

// A limit that leaves sizes to draw where a problem's smallest shape reaches it: weights of 4096 x 4096 may be fixed.
int64_t reachable(int64_t limit, int64_t at_least, int64_t most) {
  return std::max({limit, at_least, at_least > most / kLeastSizes ? 0 : kLeastSizes * at_least});
}
}  // namespace

int64_t into_domain(const benchsuite::Axis& axis, int64_t wanted) {
  if (!axis.values.empty()) return axis.at_most(wanted);
  const int64_t unit = axis.multiple_of;
  const int64_t rounded = (std::clamp(wanted, axis.min, axis.max) + unit - 1) / unit * unit;
  return std::clamp(rounded, axis.min, axis.max);
}

int64_t one_of(const std::vector<int64_t>& values, statistics::Keys& keys) { return values[keys.below(values.size())]; }

int64_t draw_between(int64_t least, int64_t most, statistics::Keys& keys) {
  const double share = static_cast<double>(keys.below(1 << 20)) / (1 << 20);
  const auto low = static_cast<double>(least), high = static_cast<double>(most);
  return static_cast<int64_t>(low * std::pow(high / low, share));
}

int64_t draw_between(const benchsuite::Axis& axis, int64_t least, int64_t most, statistics::Keys& keys) {
  if (axis.values.empty()) return into_domain(axis, draw_between(least, most, keys));
  std::vector<int64_t> between;
  std::ranges::copy_if(axis.values, std::back_inserter(between), [&](int64_t v) { return v >= least && v <= most; });
  return one_of(between, keys);
}

bool small_enough(const benchsuite::Problem& problem, const core::Bindings& axes, int64_t most_elements,
                  int64_t most_flops) {
  core::Bindings least;
  for (const benchsuite::Axis& axis : problem.axes) least[axis.name] = axis.min;
  try {
    for (const auto* tensors : {&problem.inputs, &problem.outputs}) {
      for (const benchsuite::Tensor& tensor : *tensors) {
        const int64_t elements = tensor.elements(axes);
        if (elements < 1 || elements > reachable(most_elements, tensor.elements(least), kMostReachable)) return false;
      }
    }
    return problem.cost.flops.eval(axes) <= reachable(most_flops, problem.cost.flops.eval(least), INT64_MAX);
  } catch (const core::ExprError&) {
    return false;
  }
}

int64_t largest_tensor(const benchsuite::Problem& problem, const core::Bindings& axes) {
  int64_t most = 0;
  for (const auto* some : {&problem.inputs, &problem.outputs}) {
    for (const benchsuite::Tensor& tensor : *some) most = std::max(most, tensor.elements(axes));
  }
  return most;
}

int64_t terms_of_sums(const benchsuite::Problem& problem, const core::Bindings& axes) {
  if (problem.contract.sums) return problem.contract.sums->eval(axes);
  int64_t outputs = 1;
  for (const benchsuite::Tensor& tensor : problem.outputs) outputs = std::max(outputs, tensor.elements(axes));
  return problem.cost.flops.eval(axes) / 2 / outputs;
}

int64_t cost_of(const benchsuite::Problem& problem, const core::Bindings& axes) {
  return problem.cost.bytes_read.eval(axes) + problem.cost.flops.eval(axes);
}

int64_t listed_size(const benchsuite::Problem& problem, const std::string& backend, const std::string& axis) {
  int64_t listed = 1;
  for (const benchsuite::Workload& workload : problem.workloads) {
    if (workload.runs_on(backend)) listed = std::max(listed, workload.axes.at(axis));
  }
  return listed;
}

int64_t greatest_up_to(const benchsuite::Axis& axis, int64_t limit) {
  return axis.values.empty() ? std::min(axis.max, limit) : axis.at_most(limit);
}

bool is_inner(const benchsuite::Problem& problem, const benchsuite::Axis& axis) {
  const auto has = [&](const std::vector<benchsuite::Tensor>& tensors) {
    return std::ranges::any_of(
        tensors, [&](const benchsuite::Tensor& tensor) { return tensor.shape.back().text() == axis.name; });
  };
  return has(problem.inputs) || has(problem.outputs);
}

bool bounds_values(const benchsuite::Problem& problem, const benchsuite::Axis& axis) {
  if (!axis.values.empty() || axis.min == axis.max) return false;
  core::Bindings least;
  for (const benchsuite::Axis& other : problem.axes) least[other.name] = other.min;
  core::Bindings most = least;
  most[axis.name] = axis.max;
  const auto same = [&](const benchsuite::Tensor& tensor) { return tensor.elements(least) == tensor.elements(most); };
  return std::ranges::all_of(problem.inputs, same) && std::ranges::all_of(problem.outputs, same);
}

}  // namespace verifier::draws

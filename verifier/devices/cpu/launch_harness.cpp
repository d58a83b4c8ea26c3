#include "verifier/devices/cpu/launch_harness.h"

#include <algorithm>
#include <string>
#include <utility>

#include "verifier/comparison/compare.h"
#include "verifier/comparison/difference.h"
#include "verifier/draws/poison.h"
#include "verifier/statistics/keys.h"

namespace verifier::devices::cpu {
namespace {
// Content and slack of every writable buffer get keys of their own.
struct BufferKeys {
  uint64_t content, before, after;
};
BufferKeys next_keys(statistics::Keys& keys) {
  const uint64_t content = keys.next(), before = keys.next();
  return {content, before, keys.next()};
}
}  // namespace

LaunchHarness::LaunchHarness(const benchsuite::Problem& problem, const core::Bindings& axes,
                             const std::vector<LentBuffer>& inputs, CandidateProcess& cell,
                             const sandbox::Solution& solution, const sandbox::TunableBinding& binding)
    : problem_(problem),
      axes_(axes),
      inputs_(inputs),
      cell_(cell),
      plan_(sandbox::bind_plan(solution, binding, axes)),
      outputs_(make_outputs(problem, axes, plan_.workspaces)) {}

std::optional<judging::ProcessFailure> LaunchHarness::prepare() { return cell_.prepare(inputs_, outputs_, plan_); }

std::optional<judging::ProcessFailure> LaunchHarness::launch(sandbox::cpu::runtime::Order order, uint64_t key,
                                                             double& elapsed_us) {
  key_ = statistics::one_way(key);
  statistics::Keys keys(key_);
  for (const LentBuffer& buffer : outputs_) {
    const BufferKeys own = next_keys(keys);
    draws::fill_poison(buffer.memory.content(), own.content);
    draws::fill_poison(buffer.memory.slack_before(), own.before);
    draws::fill_poison(buffer.memory.slack_after(), own.after);
  }
  return cell_.go(order, statistics::one_way(keys.next()), elapsed_us);
}

double LaunchHarness::difference_from(const LaunchHarness& other) const {
  double largest = 0;
  for (size_t i = 0; i < problem_.outputs.size(); ++i) {
    largest = std::max(largest, comparison::largest_difference(problem_.outputs[i].dtype, output(i), other.output(i)));
  }
  return largest;
}

std::optional<verdicts::Verdict> LaunchHarness::audit(const Expected& expected, const verdicts::Where& where,
                                                      double& worst_ratio) const {
  statistics::Keys keys(key_);
  std::vector<BufferKeys> own;
  for (const LentBuffer& buffer : outputs_) {
    own.push_back(next_keys(keys));
    if (!draws::untouched(buffer.memory.slack_before(), own.back().before) ||
        !draws::untouched(buffer.memory.slack_after(), own.back().after)) {
      return verdicts::GuardDamaged{where, buffer.name};
    }
  }
  std::vector<std::span<const std::byte>> inputs;
  for (const LentBuffer& buffer : inputs_) inputs.emplace_back(buffer.memory.content());
  for (size_t i = 0; i < problem_.outputs.size(); ++i) {
    const benchsuite::Tensor& tensor = problem_.outputs[i];
    const std::span<const std::byte> content = output(i);
    const draws::Survivors left = draws::find_poison(content, core::size_bytes(tensor.dtype), own[i].content);
    if (left.count > 0) return verdicts::NotWritten{where, tensor.name, left.first, left.count, tensor.elements(axes_)};
    const auto columns = static_cast<size_t>(tensor.shape.back().eval(axes_));
    std::vector<comparison::NaiveRun> neighbours;
    for (const Expected& one : expected.neighbours) neighbours.push_back({one.reference[i], one.naive[i]});
    const auto result =
        comparison::compare({tensor.dtype,
                             problem_.contract.accumulate,
                             columns,
                             comparison::reduction_of(problem_, axes_, tensor, expected.distribution, inputs),
                             draws::is_exact(expected.distribution),
                             content,
                             {expected.reference[i], expected.naive[i]},
                             std::move(neighbours),
                             comparison::extents(tensor, axes_)},
                            tensor.name, where);
    if (const auto* wrong = std::get_if<verdicts::Verdict>(&result)) return *wrong;
    worst_ratio = std::max(worst_ratio, std::get<comparison::Match>(result).ratio);
  }
  return std::nullopt;
}

}  // namespace verifier::devices::cpu

#include "verifier/cpu/rig.h"

#include <algorithm>
#include <string>
#include <utility>

#include "verifier/compare.h"
#include "verifier/difference.h"
#include "verifier/keys.h"
#include "verifier/poison.h"

namespace verifier::cpu {
namespace {
// Content and slack of every writable buffer get keys of their own.
struct BufferKeys {
  uint64_t content, before, after;
};
BufferKeys next_keys(Keys& keys) {
  const uint64_t content = keys.next(), before = keys.next();
  return {content, before, keys.next()};
}
}  // namespace

Rig::Rig(const benchsuite::Problem& problem, const core::Bindings& axes, const std::vector<LentBuffer>& inputs,
         CellClient& cell, const sandbox::Solution& solution, const sandbox::TunableBinding& binding)
    : problem_(problem),
      axes_(axes),
      inputs_(inputs),
      cell_(cell),
      plan_(sandbox::bind_plan(solution, binding, axes)),
      outputs_(make_outputs(problem, axes, plan_.workspaces)) {}

std::optional<CellFailure> Rig::prepare() { return cell_.prepare(inputs_, outputs_, plan_); }

std::optional<CellFailure> Rig::launch(sandbox::cpu::runtime::Order order, uint64_t key, double& elapsed_us) {
  key_ = one_way(key);
  Keys keys(key_);
  for (const LentBuffer& buffer : outputs_) {
    const BufferKeys own = next_keys(keys);
    fill_poison(buffer.memory.content(), own.content);
    fill_poison(buffer.memory.slack_before(), own.before);
    fill_poison(buffer.memory.slack_after(), own.after);
  }
  return cell_.go(order, one_way(keys.next()), elapsed_us);
}

double Rig::difference_from(const Rig& other) const {
  double largest = 0;
  for (size_t i = 0; i < problem_.outputs.size(); ++i) {
    largest = std::max(largest, largest_difference(problem_.outputs[i].dtype, output(i), other.output(i)));
  }
  return largest;
}

std::optional<Verdict> Rig::audit(const Expected& expected, const Where& where, double& worst_ratio) const {
  Keys keys(key_);
  std::vector<BufferKeys> own;
  for (const LentBuffer& buffer : outputs_) {
    own.push_back(next_keys(keys));
    if (!untouched(buffer.memory.slack_before(), own.back().before) ||
        !untouched(buffer.memory.slack_after(), own.back().after)) {
      return GuardDamaged{where, buffer.name};
    }
  }
  std::vector<std::span<const std::byte>> inputs;
  for (const LentBuffer& buffer : inputs_) inputs.emplace_back(buffer.memory.content());
  for (size_t i = 0; i < problem_.outputs.size(); ++i) {
    const benchsuite::Tensor& tensor = problem_.outputs[i];
    const std::span<const std::byte> content = output(i);
    const Survivors left = find_poison(content, core::size_bytes(tensor.dtype), own[i].content);
    if (left.count > 0) return NotWritten{where, tensor.name, left.first, left.count, tensor.elements(axes_)};
    const auto columns = static_cast<size_t>(tensor.shape.back().eval(axes_));
    std::vector<NaiveRun> neighbours;
    for (const Expected& one : expected.neighbours) neighbours.push_back({one.reference[i], one.naive[i]});
    const auto result = compare({tensor.dtype,
                                 problem_.contract.accumulate,
                                 columns,
                                 reduction_of(problem_, axes_, tensor, expected.distribution, inputs),
                                 is_exact(expected.distribution),
                                 content,
                                 {expected.reference[i], expected.naive[i]},
                                 std::move(neighbours),
                                 extents(tensor, axes_)},
                                tensor.name, where);
    if (const auto* wrong = std::get_if<Verdict>(&result)) return *wrong;
    worst_ratio = std::max(worst_ratio, std::get<Match>(result).ratio);
  }
  return std::nullopt;
}

}  // namespace verifier::cpu

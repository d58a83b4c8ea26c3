#include "verifier/devices/cuda/launch_harness.h"

#include <algorithm>
#include <utility>

#include "verifier/comparison/compare.h"
#include "verifier/comparison/reduction.h"
#include "verifier/statistics/keys.h"

namespace verifier::devices::cuda {
namespace {
// Content and slack of every writable buffer get keys of their own.
struct BufferKeys {
  uint64_t content, before, after;
};
BufferKeys keys_of(uint64_t key, size_t slot, size_t buffer) {
  statistics::Keys keys(key + (slot << 32) + buffer);
  const uint64_t content = keys.next(), before = keys.next();
  return {content, before, keys.next()};
}

// What a library needs to know of a shape.
core::Json shape_of(const benchsuite::Problem& problem, const core::Bindings& axes) {
  core::Json tensors = core::Json::object();
  const auto add = [&](const benchsuite::Tensor& tensor, const char* role) {
    core::Json& entry = tensors[tensor.name];
    entry = {{"role", role}, {"dtype", core::name_of(tensor.dtype)}, {"shape", core::Json::array()}};
    for (const core::Expr& extent : tensor.shape) entry["shape"].push_back(extent.eval(axes));
    return &entry;
  };
  for (const benchsuite::Tensor& tensor : problem.inputs) {
    core::Json* entry = add(tensor, "input");
    if (tensor.init.kind == benchsuite::Init::integers) (*entry)["least"] = tensor.init.least.eval(axes);
  }
  for (const benchsuite::Tensor& tensor : problem.outputs) add(tensor, "output");
  return {{"axes", axes}, {"tensors", std::move(tensors)}};
}

bool not_finite(const std::variant<comparison::Match, verdicts::Verdict>& result) {
  const auto* wrong = std::get_if<verdicts::Verdict>(&result);
  return wrong != nullptr && std::holds_alternative<verdicts::WrongNonFinite>(*wrong);
}
}  // namespace

OutputSlots make_output_slots(Oracle& oracle, const core::Bindings& axes, size_t slots, statistics::Keys& keys) {
  OutputSlots outputs;
  while (outputs.size() < slots) outputs.push_back(make_outputs(oracle.context(), oracle.problem(), axes, keys));
  return outputs;
}

LaunchHarness::LaunchHarness(Oracle& oracle, const core::Bindings& axes, const InputSlots& inputs,
                             const OutputSlots& outputs, Contender& side, statistics::Keys& keys)
    : oracle_(oracle),
      axes_(axes),
      inputs_(inputs),
      side_(side),
      plan_(sandbox::bind_plan(side.solution, side.binding, axes, &oracle.problem())),
      outputs_(&outputs) {
  move_to(outputs, keys);
}

void LaunchHarness::move_to(const OutputSlots& outputs, statistics::Keys& keys) {
  outputs_ = &outputs;
  workspaces_.clear();
  while (workspaces_.size() < inputs_.size()) {
    workspaces_.push_back(make_workspaces(oracle_.context(), plan_.workspaces, keys));
  }
}

std::vector<const LentBuffer*> LaunchHarness::writable(size_t slot) const {
  std::vector<const LentBuffer*> all;
  for (const LentBuffer& output : (*outputs_)[slot]) all.push_back(&output);
  for (const LentBuffer& workspace : workspaces_[slot]) all.push_back(&workspace);
  return all;
}

std::optional<judging::ProcessFailure> LaunchHarness::prepare() {
  std::vector<std::vector<const LentBuffer*>> slots;
  for (size_t slot = 0; slot < inputs_.size(); ++slot) {
    slots.emplace_back();
    for (const LentBuffer& buffer : inputs_[slot]) slots.back().push_back(&buffer);
    for (const LentBuffer* buffer : writable(slot)) slots.back().push_back(buffer);
  }
  return side_.process.prepare(slots, plan_, shape_of(oracle_.problem(), axes_));
}

std::variant<Launched, judging::ProcessFailure> LaunchHarness::launch(size_t slots, bool hot, uint64_t key) {
  if (hot) {  // a whole launch before: both are poisoned, and neither can know which one it is
    auto warmed = launch_once(slots, true, ~key);
    if (std::holds_alternative<judging::ProcessFailure>(warmed)) return warmed;
  }
  return launch_once(slots, hot, key);
}

std::variant<Launched, judging::ProcessFailure> LaunchHarness::launch_once(size_t slots, bool hot, uint64_t key) {
  key_ = statistics::one_way(key);
  DeviceWork& work = oracle_.work();
  for (size_t slot = 0; slot < slots; ++slot) {
    const std::vector<const LentBuffer*> buffers = writable(slot);
    for (size_t i = 0; i < buffers.size(); ++i) {
      const LentBuffer& lent = *buffers[i];
      const BufferKeys own = keys_of(key_, slot, i);
      work.poison(lent.slack_before(), lent.offset(), own.before);
      work.poison(lent.buffer().address, lent.buffer().bytes, own.content);
      work.poison(lent.slack_after(), lent.slack_after_bytes(), own.after);
    }
  }
  oracle_.context().synchronize();
  return side_.process.go(slots, hot);
}

std::optional<verdicts::Verdict> LaunchHarness::find_damage(size_t slot, const verdicts::Where& where) {
  DeviceWork& work = oracle_.work();
  const std::vector<const LentBuffer*> buffers = writable(slot);
  for (size_t i = 0; i < buffers.size(); ++i) {
    const LentBuffer& lent = *buffers[i];
    const BufferKeys own = keys_of(key_, slot, i);
    if (!work.untouched(lent.slack_before(), lent.offset(), own.before) ||
        !work.untouched(lent.slack_after(), lent.slack_after_bytes(), own.after)) {
      return verdicts::GuardDamaged{where, lent.name()};
    }
  }
  return std::nullopt;
}

std::variant<comparison::Match, verdicts::Verdict> LaunchHarness::compare_output(size_t slot, size_t output,
                                                                                 const Expected& expected,
                                                                                 const verdicts::Where& where) {
  DeviceWork& work = oracle_.work();
  const benchsuite::Problem& problem = oracle_.problem();
  const benchsuite::Tensor& tensor = problem.outputs[output];
  std::vector<comparison::Moments> moments;
  for (size_t i = 0; i < problem.inputs.size(); ++i) {
    const benchsuite::Tensor& input = problem.inputs[i];
    moments.push_back(core::is_floating(input.dtype)
                          ? work.moments(inputs_[slot][i].buffer().address, input.dtype, input.elements(axes_))
                          : comparison::Moments{});
  }
  const bool exact = draws::is_exact(expected.distribution);
  const comparison::Reduction reduction =
      comparison::reduction_of(problem, axes_, tensor, expected.distribution, moments);
  const auto columns = static_cast<size_t>(tensor.shape.back().eval(axes_));
  if (expected.neighbours.empty()) {
    const comparison::OutputForm form{tensor.dtype,
                                      problem.contract.accumulate,
                                      comparison::tiling_of(columns, static_cast<size_t>(tensor.elements(axes_))),
                                      reduction,
                                      tensor.name,
                                      where,
                                      comparison::extents(tensor, axes_)};
    const DeviceOutput on_device{(*outputs_)[slot][output].buffer().address, expected.reference[output].address,
                                 expected.naive[output].address, exact};
    std::vector<std::vector<comparison::NaiveTile>>& tiles = oracle_.naive_tiles(axes_);
    if (expected.naive_known) return work.compare(form, on_device, output < tiles.size() ? &tiles[output] : nullptr);
    std::vector<comparison::NaiveTile> learned;
    auto result = work.compare(form, on_device, nullptr, &learned);
    if (expected.distribution == draws::Distribution::ordinary && tiles.size() == output)
      tiles.push_back(std::move(learned));
    return result;
  }
  // Small outputs: on the host.
  const auto on_host = [&](const DeviceBuffer& buffer) {
    std::vector<std::byte> bytes(buffer.bytes);
    oracle_.context().copy_to_host(bytes.data(), buffer.address, buffer.bytes);
    return bytes;
  };
  const std::vector<std::byte> got = fetch(slot, output), reference = on_host(expected.reference[output]),
                               naive = on_host(expected.naive[output]);
  std::vector<comparison::NaiveRun> neighbours;
  for (const Expected::Neighbour& one : expected.neighbours) {
    neighbours.push_back({one.reference[output], one.naive[output]});
  }
  return comparison::compare({tensor.dtype,
                              problem.contract.accumulate,
                              columns,
                              reduction,
                              exact,
                              got,
                              {reference, naive},
                              std::move(neighbours),
                              comparison::extents(tensor, axes_)},
                             tensor.name, where);
}

std::optional<verdicts::Verdict> LaunchHarness::audit(size_t slot, const Expected& expected,
                                                      const verdicts::Where& where, double& worst_ratio) {
  if (auto damage = find_damage(slot, where)) return damage;
  const benchsuite::Problem& problem = oracle_.problem();
  for (size_t i = 0; i < problem.outputs.size(); ++i) {
    const benchsuite::Tensor& tensor = problem.outputs[i];
    const DeviceBuffer& buffer = (*outputs_)[slot][i].buffer();
    const draws::Survivors left = oracle_.work().find_poison(
        buffer.address, buffer.bytes, core::size_bytes(tensor.dtype), keys_of(key_, slot, i).content);
    if (left.count > 0) return verdicts::NotWritten{where, tensor.name, left.first, left.count, tensor.elements(axes_)};
    auto result = compare_output(slot, i, expected, where);
    if (expected.naive_known && not_finite(result)) {  // where the naive solution overflows, others may
      result =
          compare_output(slot, i, oracle_.expected(inputs_[slot], axes_, draws::Distribution::ordinary, true), where);
    }
    if (const auto* wrong = std::get_if<verdicts::Verdict>(&result)) return *wrong;
    worst_ratio = std::max(worst_ratio, std::get<comparison::Match>(result).ratio);
  }
  return std::nullopt;
}

std::vector<std::byte> LaunchHarness::fetch(size_t slot, size_t output) const {
  const DeviceBuffer& buffer = (*outputs_)[slot][output].buffer();
  std::vector<std::byte> bytes(buffer.bytes);
  oracle_.context().copy_to_host(bytes.data(), buffer.address, buffer.bytes);
  return bytes;
}

double LaunchHarness::difference_from(const LaunchHarness& other, size_t slot) const {
  double largest = 0;
  for (size_t i = 0; i < oracle_.problem().outputs.size(); ++i) {
    const benchsuite::Tensor& tensor = oracle_.problem().outputs[i];
    largest = std::max(largest, oracle_.work().difference((*outputs_)[slot][i].buffer().address,
                                                          (*other.outputs_)[slot][i].buffer().address, tensor.dtype,
                                                          tensor.elements(axes_)));
  }
  return largest;
}

}  // namespace verifier::devices::cuda

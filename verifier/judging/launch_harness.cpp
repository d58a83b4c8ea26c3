#include "verifier/judging/launch_harness.h"

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "verifier/reference/tensor_shapes.h"

namespace verifier::judging {
namespace {
PoisonKeys poison_keys(uint64_t key, size_t slot, size_t buffer) {
  statistics::Keys keys(key + (slot << 32) + buffer);
  const uint64_t content = keys.next(), before = keys.next();
  return {content, before, keys.next()};
}
}  // namespace

Slots make_output_slots(Oracle& oracle, const core::Bindings& axes, size_t slots, statistics::Keys& keys) {
  Slots outputs(slots);
  for (LentBuffers& slot : outputs) {
    for (const benchsuite::Tensor& tensor : oracle.problem().outputs) {
      slot.push_back(oracle.device().lend(tensor.name, static_cast<size_t>(tensor.bytes(axes)), true, keys));
    }
  }
  return outputs;
}

LaunchHarness::LaunchHarness(Oracle& oracle, const core::Bindings& axes, const Slots& inputs, const Slots& outputs,
                             Contender& contender, statistics::Keys& keys)
    : oracle_(oracle),
      axes_(axes),
      inputs_(inputs),
      contender_(contender),
      plan_(sandbox::bind_plan(contender.solution, contender.binding, axes, &oracle.problem())),
      outputs_(&outputs) {
  const DeviceTraits& traits = oracle.device().traits();
  for (const sandbox::PlannedWorkspace& workspace : plan_.workspaces) {
    if (workspace.bytes <= traits.most_workspace_bytes) continue;
    throw core::InputError("", "workspace " + workspace.name + " takes " + std::to_string(workspace.bytes) +
                                   " bytes; the " + traits.backend + " device has " +
                                   std::to_string(traits.most_workspace_bytes) + " for it");
  }
  move_to(outputs, keys);
}

void LaunchHarness::move_to(const Slots& outputs, statistics::Keys& keys) {
  outputs_ = &outputs;
  workspaces_.clear();
  while (workspaces_.size() < inputs_.size()) {
    LentBuffers& slot = workspaces_.emplace_back();
    for (const sandbox::PlannedWorkspace& workspace : plan_.workspaces) {
      slot.push_back(oracle_.device().lend(workspace.name, static_cast<size_t>(workspace.bytes), true, keys));
    }
  }
}

std::vector<LentBuffer*> LaunchHarness::writable(size_t slot) const {
  std::vector<LentBuffer*> all;
  for (const auto& output : (*outputs_)[slot]) all.push_back(output.get());
  for (const auto& workspace : workspaces_[slot]) all.push_back(workspace.get());
  return all;
}

std::optional<ProcessFailure> LaunchHarness::prepare() {
  std::vector<std::vector<const LentBuffer*>> slots;
  for (size_t slot = 0; slot < inputs_.size(); ++slot) {
    slots.emplace_back();
    for (const auto& input : inputs_[slot]) slots.back().push_back(input.get());
    for (const LentBuffer* buffer : writable(slot)) slots.back().push_back(buffer);
  }
  return contender_.process->prepare(slots, plan_, reference::shapes_json(oracle_.problem(), axes_));
}

std::variant<Launched, ProcessFailure> LaunchHarness::launch(LaunchRequest request, uint64_t key) {
  if (request.hot) {
    auto warmed = contender_.process->launch(poisoned(request, ~key));
    if (std::holds_alternative<ProcessFailure>(warmed)) return warmed;
  }
  return contender_.process->launch(poisoned(request, key));
}

std::variant<Launched, ProcessFailure> LaunchHarness::launch_beside(const LaunchRequest& request, uint64_t key,
                                                                    const std::function<void()>& meanwhile) {
  return contender_.process->launch_beside(poisoned(request, key), meanwhile);
}

// The request, with its seed, once the slots that it asks for are poisoned.
LaunchRequest LaunchHarness::poisoned(LaunchRequest request, uint64_t key) {
  key_ = statistics::one_way(key);
  for (size_t slot = 0; slot < request.slots; ++slot) {
    const std::vector<LentBuffer*> buffers = writable(slot);
    for (size_t i = 0; i < buffers.size(); ++i) oracle_.device().poison(*buffers[i], poison_keys(key_, slot, i));
  }
  oracle_.device().finish();
  request.seed = statistics::one_way(~key_);
  return request;
}

std::optional<verdicts::Verdict> LaunchHarness::audit(size_t slot, const Expected& expected,
                                                      const verdicts::Where& where, double& worst_ratio) {
  JudgeDevice& device = oracle_.device();
  const std::vector<LentBuffer*> buffers = writable(slot);
  for (size_t i = 0; i < buffers.size(); ++i) {
    if (!device.slack_untouched(*buffers[i], poison_keys(key_, slot, i))) {
      return verdicts::GuardDamaged{where, buffers[i]->name()};
    }
  }
  for (size_t i = 0; i < oracle_.problem().outputs.size(); ++i) {
    const benchsuite::Tensor& tensor = oracle_.problem().outputs[i];
    const LentBuffer& output = *(*outputs_)[slot][i];
    const draws::Survivors left =
        device.find_poison(output, core::size_bytes(tensor.dtype), poison_keys(key_, slot, i).content);
    if (left.count > 0) return verdicts::NotWritten{where, tensor.name, left.first, left.count, tensor.elements(axes_)};
    const auto result = oracle_.compare(inputs_[slot], axes_, (*outputs_)[slot], i, expected, where);
    if (const auto* wrong = std::get_if<verdicts::Verdict>(&result)) return *wrong;
    worst_ratio = std::max(worst_ratio, std::get<comparison::Match>(result).ratio);
  }
  return std::nullopt;
}

TensorBytes LaunchHarness::fetch(size_t slot) const {
  TensorBytes outputs;
  for (const auto& output : (*outputs_)[slot]) outputs.push_back(oracle_.device().fetch(*output));
  return outputs;
}

double LaunchHarness::difference_from(const LaunchHarness& other, size_t slot) const {
  double largest = 0;
  for (size_t i = 0; i < oracle_.problem().outputs.size(); ++i) {
    largest = std::max(largest, oracle_.device().difference(*(*outputs_)[slot][i], *(*other.outputs_)[slot][i],
                                                            oracle_.problem().outputs[i].dtype));
  }
  return largest;
}

}  // namespace verifier::judging

#include "verifier/judging/dependence.h"

#include <algorithm>
#include <variant>

#include "verifier/comparison/output_rules.h"
#include "verifier/judging/given_inputs.h"
#include "verifier/statistics/keys.h"

namespace verifier::judging {
namespace {
using benchsuite::Problem;
constexpr double kClearly = 10;  // times what is allowed
constexpr int kDraws = 2;        // of each shape
constexpr int64_t kMostFlops = 50'000'000, kMostFlopsOfTimed = 2'000'000'000;

bool is_from_file(const Problem& problem, const benchsuite::Workload& workload, size_t input) {
  return workload.inputs.contains(problem.inputs[input].name);
}

// `mine`, with input `index` of `other`.
TensorBytes mixed_inputs(const Problem& problem, TensorBytes mine, const TensorBytes& other, size_t index) {
  mine[index] = other[index];
  for (size_t i = 0; i < mine.size(); ++i) {
    if (is_given(problem.inputs[index]) && is_given(problem.inputs[i])) mine[i] = other[i];
  }
  return mine;
}

// Which outputs clearly fail as the outputs for these inputs.
std::vector<bool> clearly_wrong(const Problem& problem, const core::Bindings& axes, const TensorBytes& inputs,
                                const TrustedOutputs& expected, const TensorBytes& outputs) {
  const std::vector<std::span<const std::byte>> content(inputs.begin(), inputs.end());
  std::vector<bool> wrong;
  for (size_t i = 0; i < problem.outputs.size(); ++i) {
    const benchsuite::Tensor& tensor = problem.outputs[i];
    const bool exact = tensor.comparison.rule == benchsuite::OutputRule::equal;
    const comparison::OutputForm form{
        tensor.dtype,
        problem.contract.accumulate,
        comparison::tiling_of(static_cast<size_t>(tensor.shape.back().eval(axes)),
                              static_cast<size_t>(tensor.elements(axes))),
        comparison::reduction_of(problem, axes, tensor, draws::Distribution::ordinary, content),
        tensor.name,
        {},
        comparison::extents(tensor, axes)};
    const comparison::NaiveRun run{expected.reference[i], expected.naive[i]};
    const auto gather = [&](size_t input, const std::vector<int64_t>& places) {
      return comparison::gathered(content[input], core::size_bytes(problem.inputs[input].dtype), places);
    };
    const auto compared = comparison::has_own_comparison(tensor)
                              ? comparison::compare_by_rule(
                                    form, exact, {problem, axes, i, gather, {outputs.begin(), outputs.end()}, run, {}})
                              : comparison::compare(form, exact, outputs[i], run, {});
    const auto* verdict = std::get_if<verdicts::Verdict>(&compared);
    const auto* result = verdict == nullptr ? nullptr : std::get_if<verdicts::WrongResult>(verdict);
    const bool whole = exact || !core::is_floating(tensor.dtype);
    wrong.push_back(verdict != nullptr && (result == nullptr || whole || result->ratio >= kClearly));
  }
  return wrong;
}

// On how many shapes each output depends on the inputs, and each input matters.
struct Tally {
  int shapes = 0;
  std::vector<int> outputs, inputs, draws;  // draws: on how many shapes an input has another draw
};

void look_at(const Problem& problem, const benchsuite::Workload& workload, statistics::Keys& keys,
             const DrawInputs& draw_inputs, const RunTrusted& run, Tally& tally) {
  const core::Bindings& axes = workload.axes;
  std::vector<bool> outputs(problem.outputs.size()), inputs(problem.inputs.size());
  for (int draw = 0; draw < kDraws; ++draw) {
    const TensorBytes mine = draw_inputs(workload, keys), other = draw_inputs(workload, keys);
    const TensorBytes right_for_mine = run(axes, mine).naive;
    const std::vector<bool> wrong = clearly_wrong(problem, axes, other, run(axes, other), right_for_mine);
    for (size_t i = 0; i < outputs.size(); ++i) outputs[i] = outputs[i] || wrong[i];
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (is_from_file(problem, workload, i)) continue;
      const TensorBytes mixed = mixed_inputs(problem, mine, other, i);
      const std::vector<bool> changed = clearly_wrong(problem, axes, mixed, run(axes, mixed), right_for_mine);
      inputs[i] = inputs[i] || std::find(changed.begin(), changed.end(), true) != changed.end();
    }
  }
  ++tally.shapes;
  for (size_t i = 0; i < outputs.size(); ++i) tally.outputs[i] += outputs[i];
  for (size_t i = 0; i < inputs.size(); ++i) {
    tally.inputs[i] += inputs[i];
    tally.draws[i] += !is_from_file(problem, workload, i);
  }
}

bool rarely(int count, int shapes) { return 2 * count < shapes; }

std::string on_shapes(int count, int shapes) {
  return count == 0 ? "" : " on " + std::to_string(shapes - count) + " of " + std::to_string(shapes) + " test shapes";
}
}  // namespace

std::optional<Independence> find_independence(const Problem& problem, const std::string& backend, uint64_t seed,
                                              const DrawInputs& draw, const RunTrusted& run) {
  statistics::Keys keys(seed);
  const auto tally_of = [&](benchsuite::Role role, int64_t most_flops) {
    const std::vector<int> of_inputs(problem.inputs.size());
    Tally tally{0, std::vector<int>(problem.outputs.size()), of_inputs, of_inputs};
    for (const benchsuite::Workload& workload : problem.workloads) {
      if (workload.role != role || !workload.runs_on(backend)) continue;
      if (problem.cost.flops.eval(workload.axes) <= most_flops) look_at(problem, workload, keys, draw, run, tally);
    }
    return tally;
  };
  const Tally tally = tally_of(benchsuite::Role::test, kMostFlops);
  for (size_t i = 0; i < tally.outputs.size(); ++i) {
    if (!rarely(tally.outputs[i], tally.shapes)) continue;
    return Independence{"output \"" + problem.outputs[i].name + "\" hardly depends on the inputs" +
                            on_shapes(tally.outputs[i], tally.shapes) +
                            ": what is right for one draw passes for another, so a constant would do",
                        "draw inputs that spread the output wider than its tolerance (\"init\"), choose larger test "
                        "shapes, or leave this output out"};
  }
  std::optional<Tally> timed;
  for (size_t i = 0; i < tally.inputs.size(); ++i) {
    if (!rarely(tally.inputs[i], tally.draws[i])) continue;
    // Sums of few elements may hide what counts where it is timed.
    if (!timed) timed = tally_of(benchsuite::Role::bench, kMostFlopsOfTimed);
    if (timed->draws[i] > 0 && !rarely(timed->inputs[i], timed->draws[i])) continue;
    return Independence{"no output depends on the input \"" + problem.inputs[i].name + "\"" +
                            on_shapes(tally.inputs[i], tally.draws[i]) +
                            ": with another draw of it alone the same outputs pass, so a solution need not read it",
                        "draw it such that it matters beyond the tolerance (\"init\"), choose larger test shapes, or "
                        "leave this input out"};
  }
  return std::nullopt;
}

}  // namespace verifier::judging

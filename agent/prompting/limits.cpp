#include "agent/prompting/limits.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <utility>

#include "agent/prompting/counter_findings.h"
#include "core/error.h"

namespace agent::prompting {
namespace {
using enum Bottleneck;

std::string occupancy_words(const AttemptFacts& facts) {
  std::string why;
  if (facts.registers) why += std::to_string(*facts.registers) + " registers per thread";
  if (facts.shared_bytes.value_or(0) > 0) {
    why += (why.empty() ? "" : " and ") + std::to_string(*facts.shared_bytes) + " bytes of shared memory per block";
  }
  return why.empty() ? "" : " (" + why + ")";
}

// The problem's work at the timed shape, and the time taken; zeros: unknown.
struct CpuWork {
  double flops = 0, bytes = 0, elements = 0, ns = 0;
};
CpuWork cpu_work(const benchsuite::Problem& problem, const WorkloadLimit* focus) {
  CpuWork work;
  const benchsuite::Workload* shape = focus != nullptr ? focus->workload : first_bench(problem, "cpu");
  if (shape == nullptr) return work;
  try {
    work.flops = static_cast<double>(problem.cost.flops.eval(shape->axes));
    work.bytes = static_cast<double>(problem.cost.bytes_read.eval(shape->axes)) +
                 static_cast<double>(problem.cost.bytes_written.eval(shape->axes));
    for (const benchsuite::Tensor& tensor : problem.inputs) {
      double count = 1;
      for (const core::Expr& size : tensor.shape) count *= static_cast<double>(size.eval(shape->axes));
      work.elements = std::max(work.elements, count);
    }
  } catch (const core::ExprError&) {
    return {};
  }
  if (focus != nullptr) work.ns = focus->timing->candidate_us * 1000;
  return work;
}

// ": it moves 12.1 GB/s and makes 6.0 GFLOP/s, as the problem counts them": achieved rates
std::string rate_words(const CpuWork& work) {
  if (work.ns <= 0 || work.bytes <= 0) return "";
  std::array<char, 96> text{};
  std::snprintf(text.data(), text.size(), ": it moves %.1f GB/s and makes %.1f GFLOP/s, as the problem counts them",
                work.bytes / work.ns, work.flops / work.ns);
  return text.data();
}

// A limit that the facts allow but do not prove. It is believed if something is left to do about it.
struct Guess {
  std::vector<Bottleneck> of;
  std::string sentence;
  std::vector<Advice> advice;
};
Limit best_of(const std::vector<Guess>& guesses, const Situation& situation) {
  for (const Guess& guess : guesses) {
    if (const auto change = first_of(guess.advice, situation)) return {guess.of, guess.sentence, change};
  }
  return {guesses.back().of, guesses.back().sentence, std::nullopt};
}

// Far from the arithmetic bound.
Limit compute_limit(const Situation& situation, double share) {
  using enum Advice;
  const std::string far = "Arithmetic is the bound; this solution reaches " + percent(share) + " of the peak.";
  if (situation.code.tensor_cores) {
    return best_of({{{Bottleneck::tensor_cores, latency_bound, bank_conflicts},
                     far + " Its tensor cores wait for their operands.",
                     {wgmma, asynchronous_copies, more_stages, larger_products, bulk_copies, persistent_blocks}}},
                   situation);
  }
  return best_of({{{Bottleneck::tensor_cores, compute_bound}, far, {Advice::tensor_cores}},
                  {{compute_bound, latency_bound, bank_conflicts},
                   far,
                   {register_blocking, asynchronous_copies, more_stages, wide_vectors, fewer_instructions}}},
                 situation);
}

// Far from the memory bound.
Limit memory_limit(const AttemptFacts& facts, const Situation& situation, double share) {
  using enum Advice;
  const CodeFacts& code = situation.code;
  const std::string far = "Memory is the bound; this solution reaches " + percent(share) + " of its peak. ";
  std::vector<Guess> guesses;
  if (facts.occupancy && *facts.occupancy < 0.3) {
    guesses.push_back({{occupancy, latency_bound},
                       far + "Only " + percent(*facts.occupancy) + " of the device's warps are resident" +
                           occupancy_words(facts) + ".",
                       {fewer_registers}});
  }
  if (code.atomics > 0 && share < 0.5) {
    guesses.push_back(
        {{atomics, memory_bound}, far + "Atomic operations on few addresses wait for each other.", {private_sums}});
  }
  if (!code.wide_struct) {
    guesses.push_back({{uncoalesced, memory_bound}, far + "It loads and stores narrow elements.", {wide_vectors}});
  }
  if (code.barriers > 4) {
    guesses.push_back({{barriers, latency_bound},
                       far + "Its " + std::to_string(code.barriers) + " barriers keep loads from overlapping.",
                       {warp_shuffles, fewer_barriers}});
  }
  guesses.push_back({{latency_bound, memory_bound},
                     far + "Too few bytes are in flight.",
                     {loads_in_flight, asynchronous_copies, more_stages, bulk_copies, persistent_blocks, cache_hints}});
  return best_of(guesses, situation);
}

// A unit is at its limit, with what the problem needs or more.
Limit limit_of_unit(const WorkloadLimit& focus, const Situation& situation) {
  using enum Advice;
  const std::optional<double> share = focus.timing->share_of_bound();
  std::string sentence = focus.words + (share ? ", at " + percent(*share) + " of the bound." : ".");
  sentence[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(sentence[0])));
  const bool arithmetic = focus.binding == Binding::arithmetic || focus.binding == Binding::more_arithmetic;
  std::vector<Advice> advice =
      arithmetic ? std::vector{wgmma, persistent_blocks} : std::vector{cache_hints, persistent_blocks};
  if (focus.binding == Binding::more_bytes) advice = {fewer_bytes};
  if (focus.binding == Binding::more_arithmetic) {
    advice = {Advice::tensor_cores, wgmma, situation.code.tensor_cores ? less_arithmetic : fewer_instructions};
  }
  return {{arithmetic ? compute_bound : memory_bound}, sentence, first_of(advice, situation)};
}

// What the counters say at `focus`. Those of another workload count if they are about the code itself.
std::optional<Limit> limit_by_counters(const AttemptFacts& facts, const WorkloadLimit& focus,
                                       const Situation& situation) {
  std::vector<Guess> guesses;
  for (const CounterFinding& finding : findings_in(facts.measurement->counters)) {
    if (focus.counted || finding.of_the_code) guesses.push_back({{finding.of}, finding.sentence, finding.advice});
  }
  if (guesses.empty()) return std::nullopt;
  Limit limit = best_of(guesses, situation);
  if (limit.change) return limit;
  return Limit{guesses.front().of, guesses.front().sentence, std::nullopt};
}
}  // namespace

std::string time_words(double us) {
  std::array<char, 32> text{};
  if (us >= 1000) {
    std::snprintf(text.data(), text.size(), "%.2f ms", us / 1000);
  } else {
    std::snprintf(text.data(), text.size(), us < 10 ? "%.2f us" : "%.1f us", us);
  }
  return text.data();
}

std::string percent(double share) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.0f %%", share * 100);
  return text.data();
}

Limit limit_on_gpu(const AttemptFacts& facts, const WorkloadLimit* focus, const Situation& situation) {
  constexpr int64_t kFewSpilled = 64;  // bytes of a thread: a few values, mostly outside of loops
  if (facts.spill_bytes.value_or(0) > kFewSpilled && !(focus != nullptr && focus->at_limit())) {
    return {{spills, occupancy},
            "Registers spill to memory (" + std::to_string(*facts.spill_bytes) + " bytes).",
            first_of({Advice::smaller_tiles}, situation)};
  }
  if (focus == nullptr) return {{memory_bound, latency_bound}, "Its distance from the device's peak is unknown.", {}};
  if (focus->has_busy_unit()) return limit_of_unit(*focus, situation);
  if (focus->binding == Binding::launch_floor) {
    return {{launch_bound, latency_bound},
            "It takes " + time_words(focus->timing->candidate_us) + " where an empty launch takes " +
                time_words(facts.calibration->launch_floor_us) + ".",
            first_of({Advice::dependent_launches, Advice::one_launch, Advice::fewer_blocks}, situation)};
  }
  if (focus->counted) {
    if (auto limit = limit_by_counters(facts, *focus, situation)) return *limit;
  }
  if (focus->binding == Binding::few_blocks) {
    const std::string words = focus->words.substr(focus->words.find(": ") + 2);
    return {{latency_bound, occupancy},
            "It starts too few blocks, " + words + ".",
            first_of({Advice::split_work, Advice::more_blocks}, situation)};
  }
  if (auto limit = limit_by_counters(facts, *focus, situation)) return *limit;
  const std::optional<double> share = focus->timing->share_of_bound();
  const bool compute = focus->by_compute.value_or(false);
  if (!share) {
    return {{compute ? compute_bound : memory_bound, latency_bound},
            "Its distance from the device's peak is unknown.",
            std::nullopt};
  }
  return compute ? compute_limit(situation, *share) : memory_limit(facts, situation, *share);
}

Limit limit_on_cpu(const WorkloadLimit* focus, const Situation& situation) {
  // Overhead of the cpu device in nanoseconds, measured by scripts/bench_cpu_device.
  constexpr double kPerThread = 6, kPerBarrier = 14;
  const CodeFacts& code = situation.code;
  const double us = focus != nullptr ? focus->timing->candidate_us : 0;
  const auto threads = static_cast<double>(code.threads());
  const double threads_us = threads * (kPerThread + kPerBarrier * (code.barriers + code.shuffles)) / 1000;
  const auto limit = [&](std::vector<Bottleneck> of, std::string sentence, const std::vector<Advice>& advice) {
    return Limit{std::move(of), std::move(sentence), first_of(advice, situation)};
  };
  if (us > 0 && code.shuffles + code.barriers > 0 && threads_us > 0.3 * us) {
    return limit({barriers, latency_bound},
                 "Threads synchronise too often: " + std::to_string(code.threads()) + " of them stop at " +
                     std::to_string(code.barriers) + " barriers and " + std::to_string(code.shuffles) +
                     " warp operations of the source; each is a switch that costs about a hundred additions.",
                 {Advice::rows_per_thread});
  }
  if (us > 0 && threads * kPerThread / 1000 > 0.3 * us) {
    return limit({launch_bound, latency_bound},
                 "Starting " + std::to_string(code.threads()) + " threads at some 6 ns each is a large part of " +
                     time_words(us) + ".",
                 {Advice::fewer_threads});
  }
  if (code.atomic_calls.innermost > 0) {
    return limit({atomics}, "Atomic operations in the innermost loop keep it from being vectorised.",
                 {Advice::local_sums});
  }
  const CpuWork work = cpu_work(situation.problem, focus);
  // Least time of such a call: shorter total times rule out one call per element.
  constexpr double kCallNs = 1.5;
  const bool may_call_for_each = work.ns <= 0 || work.elements * kCallNs < work.ns;
  if (code.functions.innermost > 0 && !code.explicit_vectors && may_call_for_each) {
    return limit({compute_bound, latency_bound},
                 "An innermost loop calls functions such as expf, erff and logf once per element, so it cannot be "
                 "vectorised.",
                 {Advice::plain_functions});
  }
  if (work.flops > work.bytes) {
    return limit({compute_bound, latency_bound},
                 "The problem has more arithmetic than memory traffic" + rate_words(work) +
                     "; the limiting instructions are unknown.",
                 {Advice::register_blocking, Advice::vector_loops});
  }
  // Rates of scalar code, in operations and bytes per ns.
  constexpr double kScalarFlops = 2, kScalarBytes = 8;
  if (work.ns > 0 && work.flops < kScalarFlops * work.ns && work.bytes < kScalarBytes * work.ns) {
    Limit scalar = limit(
        {latency_bound, memory_bound},
        "Its inner loop may run one element at a time" + rate_words(work) + ", which needs no vector instructions.",
        {Advice::vector_loops});
    if (scalar.change) return scalar;
  }
  return {{memory_bound, latency_bound},
          "Unknown: nothing in its text stands out" + rate_words(work) +
              ". Compare that with the least bytes and operations of your own loops: you may save passes over memory, "
              "chains of dependent operations, divisions and conversions.",
          std::nullopt};
}

}  // namespace agent::prompting

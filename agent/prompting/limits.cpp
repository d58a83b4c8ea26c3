#include "agent/prompting/limits.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "core/error.h"

namespace agent::prompting {
namespace {
using enum Bottleneck;

// The bench workload that is furthest from its bound; without bounds, the slowest.
const verifier::verdicts::WorkloadTiming* worst_timing(const AttemptFacts& facts) {
  if (!facts.measurement || facts.measurement->workloads.empty()) return nullptr;
  const auto& all = facts.measurement->workloads;
  return &*std::min_element(all.begin(), all.end(), [](const auto& a, const auto& b) {
    const auto share = [](const verifier::verdicts::WorkloadTiming& t) { return t.share_of_bound().value_or(1); };
    return share(a) != share(b) ? share(a) < share(b) : a.candidate_us > b.candidate_us;
  });
}

bool has_narrow_floats(const benchsuite::Problem& problem) {
  return std::any_of(problem.inputs.begin(), problem.inputs.end(), [](const benchsuite::Tensor& tensor) {
    return tensor.dtype == core::DType::f16 || tensor.dtype == core::DType::bf16 || core::is_f8(tensor.dtype);
  });
}
bool may_use_tensor_cores(const benchsuite::Problem& problem) {
  return !problem.equivalents.gemm.empty() && (has_narrow_floats(problem) || problem.contract.tf32);
}

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
CpuWork cpu_work(const benchsuite::Problem& problem, const verifier::verdicts::WorkloadTiming* timing) {
  CpuWork work;
  const benchsuite::Workload* shape = first_bench(problem, "cpu");
  for (const benchsuite::Workload& workload : problem.workloads) {
    if (timing != nullptr && workload.name == timing->workload) shape = &workload;
  }
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
  if (timing != nullptr) work.ns = timing->candidate_us * 1000;
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

// For a kernel far from the arithmetic bound.
Limit compute_limit(const CodeFacts& code, const benchsuite::Problem& problem, double share) {
  const std::string far = "Arithmetic is the bound; this solution reaches " + percent(share) + " of the peak. ";
  if (may_use_tensor_cores(problem) && !code.tensor_cores) {
    return {
        {tensor_cores, compute_bound},
        far + "The contract allows tensor cores, but this solution does not use them: use wmma, mma.sync or wgmma."};
  }
  if (code.tensor_cores) {
    return {{tensor_cores, latency_bound, bank_conflicts},
            far +
                "Tensor cores are used but wait for their operands: load the next tiles asynchronously while these "
                "are multiplied, in three or more stages, without bank conflicts, and make more products from each "
                "fragment that is loaded."};
  }
  return {{compute_bound, latency_bound, bank_conflicts},
          far +
              "Compute more results per loaded value in each thread (register blocking), overlap the next loads with "
              "the arithmetic, and move index arithmetic out of the inner loop."};
}

// For a kernel far from the memory bound.
Limit memory_limit(const AttemptFacts& facts, const CodeFacts& code, double share) {
  const std::string far = "Memory is the bound; this solution reaches " + percent(share) + " of its peak. ";
  if (facts.occupancy && *facts.occupancy < 0.3) {
    return {{occupancy, latency_bound},
            far + "Only " + percent(*facts.occupancy) + " of the device's warps are resident" + occupancy_words(facts) +
                ": use fewer registers or less shared memory, or keep more loads in flight per thread."};
  }
  if (code.atomics > 0 && share < 0.5) {
    return {{atomics, memory_bound},
            far +
                "Atomic operations on few addresses wait for each other: accumulate per thread, warp and block first, "
                "then use one atomic per block."};
  }
  if (code.vector_bytes < 16 && !code.wide_struct) {
    return {{uncoalesced, memory_bound},
            far +
                "It loads and stores narrow elements: let neighbouring threads touch neighbouring 16-byte vectors, "
                "with a scalar path where rows are not aligned."};
  }
  if (code.barriers > 4) {
    return {{barriers, latency_bound},
            far + "Its " + std::to_string(code.barriers) +
                " barriers keep loads from overlapping: reduce with warp shuffles, keep data in registers, and "
                "synchronise once per block."};
  }
  return {{latency_bound, memory_bound},
          far +
              "Too few bytes are in flight: issue several independent wide loads per thread before the first use, "
              "and read nothing twice."};
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

Limit limit_on_gpu(const AttemptFacts& facts, const CodeFacts& code, const benchsuite::Problem& problem) {
  if (facts.spill_bytes.value_or(0) > 0) {
    return {{spills, occupancy},
            "Registers spill to memory (" + std::to_string(*facts.spill_bytes) +
                " bytes): make tiles or unrolling "
                "smaller, give the block fewer threads, or relax __launch_bounds__."};
  }
  const verifier::verdicts::WorkloadTiming* timing = worst_timing(facts);
  const auto launches = static_cast<double>(std::max<size_t>(1, code.launches.size()));
  if (timing != nullptr && facts.launch_floor_us && timing->candidate_us < 3 * launches * *facts.launch_floor_us &&
      timing->share_of_bound().value_or(0) < 0.7) {
    return {{launch_bound, latency_bound},
            "Workload " + timing->workload + " takes " + time_words(timing->candidate_us) +
                " where an empty launch takes " + time_words(*facts.launch_floor_us) +
                ": use one launch, few blocks with little set-up, and no dependence between launches."};
  }
  if (!facts.counters.empty()) return {{facts.counters[0].of}, facts.counters[0].sentence};
  const bool compute = facts.bound_by_compute.value_or(false);
  if (timing == nullptr || !timing->share_of_bound()) {
    return {{compute ? compute_bound : memory_bound, latency_bound}, "Its distance from the device's peak is unknown."};
  }
  const double share = timing->share_of_bound().value_or(0);
  if (share >= 0.85) {
    return {{compute ? compute_bound : memory_bound},
            "It runs at " + percent(share) +
                " of the device's peak: the rest is in the last wave of blocks, in cache hints for data used once, and "
                "in the first and last microsecond."};
  }
  return compute ? compute_limit(code, problem, share) : memory_limit(facts, code, share);
}

Limit limit_on_cpu(const AttemptFacts& facts, const CodeFacts& code, const benchsuite::Problem& problem) {
  // Overhead of the cpu device in nanoseconds, measured by scripts/bench_cpu_device.
  constexpr double kPerThread = 6, kPerBarrier = 14;
  const verifier::verdicts::WorkloadTiming* timing = worst_timing(facts);
  const double us = timing != nullptr ? timing->candidate_us : 0;
  const auto threads = static_cast<double>(code.threads());
  const double threads_us = threads * (kPerThread + kPerBarrier * (code.barriers + code.shuffles)) / 1000;
  if (us > 0 && code.shuffles + code.barriers > 0 && threads_us > 0.3 * us) {
    return {{barriers, latency_bound},
            "Threads synchronise too often: " + std::to_string(code.threads()) + " of them stop at " +
                std::to_string(code.barriers) + " barriers and " + std::to_string(code.shuffles) +
                " warp operations of the source; each is a switch that costs about a hundred additions. Give one "
                "thread a whole row or tile, and synchronise once or never."};
  }
  if (us > 0 && threads * kPerThread / 1000 > 0.3 * us) {
    return {{launch_bound, latency_bound},
            "Starting " + std::to_string(code.threads()) + " threads at some 6 ns each is a large part of " +
                time_words(us) + ": use fewer threads with more work, such as 64 elements or more each."};
  }
  if (code.atomic_calls.innermost > 0) {
    return {{atomics},
            "Atomic operations in the innermost loop keep it from being vectorised: count in plain local variables and "
            "add the sums once per thread."};
  }
  const CpuWork work = cpu_work(problem, timing);
  // Least time of such a call: shorter total times rule out one call per element.
  constexpr double kCallNs = 1.5;
  const bool may_call_for_each = work.ns <= 0 || work.elements * kCallNs < work.ns;
  if (code.functions.innermost > 0 && !code.explicit_vectors && may_call_for_each) {
    return {{compute_bound, latency_bound},
            "An innermost loop calls functions such as expf, erff and logf once per element, so it cannot be "
            "vectorised. Call them less often, or write them as plain arithmetic with full precision."};
  }
  if (work.flops > work.bytes) {
    return {{compute_bound, latency_bound},
            "The problem has more arithmetic than memory traffic" + rate_words(work) +
                ". Keep a block of results in registers and use each loaded value for several of them; the limiting "
                "instructions are unknown."};
  }
  const bool vectors = code.explicit_vectors || code.vector_bytes > 0 || code.wide_struct;
  // Rates of scalar code, in operations and bytes per ns.
  constexpr double kScalarFlops = 2, kScalarBytes = 8;
  if (!vectors && work.ns > 0 && work.flops < kScalarFlops * work.ns && work.bytes < kScalarBytes * work.ns) {
    return {{latency_bound, memory_bound},
            "Its inner loop may run one element at a time" + rate_words(work) +
                ", which needs no vector instructions. A loop over consecutive elements with a constant trip count and "
                "independent sums, or explicit vector types, ensures them."};
  }
  return {{memory_bound, latency_bound},
          "Unknown: nothing in its text stands out" + rate_words(work) +
              ". Compare that with the least bytes and operations of your own loops: you may save passes over memory, "
              "chains of dependent operations, divisions and conversions."};
}

}  // namespace agent::prompting

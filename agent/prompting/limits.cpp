#include "agent/prompting/limits.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "core/error.h"

namespace agent {
namespace {
using enum Bottleneck;

// The bench workload that is furthest from its bound; without bounds, the slowest.
const verifier::WorkloadTiming* worst_timing(const AttemptFacts& facts) {
  if (!facts.measurement || facts.measurement->workloads.empty()) return nullptr;
  const auto& all = facts.measurement->workloads;
  return &*std::min_element(all.begin(), all.end(), [](const auto& a, const auto& b) {
    const auto share = [](const verifier::WorkloadTiming& t) { return t.share_of_bound().value_or(1); };
    return share(a) != share(b) ? share(a) < share(b) : a.candidate_us > b.candidate_us;
  });
}

bool has_narrow_floats(const benchsuite::Problem& problem) {
  return std::any_of(problem.inputs.begin(), problem.inputs.end(), [](const benchsuite::Tensor& tensor) {
    return tensor.dtype == core::DType::f16 || tensor.dtype == core::DType::bf16;
  });
}
bool may_use_tensor_cores(const benchsuite::Problem& problem) {
  return !problem.equivalents.gemm.empty() && (has_narrow_floats(problem) || problem.contract.tf32);
}

std::string occupancy_words(const AttemptFacts& facts) {
  std::string why;
  if (facts.registers) why += std::to_string(*facts.registers) + " registers a thread";
  if (facts.shared_bytes.value_or(0) > 0) {
    why += (why.empty() ? "" : " and ") + std::to_string(*facts.shared_bytes) + " bytes of shared memory a block";
  }
  return why.empty() ? "" : " (" + why + ")";
}

// Far from the bound of arithmetic.
Limit compute_limit(const CodeFacts& code, const benchsuite::Problem& problem, double share) {
  const std::string far = "The arithmetic is the bound, and it runs at " + percent(share) + " of the peak. ";
  if (may_use_tensor_cores(problem) && !code.tensor_cores) {
    return {{tensor_cores, compute_bound},
            far + "The contract allows tensor cores and this solution does not use them: use wmma, mma.sync or wgmma."};
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
              "Let each thread make more results from each value that it loads (register blocking), overlap the next "
              "loads with the arithmetic, and take index arithmetic out of the inner loop."};
}

// Far from the bound of memory.
Limit memory_limit(const AttemptFacts& facts, const CodeFacts& code, double share) {
  const std::string far = "Memory is the bound, and it runs at " + percent(share) + " of what it can. ";
  if (facts.occupancy && *facts.occupancy < 0.3) {
    return {{occupancy, latency_bound},
            far + "Only " + percent(*facts.occupancy) + " of the warps that the device holds are resident" +
                occupancy_words(facts) +
                ": use fewer registers or less shared memory, or have more loads in flight "
                "per thread."};
  }
  if (code.atomics > 0 && share < 0.5) {
    return {{atomics, memory_bound},
            far +
                "Atomic operations on few addresses wait for each other: collect per thread, warp and block first, "
                "and make one atomic per block."};
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
                " barriers keep loads from overlapping: reduce by warp "
                "shuffles, keep data in registers, and meet once per block."};
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
  const verifier::WorkloadTiming* timing = worst_timing(facts);
  const auto launches = static_cast<double>(std::max<size_t>(1, code.launches.size()));
  if (timing != nullptr && facts.launch_floor_us && timing->candidate_us < 3 * launches * *facts.launch_floor_us &&
      timing->share_of_bound().value_or(0) < 0.7) {
    return {{launch_bound, latency_bound},
            "Workload " + timing->workload + " takes " + time_words(timing->candidate_us) +
                " where an empty launch takes " + time_words(*facts.launch_floor_us) +
                ": use one launch, few blocks with little to set up, and no "
                "dependence between launches."};
  }
  if (!facts.counters.empty()) return {{facts.counters[0].of}, facts.counters[0].sentence};
  const bool compute = facts.bound_by_compute.value_or(false);
  if (timing == nullptr || !timing->share_of_bound()) {
    return {{compute ? compute_bound : memory_bound, latency_bound},
            "How far it is from what the device can do is not known."};
  }
  const double share = timing->share_of_bound().value_or(0);
  if (share >= 0.85) {
    return {
        {compute ? compute_bound : memory_bound},
        "It runs at " + percent(share) +
            " of what the device can do: what is left is in the last wave of blocks, in cache hints for data that is "
            "used once, and in the first and last microsecond."};
  }
  return compute ? compute_limit(code, problem, share) : memory_limit(facts, code, share);
}

Limit limit_on_cpu(const AttemptFacts& facts, const CodeFacts& code, const benchsuite::Problem& problem) {
  // What the cpu device itself costs, in nanoseconds: scripts/bench_cpu_device.
  constexpr double kPerThread = 6, kPerBarrier = 14;
  const verifier::WorkloadTiming* timing = worst_timing(facts);
  const double us = timing != nullptr ? timing->candidate_us : 0;
  const auto threads = static_cast<double>(code.threads());
  const double threads_us = threads * (kPerThread + kPerBarrier * (code.barriers + code.shuffles)) / 1000;
  if (us > 0 && code.shuffles + code.barriers > 0 && threads_us > 0.3 * us) {
    return {{barriers, latency_bound},
            "Threads meet too often: " + std::to_string(code.threads()) + " of them stop at " +
                std::to_string(code.barriers) + " barriers and " + std::to_string(code.shuffles) +
                " warp operations of the source, each a switch that costs as much as a hundred additions. Give one "
                "thread a whole row or tile, and let threads meet once or never."};
  }
  if (us > 0 && threads * kPerThread / 1000 > 0.3 * us) {
    return {{launch_bound, latency_bound},
            "Starting " + std::to_string(code.threads()) + " threads at some 6 ns each is a large part of " +
                time_words(us) + ": use fewer threads that do more, such as 64 elements or more each."};
  }
  if (code.atomics > 0) {
    return {{atomics},
            "Atomic operations keep the inner loop from being vectorised: count in plain local variables and "
            "add the sums once per thread."};
  }
  if (code.functions > 0) {
    return {
        {compute_bound, latency_bound},
        "Functions such as expf, erff and logf are calls for one element each, which keep the loop round them from "
        "being vectorised: call them once per element at most, or write them as plain arithmetic of full precision."};
  }
  if (code.vector_bytes == 0 && !code.wide_struct) {
    return {{latency_bound, memory_bound},
            "The inner loop probably runs one element at a time: make it a loop over consecutive elements with a "
            "constant trip count and independent sums, which the host's compiler turns into vector instructions."};
  }
  const double flops_per_byte = [&] {
    try {
      const benchsuite::Workload* bench = first_bench(problem, "cpu");
      if (bench == nullptr) return 0.0;
      const double bytes = static_cast<double>(problem.cost.bytes_read.eval(bench->axes)) +
                           static_cast<double>(problem.cost.bytes_written.eval(bench->axes));
      return bytes > 0 ? static_cast<double>(problem.cost.flops.eval(bench->axes)) / bytes : 0.0;
    } catch (const core::ExprError&) {
      return 0.0;
    }
  }();
  if (flops_per_byte > 1) {
    return {{compute_bound, latency_bound},
            "The arithmetic is the bound: keep a block of results in registers, use each loaded value for several of "
            "them, and let the innermost loop run over consecutive elements so that it is vectorised."};
  }
  return {{memory_bound, latency_bound},
          "Memory and the arithmetic of each element are the bound: read and write every element once, keep several "
          "independent sums, hoist divisions and calls out of the inner loop, and keep a block's data within 32 KiB."};
}

}  // namespace agent

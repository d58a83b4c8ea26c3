#include "agent/prompting/counter_findings.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "agent/prompting/limits.h"

namespace agent::prompting {
namespace {
using verifier::verdicts::Counters;
constexpr double kBusy = 0.6;        // of a unit's peak: above it, the unit limits the kernel
constexpr double kIdle = 0.4;        // of the peak: below it for memory and arithmetic, warps wait
constexpr double kConflicts = 0.1;   // of the passes through shared memory
constexpr double kMostSectors = 16;  // four to a request are right for 4-byte elements, sixteen for 16-byte packs
constexpr double kLanes = 24;        // of 32
constexpr double kOccupancy = 0.3;
constexpr double kStallShare = 0.35;  // of the cycles that warps wait
constexpr double kTensor = 0.05;      // below it, tensor cores are idle

std::string counter_text(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f", value);
  return text.data();
}

struct Weighed {
  double weight;  // significance, 0 to 1
  CounterFinding finding;
};

struct Stall {
  const char* name;
  Bottleneck of;
  const char* words;
  std::vector<Advice> advice;
};
const std::array<Stall, 8>& stalls() {
  using enum Advice;
  static const std::array<Stall, 8> all{{
      {"long_scoreboard",
       Bottleneck::latency_bound,
       "waiting for global memory",
       {wide_vectors, loads_in_flight, asynchronous_copies, more_stages, bulk_copies, persistent_blocks}},
      {"short_scoreboard",
       Bottleneck::bank_conflicts,
       "waiting for shared memory or special functions",
       {padded_tiles, wide_shared_accesses, register_blocking, larger_products}},
      {"barrier", Bottleneck::barriers, "at barriers", {warp_shuffles, fewer_barriers}},
      {"mio_throttle",
       Bottleneck::bank_conflicts,
       "for room in the queue of shared memory instructions",
       {wide_shared_accesses, register_blocking, larger_products}},
      {"lg_throttle",
       Bottleneck::uncoalesced,
       "for room in the queue of global memory instructions",
       {wide_vectors, bulk_copies}},
      {"math_pipe_throttle",
       Bottleneck::compute_bound,
       "for the arithmetic units, which are busy",
       {tensor_cores, wgmma, fewer_instructions}},
      {"membar", Bottleneck::barriers, "at memory fences", {fewer_fences}},
      {"no_instruction", Bottleneck::compute_bound, "for instructions", {less_unrolling}},
  }};
  return all;
}

void add_stall(const Counters& c, std::vector<Weighed>& found) {
  double all = 0;
  const Stall* most = nullptr;
  double cycles = 0;
  for (const auto& [name, value] : c.stalls) all += value;
  for (const Stall& stall : stalls()) {
    const auto at = c.stalls.find(stall.name);
    if (at == c.stalls.end() || at->second <= cycles) continue;
    cycles = at->second;
    most = &stall;
  }
  if (most == nullptr || cycles < kStallShare * all || cycles < 1) return;
  found.push_back(
      {0.5 + 0.4 * cycles / all,
       {most->of, percent(cycles / all) + " of the cycles that warps wait are spent " + std::string(most->words) + ".",
        most->advice}});
}

void add_memory(const Counters& c, std::vector<Weighed>& found) {
  if (c.dram && *c.dram >= kBusy) {
    found.push_back(
        {*c.dram,
         {Bottleneck::memory_bound,
          "The DRAM is busy at " + percent(*c.dram) + " of its bandwidth" +
              (c.l2_hits ? ", and L2 serves " + percent(*c.l2_hits) + " of its requests" : std::string()) + ".",
          {Advice::fewer_bytes}}});
  }
  const auto sectors = [&](const std::optional<double>& value, const std::string& what) {
    if (!value || *value <= kMostSectors) return;
    found.push_back({std::min(0.6 + *value / 100, 0.95),
                     {Bottleneck::uncoalesced,
                      "A warp's global " + what + " touches " + counter_text(*value) +
                          " sectors of 32 bytes on average, where 4 hold 32 floats.",
                      {Advice::neighbouring_addresses},
                      true}});
  };
  sectors(c.load_sectors, "load");
  sectors(c.store_sectors, "store");
  if (c.conflicts && *c.conflicts >= kConflicts) {
    found.push_back({0.5 + 0.5 * *c.conflicts,
                     {Bottleneck::bank_conflicts,
                      percent(*c.conflicts) + " of the passes through shared memory are bank conflicts.",
                      {Advice::padded_tiles, Advice::another_layout},
                      true}});
  }
}

void add_arithmetic(const Counters& c, std::vector<Weighed>& found) {
  if (c.compute && *c.compute >= kBusy) {
    const bool without_tensor = c.tensor && *c.tensor < kTensor;
    found.push_back({*c.compute,
                     {Bottleneck::compute_bound,
                      "The multiprocessors are busy at " + percent(*c.compute) + " of their peak" +
                          (without_tensor ? ", their tensor cores idle" : "") + ".",
                      {Advice::tensor_cores, Advice::fewer_instructions}}});
  }
  if (c.tensor && *c.tensor >= kBusy) {
    found.push_back({*c.tensor,
                     {Bottleneck::compute_bound,
                      "The tensor cores are busy " + percent(*c.tensor) + " of the time.",
                      {Advice::wgmma}}});
  }
  if (c.lanes && *c.lanes < kLanes) {
    found.push_back({1 - *c.lanes / 40,
                     {Bottleneck::divergence,
                      "Only " + counter_text(*c.lanes) + " of 32 lanes take part in an instruction on average.",
                      {Advice::whole_warps},
                      true}});
  }
}

void add_occupancy(const Counters& c, std::vector<Weighed>& found) {
  const bool idle = c.dram && c.compute && *c.dram < kIdle && *c.compute < kIdle;
  if (!idle || !c.occupancy || *c.occupancy >= kOccupancy) return;
  found.push_back(
      {0.7,
       {Bottleneck::occupancy,
        "On average " + percent(*c.occupancy) + " of the possible warps are resident" +
            (c.registers ? ", with " + std::to_string(std::lround(*c.registers)) + " registers per thread" : "") +
            ", and neither memory nor arithmetic is busy.",
        {Advice::fewer_registers}}});
}
}  // namespace

const Counters* longest_launch(const std::vector<Counters>& launches) {
  const auto longest = std::max_element(launches.begin(), launches.end(), [](const Counters& a, const Counters& b) {
    return a.time.value_or(0) < b.time.value_or(0);
  });
  return longest == launches.end() ? nullptr : &*longest;
}

std::vector<CounterFinding> findings_in(const std::vector<Counters>& launches) {
  const Counters* longest = longest_launch(launches);
  if (longest == nullptr) return {};
  std::vector<Weighed> found;
  add_memory(*longest, found);
  add_arithmetic(*longest, found);
  add_stall(*longest, found);
  add_occupancy(*longest, found);
  std::stable_sort(found.begin(), found.end(), [](const Weighed& a, const Weighed& b) { return a.weight > b.weight; });
  std::vector<CounterFinding> findings;
  for (Weighed& one : found) findings.push_back(std::move(one.finding));
  return findings;
}

}  // namespace agent::prompting

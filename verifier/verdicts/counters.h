// Hardware counters of a kernel, as Nsight Compute prints them: the few that say what holds a kernel back.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/strict_json.h"

namespace verifier::verdicts {

// A launch's counters. Absent: the device has no such counter, or it was not collected.
struct Counters {
  std::string kernel;
  std::string workload;                         // of the problem, at which it was launched; empty: not recorded
  std::optional<double> time;                   // of the launch, in whatever unit all launches of a report share
  std::optional<double> dram, compute, tensor;  // use of the DRAM's bandwidth, the multiprocessors and their tensor
                                                // pipes, as a share of their peak, 0 to 1
  std::optional<double> l2_hits;                // share of L2's sectors, 0 to 1
  std::optional<double> load_sectors, store_sectors;  // of 32 bytes, that a warp's global request touches
  std::optional<double> conflicts;       // share of the passes through shared memory that bank conflicts add
  std::optional<double> occupancy;       // resident warps over those that fit, on average, 0 to 1
  std::optional<double> lanes;           // threads that take part in a warp's instruction, 0 to 32
  std::optional<double> registers;       // a thread
  std::map<std::string, double> stalls;  // by what warps wait for: cycles between two instructions of a warp
};

// The names to ask for with --metrics.
std::vector<std::string> counter_metrics();

// Reads what `ncu --csv --page raw --metrics ...` prints: one entry a launch, in order. Lines that are no table, such
// as progress and warnings, may stand before it. Throws core::InputError when there is no table, or it has no rows.
std::vector<Counters> parse_counters(std::string_view report);

core::Json to_json(const Counters& counters);
Counters counters_from_json(const core::JsonView& json);

}  // namespace verifier::verdicts

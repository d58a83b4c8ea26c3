// The best verified solutions of each problem and device, with the libraries that people would otherwise use.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "results/archive/lineage.h"
#include "results/archive/recorder.h"
#include "sandbox/solution.h"
#include "verifier/statistics/statistics.h"
#include "verifier/verdicts/measurement.h"
#include "verifier/verdicts/verdict.h"

namespace results::archive {

struct LeaderboardFilter {
  // Sort orders, the best first: largest lower end of the interval, least time at the first workload, least cost of the
  // whole lineage, largest share of the bound, newest, alphabetical.
  enum class Sort { speedup, time, cost, bound, date, name };

  std::string problem = {};  // name; empty: all
  std::string device = {};   // name or a prefix ("cpu", "cuda"); empty: all
  Sort sort = Sort::speedup;
  size_t limit = 0;                              // solutions per problem and device; 0: all. Libraries do not count.
  bool unconfirmed = false;                      // include correct solutions without a confirmed win
  std::optional<int64_t> campaign = {};          // wins that it confirmed alone; for the first order, and without those
  std::map<std::string, std::string> here = {};  // content hashes of the problems on this host, by name
};

// One bench workload of an attempt, or of a library.
struct WorkloadFigures {
  std::string workload;
  verifier::statistics::Interval time_us;  // median with a 99 % interval; of a library, only the median
  double naive_us = 0;                     // paired with it
  verifier::statistics::SpeedUp speed_up;  // over naive
  std::optional<double> bound_us;          // the time at the device's measured peaks
  double weight = 1;                       // of the workload, in means over several

  std::optional<double> share_of_bound() const;
};

// A library's time divided by the solution's: above 1 the solution is faster. The two were never paired: each was
// paired with naive, and this is the quotient of their speed-ups over naive, as the geometric mean, by weight, over
// the workloads at which both were timed. The interval treats both as independent and ignores changes between the two
// runs (clocks, driver), so it can be too narrow.
struct OverLibrary {
  std::string library;  // "cuBLAS 13.0", "PyTorch 2.11 compile"
  verifier::statistics::SpeedUp ratio;
  size_t workloads = 0;  // timed for both
};

// The best point of one solution, or a library.
struct LeaderboardRow {
  // Rank by speed-up among the confirmed solutions of its problem and device, from 1, whatever the sort order; 0: none.
  int64_t rank = 0;
  int64_t attempt = 0, solution_id = 0;
  std::string problem, device, solution, hash, origin, made;
  std::string campaign;      // empty: judged outside a campaign
  bool older_files = false;  // the problem's files have changed since (LeaderboardFilter::here)
  sandbox::TunableBinding binding;
  bool confirmed = false;                  // won again against naive, in fresh processes with fresh seeds
  verifier::statistics::SpeedUp speed_up;  // over naive, all workloads
  std::vector<WorkloadFigures> workloads;
  std::vector<OverLibrary> over_libraries;  // libraries found correct on this device
  Descent descent;                          // its proposer, parent and cost

  // True for a library, named by `solution`: it has no rank, attempt, hash or descent, and no workloads unless it was
  // found correct.
  bool library = false;
  verifier::verdicts::Verdict verdict = verifier::verdicts::Correct{};

  bool timed() const { return !workloads.empty(); }
  double time_us() const { return timed() ? workloads[0].time_us.value : 0; }  // at the first workload
};

// Rows by problem and device, then in the filter's order. Libraries stand among the solutions by speed-up if the order
// is by speed-up or time, otherwise after them. If a problem's files have changed, only the last judged version counts.
std::vector<LeaderboardRow> leaderboard(const Reader& archive, const LeaderboardFilter& filter = {});

// The judged problems, and the devices with solutions or libraries; both sorted.
std::vector<std::string> known_problems(const Reader& archive);
std::vector<std::string> known_devices(const Reader& archive);

// "speedup", "time", ...
const std::vector<std::string>& sort_names();
// Throws core::UsageError at `where` for an unknown name.
LeaderboardFilter::Sort sort_from_name(const std::string& name, const std::string& where);

}  // namespace results::archive

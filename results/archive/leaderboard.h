// The best verified solutions of each problem and device, with the libraries that people would otherwise use.
#pragma once

#include <cstdint>
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
  // Each puts the best first: the largest lower end of the interval, the least time at the first workload, the least
  // cost of the whole lineage, the largest share of the bound, the newest, or the first in the alphabet.
  enum class Sort { speedup, time, cost, bound, date, name };

  std::string problem = {};  // its name; empty: all
  std::string device = {};   // as attempts have it, or how it begins ("cpu", "cuda"); empty: all
  Sort sort = Sort::speedup;
  size_t limit = 0;          // solutions of each problem and device; 0: all. Libraries come on top.
  bool unconfirmed = false;  // also what was right but has not won a confirmation
};

// One bench workload of an attempt, or of a library.
struct WorkloadFigures {
  std::string workload;
  verifier::statistics::Interval time_us;  // median, with a 99 % interval; of a library, the median alone
  double naive_us = 0;                     // measured in turns with it
  verifier::statistics::SpeedUp speed_up;  // over naive
  std::optional<double> bound_us;          // what the device would need at its measured peaks

  std::optional<double> share_of_bound() const;
};

// How often a library's time contains the solution's: above 1 the solution is faster. The two never ran in turns: each
// was measured in turns with naive, and this is the quotient of their speed-ups over naive, the geometric mean over the
// workloads that both were timed at. The interval takes both for independent, and knows nothing of what changed between
// the two runs (clocks, driver), so that it can be too narrow.
struct OverLibrary {
  std::string library;  // "cuBLAS 13.0", "PyTorch 2.11 compile"
  verifier::statistics::SpeedUp ratio;
  size_t workloads = 0;  // that both were timed at
};

// The best point of one solution, or a library.
struct LeaderboardRow {
  // By speed-up, from 1, of the confirmed solutions of its problem and device, however the rows are sorted; 0: none.
  int64_t rank = 0;
  int64_t attempt = 0, solution_id = 0;
  std::string problem, device, solution, hash, origin, made;
  std::string campaign;  // empty: judged outside of one
  sandbox::TunableBinding binding;
  bool confirmed = false;                  // won against naive once more, in fresh processes with fresh seeds
  verifier::statistics::SpeedUp speed_up;  // over naive, all workloads
  std::vector<WorkloadFigures> workloads;
  std::vector<OverLibrary> over_libraries;  // of those that were found correct on this device
  Descent descent;                          // who proposed it, from what, and what that cost

  // A library, named by `solution`: it has no rank, attempt, hash or descent, and no workloads unless it was found
  // correct.
  bool library = false;
  verifier::verdicts::Verdict verdict = verifier::verdicts::Correct{};

  bool timed() const { return !workloads.empty(); }
  double time_us() const { return timed() ? workloads[0].time_us.value : 0; }  // at the first workload
};

// In order of problem and device, within these as the filter says, libraries among the solutions by their speed-up
// where the order is that of speed-ups or times, otherwise after them. Of a problem whose files have changed, only the
// version that was judged last counts.
std::vector<LeaderboardRow> leaderboard(const Reader& archive, const LeaderboardFilter& filter = {});

// The problems that the archive has judged, and the devices with solutions or libraries on them; both sorted.
std::vector<std::string> known_problems(const Reader& archive);
std::vector<std::string> known_devices(const Reader& archive);

// "speedup", "time", ...
const std::vector<std::string>& sort_names();
// Throws core::InputError at `where` for an unknown one.
LeaderboardFilter::Sort sort_from_name(const std::string& name, const std::string& where);

}  // namespace results::archive

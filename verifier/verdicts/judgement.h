// Questions to a judge, and its answers.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/enum_names.h"
#include "core/strict_json.h"
#include "sandbox/solution.h"
#include "verifier/verdicts/measurement.h"
#include "verifier/verdicts/verdict.h"

namespace verifier::verdicts {

// How much is spent on a candidate. Every effort fills, poisons, guards and audits each launch in the same way.
enum class Effort {
  screen,   // the fast build alone, one draw of inputs for each listed shape, and a few timed pairs: never a result
  full,     // all draws, adversarial distributions, unseen shapes, and pairs until the interval is narrow
  confirm,  // full, in fresh processes with fresh seeds: what a win needs to count
  control,  // a candidate against itself: must be a tie
};
KW_ENUM_NAMES(Effort, screen, full, confirm, control)

struct TimingSettings {
  int screen_pairs = 7;
  int clear_pairs = 7;                    // enough where one side is far ahead
  int least_pairs = 15, most_pairs = 61;  // per workload
  double most_s = 2.0;                    // per workload; at least `least_pairs` are taken all the same
  double half_width = 0.004;              // of the 99 % interval of the log-ratio: narrow enough to stop
  double confirm_half_width = 0.004;      // the same for confirmations and controls
  double audit_share = 0.1;               // of the timed launches of the candidate
  bool hot = false;                       // on a GPU: inputs may be in the L2 cache; otherwise it is flushed
};

struct CheckSettings {
  int ordinary_draws = 3;  // of each listed shape
  int unseen_shapes = 3;
  double launch_deadline_s = 5;   // one launch of the candidate
  double prepare_deadline_s = 5;  // mapping its memory and making its plan ready
  // Shared memory that no thread wrote may be read where that does not show. On GPUs alone, whose judge overwrites it
  // between launches: nothing of earlier ones is there to find.
  bool unset_may_be_read = false;
};

// How the time of one judgement was spent, in milliseconds.
struct StageTimes {
  double check_ms = 0, timing_ms = 0, audit_ms = 0;
  double sanitizer_ms = 0;  // of confirmations on a GPU; 0: no sanitizer watched
  double host_wait_ms = 0;  // for the cpu device's look at a GPU's kernel, once the GPU was done with it
};

struct Judgement {
  Verdict verdict;
  std::optional<Measurement> measurement;  // of a correct candidate, where the problem has a bench workload here
  StageTimes stages;
  uint64_t seed = 0;  // of all chance in this judgement; secret until it is over
};

core::Json to_json(const Judgement& judgement);
Judgement judgement_from_json(const core::JsonView& json);

}  // namespace verifier::verdicts

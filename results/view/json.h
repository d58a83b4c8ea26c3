// The archive's JSON, the same for --json, pages, reports and downloads. Keys are only ever added.
//
// Row        kind ("solution" or "library"), rank, problem, device, solution, hash, origin, tunables {name: value},
//            confirmed, verdict (its name), sentence (of a library), speed_up, low, high (over naive), time_us,
//            bound_us and share_of_bound (at the first workload), workloads [{workload, time_us, time_low_us,
//            time_high_us, naive_us, speed_up, bound_us, share_of_bound, weight}], over_libraries [{library, ratio,
//            workloads, paired}], model, task, ancestors, cost, lineage_cost, campaign, attempt, made, older_files (the
//            problem's files have changed since)
// Speed-up   value, low, high
// Cost       replies, tokens, dollars, all_priced
// Descent    model, task, ancestors, cost, lineage_cost
// Stand      device, confirmed, speed_up, attempt, tunables
// Attempt    attempt, problem, solution, origin, tunables, device, effort, made, verdict_name, sentence, campaign,
//            reused_from and, where it was measured, against, outcome, speed_up; in full also verdict, compile_ms,
//            compile_log, environment, stages, source, measurement
// Campaign   campaign, status (running, killed, done, interrupted, failed), started, ended, settings, spent_seconds,
//            attempts
// Selftest   device, made, quick, dishonest, false_accepts, honest, false_rejects, widest_noise, candidates_per_hour
// Scores     suite, device, problems, verified, solved, share_solved, geometric_mean and geometric_mean_of_solved (over
//            naive), baselines [{baseline, problems (that have it), compared, geometric_mean}], fast_p [{baseline, p,
//            fast, problems (all), share}], clean (the same figures of the clean subset), unclean {problem: flaw},
//            older_files [problem], definitions [sentence]
//
// A member that does not apply is null. Texts are untrusted: cleaned() makes them safe to show.
#pragma once

#include "core/strict_json.h"
#include "results/archive/campaign_tally.h"
#include "results/archive/leaderboard.h"
#include "results/view/scores.h"

namespace results::view {

core::Json json_of(const verifier::statistics::SpeedUp& speed_up);
core::Json json_of(const archive::LeaderboardRow& row);
core::Json json_of(const archive::Cost& cost);
core::Json json_of(const archive::Descent& descent);
core::Json json_of(const archive::Stand& stand);
core::Json json_of(const archive::RecordedAttempt& attempt);
core::Json brief_json_of(const archive::RecordedAttempt& attempt);
core::Json json_of(const archive::CampaignRecord& campaign);
core::Json json_of(const archive::EventRecord& event);
core::Json json_of(const archive::ModelUse& use);
core::Json json_of(const archive::Curve& curve);
core::Json json_of(const archive::SelftestRecord& selftest);
core::Json json_of(const SuiteScores& scores);

template <typename T>
core::Json or_null(const std::optional<T>& value) {
  return value ? core::Json(*value) : core::Json();
}
core::Json or_null(const std::string& text);  // null for ""

// An event's details or settings in words: "problem gelu_f32, best 2.11".
std::string in_words(const core::Json& json);

// `json` with core::clean_line applied to every name and text.
core::Json cleaned(const core::Json& json);

}  // namespace results::view

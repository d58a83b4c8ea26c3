// The archive's records. Times are UTC, ISO 8601.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/error.h"
#include "core/strict_json.h"
#include "sandbox/solution.h"
#include "verifier/verdicts/judgement.h"

namespace results::archive {

// columns(io, record) calls io(column, member) for each member with a column in the record's table (tables.h). INSERT
// and SELECT share this list (rows.h).
template <typename R, typename T>
concept IsRecord = std::same_as<std::remove_const_t<R>, T>;

// A write failed: the disk is full, a quota is used up, or a file may not grow. Committed data stays; continue when
// there is room again.
class NoRoom : public core::SystemError {
 public:
  using core::SystemError::SystemError;
};

template <typename Io>
void columns(Io&& io, IsRecord<verifier::statistics::SpeedUp> auto& s) {
  io("speed_up", s.value)("low", s.low)("high", s.high);
}

// Columns without the samples.
template <typename Io>
void columns(Io&& io, IsRecord<verifier::verdicts::WorkloadTiming> auto& t) {
  io("workload", t.workload)("candidate_us", t.candidate_us)("incumbent_us", t.incumbent_us)("bound_us", t.bound_us);
  columns(io, t.speed_up);
}

struct NewSolution {
  const sandbox::Solution* solution;
  std::string name;               // "naive", or the file's name without .cu
  std::string origin;             // naive, seed, user, or its proposer
  std::optional<int64_t> parent;  // the solution it was made from
};

// The compiler's report on a candidate.
struct Compiled {
  std::string compile_log;
  double compile_ms = 0;
  std::optional<int64_t> registers, shared_bytes, spill_bytes;  // per thread or block, if the compiler reports them
};

template <typename Io>
void columns(Io&& io, IsRecord<Compiled> auto& c) {
  io("log", c.compile_log)("compile_ms", c.compile_ms)("registers", c.registers)("shared_bytes", c.shared_bytes);
  io("spill_bytes", c.spill_bytes);
}

struct NewAttempt : Compiled {
  std::optional<int64_t> campaign;
  int64_t problem = 0, environment = 0, candidate = 0;
  std::string device;
  verifier::verdicts::Effort effort = verifier::verdicts::Effort::screen;
  std::string artefact;  // hash of binaries and plan; empty if there is none
  verifier::verdicts::Judgement judgement;
  std::optional<int64_t> against;      // the incumbent's candidate id, if there is a measurement
  std::optional<int64_t> reused_from;  // an earlier attempt whose result this one copies
  double seconds = 0;                  // added to its campaign's spent time
};

struct RecordedAttempt : Compiled {
  int64_t id = 0;
  std::string problem, solution, origin;
  sandbox::TunableBinding binding;
  std::string device, effort, made;
  verifier::verdicts::Verdict verdict;
  std::optional<verifier::verdicts::Measurement> measurement;  // samples included
  std::string against;                                         // "naive", or solution and tunables of the incumbent
  std::string campaign, seed;
  core::Json environment, stages;
  std::optional<int64_t> reused_from;
  std::string source;
};

struct CampaignRecord {
  int64_t id = 0;
  // status: running, done, interrupted or failed; killed: it counts as running, but its process has ended.
  std::string name, status, started, ended;
  std::string process;  // that runs it or ran it last (core/running.h); empty: not recorded
  core::Json settings;
  double spent_seconds = 0;
  int64_t attempts = 0;
};

// A library judged like a candidate, but never one.
struct NewBaseline {
  int64_t problem = 0, environment = 0;
  std::string device, library;  // "cuBLAS 13.0", "PyTorch 2.11 compile"
  verifier::verdicts::Judgement judgement;
};
struct BaselineRecord {
  int64_t id = 0;
  std::string problem, device, library, made;
  verifier::verdicts::Verdict verdict;
  std::optional<verifier::verdicts::Measurement> measurement;  // against naive; samples included
};

// Error rates of a device's judge (kernelwright selftest).
struct NewSelftest {
  std::string device;
  int64_t environment = 0;
  uint64_t seed = 0;
  bool quick = false;
  double seconds = 0;
  int64_t dishonest = 0, false_accepts = 0;   // solutions that must not win, and the number that did
  int64_t honest = 0, false_rejects = 0;      // solutions that must be accepted, and the number that were not
  std::optional<double> widest_noise;         // the largest ratio between two timings of one kernel
  std::optional<double> candidates_per_hour;  // honest ones, judged in full
  core::Json details;
};

template <typename Io>
void columns(Io&& io, IsRecord<NewSelftest> auto& s) {
  io("device", s.device)("environment", s.environment)("seed", s.seed)("quick", s.quick)("seconds", s.seconds);
  io("dishonest", s.dishonest)("false_accepts", s.false_accepts)("honest", s.honest)("false_rejects", s.false_rejects);
  io("widest_noise", s.widest_noise)("candidates_per_hour", s.candidates_per_hour)("details", s.details);
}
struct SelftestRecord {
  int64_t id = 0;
  std::string made;
  NewSelftest of;
};

// A request to a model. Recorded before it is sent, so that a killed campaign knows what it may have to pay for.
struct NewRequest {
  int64_t campaign = 0;
  std::string problem;
  int64_t number = 0;   // among the problem's requests in the campaign, from 1; unchanged when sent again
  std::string model;    // as the user named it
  core::Json proposal;  // its reason: operator, parents, ...
  core::Json prompt;    // {"system": text, "turns": [{"speaker": name, "sections": [text, ...]}]}
  std::string prompt_hash;
  int64_t reserved_tokens = 0;             // the most it may cost
  std::optional<double> reserved_dollars;  // absent if the price is unknown
};

// Columns without the prompt.
template <typename Io>
void columns(Io&& io, IsRecord<NewRequest> auto& r) {
  io("campaign", r.campaign)("problem", r.problem)("number", r.number)("model", r.model)("proposal", r.proposal);
  io("prompt_hash", r.prompt_hash)("reserved_tokens", r.reserved_tokens)("reserved_dollars", r.reserved_dollars);
}
struct NewReply {
  int64_t request = 0;
  std::string outcome;  // "completion", or the reason for none
  std::string what;     // a sentence, if there is none
  std::string model;    // the model that answered
  std::string reply;
  bool complete = true;
  int64_t input = 0, cache_read = 0, cache_written = 0, output = 0;  // tokens of all tries
  bool estimated = false;
  std::optional<double> dollars;
  int tries = 1;
  double seconds = 0;
};

template <typename Io>
void columns(Io&& io, IsRecord<NewReply> auto& r) {
  io("request", r.request)("outcome", r.outcome)("what", r.what)("model", r.model)("reply", r.reply);
  io("complete", r.complete)("input", r.input)("cache_read", r.cache_read)("cache_written", r.cache_written);
  io("output", r.output)("estimated", r.estimated)("dollars", r.dollars)("tries", r.tries)("seconds", r.seconds);
}
// The kind of the event that says why a reply proposed nothing new: {"reply": its id, "why": text}.
inline constexpr std::string_view kUnusableReply = "unusable_reply";

struct RequestRecord {
  int64_t id = 0;  // of the request
  NewRequest request;
  std::optional<NewReply> reply;  // absent: the campaign was killed before it arrived
  int64_t reply_id = 0;
  std::vector<int64_t> solutions;  // that it proposed
  std::string asked, arrived;
};

// A campaign's spending on models. Requests without a reply count with the amount reserved for them.
struct ModelSpend {
  int64_t requests = 0, tokens = 0;
  double dollars = 0;
  bool all_priced = true;  // false: dollars leave out replies with an unknown price
};

// One model's share of a campaign.
struct ModelUse {
  std::string model;
  int64_t requests = 0, replies = 0, completions = 0, input_tokens = 0, output_tokens = 0;
  double dollars = 0;
  int64_t priced = 0;  // replies with a known price
  double seconds = 0;
  int64_t solutions = 0;
};

// A confirmed win at one bench workload.
struct Winner {
  std::string device, workload;
  int64_t attempt = 0;
};

struct SolutionRecord {
  int64_t id = 0;
  std::string hash, problem, name, origin, added, source;
  std::optional<int64_t> parent;
  int64_t attempts = 0;  // attempts at any of its points
};

// One recorded step of a campaign; its decisions depend on the steps in order.
struct StepRecord {
  enum class Kind { attempt, request, reply, event } kind = Kind::event;
  int64_t number = 0;              // from 1; 0: recorded by a version that kept no order
  int64_t id = 0;                  // of the attempt or event; of the request, also for a reply
  int64_t candidate = 0;           // of an attempt
  std::string effort, problem;     // of an attempt
  std::optional<int64_t> against;  // of an attempt with a measurement
  std::string event;               // its kind
  core::Json details;              // of an event
};

struct EventRecord {
  std::string made, kind;
  core::Json details;
};

template <typename Io>
void columns(Io&& io, IsRecord<EventRecord> auto& e) {
  io("made", e.made)("kind", e.kind)("details", e.details);
}

}  // namespace results::archive

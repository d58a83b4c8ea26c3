#include "results/view/attempt.h"

#include <algorithm>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/text.h"
#include "results/archive/exchanges.h"
#include "results/archive/lineage.h"
#include "results/view/exchange.h"
#include "results/view/exchange_texts.h"
#include "results/view/json.h"
#include "results/view/text_diff.h"
#include "verifier/statistics/statistics.h"
#include "verifier/verdicts/verdict_words.h"

namespace results::view {
namespace {
using core::Json;
using verifier::verdicts::Verdict;

constexpr size_t kLogBytes = 64 << 10;
constexpr size_t kFindingsBytes = 16 << 10;
constexpr size_t kLineBytes = 400;
constexpr int64_t kLinesAround = 4;  // before and after the line that a verdict names
constexpr size_t kLater = 20;        // requests made from its solution

Json advice_of(const Verdict& verdict) {
  if (is_correct(verdict)) return {};
  return or_null(core::clean_line(std::visit([](const auto& v) { return what_to_change(v); }, verdict)));
}

std::optional<int64_t> line_of(const Verdict& verdict) {
  if (const auto* failed = std::get_if<verifier::verdicts::CompileFailed>(&verdict)) return failed->line;
  if (const auto* faulted = std::get_if<verifier::verdicts::Faulted>(&verdict)) return faulted->fault.line;
  return std::nullopt;
}

Json near_json(const Verdict& verdict, const std::string& source) {
  const std::optional<int64_t> line = line_of(verdict);
  std::vector<std::string> all = core::split(source, '\n');
  if (!all.empty() && all.back().empty()) all.pop_back();  // after the last newline
  const auto end = static_cast<int64_t>(all.size());
  if (!line || *line < 1 || *line > end) return {};
  const int64_t first = std::max<int64_t>(1, *line - kLinesAround), last = std::min(end, *line + kLinesAround);
  Json lines = Json::array();
  for (int64_t at = first; at <= last; ++at) {
    lines.push_back(core::clean_text(all[static_cast<size_t>(at - 1)], kLineBytes));
  }
  return {{"first", first}, {"line", *line}, {"lines", std::move(lines)}};
}

Json stages_json(const archive::RecordedAttempt& a) {
  Json stages = a.stages;
  if (!stages.is_object()) stages = Json::object();
  stages["compile_ms"] = a.compile_ms;
  return cleaned(stages);
}

Json workload_json(const verifier::verdicts::WorkloadTiming& timing) {
  const size_t steady = verifier::statistics::steady_pairs(timing.pairs).size();
  return {{"workload", timing.workload},
          {"time_us", timing.candidate_us},
          {"incumbent_us", timing.incumbent_us},
          {"speed_up", json_of(timing.speed_up)},
          {"bound_us", or_null(timing.bound_us)},
          {"share_of_bound", or_null(timing.share_of_bound())},
          {"weight", timing.weight},
          {"pairs", timing.pairs.size()},
          {"left_out", timing.pairs.size() - steady},
          {"throttled", std::ranges::count_if(timing.pairs, [](const auto& pair) { return pair.throttled; })}};
}

Json timing_json(const archive::Reader& archive, const archive::RecordedAttempt& a) {
  if (!a.measurement) return {};
  const verifier::verdicts::Measurement& m = *a.measurement;
  const std::optional<archive::SolutionRecord> incumbent = archive::incumbent_of_attempt(archive, a.id);
  Json workloads = Json::array(), counters = Json::array();
  for (const verifier::verdicts::WorkloadTiming& timing : m.workloads) workloads.push_back(workload_json(timing));
  for (const verifier::verdicts::Counters& launch : m.counters) counters.push_back(to_json(launch));
  return cleaned({{"clock", m.clock},
                  {"outcome", name_of(m.outcome)},
                  {"speed_up", json_of(m.speed_up)},
                  {"against", a.against},
                  {"against_hash", incumbent ? Json(incumbent->hash) : Json()},
                  {"stopped_early", m.stopped_early},
                  {"workloads", std::move(workloads)},
                  {"counters", std::move(counters)}});
}

// The paragraphs of a prompt that speak about the solution to change: prompts/improve.md and others begin them so.
std::string findings_in(const Json& prompt) {
  for (const PromptSection& section : sections_of(prompt)) {
    if (section.speaker != "user") continue;
    const size_t at = section.text.find("\nFindings about ");
    if (at != std::string::npos) return section.text.substr(at + 1);
  }
  return "";
}

Json findings_json(const archive::Reader& archive, const std::vector<archive::Exchange>& later) {
  for (const archive::Exchange& one : later) {
    const std::optional<archive::Exchange> full = archive::find_exchange(archive, one.record.id);
    const std::string text = full ? findings_in(full->record.request.prompt) : "";
    if (text.empty()) continue;
    return {{"exchange", one.record.id},
            {"number", one.record.request.number},
            {"text", core::clean_text(text, kFindingsBytes)}};
  }
  return {};
}

Json later_json(const std::vector<archive::Exchange>& later) {
  Json all = Json::array();
  for (const archive::Exchange& one : later) {
    const Json& proposal = one.record.request.proposal;
    Json json = json_of(one);
    for (const char* name : {"limit", "advice"}) {
      json[name] = proposal.is_object() && proposal.contains(name) ? proposal[name] : Json();
    }
    all.push_back(cleaned(json));
  }
  return all;
}

void add_origin(const archive::Reader& archive, const archive::RecordedAttempt& a, Json& json) {
  const archive::SolutionRecord solution = archive::solution_of_attempt(archive, a.id);
  const archive::Descent descent = archive::Descents(archive).of(solution.id);
  json["hash"] = solution.hash;
  json["descent"] = cleaned(json_of(descent));
  json["parent"] = json["difference"] = json["proposed_by"] = json["findings"] = Json();
  json["later"] = Json::array();
  if (descent.parent) {
    const archive::SolutionRecord parent = archive.solution(*descent.parent);
    json["parent"] = {{"solution", core::clean_line(parent.name)}, {"hash", parent.hash}};
    json["difference"] = or_null(shown_diff(parent.source, solution.source));
  }
  std::optional<int64_t> campaign;
  if (!a.campaign.empty()) campaign = archive.find_campaign(a.campaign).id;
  if (const auto request = archive::proposing_request(archive, solution.id, campaign)) {
    json["proposed_by"] = cleaned(json_of(archive::find_exchange(archive, *request).value()));
  }
  if (!campaign) return;
  const auto later = archive::exchanges_made_from(archive, solution.id, *campaign, kLater);
  json["later"] = later_json(later);
  json["findings"] = findings_json(archive, later);
}
}  // namespace

Json attempt_json(const archive::Reader& archive, int64_t attempt) {
  const archive::RecordedAttempt a = archive.attempt(attempt);
  Json json = cleaned(brief_json_of(a));
  json["verdict"] = cleaned(verifier::verdicts::to_json(a.verdict));
  json["advice"] = advice_of(a.verdict);
  json["near"] = near_json(a.verdict, a.source);
  json["compile_log"] = or_null(core::clean_text(a.compile_log, kLogBytes));
  json["environment"] = cleaned(a.environment);
  json["stages"] = stages_json(a);
  json["timing"] = timing_json(archive, a);
  json["registers"] = or_null(a.registers);
  json["shared_bytes"] = or_null(a.shared_bytes);
  json["spill_bytes"] = or_null(a.spill_bytes);
  add_origin(archive, a, json);
  return json;
}

}  // namespace results::view

#include "verifier/verdicts/measurement.h"

#include <utility>

namespace verifier::verdicts {
namespace {
using core::Json;
using core::JsonView;
constexpr std::pair<statistics::Outcome, std::string_view> kOutcomes[] = {
    {statistics::Outcome::win, "win"}, {statistics::Outcome::tie, "tie"}, {statistics::Outcome::loss, "loss"}};

Json to_json(const statistics::SpeedUp& s) { return {s.value, s.low, s.high}; }
statistics::SpeedUp speed_up(const JsonView& json) {
  const std::vector<JsonView> items = json.items();
  if (items.size() != 3) json.fail("must be value, low and high");
  return {items[0].number(), items[1].number(), items[2].number()};
}

// [candidate_us, incumbent_us, candidate_first], and where clocks are known [..., candidate_mhz, incumbent_mhz,
// throttled].
Json to_json(const statistics::Pair& pair) {
  Json json{pair.candidate_us, pair.incumbent_us, pair.candidate_first};
  if (pair.candidate_mhz != 0 || pair.incumbent_mhz != 0 || pair.throttled) {
    json.insert(json.end(), {pair.candidate_mhz, pair.incumbent_mhz, pair.throttled});
  }
  return json;
}
statistics::Pair pair_from(const JsonView& json) {
  const std::vector<JsonView> items = json.items();
  if (items.size() != 3 && items.size() != 6) json.fail("must be two times and an order, or those and the clocks");
  statistics::Pair pair{items[0].number(), items[1].number(), items[2].boolean()};
  if (items.size() == 6) {
    pair.candidate_mhz = static_cast<float>(items[3].number());
    pair.incumbent_mhz = static_cast<float>(items[4].number());
    pair.throttled = items[5].boolean();
  }
  return pair;
}

Json to_json(const WorkloadTiming& timing) {
  Json pairs = Json::array();
  for (const statistics::Pair& pair : timing.pairs) pairs.push_back(to_json(pair));
  Json json{{"workload", timing.workload},
            {"pairs", std::move(pairs)},
            {"candidate_us", timing.candidate_us},
            {"incumbent_us", timing.incumbent_us},
            {"speed_up", to_json(timing.speed_up)}};
  if (timing.bound_us) json["bound_us"] = *timing.bound_us;
  if (timing.weight != 1) json["weight"] = timing.weight;
  return json;
}
}  // namespace

Json to_json(const Measurement& m) {
  Json workloads = Json::array();
  for (const WorkloadTiming& timing : m.workloads) workloads.push_back(to_json(timing));
  Json json{{"clock", m.clock},
            {"workloads", std::move(workloads)},
            {"speed_up", to_json(m.speed_up)},
            {"outcome", name_of(m.outcome)},
            {"stopped_early", m.stopped_early}};
  for (const Counters& launch : m.counters) json["counters"].push_back(to_json(launch));
  return json;
}

Measurement measurement_from_json(const JsonView& json) {
  Measurement m;
  m.clock = json.at("clock").string();
  for (const JsonView& entry : json.at("workloads").items()) {
    WorkloadTiming timing{entry.at("workload").string(),
                          {},
                          entry.at("candidate_us").number(),
                          entry.at("incumbent_us").number(),
                          speed_up(entry.at("speed_up"))};
    for (const JsonView& item : entry.at("pairs").items()) timing.pairs.push_back(pair_from(item));
    if (entry.has("bound_us")) timing.bound_us = entry.at("bound_us").number();
    if (entry.has("weight")) timing.weight = entry.at("weight").number();
    m.workloads.push_back(std::move(timing));
  }
  m.speed_up = speed_up(json.at("speed_up"));
  const std::string outcome = json.at("outcome").one_of({"win", "tie", "loss"}, "outcomes");
  for (const auto& [o, name] : kOutcomes) {
    if (name == outcome) m.outcome = o;
  }
  m.stopped_early = json.at("stopped_early").boolean();
  if (json.has("counters")) {
    for (const JsonView& launch : json.at("counters").items()) m.counters.push_back(counters_from_json(launch));
  }
  return m;
}

}  // namespace verifier::verdicts

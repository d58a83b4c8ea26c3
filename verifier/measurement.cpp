#include "verifier/measurement.h"

#include <utility>

namespace verifier {
namespace {
using core::Json;
using core::JsonView;
constexpr std::pair<Outcome, std::string_view> kOutcomes[] = {
    {Outcome::win, "win"}, {Outcome::tie, "tie"}, {Outcome::loss, "loss"}};

Json to_json(const SpeedUp& s) { return {s.value, s.low, s.high}; }
SpeedUp speed_up(const JsonView& json) {
  const std::vector<JsonView> items = json.items();
  if (items.size() != 3) json.fail("must be value, low and high");
  return {items[0].number(), items[1].number(), items[2].number()};
}
}  // namespace

std::string_view name_of(Outcome outcome) {
  for (const auto& [o, name] : kOutcomes) {
    if (o == outcome) return name;
  }
  return "";
}

Json to_json(const Measurement& m) {
  Json workloads = Json::array();
  for (const WorkloadTiming& timing : m.workloads) {
    Json pairs = Json::array();
    for (const Pair& pair : timing.pairs) pairs.push_back({pair.candidate_us, pair.incumbent_us, pair.candidate_first});
    workloads.push_back({{"workload", timing.workload},
                         {"pairs", std::move(pairs)},
                         {"candidate_us", timing.candidate_us},
                         {"incumbent_us", timing.incumbent_us},
                         {"speed_up", to_json(timing.speed_up)}});
  }
  return {{"clock", m.clock},
          {"workloads", std::move(workloads)},
          {"speed_up", to_json(m.speed_up)},
          {"outcome", name_of(m.outcome)},
          {"stopped_early", m.stopped_early}};
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
    for (const JsonView& item : entry.at("pairs").items()) {
      const std::vector<JsonView> pair = item.items();
      if (pair.size() != 3) item.fail("must be two times and an order");
      timing.pairs.push_back({pair[0].number(), pair[1].number(), pair[2].boolean()});
    }
    m.workloads.push_back(std::move(timing));
  }
  m.speed_up = speed_up(json.at("speed_up"));
  const std::string outcome = json.at("outcome").one_of({"win", "tie", "loss"}, "outcomes");
  for (const auto& [o, name] : kOutcomes) {
    if (name == outcome) m.outcome = o;
  }
  m.stopped_early = json.at("stopped_early").boolean();
  return m;
}

}  // namespace verifier

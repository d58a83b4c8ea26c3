#include "agent/learning/lessons.h"

#include <algorithm>

#include "agent/learning/exemplars.h"

namespace agent::learning {

Lessons lessons_for(const results::archive::Reader& archive, const benchsuite::Problem& problem,
                    const prompting::DeviceText& device, const std::string& kind,
                    const std::vector<std::string>& models) {
  Lessons lessons{choose_exemplar(archive, problem, device, kind), results::archive::card_records(archive, kind), {}};
  if (models.size() < 2) return lessons;
  for (const auto& [model, record] : results::archive::model_records(archive, kind)) {
    if (std::ranges::find(models, model) != models.end()) lessons.models.emplace(model, record);
  }
  return lessons;
}

core::Json to_json(const Lessons& lessons) {
  core::Json json = core::Json::object();
  if (lessons.exemplar) json["exemplar"] = to_json(*lessons.exemplar);
  for (const auto& [card, record] : lessons.cards) json["cards"][card] = {{"sent", record.sent}, {"won", record.won}};
  for (const auto& [model, record] : lessons.models) {
    core::Json& one = json["models"][model];
    one = {{"requests", record.requests}, {"gain", record.gain}, {"tokens", record.tokens}};
    if (record.dollars) one["dollars"] = *record.dollars;
  }
  return json;
}

Lessons lessons_from_json(const core::Json& json, const results::archive::Reader& archive) {
  Lessons lessons;
  if (json.contains("exemplar")) lessons.exemplar = exemplar_from_json(json.at("exemplar"), archive);
  const core::Json none = core::Json::object();
  const core::Json& cards = json.contains("cards") ? json.at("cards") : none;
  for (const auto& [card, record] : cards.items()) {
    lessons.cards[card] = {record.at("sent").get<int64_t>(), record.at("won").get<int64_t>()};
  }
  const core::Json& models = json.contains("models") ? json.at("models") : none;
  for (const auto& [model, record] : models.items()) {
    results::archive::ModelRecord& one = lessons.models[model];
    one.requests = record.at("requests").get<int64_t>();
    one.gain = record.at("gain").get<double>();
    one.tokens = record.at("tokens").get<int64_t>();
    if (record.contains("dollars")) one.dollars = record.at("dollars").get<double>();
  }
  return lessons;
}

}  // namespace agent::learning

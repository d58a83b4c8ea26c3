#include "agent/learning/lessons.h"

#include "agent/learning/exemplars.h"

namespace agent::learning {

Lessons lessons_for(const results::archive::Reader& archive, const benchsuite::Problem& problem,
                    const prompting::DeviceText& device, const std::string& kind) {
  return {choose_exemplar(archive, problem, device, kind), results::archive::card_records(archive, kind)};
}

core::Json to_json(const Lessons& lessons) {
  core::Json json = core::Json::object();
  if (lessons.exemplar) json["exemplar"] = to_json(*lessons.exemplar);
  for (const auto& [card, record] : lessons.cards) json["cards"][card] = {{"sent", record.sent}, {"won", record.won}};
  return json;
}

Lessons lessons_from_json(const core::Json& json, const results::archive::Reader& archive) {
  Lessons lessons;
  if (json.contains("exemplar")) lessons.exemplar = exemplar_from_json(json.at("exemplar"), archive);
  if (!json.contains("cards")) return lessons;
  for (const auto& [card, record] : json.at("cards").items()) {
    lessons.cards[card] = {record.at("sent").get<int64_t>(), record.at("won").get<int64_t>()};
  }
  return lessons;
}

}  // namespace agent::learning

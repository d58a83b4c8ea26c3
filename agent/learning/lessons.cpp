#include "agent/learning/lessons.h"

#include "agent/learning/exemplars.h"

namespace agent::learning {

Lessons lessons_for(const results::archive::Reader& archive, const benchsuite::Problem& problem,
                    const prompting::DeviceText& device, const std::string& kind) {
  return {choose_exemplar(archive, problem, device, kind)};
}

core::Json to_json(const Lessons& lessons) {
  core::Json json = core::Json::object();
  if (lessons.exemplar) json["exemplar"] = to_json(*lessons.exemplar);
  return json;
}

Lessons lessons_from_json(const core::Json& json, const results::archive::Reader& archive) {
  Lessons lessons;
  if (json.contains("exemplar")) lessons.exemplar = exemplar_from_json(json.at("exemplar"), archive);
  return lessons;
}

}  // namespace agent::learning

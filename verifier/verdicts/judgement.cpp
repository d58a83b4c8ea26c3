#include "verifier/verdicts/judgement.h"

#include <utility>

namespace verifier::verdicts {
core::Json to_json(const Judgement& judgement) {
  core::Json json{{"verdict", to_json(judgement.verdict)},
                  {"seed", judgement.seed},
                  {"stages",
                   {{"check_ms", judgement.stages.check_ms},
                    {"timing_ms", judgement.stages.timing_ms},
                    {"audit_ms", judgement.stages.audit_ms},
                    {"sanitizer_ms", judgement.stages.sanitizer_ms},
                    {"host_wait_ms", judgement.stages.host_wait_ms}}}};
  if (judgement.measurement) json["measurement"] = to_json(*judgement.measurement);
  return json;
}

Judgement judgement_from_json(const core::JsonView& json) {
  const core::JsonView stages = json.at("stages"), seed = json.at("seed");
  if (!seed.json().is_number_unsigned()) seed.fail("is no seed");
  Judgement judgement{verdict_from_json(json.at("verdict")),
                      {},
                      {stages.at("check_ms").number(), stages.at("timing_ms").number(), stages.at("audit_ms").number(),
                       stages.at("sanitizer_ms").number(), stages.at("host_wait_ms").number()},
                      seed.json().get<uint64_t>()};
  if (json.has("measurement")) judgement.measurement = measurement_from_json(json.at("measurement"));
  return judgement;
}

}  // namespace verifier::verdicts

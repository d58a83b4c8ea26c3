// Campaign settings to and from the JSON that the archive keeps.
#include "agent/campaign/campaign.h"

namespace agent::campaign {
namespace {
using core::Json;

template <typename T>
Json optional_json(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

constexpr int64_t kMostNodes = 4096;

bool is_set(const core::JsonView& json, const char* key) { return json.has(key) && !json.at(key).json().is_null(); }

// Fields that campaigns of earlier versions lack.
void read_models(const core::JsonView& json, CampaignSettings& s) {
  if (!json.has("proposers")) return;
  for (const core::JsonView& name : json.at("proposers").items()) s.proposers.push_back(name.string());
  if (json.has("planner")) s.planner = json.at("planner").string();
  s.models.strategy = json.at("strategy").string();
  s.models.in_flight = static_cast<int>(json.at("in_flight").integer(1, 1000));
  s.models.lines = static_cast<int>(json.at("lines").integer(1, 1000));
  s.models.wanted = static_cast<int>(json.at("wanted").integer(1, 8));
  s.models.patience = static_cast<int>(json.at("model_patience").integer(1, 1'000'000));
  s.sampling.max_output_tokens = json.at("max_output_tokens").integer(1);
  s.sampling.thinking_tokens = json.at("thinking_tokens").integer(0);
  if (json.has("context_tokens")) s.sampling.context_tokens = json.at("context_tokens").integer(0);
  if (is_set(json, "temperature")) s.sampling.temperature = json.at("temperature").number();
  if (is_set(json, "tokens")) s.spending.tokens = json.at("tokens").integer(1);
  if (is_set(json, "requests")) s.spending.requests = json.at("requests").integer(1);
  if (is_set(json, "dollars")) s.spending.dollars = json.at("dollars").number();
}
}  // namespace

std::vector<std::string> models_of(const CampaignSettings& settings) {
  std::vector<std::string> names = settings.proposers;
  if (!settings.planner.empty()) names.push_back(settings.planner);
  return names;
}

Json to_json(const CampaignSettings& s) {
  Json json{{"problems", s.problems},
            {"device", s.device},
            {"hot", s.hot},
            {"attempts", optional_json(s.budget.attempts)},
            {"seconds", optional_json(s.budget.seconds)},
            {"seed", s.seed},
            {"patience", s.patience},
            {"shipped", s.shipped},
            {"solutions", s.solutions},
            {"launcher", s.launcher},
            {"nodes", s.nodes},
            {"proposers", s.proposers},
            {"strategy", s.models.strategy},
            {"in_flight", s.models.in_flight},
            {"lines", s.models.lines},
            {"wanted", s.models.wanted},
            {"model_patience", s.models.patience},
            {"max_output_tokens", s.sampling.max_output_tokens},
            {"thinking_tokens", s.sampling.thinking_tokens},
            {"context_tokens", s.sampling.context_tokens},
            {"temperature", optional_json(s.sampling.temperature)},
            {"tokens", optional_json(s.spending.tokens)},
            {"requests", optional_json(s.spending.requests)},
            {"dollars", optional_json(s.spending.dollars)}};
  if (!s.planner.empty()) json["planner"] = s.planner;
  if (!s.trial.empty()) json["trial"] = s.trial;
  if (!s.learns) json["learns"] = false;
  if (s.held_out) json["held_out"] = true;
  return json;
}

CampaignSettings campaign_settings_from_json(const core::JsonView& json) {
  CampaignSettings s;
  for (const core::JsonView& problem : json.at("problems").items()) s.problems.push_back(problem.string());
  s.device = json.at("device").string();
  s.hot = json.has("hot") && json.at("hot").boolean();
  if (!json.at("attempts").json().is_null()) s.budget.attempts = json.at("attempts").integer(1);
  if (!json.at("seconds").json().is_null()) s.budget.seconds = json.at("seconds").number();
  s.seed = json.at("seed").json().get<uint64_t>();
  s.patience = static_cast<int>(json.at("patience").integer(0, 1'000'000));
  s.shipped = json.at("shipped").boolean();
  for (const core::JsonView& hash : json.at("solutions").items()) s.solutions.push_back(hash.string());
  if (json.has("launcher")) s.launcher = json.at("launcher").string();
  if (json.has("nodes")) s.nodes = static_cast<int>(json.at("nodes").integer(0, kMostNodes));
  s.learns = !json.has("learns") || json.at("learns").boolean();
  s.held_out = json.has("held_out") && json.at("held_out").boolean();
  if (json.has("trial")) s.trial = json.at("trial").string();
  read_models(json, s);
  return s;
}

}  // namespace agent::campaign

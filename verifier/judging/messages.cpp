#include "verifier/judging/messages.h"

namespace verifier::judging {
using core::Json;
using core::JsonView;

Json to_json(const verdicts::CheckSettings& s) {
  return {{"ordinary_draws", s.ordinary_draws},
          {"unseen_shapes", s.unseen_shapes},
          {"launch_deadline_s", s.launch_deadline_s},
          {"prepare_deadline_s", s.prepare_deadline_s}};
}

verdicts::CheckSettings check_settings_from_json(const JsonView& json) {
  verdicts::CheckSettings settings;
  settings.ordinary_draws = static_cast<int>(json.at("ordinary_draws").integer(1, 1000));
  settings.unseen_shapes = static_cast<int>(json.at("unseen_shapes").integer(0, 1000));
  settings.launch_deadline_s = json.at("launch_deadline_s").number();
  settings.prepare_deadline_s = json.at("prepare_deadline_s").number();
  return settings;
}

Json to_json(const verdicts::TimingSettings& s) {
  return {{"screen_pairs", s.screen_pairs},
          {"clear_pairs", s.clear_pairs},
          {"least_pairs", s.least_pairs},
          {"most_pairs", s.most_pairs},
          {"most_s", s.most_s},
          {"half_width", s.half_width},
          {"confirm_half_width", s.confirm_half_width},
          {"audit_share", s.audit_share},
          {"hot", s.hot}};
}

verdicts::TimingSettings timing_settings_from_json(const JsonView& json) {
  verdicts::TimingSettings settings;
  settings.screen_pairs = static_cast<int>(json.at("screen_pairs").integer(3, 100000));
  settings.clear_pairs = static_cast<int>(json.at("clear_pairs").integer(3, 100000));
  settings.least_pairs = static_cast<int>(json.at("least_pairs").integer(3, 100000));
  settings.most_pairs = static_cast<int>(json.at("most_pairs").integer(3, 100000));
  settings.most_s = json.at("most_s").number();
  settings.half_width = json.at("half_width").number();
  settings.confirm_half_width = json.at("confirm_half_width").number();
  settings.audit_share = json.at("audit_share").number();
  settings.hot = json.at("hot").boolean();
  return settings;
}

Json plan_json(const sandbox::Solution& solution, const sandbox::TunableBinding& binding) {
  const draws::source::SourceNumbers numbers = draws::source::numbers_of(solution.source, binding, solution.launches);
  Json conditions = Json::array();
  for (const draws::source::Condition& condition : numbers.conditions) {
    conditions.push_back({{"name", condition.name},
                          {"relation", core::enum_name(condition.relation)},
                          {"number", condition.number},
                          {"remainder", condition.remainder}});
  }
  Json comparisons = Json::array();
  for (const draws::source::Comparison& one : numbers.comparisons) {
    comparisons.push_back({{"of", one.of.text()}, {"number", one.number}, {"equals", one.equals}});
  }
  return {{"header", solution.header},
          {"binding", binding},
          {"numbers",
           {{"decisive", numbers.decisive},
            {"conditions", std::move(conditions)},
            {"comparisons", std::move(comparisons)},
            {"renumbers_blocks", numbers.renumbers_blocks},
            {"multiplies_by_reciprocals", numbers.multiplies_by_reciprocals},
            {"others", numbers.others},
            {"ends_of_types", numbers.ends_of_types},
            {"values", numbers.values}}}};
}

NamedPlan plan_from_json(const JsonView& json, const std::string& name) {
  NamedPlan plan{sandbox::parse_header(json.at("header").string(), name), {}, {}};
  for (const auto& [tunable, value] : json.at("binding").members()) plan.binding[tunable] = value.integer();
  const JsonView numbers = json.at("numbers");
  for (const JsonView& number : numbers.at("decisive").items()) plan.numbers.decisive.push_back(number.integer());
  for (const JsonView& one : numbers.at("conditions").items()) {
    plan.numbers.conditions.push_back({one.at("name").string(),
                                       one.at("relation").one_of<draws::source::Relation>("relations"),
                                       one.at("number").integer(1), one.at("remainder").integer()});
  }
  for (const JsonView& one : numbers.at("comparisons").items()) {
    plan.numbers.comparisons.push_back(
        {core::Expr::parse(one.at("of").string()), one.at("number").integer(), one.at("equals").boolean()});
  }
  plan.numbers.renumbers_blocks = numbers.at("renumbers_blocks").boolean();
  plan.numbers.multiplies_by_reciprocals = numbers.at("multiplies_by_reciprocals").boolean();
  for (const JsonView& number : numbers.at("others").items()) plan.numbers.others.push_back(number.integer());
  for (const JsonView& end : numbers.at("ends_of_types").items()) plan.numbers.ends_of_types.push_back(end.integer());
  for (const JsonView& value : numbers.at("values").items()) plan.numbers.values.push_back(value.number());
  return plan;
}

}  // namespace verifier::judging

#include "results/view/json.h"

#include "core/text.h"
#include "verifier/verdicts/bound.h"

namespace results::view {
namespace {
using core::clean_line;
using core::Json;

constexpr size_t kDescriptionBytes = 4000;

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

Json figures_json(const archive::WorkloadFigures& figures) {
  return {{"workload", clean_line(figures.workload)},
          {"time_us", {figures.time_us.value, figures.time_us.low, figures.time_us.high}},
          {"naive_us", figures.naive_us},
          {"speed_up", json_of(figures.speed_up)},
          {"bound_us", or_null(figures.bound_us)},
          {"share_of_bound", or_null(figures.share_of_bound())}};
}

Json cost_json(const archive::Cost& cost) {
  return {
      {"replies", cost.replies}, {"tokens", cost.tokens}, {"dollars", cost.dollars}, {"all_priced", cost.all_priced}};
}

Json axes_json(const core::Bindings& axes) {
  Json json = Json::object();
  for (const auto& [name, value] : axes) json[clean_line(name)] = value;
  return json;
}
}  // namespace

Json json_of(const verifier::statistics::SpeedUp& speed_up) {
  return {{"value", speed_up.value}, {"low", speed_up.low}, {"high", speed_up.high}};
}

Json json_of(const archive::LeaderboardRow& row) {
  Json over = Json::array(), workloads = Json::array();
  for (const archive::OverLibrary& library : row.over_libraries) {
    over.push_back({{"library", clean_line(library.library)}, {"ratio", json_of(library.ratio)}});
  }
  for (const archive::WorkloadFigures& figures : row.workloads) workloads.push_back(figures_json(figures));
  Json json{{"rank", row.rank},
            {"attempt", row.library ? Json() : Json(row.attempt)},
            {"problem", clean_line(row.problem)},
            {"device", clean_line(row.device)},
            {"solution", clean_line(row.solution)},
            {"hash", row.hash},
            {"origin", clean_line(row.origin)},
            {"made", row.made},
            {"campaign", row.campaign},
            {"tunables", clean_line(sandbox::describe(row.binding))},
            {"confirmed", row.confirmed},
            {"library", row.library},
            {"verdict", name_of(row.verdict)},
            {"speed_up", row.timed() ? json_of(row.speed_up) : Json()},
            {"time_us", row.timed() ? Json(row.time_us()) : Json()},
            {"share_of_bound", row.timed() ? or_null(row.workloads[0].share_of_bound()) : Json()},
            {"workloads", std::move(workloads)},
            {"over_libraries", std::move(over)},
            {"model", clean_line(row.descent.model)},
            {"task", clean_line(row.descent.task)},
            {"ancestors", row.descent.ancestors},
            {"cost", cost_json(row.descent.lineage)}};
  return json;
}

Json json_of(const archive::CampaignRecord& campaign) {
  Json settings = Json::object();
  for (const char* name : {"problems", "device", "seconds", "attempts", "seed", "proposers", "strategy"}) {
    if (campaign.settings.contains(name)) settings[name] = campaign.settings[name];
  }
  return {{"name", campaign.name},          {"status", campaign.status},         {"started", campaign.started},
          {"ended", campaign.ended},        {"seconds", campaign.spent_seconds}, {"attempts", campaign.attempts},
          {"settings", std::move(settings)}};
}

Json json_of(const archive::Curve& curve) {
  const auto point = [](const archive::CurvePoint& p) {
    return Json{{"attempts", p.attempts}, {"seconds", p.seconds},
                {"dollars", p.dollars},   {"tokens", p.tokens},
                {"attempt", p.attempt},   {"speed_up", json_of(p.speed_up)},
                {"hash", p.hash},         {"solution", clean_line(p.solution)}};
  };
  Json steps = Json::array();
  for (const archive::CurvePoint& step : curve.steps) steps.push_back(point(step));
  return {{"problem", clean_line(curve.problem)},
          {"device", clean_line(curve.device)},
          {"steps", std::move(steps)},
          {"now", point(curve.now)}};
}

Json json_of(const archive::SelftestRecord& selftest) {
  const archive::NewSelftest& of = selftest.of;
  return {{"device", clean_line(of.device)},
          {"made", selftest.made},
          {"quick", of.quick},
          {"dishonest", of.dishonest},
          {"false_accepts", of.false_accepts},
          {"honest", of.honest},
          {"false_rejects", of.false_rejects},
          {"widest_noise", or_null(of.widest_noise)},
          {"candidates_per_hour", or_null(of.candidates_per_hour)}};
}

Json json_of(const SuiteScores& scores) {
  Json fast_p = Json::array();
  for (const FastP& fast : scores.fast_p) {
    fast_p.push_back(
        {{"baseline", clean_line(fast.baseline)}, {"p", fast.p}, {"fast", fast.fast}, {"problems", fast.problems}});
  }
  return {{"device", clean_line(scores.device)},
          {"problems", scores.problems},
          {"solved", scores.solved},
          {"geometric_mean", scores.geometric_mean},
          {"fast_p", std::move(fast_p)}};
}

Json json_of(const benchsuite::Problem& problem) {
  Json axes = Json::array(), workloads = Json::array();
  for (const benchsuite::Axis& axis : problem.axes) {
    axes.push_back({{"name", clean_line(axis.name)},
                    {"description", clean_line(axis.description)},
                    {"min", axis.min},
                    {"max", axis.max}});
  }
  for (const benchsuite::Workload& workload : problem.workloads) {
    workloads.push_back({{"name", clean_line(workload.name)},
                         {"role", benchsuite::name_of(workload.role)},
                         {"axes", axes_json(workload.axes)},
                         {"devices", workload.devices}});
  }
  return {{"title", clean_line(problem.title)},
          {"description", core::clean_text(problem.description, kDescriptionBytes)},
          {"axes", std::move(axes)},
          {"workloads", std::move(workloads)},
          {"cost",
           {{"flops", problem.cost.flops.text()},
            {"bytes_read", problem.cost.bytes_read.text()},
            {"bytes_written", problem.cost.bytes_written.text()}}}};
}

Json roofline_json(const benchsuite::Problem& problem, const std::vector<archive::LeaderboardRow>& rows,
                   const std::optional<verifier::verdicts::Calibration>& calibration) {
  Json points = Json::array(), ceilings;
  for (const benchsuite::Workload& workload : problem.workloads) {
    const auto flops = static_cast<double>(problem.cost.flops.eval(workload.axes));
    const auto bytes = static_cast<double>(problem.cost.bytes_read.eval(workload.axes) +
                                           problem.cost.bytes_written.eval(workload.axes));
    bool naive_stands = false;
    const auto add = [&](const archive::LeaderboardRow& row, const char* kind, double time_us) {
      if (time_us <= 0 || bytes <= 0) return;
      points.push_back({{"kind", kind},
                        {"name", kind == std::string_view("naive") ? "naive" : clean_line(row.solution)},
                        {"hash", kind == std::string_view("solution") ? row.hash : ""},
                        {"workload", clean_line(workload.name)},
                        {"time_us", time_us},
                        {"intensity", flops / bytes},
                        {"gflop_s", flops / time_us * 1e-3},
                        {"gb_s", bytes / time_us * 1e-3}});
    };
    for (const archive::LeaderboardRow& row : rows) {
      for (const archive::WorkloadFigures& figures : row.workloads) {
        if (figures.workload != workload.name) continue;
        add(row, row.library ? "library" : "solution", figures.time_us.value);
        if (!row.library && !naive_stands) add(row, "naive", figures.naive_us);
        naive_stands = naive_stands || !row.library;
        if (!calibration || !ceilings.is_null()) continue;
        const auto peak = verifier::verdicts::peak_flop_s(problem, workload.axes, *calibration);
        ceilings = {{"gb_s", calibration->fastest_gb_s()},
                    {"l2_gb_s", calibration->l2_read_gb_s},
                    {"gflop_s", peak ? Json(*peak * 1e-9) : Json()},
                    {"made", calibration->made}};
      }
    }
  }
  return {{"points", std::move(points)}, {"ceilings", std::move(ceilings)}};
}

}  // namespace results::view

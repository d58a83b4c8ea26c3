#include "results/view/problem.h"

#include "verifier/verdicts/bound.h"

namespace results::view {
using core::Json;

Json json_of(const benchsuite::Problem& problem) {
  Json axes = Json::array(), workloads = Json::array();
  for (const benchsuite::Axis& axis : problem.axes) {
    axes.push_back({{"name", axis.name},
                    {"description", axis.description},
                    {"min", axis.min},
                    {"max", axis.max},
                    {"values", axis.values}});
  }
  for (const benchsuite::Workload& workload : problem.workloads) {
    workloads.push_back({{"name", workload.name},
                         {"role", benchsuite::name_of(workload.role)},
                         {"axes", workload.axes},
                         {"devices", workload.devices},
                         {"weight", workload.weight}});
  }
  Json scalars = Json::array();
  for (const benchsuite::NamedScalar& scalar : problem.scalars) {
    scalars.push_back({{"name", scalar.name},
                       {"dtype", core::name_of(core::dtype_of(scalar.value))},
                       {"value", core::json_of(scalar.value)},
                       {"text", core::text_of(scalar.value)}});
  }
  return {{"title", problem.title},
          {"description", problem.description},
          {"axes", std::move(axes)},
          {"scalars", std::move(scalars)},
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
                        {"name", kind == std::string_view("naive") ? "naive" : row.solution},
                        {"hash", kind == std::string_view("solution") ? row.hash : ""},
                        {"workload", workload.name},
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

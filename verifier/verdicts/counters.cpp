#include "verifier/verdicts/counters.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <utility>

#include "core/error.h"
#include "core/text.h"

namespace verifier::verdicts {
namespace {
constexpr size_t kMostLaunches = 10000, kMostName = 200;

// A field, what it is called in JSON, the metric that fills it, and what a unit of it is there.
struct Metric {
  std::optional<double> Counters::*field;
  const char* key;
  std::string_view name;
  double unit;
};
constexpr std::array<Metric, 10> kMetrics{{
    {&Counters::time, "time", "gpu__time_duration.sum", 1},
    {&Counters::dram, "dram", "dram__throughput.avg.pct_of_peak_sustained_elapsed", 0.01},
    {&Counters::compute, "compute", "sm__throughput.avg.pct_of_peak_sustained_elapsed", 0.01},
    {&Counters::tensor, "tensor", "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active", 0.01},
    {&Counters::l2_hits, "l2_hits", "lts__t_sector_hit_rate.pct", 0.01},
    {&Counters::load_sectors, "load_sectors", "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio",
     1},
    {&Counters::store_sectors, "store_sectors", "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio",
     1},
    {&Counters::occupancy, "occupancy", "sm__warps_active.avg.pct_of_peak_sustained_active", 0.01},
    {&Counters::lanes, "lanes", "smsp__thread_inst_executed_per_inst_executed.ratio", 1},
    {&Counters::registers, "registers", "launch__registers_per_thread", 1},
}};
constexpr std::array<std::string_view, 2> kConflicts{"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
                                                     "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"};
constexpr std::array<std::string_view, 2> kPasses{"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
                                                  "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"};
constexpr std::array<std::string_view, 9> kStalls{"long_scoreboard", "short_scoreboard",   "barrier", "mio_throttle",
                                                  "lg_throttle",     "math_pipe_throttle", "wait",    "membar",
                                                  "no_instruction"};
std::string stall_metric(std::string_view stall) {
  return "smsp__average_warps_issue_stalled_" + std::string(stall) + "_per_issue_active.ratio";
}

// Cells of a line: each in quotes or bare; a quote within one is written twice.
std::vector<std::string> cells_of(std::string_view line) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"') {
      const bool twice = quoted && i + 1 < line.size() && line[i + 1] == '"';
      if (twice) cells.back() += line[++i];
      if (!twice) quoted = !quoted;
    } else if (line[i] == ',' && !quoted) {
      cells.emplace_back();
    } else if (line[i] != '\r') {
      cells.back() += line[i];
    }
  }
  return cells;
}

// "1,205.00"; nullopt for "n/a" and the like.
std::optional<double> number_of(const std::string& cell) {
  std::string digits;
  for (const char c : cell) {
    if (c != ',') digits += c;
  }
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size() || !(value >= 0) || value > 1e18)
    return std::nullopt;
  return value;
}

using CsvRow = std::map<std::string, std::string>;
std::optional<double> number_at(const CsvRow& row, std::string_view name) {
  const auto found = row.find(std::string(name));
  return found == row.end() ? std::nullopt : number_of(found->second);
}

std::optional<double> sum_at(const CsvRow& row, const std::array<std::string_view, 2>& names) {
  std::optional<double> sum;
  for (const std::string_view name : names) {
    if (const auto value = number_at(row, name)) sum = sum.value_or(0) + *value;
  }
  return sum;
}

Counters counters_of(const CsvRow& row) {
  Counters counters;
  if (const auto name = row.find("Kernel Name"); name != row.end()) {
    counters.kernel = core::clean_line(name->second, kMostName);
  }
  for (const Metric& metric : kMetrics) {
    if (const auto value = number_at(row, metric.name)) counters.*metric.field = *value * metric.unit;
  }
  const auto conflicts = sum_at(row, kConflicts), passes = sum_at(row, kPasses);
  if (conflicts && passes && *passes > 0) counters.conflicts = std::min(*conflicts / *passes, 1.0);
  for (const std::string_view stall : kStalls) {
    if (const auto value = number_at(row, stall_metric(stall))) counters.stalls[std::string(stall)] = *value;
  }
  return counters;
}
}  // namespace

std::vector<std::string> counter_metrics() {
  std::vector<std::string> names;
  for (const Metric& metric : kMetrics) names.emplace_back(metric.name);
  for (const auto& pair : {kConflicts, kPasses}) names.insert(names.end(), pair.begin(), pair.end());
  for (const std::string_view stall : kStalls) names.push_back(stall_metric(stall));
  return names;
}

std::vector<Counters> parse_counters(std::string_view report) {
  std::vector<std::string> header;
  std::vector<Counters> launches;
  for (const std::string& line : core::split(std::string(report), '\n')) {
    if (header.empty() && line.rfind("\"ID\",", 0) != 0) continue;
    std::vector<std::string> cells = cells_of(line);
    if (header.empty()) {
      header = std::move(cells);
      continue;
    }
    // The second line holds units and has no number of a launch.
    if (cells.size() != header.size() || !number_of(cells.front()) || launches.size() == kMostLaunches) continue;
    CsvRow row;
    for (size_t i = 0; i < cells.size(); ++i) row[header[i]] = std::move(cells[i]);
    launches.push_back(counters_of(row));
  }
  if (launches.empty()) {
    throw core::InputError("Nsight Compute's report",
                           "holds no table of counters: " + core::clean_line(std::string(report), 400));
  }
  return launches;
}

core::Json to_json(const Counters& counters) {
  core::Json json{{"kernel", counters.kernel}, {"stalls", counters.stalls}};
  for (const Metric& metric : kMetrics) {
    if (counters.*metric.field) json[metric.key] = *(counters.*metric.field);
  }
  if (counters.conflicts) json["conflicts"] = *counters.conflicts;
  if (!counters.workload.empty()) json["workload"] = counters.workload;
  return json;
}

Counters counters_from_json(const core::JsonView& json) {
  Counters counters;
  counters.kernel = json.at("kernel").string();
  for (const auto& [stall, cycles] : json.at("stalls").members()) counters.stalls[stall] = cycles.number();
  for (const Metric& metric : kMetrics) {
    if (json.has(metric.key)) counters.*metric.field = json.at(metric.key).number();
  }
  if (json.has("workload")) counters.workload = json.at("workload").string();
  if (json.has("conflicts")) counters.conflicts = json.at("conflicts").number();
  return counters;
}

}  // namespace verifier::verdicts

#include "agent/cli/calibration_text.h"

#include <fmt/format.h>

#include <cstdio>

#include "agent/cli/output.h"
#include "agent/cli/table.h"
#include "core/text.h"

namespace agent::cli {
namespace {
using core::Json;

// Older architectures only have mma.sync; on 9.0 and 10.x other instructions are faster.
bool tensor_peak_is_low(const verifier::verdicts::Calibration& c) {
  const bool newer = c.architecture.rfind("sm_9", 0) == 0 || c.architecture.rfind("sm_10", 0) == 0;
  return newer && c.tensor_instruction == "mma.sync";
}

std::string tera(double value, const char* unit) { return fmt::format("{:.2f} T{}", value, unit); }

Json baseline_json(const std::string& problem, const std::string& library,
                   const verifier::verdicts::Judgement& judgement) {
  Json json{{"event", "baseline"},
            {"problem", problem},
            {"library", library},
            {"verdict", name_of(judgement.verdict)},
            {"sentence", verifier::verdicts::sentence_for_people(judgement.verdict)}};
  if (!judgement.measurement || judgement.measurement->workloads.empty()) return json;
  json["speed_up"] = judgement.measurement->speed_up.value;
  json["time_us"] = judgement.measurement->workloads[0].candidate_us;
  return json;
}
}  // namespace

std::string calibration_text(const verifier::verdicts::Calibration& c) {
  Table table({{"  WHAT"}, {"BEST", Table::Align::right}, {"HOW"}});
  table.add_row({"  memory, read", tera(c.dram_read_gb_s / 1e3, "B/s"), "16-byte loads"});
  table.add_row({"  memory, written", tera(c.dram_write_gb_s / 1e3, "B/s"), "16-byte stores"});
  table.add_row({"  memory, copied", tera(c.dram_copy_gb_s / 1e3, "B/s"), "bytes read and bytes written"});
  table.add_row({"  L2, read", tera(c.l2_read_gb_s / 1e3, "B/s"), "about a quarter of it, repeatedly"});
  table.add_row({"  f32", tera(c.fp32_flop_s / 1e12, "FLOP/s"), "fused multiply-adds in registers"});
  table.add_row({"  f64", tera(c.fp64_flop_s / 1e12, "FLOP/s"), "fused multiply-adds in registers"});
  const std::string how = c.tensor_instruction + ", random operands, sums in f32";
  table.add_row({"  tensor f16", tera(c.tensor_f16_flop_s / 1e12, "FLOP/s"), how});
  table.add_row({"  tensor bf16", tera(c.tensor_bf16_flop_s / 1e12, "FLOP/s"), how});
  table.add_row({"  tensor tf32", tera(c.tensor_tf32_flop_s / 1e12, "FLOP/s"), how});
  table.add_row({"  empty launch", format_time_us(c.launch_floor_us), "median between two events"});
  const bool amd = c.architecture.starts_with("gfx");
  return fmt::format(
      "{}: {}, {} {}, {} MiB of {}, driver for {} {}, {}\n{}{}", c.device, c.architecture, c.multiprocessors,
      amd ? "compute units" : "multiprocessors", c.l2_bytes >> 20, amd ? "cache" : "L2", amd ? "HIP" : "CUDA", c.driver,
      c.made, table.text(),
      tensor_peak_is_low(c)
          ? "mma.sync does not reach this GPU's tensor peaks: if they set the bound, shares of it can exceed 100 %.\n"
          : "");
}

std::string baseline_text(const std::string& problem, const std::string& library,
                          const verifier::verdicts::Judgement& judgement) {
  const std::string who = problem + ", " + library + ": ";
  if (!verifier::verdicts::is_correct(judgement.verdict) || !judgement.measurement ||
      judgement.measurement->workloads.empty()) {
    return who + name_of(judgement.verdict) + ": " + verifier::verdicts::sentence_for_people(judgement.verdict);
  }
  const verifier::statistics::SpeedUp& s = judgement.measurement->speed_up;
  return who + format_speed_up(s.value, s.low, s.high) + " over naive, " +
         format_time_us(judgement.measurement->workloads[0].candidate_us);
}

campaign::BaselineListener print_baselines(bool json) {
  const auto show = [json](const Json& line, const std::string& text) {
    if (json) {
      print_json(line);
    } else {
      print("{}\n", text);
    }
    std::fflush(stdout);
  };
  return {[show](const std::string& problem, const std::string& library, const std::string& mode,
                 const verifier::verdicts::Judgement& judgement) {
            Json line = baseline_json(problem, library, judgement);
            if (!mode.empty()) line["mode"] = mode;
            show(line, baseline_text(problem, library + (mode.empty() ? "" : " (" + mode + ")"), judgement));
          },
          [show](const std::string& what) {
            show({{"event", "warned"}, {"what", what}}, core::clean_line(what));
          }};
}

}  // namespace agent::cli

#include "verifier/verdicts/calibration.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

namespace verifier::verdicts {
namespace {
using core::Json;
using core::JsonView;

constexpr std::pair<std::string_view, std::string Calibration::*> kTexts[] = {
    {"device", &Calibration::device},
    {"architecture", &Calibration::architecture},
    {"driver", &Calibration::driver},
    {"made", &Calibration::made},
    {"tensor_instruction", &Calibration::tensor_instruction}};
constexpr std::pair<std::string_view, int64_t Calibration::*> kCounts[] = {
    {"multiprocessors", &Calibration::multiprocessors}, {"l2_bytes", &Calibration::l2_bytes}};
constexpr std::pair<std::string_view, double Calibration::*> kFigures[] = {
    {"dram_read_gb_s", &Calibration::dram_read_gb_s},
    {"dram_write_gb_s", &Calibration::dram_write_gb_s},
    {"dram_copy_gb_s", &Calibration::dram_copy_gb_s},
    {"l2_read_gb_s", &Calibration::l2_read_gb_s},
    {"fp32_flop_s", &Calibration::fp32_flop_s},
    {"fp64_flop_s", &Calibration::fp64_flop_s},
    {"tensor_f16_flop_s", &Calibration::tensor_f16_flop_s},
    {"tensor_bf16_flop_s", &Calibration::tensor_bf16_flop_s},
    {"tensor_tf32_flop_s", &Calibration::tensor_tf32_flop_s},
    {"launch_floor_us", &Calibration::launch_floor_us}};
}  // namespace

double Calibration::fastest_gb_s() const { return std::max({dram_read_gb_s, dram_write_gb_s, dram_copy_gb_s}); }

Json to_json(const Calibration& calibration) {
  Json json;
  for (const auto& [name, member] : kTexts) json[std::string(name)] = calibration.*member;
  for (const auto& [name, member] : kCounts) json[std::string(name)] = calibration.*member;
  for (const auto& [name, member] : kFigures) json[std::string(name)] = calibration.*member;
  return json;
}

Calibration calibration_from_json(const JsonView& json) {
  std::vector<std::string> fields;
  for (const auto& [name, member] : kTexts) fields.emplace_back(name);
  for (const auto& [name, member] : kCounts) fields.emplace_back(name);
  for (const auto& [name, member] : kFigures) fields.emplace_back(name);
  json.expect_object(fields);
  Calibration calibration;
  for (const auto& [name, member] : kTexts) {
    calibration.*member = json.at(name).string();
    if ((calibration.*member).empty()) json.at(name).fail("must not be empty");
  }
  for (const auto& [name, member] : kCounts) calibration.*member = json.at(name).integer(1);
  for (const auto& [name, member] : kFigures) {
    calibration.*member = json.at(name).number();
    if (!(calibration.*member > 0)) json.at(name).fail("must be above 0, is " + json.at(name).json().dump());
  }
  return calibration;
}

}  // namespace verifier::verdicts

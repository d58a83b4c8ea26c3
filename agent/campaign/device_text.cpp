#include "agent/campaign/device_text.h"

#include <array>
#include <utility>

namespace agent::campaign {
namespace {
using core::Json;
constexpr std::array kTexts{std::pair("backend", &prompting::DeviceText::backend),
                            std::pair("name", &prompting::DeviceText::name),
                            std::pair("architecture", &prompting::DeviceText::architecture),
                            std::pair("compiler", &prompting::DeviceText::compiler),
                            std::pair("vectors", &prompting::DeviceText::vectors),
                            std::pair("dialect", &prompting::DeviceText::dialect)};
constexpr std::array kNumbers{
    std::pair("multiprocessors", &prompting::DeviceText::multiprocessors),
    std::pair("shared_bytes_per_block", &prompting::DeviceText::shared_bytes_per_block),
    std::pair("shared_bytes_per_multiprocessor", &prompting::DeviceText::shared_bytes_per_multiprocessor),
    std::pair("registers", &prompting::DeviceText::registers), std::pair("l2_bytes", &prompting::DeviceText::l2_bytes)};
}  // namespace

prompting::DeviceText device_text(const DeviceSession& session,
                                  const std::optional<verifier::verdicts::Calibration>& calibration) {
  const core::Json facts = session.environment();
  prompting::DeviceText text;
  text.backend = session.backend();
  text.name = facts.value("gpu", facts.value("processor", ""));
  text.architecture = facts.value("architecture", "");
  if (text.architecture.empty()) {
    text.compiler = facts.value("compiler", "");
    text.vectors = facts.value("vectors", "");
    text.dialect = facts.value("dialect", "");
  }
  const auto number = [&](const char* fact) {
    return facts.contains(fact) ? std::optional(facts.at(fact).get<int64_t>()) : std::nullopt;
  };
  text.multiprocessors = number("multiprocessors");
  text.l2_bytes = number("l2_bytes");
  text.shared_bytes_per_block = number("shared_bytes_per_block");
  text.shared_bytes_per_multiprocessor = number("shared_bytes_per_multiprocessor");
  text.registers = number("registers_per_multiprocessor");
  text.calibration = calibration;
  return text;
}

Json to_json(const prompting::DeviceText& text) {
  Json json = Json::object();
  for (const auto& [key, member] : kTexts) json[key] = text.*member;
  for (const auto& [key, member] : kNumbers) {
    if (text.*member) json[key] = *(text.*member);
  }
  if (text.calibration) json["calibration"] = to_json(*text.calibration);
  return json;
}

prompting::DeviceText device_text_from_json(const core::JsonView& json) {
  prompting::DeviceText text;
  for (const auto& [key, member] : kTexts) text.*member = json.has(key) ? json.at(key).string() : "";
  for (const auto& [key, member] : kNumbers) {
    if (json.has(key)) text.*member = json.at(key).integer();
  }
  if (json.has("calibration")) text.calibration = verifier::verdicts::calibration_from_json(json.at("calibration"));
  return text;
}

}  // namespace agent::campaign

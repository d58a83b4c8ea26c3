#include "agent/device_text.h"

namespace agent {

DeviceText device_text(const Workshop& workshop, const std::optional<verifier::Calibration>& calibration) {
  const core::Json facts = workshop.environment();
  DeviceText text;
  text.backend = facts.contains("gpu") ? "cuda" : "cpu";
  text.name = facts.value("gpu", facts.value("processor", ""));
  text.architecture = facts.value("architecture", "");
  if (text.backend == "cpu") text.compiler = facts.value("compiler", "");
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

}  // namespace agent

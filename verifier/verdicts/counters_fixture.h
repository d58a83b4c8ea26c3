// Output of Nsight Compute, for tests.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "verifier/verdicts/counters.h"

namespace verifier::verdicts::test {

// For these values by metric: a line of names, one of units, and one a launch.
inline std::string counters_report(const std::vector<std::map<std::string, std::string>>& launches) {
  std::string names = R"("ID","Process ID","Process Name","Host Name","Kernel Name","Context","statistics::Stream")",
              units = R"("","","","","","","")";
  for (const std::string& metric : counter_metrics()) {
    names += ",\"" + metric + "\"";
    units += ",\"%\"";
  }
  std::string text = "==PROF== Connected to process 1234\n==PROF== Disconnected\n" + names + "\n" + units + "\n";
  int id = 0;
  for (const auto& values : launches) {
    text += "\"" + std::to_string(id++) + R"x(","1234","kernelwright-cuda","127.0.0.1","k(float*, int)","1","7")x";
    for (const std::string& metric : counter_metrics()) {
      const auto value = values.find(metric);
      text += ",\"" + (value == values.end() ? "n/a" : value->second) + "\"";
    }
    text += "\n";
  }
  return text;
}
}  // namespace verifier::verdicts::test

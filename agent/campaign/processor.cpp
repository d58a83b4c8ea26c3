#include "agent/campaign/processor.h"

#include <set>
#include <vector>

#include "core/text.h"

namespace agent::campaign {
namespace {
// Of the first line that begins with `name`.
std::string value_of(std::string_view cpuinfo, std::string_view name) {
  for (const std::string& line : core::split(std::string(cpuinfo), '\n')) {
    const size_t colon = line.find(": ");
    if (line.rfind(name, 0) == 0 && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "";
}
}  // namespace

std::string processor_name(std::string_view cpuinfo) {
  const std::string name = value_of(cpuinfo, "model name");
  return name.empty() ? "unknown" : name;
}

std::string vector_words(std::string_view cpuinfo) {
  const auto words = [&](std::string_view line) {
    const std::vector<std::string> all = core::split(value_of(cpuinfo, line), ' ');
    return std::set<std::string>(all.begin(), all.end());
  };
  const std::set<std::string> x86 = words("flags"), arm = words("Features");
  std::vector<std::string> parts;
  if (x86.count("avx512f") > 0) {
    parts.emplace_back("AVX-512: vectors of 64 bytes");
  } else if (x86.count("avx") > 0) {
    parts.emplace_back(std::string(x86.count("avx2") > 0 ? "AVX2" : "AVX") + ": vectors of 32 bytes");
  } else if (x86.count("sse2") > 0) {
    parts.emplace_back("SSE: vectors of 16 bytes");
  } else if (arm.count("asimd") > 0) {
    parts.emplace_back("NEON: vectors of 16 bytes");
  }
  if (parts.empty()) return "";
  const bool fma = x86.count("fma") > 0 || arm.count("asimd") > 0;
  const bool halves = x86.count("f16c") > 0 || arm.count("asimd") > 0;
  parts.emplace_back(fma ? "fused multiply-add" : "no fused multiply-add");
  parts.emplace_back(halves ? "f16 is converted in hardware" : "f16 is converted in software, which is slow");
  return core::join(parts, "; ");
}

}  // namespace agent::campaign

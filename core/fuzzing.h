// For fuzz targets (*_fuzz.cpp): what they feed must come back as a value or as the declared error; these say what else
// must hold. docs/ARCHITECTURE.md tells how targets are built and run.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace core::fuzzing {

inline std::string_view as_text(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// Ends the process with a report where it does not hold: libFuzzer keeps the input.
inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

}  // namespace core::fuzzing

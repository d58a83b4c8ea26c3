// For fuzz targets (*_fuzz.cpp). Any input must give a value or the declared error; require() states further
// conditions. docs/ARCHITECTURE.md says how to build and run targets.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace core::fuzzing {

inline std::string_view as_text(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// Aborts with a report when `holds` is false: libFuzzer keeps the input.
inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

}  // namespace core::fuzzing

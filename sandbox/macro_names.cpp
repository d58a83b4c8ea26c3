#include "sandbox/macro_names.h"

#include <algorithm>
#include <iterator>

namespace sandbox {
namespace {
constexpr std::string_view kNames[] = {
    "NAN",     "INFINITY", "NULL",       "NDEBUG",    "EOF",     "SIZE_MAX", "HUGE_VAL", "HUGE_VALF",
    "M_PI",    "M_PI_2",   "M_PI_4",     "M_1_PI",    "M_2_PI",  "M_E",      "M_LN2",    "M_LN10",
    "M_LOG2E", "M_LOG10E", "M_2_SQRTPI", "M_SQRT1_2", "M_SQRT2", "CHAR_BIT", "RAND_MAX", "EXCLUDE_FROM_RTC"};
constexpr std::string_view kPrefixes[] = {"KW_", "CUDA", "FLT_", "DBL_", "LDBL_", "NVCC"};
// INT8_MAX, UINT_MAX, LLONG_MIN, ...
constexpr std::string_view kIntegers[] = {"CHAR",   "SCHAR", "SHRT",  "INT",   "LONG",  "LLONG",   "INTMAX",
                                          "INTPTR", "INT8",  "INT16", "INT32", "INT64", "PTRDIFF", "WCHAR"};
constexpr std::string_view kLimits[] = {"_MAX", "_MIN"};

bool starts_with(std::string_view text, std::string_view prefix) { return text.substr(0, prefix.size()) == prefix; }

bool is_limit(std::string_view name) {
  for (const std::string_view limit : kLimits) {
    if (name.size() <= limit.size() || name.substr(name.size() - limit.size()) != limit) continue;
    std::string_view type = name.substr(0, name.size() - limit.size());
    const auto known = [&] { return std::count(std::begin(kIntegers), std::end(kIntegers), type) > 0; };
    if (known()) return true;
    if (!starts_with(type, "U")) continue;
    type.remove_prefix(1);
    if (known()) return true;
  }
  return false;
}
}  // namespace

bool is_taken_macro(std::string_view name) {
  return std::count(std::begin(kNames), std::end(kNames), name) > 0 || is_limit(name) ||
         std::any_of(std::begin(kPrefixes), std::end(kPrefixes),
                     [&](auto prefix) { return starts_with(name, prefix); });
}

}  // namespace sandbox

#include "sandbox/compilation.h"

namespace sandbox {
namespace {
constexpr std::pair<Rejection, std::string_view> kRejections[] = {{Rejection::compile_error, "compile_error"},
                                                                  {Rejection::unsupported, "unsupported"},
                                                                  {Rejection::forbidden, "forbidden"},
                                                                  {Rejection::limit, "limit"}};
}  // namespace

std::string_view name_of(Build build) { return build == Build::fast ? "fast" : "check"; }

std::string_view name_of(Rejection rejection) {
  for (const auto& [r, name] : kRejections) {
    if (r == rejection) return name;
  }
  return "";
}

std::optional<Rejection> rejection_from_name(std::string_view name) {
  for (const auto& [rejection, n] : kRejections) {
    if (n == name) return rejection;
  }
  return std::nullopt;
}

}  // namespace sandbox

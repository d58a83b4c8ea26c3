#include "sandbox/fault.h"

#include <utility>

namespace sandbox {
namespace {
constexpr std::pair<FaultKind, std::string_view> kFaults[] = {
    {FaultKind::out_of_bounds, "out_of_bounds"},
    {FaultKind::misaligned, "misaligned"},
    {FaultKind::uninitialised, "uninitialised"},
    {FaultKind::race, "race"},
    {FaultKind::deadlock, "deadlock"},
    {FaultKind::warp_misuse, "warp_misuse"},
    {FaultKind::trap, "trap"},
    {FaultKind::resource_limit, "resource_limit"},
    {FaultKind::invalid_launch, "invalid_launch"},
    {FaultKind::unsupported, "unsupported"},
};
std::string triple(const std::array<int64_t, 3>& v) {
  return "(" + std::to_string(v[0]) + "," + std::to_string(v[1]) + "," + std::to_string(v[2]) + ")";
}
}  // namespace

std::string_view name_of(FaultKind kind) {
  for (const auto& [k, name] : kFaults) {
    if (k == kind) return name;
  }
  return "";
}

std::optional<FaultKind> fault_kind_from_name(std::string_view name) {
  for (const auto& [kind, n] : kFaults) {
    if (n == name) return kind;
  }
  return std::nullopt;
}

std::string Fault::describe() const {
  std::string text(name_of(kind));
  if (!kernel.empty()) text += " in kernel " + kernel;
  if (block) text += ", block " + triple(*block);
  if (thread) text += ", thread " + triple(*thread);
  if (line) text += ", line " + std::to_string(*line);
  return text + ": " + message;
}

}  // namespace sandbox

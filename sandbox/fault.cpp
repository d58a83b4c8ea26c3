#include "sandbox/fault.h"

namespace sandbox {
namespace {
std::string triple(const std::array<int64_t, 3>& v) {
  return "(" + std::to_string(v[0]) + "," + std::to_string(v[1]) + "," + std::to_string(v[2]) + ")";
}
}  // namespace

std::string Fault::describe() const {
  std::string text(name_of(kind));
  if (!kernel.empty()) text += " in kernel " + kernel;
  if (block) text += ", block " + triple(*block);
  if (thread) text += ", thread " + triple(*thread);
  if (line) text += ", line " + std::to_string(*line);
  return text + ": " + message;
}

}  // namespace sandbox

#include "sandbox/cpu/inspection/shared_variables.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

namespace sandbox::cpu::inspection {
namespace {
std::string source_name(const std::string& mangled) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status),
                                                    std::free);
  const std::string full = status == 0 ? text.get() : mangled;
  const size_t scope = full.rfind("::");
  return scope == std::string::npos ? full : full.substr(scope + 2);
}
}  // namespace

void SharedVariables::begin_launch(const std::vector<SharedVariable>& variables, uintptr_t begin,
                                   const MemoryRange& dynamic) {
  variables_ = &variables;
  begin_ = begin;
  dynamic_ = dynamic;
  last_ = SIZE_MAX;
}

bool SharedVariables::is_guard(uintptr_t address, size_t bytes) const {
  return std::ranges::any_of(*variables_, [&](const SharedVariable& variable) {
    return bytes == 1 && address == begin_ + variable.offset && variable.name == kConstructionGuard;
  });
}

std::string SharedVariables::name_of(uintptr_t address) const {
  if (within(address, 1, dynamic_)) {
    return "dynamic memory (byte " + std::to_string(address - dynamic_.first) + " of " +
           std::to_string(dynamic_.second - dynamic_.first) + ")";
  }
  for (const SharedVariable& variable : *variables_) {
    if (!holds(variable, address, 1)) continue;
    return "'" + source_name(variable.name) + "' (byte " + std::to_string(address - begin_ - variable.offset) + " of " +
           std::to_string(variable.bytes) + ")";
  }
  return "memory";
}

std::string SharedVariables::place_beside(uintptr_t address) const {
  const uint64_t offset = address - begin_;
  const SharedVariable* before = nullptr;
  for (const SharedVariable& variable : *variables_) {
    if (variable.name == "__kw_dynamic" && holds(variable, address, 1)) {
      return "at offset " + std::to_string(offset - variable.offset) + " of dynamic shared memory (" +
             std::to_string(dynamic_.second - dynamic_.first) + " bytes)";
    }
    if (!is_own(variable) && variable.offset <= offset) before = &variable;
  }
  if (before == nullptr) return "before the first __shared__ variable";
  return "at offset " + std::to_string(offset - before->offset) + " of __shared__ '" + source_name(before->name) +
         "' (" + std::to_string(before->bytes) + " bytes)";
}

}  // namespace sandbox::cpu::inspection

// The variables of a launch in shared memory, as the checking build knows and names them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sandbox/cpu/inspection/elf_check.h"

namespace sandbox::cpu::inspection {

using MemoryRange = std::pair<uintptr_t, uintptr_t>;  // begin, end

inline bool within(uintptr_t address, size_t bytes, const MemoryRange& range) {
  return address >= range.first && address <= range.second && bytes <= range.second - address;
}

// Addresses are those that they would have if their block were running.
class SharedVariables {
 public:
  // `begin`: of shared memory. `dynamic`: what of it is this launch's dynamic memory. The variables must outlive the
  // launch.
  void begin_launch(const std::vector<SharedVariable>& variables, uintptr_t begin, const MemoryRange& dynamic);

  // Whether one variable, or dynamic memory, holds all of these bytes.
  bool hold(uintptr_t address, size_t bytes) {
    if (within(address, bytes, dynamic_)) return true;
    return (last_ < variables_->size() && holds((*variables_)[last_], address, bytes)) || find(address, bytes);
  }
  // Whether it is the byte that guards the construction of a variable.
  bool is_guard(uintptr_t address, size_t bytes) const;

  // "'tile' (byte 36 of 4096)"
  std::string name_of(uintptr_t address) const;
  // For an address outside of all variables: names the one that was probably meant.
  std::string place_beside(uintptr_t address) const;

 private:
  bool holds(const SharedVariable& variable, uintptr_t address, size_t bytes) const {
    const uint64_t offset = address - begin_;
    return offset >= variable.offset && offset + bytes <= variable.offset + variable.bytes;
  }
  bool find(uintptr_t address, size_t bytes) {  // here, since each access of the checking build asks
    const auto found = std::ranges::find_if(
        *variables_, [&](const SharedVariable& variable) { return holds(variable, address, bytes); });
    if (found == variables_->end() || is_own(*found)) return false;
    last_ = static_cast<size_t>(found - variables_->begin());
    return true;
  }
  // Not of the source.
  static bool is_own(const SharedVariable& variable) { return variable.name.find("__kw_") != std::string::npos; }

  const std::vector<SharedVariable>* variables_ = nullptr;
  uintptr_t begin_ = 0;
  MemoryRange dynamic_;
  size_t last_ = SIZE_MAX;  // index of the one that was touched last
};

}  // namespace sandbox::cpu::inspection

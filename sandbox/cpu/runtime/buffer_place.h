// Where an address lies relative to a launch's buffers, in words.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sandbox/cpu/runtime/module.h"

namespace sandbox::cpu::runtime {

// "0 bytes past the end of 'y' (4 bytes)", "at offset 8 of 'x' (4000 bytes)", "an address that belongs to no buffer":
// of the nearest buffer, when one is near.
std::string place_of(uintptr_t address, const std::vector<Buffer>& buffers);

}  // namespace sandbox::cpu::runtime

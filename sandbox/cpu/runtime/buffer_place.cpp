#include "sandbox/cpu/runtime/buffer_place.h"

namespace sandbox::cpu::runtime {
namespace {
constexpr uintptr_t kNear = uintptr_t{1} << 20;  // bytes
}

std::string place_of(uintptr_t address, const std::vector<Buffer>& buffers) {
  std::string place = "an address that belongs to no buffer";
  uintptr_t nearest = kNear;
  for (const Buffer& buffer : buffers) {
    const auto begin = reinterpret_cast<uintptr_t>(buffer.data), end = begin + buffer.bytes;
    const std::string name = "'" + buffer.name + "' (" + std::to_string(buffer.bytes) + " bytes)";
    if (address >= begin && address < end) return "offset " + std::to_string(address - begin) + " of " + name;
    const uintptr_t distance = address < begin ? begin - address : address - end;
    if (distance >= nearest) continue;
    nearest = distance;
    place = std::to_string(distance) + " bytes " + (address < begin ? "before " : "past the end of ") + name;
  }
  return place;
}

}  // namespace sandbox::cpu::runtime

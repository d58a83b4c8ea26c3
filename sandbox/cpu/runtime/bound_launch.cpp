#include "sandbox/cpu/runtime/bound_launch.h"

#include <algorithm>
#include <variant>

#include "core/error.h"
#include "sandbox/cpu/runtime/tensor_map_bits.h"

namespace sandbox::cpu::runtime {
namespace {
template <typename T>
std::vector<std::byte> bytes_of(const T& value) {
  const auto* begin = reinterpret_cast<const std::byte*>(&value);
  return {begin, begin + sizeof value};
}

TensorMapBits bits_of(const PlannedTensorMap& map, std::byte* base) {
  TensorMapBits bits;
  bits.base = base;
  bits.element_bytes = static_cast<uint8_t>(core::size_bytes(map.dtype));
  bits.rank = static_cast<uint8_t>(map.shape.size());
  bits.swizzle = static_cast<uint8_t>(map.swizzle);
  bits.nan_fill = map.nan_fill ? 1 : 0;
  for (size_t d = 0; d < map.shape.size(); ++d) {
    bits.shape[d] = map.shape[d];
    bits.strides_bytes[d] = d == 0 ? bits.element_bytes : map.strides_bytes[d - 1];
    bits.box[d] = static_cast<uint16_t>(map.box[d]);
  }
  return bits;
}
}  // namespace

KernelLaunch bound_launch(const PlannedLaunch& planned, const std::vector<PlannedTensorMap>& maps,
                          const std::function<std::byte*(const std::string&)>& address_of) {
  KernelLaunch launch{planned.kernel,
                      planned.grid,
                      planned.block,
                      static_cast<size_t>(planned.shared_bytes),
                      {},
                      planned.cluster,
                      planned.overlaps_previous,
                      planned.cooperative};
  for (const PlanArg& arg : planned.args) {
    if (const auto* scalar = std::get_if<ScalarArg>(&arg)) {
      launch.args.push_back(core::bytes_of(scalar->value));
    } else if (const auto* named = std::get_if<TensorMapArg>(&arg)) {
      const auto map = std::ranges::find(maps, named->name, &PlannedTensorMap::name);
      if (map == maps.end()) throw core::SystemError("the plan names an unknown tensor map: " + named->name);
      launch.args.push_back(bytes_of(bits_of(*map, address_of(map->buffer))));
    } else {
      launch.args.push_back(bytes_of(address_of(std::get<BufferArg>(arg).name)));
    }
  }
  return launch;
}

}  // namespace sandbox::cpu::runtime

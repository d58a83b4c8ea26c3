#include "sandbox/cpu/runtime/products.h"

#include <array>
#include <cmath>
#include <cstring>
#include <vector>

#include "sandbox/cpu/runtime/asynchronous.h"
#include "sandbox/cpu/runtime/check.h"
#include "sandbox/cpu/runtime/scheduler.h"
#include "sandbox/cpu/runtime/tensor_map_bits.h"

namespace sandbox::cpu::runtime {
namespace {
using Type = WarpgroupProduct::Type;
constexpr int kRows = 16;      // of a warp's quarter
constexpr int kRowBytes = 32;  // of k, of any type
constexpr int kChunk = 16;     // bytes that lie together in every layout
constexpr int kMostColumns = 256;

int bytes_of(Type type) { return type == Type::tf32 ? 4 : type == Type::bf16 || type == Type::f16 ? 2 : 1; }

// A small float by its bits: `exponent_bits` and `mantissa_bits` behind the sign.
float small_float(uint32_t bits, int exponent_bits, int mantissa_bits, bool has_infinity) {
  const uint32_t mantissa = bits & ((1u << mantissa_bits) - 1);
  const uint32_t exponent = bits >> mantissa_bits & ((1u << exponent_bits) - 1), last = (1u << exponent_bits) - 1;
  const bool negative = (bits >> (exponent_bits + mantissa_bits) & 1) != 0;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  float value = 0;
  if (has_infinity && exponent == last) {
    value = mantissa == 0 ? INFINITY : NAN;
  } else if (!has_infinity && exponent == last && mantissa == (1u << mantissa_bits) - 1) {
    value = NAN;
  } else if (exponent == 0) {
    value = std::ldexp(static_cast<float>(mantissa), 1 - bias - mantissa_bits);
  } else {
    value = std::ldexp(static_cast<float>(mantissa + (1u << mantissa_bits)),
                       static_cast<int>(exponent) - bias - mantissa_bits);
  }
  return negative ? -value : value;
}

template <int count>
std::vector<float> table(int exponent_bits, int mantissa_bits, bool has_infinity) {
  std::vector<float> values(count);
  for (uint32_t bits = 0; bits < count; ++bits) {
    values[bits] = small_float(bits, exponent_bits, mantissa_bits, has_infinity);
  }
  return values;
}

template <typename T>
T element(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

float value_of(Type type, const std::byte* at) {
  switch (type) {
    case Type::bf16:
    case Type::tf32: {
      // tf32: the lower 13 bits of a float do not count.
      const uint32_t bits =
          type == Type::bf16 ? uint32_t{element<uint16_t>(at)} << 16 : element<uint32_t>(at) & ~0x1fffu;
      float value = 0;
      std::memcpy(&value, &bits, sizeof value);
      return value;
    }
    case Type::f16: {
      static const std::vector<float> values = table<65536>(5, 10, true);
      return values[element<uint16_t>(at)];
    }
    case Type::e4m3: {
      static const std::vector<float> values = table<256>(4, 3, false);
      return values[element<uint8_t>(at)];
    }
    case Type::e5m2: {
      static const std::vector<float> values = table<256>(5, 2, true);
      return values[element<uint8_t>(at)];
    }
    case Type::s8:
      return element<int8_t>(at);
    case Type::u8:
      return element<uint8_t>(at);
  }
  return 0;
}

// A matrix in shared memory as a descriptor names it, all in bytes: where 16 of them lie.
class Tile {
 public:
  Tile(uint64_t descriptor, bool along_k)
      : start_(static_cast<uint32_t>(descriptor & 0x3fff) << 4),
        leading_(static_cast<uint32_t>(descriptor >> 16 & 0x3fff) << 4),
        stride_(static_cast<uint32_t>(descriptor >> 32 & 0x3fff) << 4),
        swizzle_(std::array{0, 128, 64, 32}[descriptor >> 62]),
        along_k_(along_k) {}

  // Along k: bytes k and on of row `at`; across: elements `at` and on, two bytes each, of row k.
  SharedAddress chunk(uint32_t at, uint32_t k) const {
    if (along_k_) {
      if (swizzle_ == 0) return start_ + at / 8 * stride_ + k / kChunk * leading_ + at % 8 * kChunk;
      return swizzled(start_ + at / 8 * stride_ + at % 8 * width() + k, swizzle_);
    }
    if (swizzle_ == 0) return start_ + at / 8 * stride_ + k / 8 * leading_ + k % 8 * kChunk;
    const uint32_t across = width() / 2;
    return swizzled(start_ + at / across * leading_ + k / 8 * stride_ + k % 8 * width() + at % across * 2, swizzle_);
  }
  bool has_base_offset(uint64_t descriptor) const { return (descriptor >> 49 & 7) != 0; }

 private:
  uint32_t width() const { return static_cast<uint32_t>(swizzle_); }
  uint32_t start_, leading_, stride_;
  int swizzle_;
  bool along_k_;
};

struct Matrices {
  std::array<float, kRows * kRowBytes> a{};
  std::array<float, kRowBytes * kMostColumns> b{};
};

class Product {
 public:
  Product(Scheduler& scheduler, const WarpgroupProduct& of, AsyncAccess access, Matrices& matrices)
      : scheduler_(scheduler),
        of_(of),
        access_(std::move(access)),
        matrices_(matrices),
        k_(kRowBytes / bytes_of(of.type_a)) {}

  void load_a(void* const* lanes) {
    if (of_.a_registers != nullptr) {
      // Four words of each lane: rows lane / 4 and 8 more, then the same 16 bytes of k further.
      for (int lane = 0; lane < 32; ++lane) {
        const uint32_t* words = static_cast<const WarpgroupProduct*>(lanes[lane])->a_registers;
        for (int word = 0; word < 4; ++word) {
          std::byte bytes[4];
          std::memcpy(bytes, &words[word], 4);
          const int row = lane / 4 + word % 2 * 8, from = lane % 4 * 4 + word / 2 * kChunk;
          for (int i = 0; i < 4; i += bytes_of(of_.type_a))
            a(row, (from + i) / bytes_of(of_.type_a)) = value_of(of_.type_a, bytes + i);
        }
      }
    } else {
      const size_t warp = scheduler_.warp_of(scheduler_.thread()) % scheduler_.warps_of_block();
      const auto quarter = static_cast<int>(warp % 4) * kRows;
      load(of_.a, of_.type_a, of_.a_along_m, quarter, kRows,
           [&](int row, int k) -> float& { return a(row - quarter, k); });
    }
  }
  void load_b() {
    load(of_.b, of_.type_b, of_.b_along_n, 0, of_.columns, [&](int column, int k) -> float& { return b(k, column); });
  }

  // T: of the sums.
  template <typename T>
  void multiply(void* const* lanes) {
    const int columns = of_.columns;
    const float sign = of_.negates_a != of_.negates_b ? -1.0f : 1.0f;
    for (int row = 0; row < kRows; ++row) {
      std::array<T, kMostColumns> sums;
      for (int n = 0; n < columns; ++n) sums[static_cast<size_t>(n)] = of_.adds ? sum<T>(lanes, row, n) : T{};
      for (int k = 0; k < k_; ++k) {
        const T factor = static_cast<T>(sign * a(row, k));
        const float* with = &b(k, 0);
        for (int n = 0; n < columns; ++n) sums[static_cast<size_t>(n)] += factor * static_cast<T>(with[n]);
      }
      for (int n = 0; n < columns; ++n) sum<T>(lanes, row, n) = sums[static_cast<size_t>(n)];
    }
  }

 private:
  // Rows `first` and on of a, or columns of b.
  template <typename At>
  void load(uint64_t descriptor, Type type, bool across, int first, int count, At at) {
    const Tile tile(descriptor, !across);
    if (tile.has_base_offset(descriptor)) {
      scheduler_.raise(FaultKind::unsupported, "wgmma with a base offset in a descriptor");
    }
    const int bytes = bytes_of(type), of_chunk = kChunk / bytes;
    if (across) {
      for (int k = 0; k < k_; ++k) {
        for (int i = first; i < first + count; i += 8) {
          const std::byte* chunk = read(tile.chunk(static_cast<uint32_t>(i), static_cast<uint32_t>(k)));
          for (int e = 0; e < 8; ++e) at(i + e, k) = value_of(type, chunk + e * 2);
        }
      }
      return;
    }
    for (int i = first; i < first + count; ++i) {
      for (int half = 0; half < 2; ++half) {
        const std::byte* chunk = read(tile.chunk(static_cast<uint32_t>(i), static_cast<uint32_t>(half * kChunk)));
        for (int e = 0; e < of_chunk; ++e) at(i, half * of_chunk + e) = value_of(type, chunk + e * bytes);
      }
    }
  }
  const std::byte* read(SharedAddress address) {
    const std::byte* chunk = scheduler_.asynchronous().place(address, kChunk, kChunk);
    if (scheduler_.checks()) check_async_access(chunk, kChunk, Access::read, access_);
    return chunk;
  }

  float& a(int row, int k) { return matrices_.a[static_cast<size_t>(row * kRowBytes + k)]; }
  float& b(int k, int column) { return matrices_.b[static_cast<size_t>(k * kMostColumns + column)]; }
  // Lane l has rows l / 4 and 8 more, of each eight columns l % 4 * 2 and the next.
  template <typename T>
  T& sum(void* const* lanes, int row, int column) {
    const int lane = row % 8 * 4 + column % 8 / 2;
    auto* sums = reinterpret_cast<T*>(static_cast<const WarpgroupProduct*>(lanes[lane])->in_progress);
    return sums[column / 8 * 4 + row / 8 * 2 + column % 2];
  }

  Scheduler& scheduler_;
  const WarpgroupProduct& of_;
  AsyncAccess access_;
  Matrices& matrices_;
  int k_;
};

int64_t agent_of(Scheduler& scheduler) {
  return scheduler.clocks().agent_of_warp(Clocks::Agent::products,
                                          static_cast<int64_t>(scheduler.warp_of(scheduler.thread())));
}

void combine(void* const* lanes, Lanes active) {
  Scheduler& scheduler = *running_scheduler();
  if (active != 0xffffffff) {
    scheduler.raise(FaultKind::warp_misuse, "wgmma with lanes that have returned: it takes whole warps");
  }
  const auto& first = *static_cast<const WarpgroupProduct*>(lanes[0]);
  for (int lane = 1; lane < 32; ++lane) {
    const auto& other = *static_cast<const WarpgroupProduct*>(lanes[lane]);
    if (other.b != first.b || (first.a_registers == nullptr && other.a != first.a) || other.columns != first.columns ||
        other.adds != first.adds) {
      scheduler.raise(FaultKind::warp_misuse, "lanes of one warp give wgmma different descriptors or flags");
    }
  }
  static Matrices matrices;  // too large for a thread's stack
  Product product(scheduler, first,
                  scheduler.asynchronous().issue(agent_of(scheduler), scheduler.asynchronous().epoch_of_products()),
                  matrices);
  product.load_a(lanes);
  product.load_b();
  if (first.type_a == Type::s8 || first.type_a == Type::u8) {
    product.multiply<int32_t>(lanes);
  } else {
    product.multiply<float>(lanes);
  }
}
}  // namespace

void warpgroup_product(Scheduler& scheduler, WarpgroupProduct* mine) {
  if (mine->columns < 8 || mine->columns > kMostColumns || mine->columns % 8 != 0) {
    scheduler.raise(FaultKind::unsupported, "wgmma of " + std::to_string(mine->columns) + " columns");
  }
  mine->in_progress = scheduler.asynchronous().sums_in_progress(mine->sums, mine->columns / 2, mine->adds);
  scheduler.warp_call("wgmma", 0xffffffff, &combine, mine);
}

void commit_products(Scheduler& scheduler) { scheduler.asynchronous().commit_products(); }

void wait_for_products(Scheduler& scheduler, uint32_t most) {
  scheduler.asynchronous().wait_for_products(agent_of(scheduler), most);
}

}  // namespace sandbox::cpu::runtime

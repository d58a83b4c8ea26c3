#include "sandbox/cpu/runtime/products.h"

#include <array>
#include <cstring>

#include "sandbox/cpu/memory/shared_matrix.h"
#include "sandbox/cpu/runtime/asynchronous.h"
#include "sandbox/cpu/runtime/check.h"
#include "sandbox/cpu/runtime/scheduler.h"

namespace sandbox::cpu::runtime {
namespace {
using memory::kBytesOfChunk;
using memory::kBytesOfStep;
using memory::SharedMatrix;
using Type = WarpgroupProduct::Type;
constexpr int kRows = 16;  // of a warp's quarter
constexpr int kMostColumns = 256;

struct Matrices {
  std::array<float, kRows * kBytesOfStep> a{};
  std::array<float, kBytesOfStep * kMostColumns> b{};
};

class Product {
 public:
  Product(Scheduler& scheduler, const WarpgroupProduct& of, AsyncAccess access, Matrices& matrices)
      : scheduler_(scheduler),
        of_(of),
        access_(std::move(access)),
        matrices_(matrices),
        k_(kBytesOfStep / bytes_of(of.type_a)) {}

  void load_a(void* const* lanes) {
    if (of_.a_registers != nullptr) {
      // Four words of each lane: rows lane / 4 and 8 more, then the same 16 bytes of k further.
      for (int lane = 0; lane < 32; ++lane) {
        const uint32_t* words = static_cast<const WarpgroupProduct*>(lanes[lane])->a_registers;
        for (int word = 0; word < 4; ++word) {
          std::byte bytes[4];
          std::memcpy(bytes, &words[word], 4);
          const int row = lane / 4 + word % 2 * 8, from = lane % 4 * 4 + word / 2 * kBytesOfChunk;
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
    if (SharedMatrix::has_base_offset(descriptor)) {
      scheduler_.raise(FaultKind::unsupported, "wgmma with a base offset in a descriptor");
    }
    const SharedMatrix matrix(descriptor, std::array{0, 128, 64, 32}[descriptor >> 62], !across);
    matrix.load(
        type, first, count, [this](SharedAddress address) { return read(address); }, at);
  }
  const std::byte* read(SharedAddress address) {
    const std::byte* chunk = scheduler_.asynchronous().place(address, kBytesOfChunk, kBytesOfChunk);
    if (scheduler_.checks()) check_async_access(chunk, kBytesOfChunk, Access::read, access_);
    return chunk;
  }

  float& a(int row, int k) { return matrices_.a[static_cast<size_t>(row * kBytesOfStep + k)]; }
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

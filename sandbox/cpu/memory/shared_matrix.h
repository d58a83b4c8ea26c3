// Matrices in shared memory as the descriptors of wgmma and tcgen05 name them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sandbox::cpu::memory {

// Where a byte of shared memory lies once its tile is swizzled by 32, 64 or 128 bytes; 0: where it is.
inline uint32_t swizzled(uint32_t address, int swizzle) {
  const uint32_t rows = swizzle == 128 ? 7 : swizzle == 64 ? 3 : swizzle == 32 ? 1 : 0;
  return address ^ (address >> 7 & rows) << 4;
}

// The element types of matrices, with the numbers that shim/kw_ptx.h gives them.
enum class ElementType : uint8_t { f16, bf16, tf32, e4m3, e5m2, s8, u8 };
int bytes_of(ElementType type);
float value_of(ElementType type, const std::byte* at);

// A step of an instruction along k, of any type, in bytes; those that lie together in every layout.
constexpr int kBytesOfStep = 32, kBytesOfChunk = 16;

// Rows of a, or columns of b, by 32 bytes of k.
class SharedMatrix {
 public:
  // The fields that both kinds of descriptors have. `swizzle`: 0, 32, 64 or 128 bytes. `along_k`: k is contiguous.
  SharedMatrix(uint64_t descriptor, int swizzle, bool along_k)
      : start_(static_cast<uint32_t>(descriptor & 0x3fff) << 4),
        leading_(static_cast<uint32_t>(descriptor >> 16 & 0x3fff) << 4),
        stride_(static_cast<uint32_t>(descriptor >> 32 & 0x3fff) << 4),
        swizzle_(swizzle),
        along_k_(along_k) {}
  static bool has_base_offset(uint64_t descriptor) { return (descriptor >> 49 & 7) != 0; }

  // Elements `first` and on across k: at(i, k) is the place of a value. read(address): 16 bytes of shared memory.
  template <typename Read, typename At>
  void load(ElementType type, int first, int count, const Read& read, const At& at) const {
    const int bytes = bytes_of(type), of_chunk = kBytesOfChunk / bytes;
    if (!along_k_) {
      for (int k = 0; k < kBytesOfStep / bytes; ++k) {
        for (int i = first; i < first + count; i += 8) {
          const std::byte* chunk = read(place(static_cast<uint32_t>(i), static_cast<uint32_t>(k)));
          for (int e = 0; e < 8; ++e) at(i + e, k) = value_of(type, chunk + e * 2);
        }
      }
      return;
    }
    for (int i = first; i < first + count; ++i) {
      for (int half = 0; half < 2; ++half) {
        const std::byte* chunk = read(place(static_cast<uint32_t>(i), static_cast<uint32_t>(half * kBytesOfChunk)));
        for (int e = 0; e < of_chunk; ++e) at(i, half * of_chunk + e) = value_of(type, chunk + e * bytes);
      }
    }
  }

 private:
  // The address of a chunk: bytes from k on of row `at` (along k), or two-byte elements from `at` on of row k (across).
  uint32_t place(uint32_t at, uint32_t k) const;

  uint32_t start_, leading_, stride_;
  int swizzle_;
  bool along_k_;
};

}  // namespace sandbox::cpu::memory

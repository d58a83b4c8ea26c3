// Numbers drawn by their index. Like every file of this folder, one text for the host's compiler and for NVRTC, which
// compiles it before the judge's kernels (devices/gpu/judge_common.cu).
#pragma once

#include <cstdint>

#ifndef HOST_DEVICE  // how functions of this folder are declared; judge_common.cu says so for a GPU
#define HOST_DEVICE inline
#endif

namespace verifier::formulas {

struct Quad {
  uint32_t x, y, z, w;
};

// Philox4x32-10, a counter-based generator (Salmon, Moraes, Dror, Shaw 2011): four 32-bit numbers for a counter and a
// key.
HOST_DEVICE Quad philox(Quad counter, uint64_t key) {
  uint32_t k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = static_cast<uint64_t>(0xD2511F53u) * counter.x,
                   b = static_cast<uint64_t>(0xCD9E8D57u) * counter.z;
    counter = {static_cast<uint32_t>(b >> 32) ^ counter.y ^ k0, static_cast<uint32_t>(b),
               static_cast<uint32_t>(a >> 32) ^ counter.w ^ k1, static_cast<uint32_t>(a)};
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return counter;
}

HOST_DEVICE uint32_t component(const Quad& quad, int64_t k) {
  return k == 0 ? quad.x : k == 1 ? quad.y : k == 2 ? quad.z : quad.w;
}

// [0, 1)
HOST_DEVICE double unit_of(uint32_t drawn) { return drawn * 0x1p-32; }

// Uniform in [0, count), to within 2^-32 count, from two drawn numbers; a count of 0 stands for 2^64.
HOST_DEVICE uint64_t below(uint64_t count, uint32_t high, uint32_t low) {
  if (count != 0 && count <= static_cast<uint64_t>(1) << 32) return high * count >> 32;
  const uint64_t wide = static_cast<uint64_t>(high) << 32 | low;
  return count == 0 ? wide : wide % count;
}

}  // namespace verifier::formulas

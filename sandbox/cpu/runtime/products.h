// Products of a warpgroup (wgmma): matrices in shared memory, sums in registers.
#pragma once

#include <cstdint>

#include "sandbox/cpu/memory/shared_matrix.h"

namespace sandbox::cpu::runtime {

class Scheduler;

// As shim/kw_hopper.h lays it out: what one thread gives to wgmma.mma_async, d[64][columns] (+)= a[64][k]
// b[k][columns].
struct WarpgroupProduct {
  using Type = memory::ElementType;

  void* const* sums;            // places of `columns` / 2 of this thread's, f32, or s32 for integers
  uint64_t a, b;                // descriptors
  const uint32_t* a_registers;  // or null: `a` is in shared memory
  uint16_t columns;             // 8 to 256
  Type type_a, type_b;
  bool adds;  // to what the sums hold
  bool negates_a, negates_b;
  bool a_along_m, b_along_n;  // how they lie: contiguous along m or n instead of k
  uint32_t* in_progress;      // for the runtime: the sums until they are waited for
};

// Computes it for a warp, once all of its lanes are there. The tiles may be written again, and the sums are in their
// places, at wait_for_products(); until then those hold a number that nobody computed.
void warpgroup_product(Scheduler& scheduler, WarpgroupProduct* mine);
void commit_products(Scheduler& scheduler);
void wait_for_products(Scheduler& scheduler, uint32_t most);

}  // namespace sandbox::cpu::runtime

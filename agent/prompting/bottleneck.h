// The limits of kernels. Diagnoses name bottlenecks; technique cards list those that they help.
#pragma once

#include "core/enum_names.h"

namespace agent::prompting {

enum class Bottleneck {
  memory_bound,
  compute_bound,
  latency_bound,  // too little work in flight
  occupancy,      // too few warps fit
  launch_bound,   // launches and blocks cost more than their work
  bank_conflicts,
  uncoalesced,
  divergence,
  spills,
  tensor_cores,  // arithmetic that tensor cores would do faster
  atomics,       // threads wait for each other's atomic operations
  barriers,      // threads wait for each other at barriers
};
KW_ENUM_NAMES(Bottleneck, memory_bound, compute_bound, latency_bound, occupancy, launch_bound, bank_conflicts,
              uncoalesced, divergence, spills, tensor_cores, atomics, barriers)

}  // namespace agent::prompting

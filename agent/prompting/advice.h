// The limits of kernels, and the changes that are advised against them. Diagnoses name both; technique cards list the
// limits that they help.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "benchsuite/backend.h"
#include "benchsuite/problem.h"
#include "core/enum_names.h"

namespace agent::prompting {

struct CodeFacts;

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

// The archive keeps these names (v_advice), so they are only ever added.
enum class Advice {
  one_launch,
  dependent_launches,
  fewer_blocks,
  more_blocks,
  split_work,
  persistent_blocks,
  wide_vectors,
  neighbouring_addresses,
  loads_in_flight,
  asynchronous_copies,
  more_stages,
  bulk_copies,
  cache_hints,
  fewer_bytes,
  tensor_cores,
  wgmma,
  register_blocking,
  larger_products,
  fewer_instructions,
  less_arithmetic,
  less_unrolling,
  fewer_registers,
  smaller_tiles,
  padded_tiles,
  another_layout,
  wide_shared_accesses,
  warp_shuffles,
  fewer_barriers,
  fewer_fences,
  private_sums,
  local_sums,
  whole_warps,
  rows_per_thread,
  fewer_threads,
  plain_functions,
  vector_loops,
};
KW_ENUM_NAMES(Advice, one_launch, dependent_launches, fewer_blocks, more_blocks, split_work, persistent_blocks,
              wide_vectors, neighbouring_addresses, loads_in_flight, asynchronous_copies, more_stages, bulk_copies,
              cache_hints, fewer_bytes, tensor_cores, wgmma, register_blocking, larger_products, fewer_instructions,
              less_arithmetic, less_unrolling, fewer_registers, smaller_tiles, padded_tiles, another_layout,
              wide_shared_accesses, warp_shuffles, fewer_barriers, fewer_fences, private_sums, local_sums, whole_warps,
              rows_per_thread, fewer_threads, plain_functions, vector_loops)

// Where a change would be made.
struct Situation {
  const CodeFacts& code;
  const benchsuite::Problem& problem;
  benchsuite::Backend backend;
  std::string arch;      // "sm_90a"; empty: unknown
  double of_memory = 0;  // share of the memory bound at the workload in question; 0: unknown, or not bound by it
};

struct AdvisedChange {
  Advice advice;
  std::string_view words;  // a sentence
};
// The first of `advice` that device and problem allow and that the source does not follow already.
std::optional<AdvisedChange> first_of(const std::vector<Advice>& advice, const Situation& situation);

// Whether the problem's contract lets tensor cores do its arithmetic.
bool may_use_tensor_cores(const benchsuite::Problem& problem);

}  // namespace agent::prompting

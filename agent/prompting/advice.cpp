#include "agent/prompting/advice.h"

#include <algorithm>
#include <cstdlib>

#include "agent/prompting/code_facts.h"

namespace agent::prompting {
namespace {
using benchsuite::Backend;

bool is_for_all(const Situation&) { return true; }
bool is_cuda(const Situation& s) { return s.backend == Backend::cuda; }
// Compute capability times ten, 0: not an NVIDIA GPU, or unknown.
int capability(const Situation& s) {
  return is_cuda(s) && s.arch.starts_with("sm_") ? std::atoi(s.arch.c_str() + 3) : 0;
}
bool is_hopper(const Situation& s) { return s.arch == "sm_90a"; }
bool has_tma(const Situation& s) { return capability(s) >= 90; }
bool has_several_launches(const Situation& s) { return s.code.launches.size() > 1; }
bool fills_shared_memory(const Situation& s) { return s.code.shared; }
// Blocks that start one after the other overlap each other's loads already: of three solutions at 82 to 91 % of an
// H200's memory bound that models changed to walk tiles with copies ahead, each became 4 to 7 % slower (2026-11-26,
// docs/strategies-nvidia-h200.md).
bool is_near_memory_bound(const Situation& s) { return s.of_memory > 0.8; }
bool walks_tiles(const Situation& s) {
  using enum benchsuite::ProblemKind;
  if (is_near_memory_bound(s)) return false;
  return s.problem.kind == row_reduction || s.problem.kind == gemm || s.problem.kind == attention;
}

bool has_none(const CodeFacts&) { return false; }
bool copies_ahead(const CodeFacts& c) { return c.async_copies || c.tma; }
// Three, or as many as shared memory holds; 0 stages are not known.
bool has_enough_stages(const CodeFacts& c) {
  constexpr int kEnough = 3;
  constexpr int64_t kSharedBytes = 227 << 10;
  const auto has_no_room = [&](const auto& launch) { return launch.shared_bytes / c.stages * kEnough > kSharedBytes; };
  return c.stages == 0 || c.stages >= kEnough || std::ranges::any_of(c.launches, has_no_room);
}
bool has_wide_accesses(const CodeFacts& c) {
  return c.vector_bytes >= 16 || c.wide_struct || c.explicit_vectors || c.tma;
}

// A change, where it is possible, and how a source shows that it has made it. "Has none" stands for changes that no
// text shows; they are advised where a measurement asks for them.
struct Row {
  Advice advice;
  bool (*fits)(const Situation&);
  bool (*followed)(const CodeFacts&);
  std::string_view words;
};
constexpr Row kRows[] = {
    {Advice::one_launch, has_several_launches, has_none,
     "Do the work of all launches in one: the last block to finish can combine what the others made."},
    {Advice::dependent_launches, [](const Situation& s) { return has_tma(s) && has_several_launches(s); },
     [](const CodeFacts& c) { return c.dependent_launches; },
     "Let the next launch begin before the previous one has ended (\"overlaps_previous\", griddepcontrol.wait)."},
    {Advice::fewer_blocks, is_for_all, [](const CodeFacts& c) { return c.walks_grid; },
     "Start few blocks, as many as the device holds at a time, with little set-up each."},
    {Advice::more_blocks, is_for_all, has_none,
     "Give each block a smaller tile at such shapes, so that more blocks work."},
    {Advice::split_work, is_for_all, [](const CodeFacts& c) { return c.splits_work || c.atomics > 0; },
     "Let several blocks share a sum: split its depth, and combine the parts in a cluster or a second launch."},
    {Advice::persistent_blocks, walks_tiles, [](const CodeFacts& c) { return c.walks_grid; },
     "Start as many blocks as the device holds at a time and let each take tiles or rows in turn, so that the next "
     "one's loads overlap the last one's results."},
    {Advice::wide_vectors, is_for_all, has_wide_accesses,
     "Let neighbouring threads touch neighbouring 16-byte vectors, with a scalar path where rows are not aligned."},
    {Advice::neighbouring_addresses, is_for_all, has_none, "Let neighbouring threads use neighbouring addresses."},
    {Advice::loads_in_flight, is_for_all, [](const CodeFacts& c) { return c.vector_arrays || copies_ahead(c); },
     "Issue several independent wide loads per thread before the first use, and read nothing twice."},
    {Advice::asynchronous_copies,
     [](const Situation& s) { return capability(s) >= 80 && fills_shared_memory(s) && !is_near_memory_bound(s); },
     copies_ahead, "Copy the next tiles into shared memory asynchronously (cp.async) while these are used."},
    {Advice::more_stages, [](const Situation& s) { return is_cuda(s) && copies_ahead(s.code); }, has_enough_stages,
     "Keep three or more tiles in flight."},
    {Advice::bulk_copies, [](const Situation& s) { return has_tma(s) && s.code.async_copies; },
     [](const CodeFacts& c) { return c.tma; },
     "Let TMA (cp.async.bulk, tensor maps) fetch the tiles: one thread asks, and the others compute no addresses."},
    {Advice::cache_hints, is_for_all, [](const CodeFacts& c) { return c.streaming || c.tma; },
     "Mark data that is used once (__ldcs, __stcs)."},
    {Advice::fewer_bytes, is_for_all, has_none,
     "Only moving fewer bytes makes it faster: read nothing twice, and keep what is needed again in registers or "
     "shared "
     "memory."},
    {Advice::tensor_cores,
     [](const Situation& s) { return s.backend == Backend::cuda && may_use_tensor_cores(s.problem); },
     [](const CodeFacts& c) { return c.tensor_cores; },
     "The contract allows tensor cores, but this solution does not use them: use wmma, mma.sync or wgmma."},
    {Advice::tensor_cores,
     [](const Situation& s) { return s.backend == Backend::hip && may_use_tensor_cores(s.problem); },
     [](const CodeFacts& c) { return c.tensor_cores; },
     "The contract allows matrix cores, but this solution does not use them: use __builtin_amdgcn_mfma_*."},
    {Advice::wgmma, [](const Situation& s) { return is_hopper(s) && s.code.tensor_cores; },
     [](const CodeFacts& c) { return c.wgmma; },
     "Multiply with wgmma: on this architecture wmma and mma.sync reach about 60 % of the tensor cores' rate."},
    {Advice::register_blocking, is_for_all, [](const CodeFacts& c) { return c.register_tiles || c.tensor_cores; },
     "Compute more results per loaded value in each thread (register blocking), and move index arithmetic out of the "
     "inner loop."},
    {Advice::larger_products, [](const Situation& s) { return s.code.tensor_cores; },
     [](const CodeFacts& c) { return c.register_tiles || c.wgmma; },
     "Make more products from each fragment that is loaded: a warp's tile of 64 x 64 instead of one fragment."},
    {Advice::fewer_instructions, is_for_all, has_none,
     "Fewer instructions make it faster: move index arithmetic and conversions out of the inner loop, and use cheaper "
     "functions of the same precision."},
    {Advice::less_arithmetic, is_for_all, has_none,
     "It does more arithmetic than the problem needs: skip padding and masked tiles, and compute nothing twice."},
    {Advice::less_unrolling, is_for_all, has_none, "The code is too long for its cache: unroll less."},
    {Advice::fewer_registers, is_for_all, has_none,
     "Use fewer registers or less shared memory, or more and smaller blocks, so that more warps fit."},
    {Advice::smaller_tiles, is_for_all, has_none,
     "Make tiles or unrolling smaller, give the block fewer threads, or relax __launch_bounds__."},
    {Advice::padded_tiles, is_for_all, [](const CodeFacts& c) { return c.padded; },
     "Pad or swizzle the rows of tiles in shared memory."},
    {Advice::another_layout, [](const Situation& s) { return s.code.padded; }, has_none,
     "Its padding or swizzle does not fit its accesses: choose one that puts the lanes of a request into different "
     "banks."},
    {Advice::wide_shared_accesses, fills_shared_memory, [](const CodeFacts& c) { return c.ldmatrix || c.wgmma; },
     "Read shared memory in fewer and wider accesses (16 bytes a lane; ldmatrix for fragments), or keep values in "
     "registers."},
    {Advice::warp_shuffles, is_for_all, [](const CodeFacts& c) { return c.shuffles > 0 || c.tensor_cores; },
     "Reduce with warp shuffles, keep data in registers, and synchronise once per block."},
    {Advice::fewer_barriers, [](const Situation& s) { return s.code.barriers > 0; },
     [](const CodeFacts& c) { return c.mbarriers || c.barriers == 1; },
     "Synchronise less often: several steps of work between two barriers, two buffers instead of one, smaller blocks."},
    {Advice::fewer_fences, is_for_all, has_none, "Use fewer memory fences."},
    {Advice::private_sums, is_for_all, [](const CodeFacts& c) { return c.atomics == 0 || c.shared || c.shuffles > 0; },
     "Accumulate per thread, warp and block first, then use one atomic operation per block."},
    {Advice::local_sums, is_for_all, [](const CodeFacts& c) { return c.atomic_calls.innermost == 0; },
     "Count in plain local variables, and add the sums once per thread."},
    {Advice::whole_warps, is_for_all, has_none,
     "Let the lanes of a warp take the same branch, and make blocks a multiple of 32 threads."},
    {Advice::rows_per_thread, is_for_all, has_none,
     "Give one thread a whole row or tile, and synchronise once or never."},
    {Advice::fewer_threads, is_for_all, has_none,
     "Use fewer threads with more work, such as 64 elements or more each."},
    {Advice::plain_functions, is_for_all, [](const CodeFacts& c) { return c.explicit_vectors; },
     "Call them less often, or write them as plain arithmetic with full precision."},
    {Advice::vector_loops, is_for_all,
     [](const CodeFacts& c) { return c.explicit_vectors || c.vector_bytes > 0 || c.wide_struct; },
     "A loop over consecutive elements with a constant trip count and independent sums, or explicit vector types, "
     "ensures vector instructions."},
};
}  // namespace

std::optional<AdvisedChange> first_of(const std::vector<Advice>& advice, const Situation& situation) {
  for (const Advice one : advice) {
    for (const Row& row : kRows) {
      if (row.advice != one || !row.fits(situation) || row.followed(situation.code)) continue;
      return AdvisedChange{one, row.words};
    }
  }
  return std::nullopt;
}

bool may_use_tensor_cores(const benchsuite::Problem& problem) {
  using enum benchsuite::ProblemKind;
  const bool multiplies = !problem.equivalents.gemm.empty() || problem.kind == gemm || problem.kind == attention;
  return multiplies && (problem.contract.tf32 || std::ranges::any_of(problem.inputs, [](const auto& tensor) {
                          return tensor.dtype == core::DType::f16 || tensor.dtype == core::DType::bf16 ||
                                 core::is_f8(tensor.dtype);
                        }));
}

}  // namespace agent::prompting

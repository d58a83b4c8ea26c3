// The blocks of a cluster, which run by turns.
#include <cstring>

#include "sandbox/cpu/runtime/device_state.h"
#include "sandbox/cpu/runtime/scheduler.h"

namespace sandbox::cpu::runtime {

// The module's shared memory is another block's from here on.
void Scheduler::enter(int64_t block) {
  if (block == running_block_) return;
  for (const std::span<std::byte> part : launch_->used_shared) {
    const auto offset = part.data() - launch_->shared.data();
    std::memcpy(aside_of(running_block_) + offset, part.data(), part.size());
    std::memcpy(part.data(), aside_of(block) + offset, part.size());
  }
  running_block_ = block;
  const auto& index = own_block().index;
  __kw_block_index = {index[0], index[1], index[2]};
}

std::byte* Scheduler::shared_of(int64_t rank, const std::byte* own) {
  if (rank == running_block_) return const_cast<std::byte*>(own);
  if (blocks_[static_cast<size_t>(rank)].alive == 0) {
    raise(FaultKind::race, "the shared memory of block " + std::to_string(rank) +
                               " of the cluster is used after all of its threads have returned; let the cluster meet "
                               "at the end");
  }
  return aside_of(rank) + (own - launch_->shared.data());
}

void Scheduler::arrive_at_cluster() {
  cluster_phases_[static_cast<size_t>(current_thread_)] = cluster_phase_ + 1;
  if (++arrived_at_cluster_ == alive_in_cluster_) end_cluster_phase();
}

void Scheduler::wait_for_cluster() {
  const uint64_t mine = cluster_phases_[static_cast<size_t>(current_thread_)];
  if (mine <= cluster_phase_) return;
  wait_in(at_cluster_);
}

void Scheduler::end_cluster_phase() {
  ++cluster_phase_;
  arrived_at_cluster_ = 0;
  cluster_epoch_ = last_epoch_ + 1;
  for (Block& block : blocks_) block.epoch = ++last_epoch_;
  if (clocks_.active()) clocks_.share_agents();
  wake(at_cluster_);
}

}  // namespace sandbox::cpu::runtime

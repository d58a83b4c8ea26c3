// The blocks of a cluster and of a cooperative launch, which run by turns.
#include <cstring>
#include <utility>

#include "sandbox/cpu/runtime/asynchronous.h"
#include "sandbox/cpu/runtime/check.h"
#include "sandbox/cpu/runtime/device_state.h"
#include "sandbox/cpu/runtime/scheduler.h"

namespace sandbox::cpu::runtime {

// The module's shared memory is another block's from here on.
void Scheduler::enter(int64_t block) {
  if (block == running_block_) return;
  if (checks()) settle_suspicion();
  move_shared(block);
  running_block_ = block;
  if (clusters_.size() > 1) {
    cluster_ = &cluster_of(block);
    first_block_ = block - block % cluster_blocks_;
    first_thread_ = first_block_ * stride_;
  }
  const auto& index = own_block().index;
  __kw_block_index = {index[0], index[1], index[2]};
}

void Scheduler::move_shared(int64_t block) {
  const auto swap = [&](size_t offset, size_t bytes) {
    std::byte* const here = launch_->shared.data() + offset;
    std::memcpy(aside_of(running_block_) + offset, here, bytes);
    std::memcpy(here, aside_of(block) + offset, bytes);
  };
  if (checks()) {
    // Pages that neither block has touched have the same content in both.
    uint64_t pages = own_block().touched | blocks_[static_cast<size_t>(block)].touched;
    for (; pages != 0; pages &= pages - 1) {
      const size_t offset = static_cast<size_t>(__builtin_ctzl(pages)) << page_bits_;
      swap(offset, std::min(size_t{1} << page_bits_, launch_->shared.size() - offset));
    }
    return;
  }
  for (const std::span<std::byte> part : launch_->used_shared) {
    swap(static_cast<size_t>(part.data() - launch_->shared.data()), part.size());
  }
}

std::byte* Scheduler::shared_of(int64_t rank, const std::byte* own) {
  if (rank == running_block()) return const_cast<std::byte*>(own);
  if (blocks_[static_cast<size_t>(first_block_ + rank)].alive == 0) {
    raise(FaultKind::race, "the shared memory of block " + std::to_string(rank) +
                               " of the cluster is used after all of its threads have returned; let the cluster meet "
                               "at the end");
  }
  return aside_of(first_block_ + rank) + (own - launch_->shared.data());
}

void Scheduler::arrive_at_cluster(bool relaxed) {
  if (!relaxed) publish();
  cluster_phases_[static_cast<size_t>(current_thread_)] = cluster_->phase + 1;
  if (++cluster_->arrived == cluster_->alive) end_cluster_phase();
}

void Scheduler::wait_for_cluster() {
  const uint64_t mine = cluster_phases_[static_cast<size_t>(current_thread_)];
  if (mine <= cluster_->phase) return;
  wait_in(cluster_->at_barrier);
}

void Scheduler::end_cluster_phase() {
  ++cluster_->phase;
  cluster_->arrived = 0;
  cluster_->has_met = true;
  cluster_->epoch = last_epoch_ + 1;
  for (int64_t rank = 0; rank < cluster_blocks_; ++rank) {
    Block& block = blocks_[static_cast<size_t>(first_block_ + rank)];
    block.epoch = ++last_epoch_;
    if (std::exchange(block.publishes, false) || block.alive == 0) block.published = cluster_->epoch;
  }
  if (clocks().active()) clocks().share_agents();
  if (is_cooperative()) note_meeting(first_block_, cluster_blocks_);
  wake(cluster_->at_barrier);
}

void Scheduler::meet_in_grid() {
  if (!is_cooperative()) {
    raise(FaultKind::invalid_launch, "waits for the whole grid in a launch that is not declared \"cooperative\": true");
  }
  ++arrived_at_grid_;
  at_grid_.push(current_);
  end_grid_phase_if_done();
  wait();
}

// A block whose threads have all returned never arrives.
void Scheduler::end_grid_phase_if_done() {
  if (arrived_at_grid_ != alive_ || returned_blocks_ > 0) return;
  arrived_at_grid_ = 0;
  ++progress_;
  int64_t block = 0;
  for (Cluster& cluster : clusters_) {
    cluster.has_met = true;
    cluster.epoch = last_epoch_ + 1;
    for (int64_t rank = 0; rank < cluster_blocks_; ++rank, ++block) {
      blocks_[static_cast<size_t>(block)].epoch = ++last_epoch_;
      blocks_[static_cast<size_t>(block)].published = cluster.epoch;
    }
    if (cluster.clocks.active()) cluster.clocks.share_agents();
  }
  note_meeting_of_all();
  wake(at_grid_);
}

void Scheduler::poll() {
  if (!is_cooperative()) yield();  // there, the entry point of the load sees whether it waits
}

void Scheduler::may_switch(const void* address, const void* site, const void* frame) {
  if (!launch_->switches || muted() || on_stack(reinterpret_cast<uintptr_t>(address))) return;
  if (draw() >> 62 != 0) return;
  set_site(site, frame);
  give_way();
}

void Scheduler::let_others_run_before_it() {
  late_stores_.pay([this] { is_cooperative() ? spin() : static_cast<void>(give_way()); });
}

void Scheduler::note_poll(const volatile void* place, const void* site, const void* frame) {
  constexpr unsigned kMostThere = 3, kMost = 256;
  if (!is_cooperative() || muted()) return;
  current_->polls_there = current_->polled == place ? current_->polls_there + 1 : 0;
  current_->polled = place;
  if (current_->polls_there < kMostThere && ++current_->polls < kMost) return;
  current_->polls = 0;
  set_site(site, frame);
  spin();
}

void Scheduler::spin() {
  own_block().spinning.push(current_);
  ++spinning_;
  wait();
}

bool Scheduler::copies_go_on() {
  if (clusters_.size() == 1) return asynchronous().go_on();
  for (size_t c = 0; c < clusters_.size(); ++c) {
    if (!clusters_[c].asynchronous->can_go_on()) continue;
    enter(static_cast<int64_t>(c) * cluster_blocks_);
    return asynchronous().go_on();
  }
  return false;
}

bool Scheduler::spinners_go_on() {
  constexpr int kMostInVain = 200;  // a loop may wait for a while before it does something
  if (spinning_ == 0) return false;
  rounds_in_vain_ = progress_ == progress_before_ ? rounds_in_vain_ + 1 : 0;
  if (rounds_in_vain_ > kMostInVain) return false;
  progress_before_ = progress_;
  spinning_ = 0;
  for (Block& block : blocks_) {
    block.ready.append(block.spinning);
    block.spinning = SlotList{};
  }
  return true;
}

}  // namespace sandbox::cpu::runtime

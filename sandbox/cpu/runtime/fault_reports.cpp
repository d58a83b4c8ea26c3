// How the scheduler words faults and says where they are.
#include "sandbox/cpu/runtime/asynchronous.h"
#include "sandbox/cpu/runtime/line_table.h"
#include "sandbox/cpu/runtime/scheduler.h"

namespace sandbox::cpu::runtime {

void Scheduler::report_deadlock() {
  std::string message;
  Slot* named = nullptr;  // the thread that the report is about
  for (const Block& block : blocks_) {
    if (block.spinning.empty()) continue;
    named = block.spinning.first;
    message = std::to_string(spinning_) + " threads wait in loops for what no thread does any more, " +
              describe(named->thread) + " of " + describe_block(block_of(named->thread)) + " among them";
    break;
  }
  const bool spins = named != nullptr;
  for (const Block& block : blocks_) {
    if (block.at_barrier.empty() || named != nullptr) continue;
    named = block.at_barrier.first;
    message = std::to_string(block.arrived) + " of " + std::to_string(block.alive) +
              " threads wait in __syncthreads, " + describe(named->thread) + " among them";
  }
  if (!at_grid_.empty() && !spins) {
    if (named == nullptr) named = at_grid_.first;
    message += (message.empty() ? "" : "; ") + std::to_string(arrived_at_grid_) + " of " + std::to_string(alive_) +
               " threads wait at the barrier of the grid";
    if (returned_blocks_ > 0) {
      message += " for " + std::to_string(returned_blocks_) + " blocks, all threads of which have returned";
    }
  }
  const bool at_barrier = named != nullptr;
  bool disagreement = false;
  for (size_t w = 0; w < warps_.size(); ++w) {
    Lanes waiting = 0;
    for (size_t i = 0; i < warps_[w].open; ++i) waiting |= warps_[w].records[i].arrived;
    for (size_t i = 0; i < warps_[w].open; ++i) {
      const Record& record = warps_[w].records[i];
      Slot* slot = record.slots[static_cast<size_t>(__builtin_ctzl(record.arrived))];
      disagreement = disagreement || (missing(warps_[w], record) & waiting) != 0;
      if (named == nullptr) named = slot;
      if (message.size() > 400) continue;
      message += (message.empty() ? "" : "; ") + describe(slot->thread) + " waits in " + record.name +
                 " for lanes that never come";
    }
  }
  for (const Cluster& cluster : clusters_) {
    if (message.size() > 400) break;
    if (const auto stuck = cluster.asynchronous->stuck()) {
      if (named == nullptr) named = stuck->first;
      message += (message.empty() ? "" : "; ") + stuck->message;
    }
    if (!cluster.at_barrier.empty()) {
      if (named == nullptr) named = cluster.at_barrier.first;
      message += (message.empty() ? "" : "; ") + std::to_string(cluster.arrived) + " of " +
                 std::to_string(cluster.alive) + " threads have arrived at the cluster's barrier";
    }
  }
  current_ = named;
  current_thread_ = named->thread;
  set_fault(disagreement && !at_barrier ? FaultKind::warp_misuse : FaultKind::deadlock, std::move(message), {});
}

void Scheduler::set_fault(FaultKind kind, std::string message, std::optional<int64_t> line) {
  if (!line && current_ != nullptr) line = line_at(current_->site, current_->frame);
  fault_ = fault_here(kind, std::move(message), line);
}

Fault Scheduler::fault_here(FaultKind kind, std::string message, std::optional<int64_t> line) const {
  Fault fault{kind, std::move(message), launch_->kernel, {}, {}, line};
  const auto& block = blocks_[static_cast<size_t>(block_of(current_thread_))].index;
  fault.block = {block[0], block[1], block[2]};
  fault.thread = position(current_thread_ % stride_, launch_->block);
  return fault;
}

void Scheduler::leave() {
  void* abandoned = nullptr;
  memory::switch_stacks(abandoned, scheduler_sp_, scheduler_stack_);
  __builtin_unreachable();
}

void Scheduler::raise(FaultKind kind, std::string message) {
  set_fault(kind, std::move(message), std::nullopt);
  leave();
}

std::string Scheduler::describe(int64_t thread) const {
  const auto p = position(thread % stride_, launch_->block);
  return "thread (" + std::to_string(p[0]) + "," + std::to_string(p[1]) + "," + std::to_string(p[2]) + ")";
}

std::string Scheduler::describe_block(int64_t block) const {
  const auto& index = blocks_[static_cast<size_t>(block)].index;
  return "block (" + std::to_string(index[0]) + "," + std::to_string(index[1]) + "," + std::to_string(index[2]) + ")";
}

std::optional<int64_t> Scheduler::line_at(const void* site, const void* frame) const {
  constexpr int kMostFrames = 32;
  auto address = reinterpret_cast<uintptr_t>(site);
  auto at = reinterpret_cast<uintptr_t>(frame);
  for (int i = 0; i < kMostFrames; ++i) {
    if (const auto line = line_of(address - 1)) return line;
    // A frame holds the caller's frame and the return address.
    if (at % sizeof(uintptr_t) != 0 || !on_stack(at) || !on_stack(at + 2 * sizeof(uintptr_t) - 1)) break;
    const auto* words = reinterpret_cast<const uintptr_t*>(at);
    at = words[0];
    address = words[1];
  }
  return std::nullopt;
}

bool Scheduler::below_stack(uintptr_t address) const { return current_ != nullptr && current_->fiber.guards(address); }

namespace {
constexpr uintptr_t kNear = uintptr_t{1} << 20;  // bytes
}

std::string place_of(uintptr_t address, const std::vector<Buffer>& buffers) {
  std::string place = "an address that belongs to no buffer";
  uintptr_t nearest = kNear;
  for (const Buffer& buffer : buffers) {
    const auto begin = reinterpret_cast<uintptr_t>(buffer.data), end = begin + buffer.bytes;
    const std::string name = "'" + buffer.name + "' (" + std::to_string(buffer.bytes) + " bytes)";
    if (address >= begin && address < end) return "offset " + std::to_string(address - begin) + " of " + name;
    const uintptr_t distance = address < begin ? begin - address : address - end;
    if (distance >= nearest) continue;
    nearest = distance;
    place = std::to_string(distance) + " bytes " + (address < begin ? "before " : "past the end of ") + name;
  }
  return place;
}

}  // namespace sandbox::cpu::runtime

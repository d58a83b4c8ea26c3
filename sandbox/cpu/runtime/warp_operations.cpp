// What lanes of a warp do together, and what of their accesses it orders.
#include <algorithm>
#include <utility>

#include "sandbox/cpu/runtime/scheduler.h"

namespace sandbox::cpu::runtime {

void Scheduler::sync_warp(Lanes mask) { warp_call("__syncwarp", mask, nullptr, nullptr); }

// Which lanes run together is known only once those that could still come have waited elsewhere or returned: lanes that
// ask wait until all of their warp ask, or until nothing else can go on.
Lanes Scheduler::active_mask() {
  Warp& own = warp();
  Slot* mine = current_;
  own.asking |= lane_bit();
  own.askers.push(mine);
  ++own_block().asking;
  if (own.asking == own.alive) answer_active_mask(own);
  wait();
  return mine->active_mask;
}

void Scheduler::answer_active_mask(Warp& own) {
  for (Slot* slot = own.askers.first; slot != nullptr; slot = slot->next) {
    slot->active_mask = own.asking;
    --blocks_[static_cast<size_t>(block_of(slot->thread))].asking;
  }
  wake(own.askers);
  own.asking = 0;
}

bool Scheduler::answer_active_masks() {
  if (std::ranges::all_of(blocks_, [](const Block& block) { return block.asking == 0; })) return false;
  for (Warp& warp : warps_) answer_active_mask(warp);
  return true;
}

__attribute__((always_inline)) inline void Scheduler::arrive(Warp& own, Record& record, size_t lane, void* mine) {
  record.arrived |= Lanes{1} << lane;
  record.lanes[lane] = mine;
  record.slots[lane] = current_;
  if (missing(own, record) == 0) {
    complete(own, record, current_);
  } else {
    wait();
  }
}

void Scheduler::warp_call(const char* name, Lanes mask, WarpCombine combine, void* mine) {
  const size_t lane = lane_of(current_thread_);
  mask &= whole_warp_;
  if ((mask >> lane & 1) == 0) {
    raise(FaultKind::warp_misuse, std::string(name) + " is called by a lane that its mask leaves out");
  }
  Warp& own = warp();
  arrive(own, record_of(own, mask, nullptr, name, combine), lane, mine);
}

// Lanes whose paths differ come together again at the place that all of them reach: those at other places wait there,
// as they do on a GPU. When nothing else can go on, those at the first place go on without the others.
void Scheduler::converged_call(const char* name, WarpCombine combine, void* mine) {
  Warp& own = warp();
  ++own_block().parted;
  arrive(own, record_of(own, whole_warp_, current_->site, name, combine), lane_of(current_thread_), mine);
}

bool Scheduler::part_converged() {
  if (std::ranges::all_of(blocks_, [](const Block& block) { return block.parted == 0; })) return false;
  for (Warp& warp : warps_) {
    Record* first = nullptr;  // the lowest address: code that lanes come to later stands behind it
    for (size_t i = 0; i < warp.open; ++i) {
      Record& record = warp.records[i];
      if (record.site != nullptr && (first == nullptr || record.site < first->site)) first = &record;
    }
    if (first != nullptr) complete(warp, *first, nullptr);
  }
  return true;
}

// The operation in progress with this mask, or a new one.
Scheduler::Record& Scheduler::record_of(Warp& own, Lanes mask, const void* site, const char* name,
                                        WarpCombine combine) {
  for (size_t i = 0; i < own.open; ++i) {
    Record& record = own.records[i];
    if (record.mask != mask || record.site != site) continue;
    if (record.combine != combine) {
      raise(FaultKind::warp_misuse,
            std::string("lanes of one warp are in different operations: ") + record.name + " and " + name);
    }
    return record;
  }
  if (own.open == own.records.size()) own.records.emplace_back();
  Record& record = own.records[own.open++];
  record.mask = mask;
  record.site = site;
  record.arrived = 0;
  record.name = name;
  record.combine = combine;
  if (mask != whole_warp_ || own.alive != whole_warp_ || site != nullptr)
    std::fill_n(record.lanes.begin(), lanes_in_warp(), nullptr);
  return record;
}

void Scheduler::complete(Warp& own, Record& record, Slot* last_arriver) {
  if (record.combine != nullptr) {
    mute();
    record.combine(record.lanes.data(), record.arrived);
    unmute();
  }
  if (launch_->end_block != nullptr) {
    ++own.epoch;
    order_lanes(own, own.met, record.arrived);
    if (record.combine == nullptr) {
      order_lanes(own, own.synced, record.arrived);
      share_clocks(record);
    }
  }
  for (Lanes left = record.arrived; left != 0; left &= left - 1) {
    Slot* slot = record.slots[static_cast<size_t>(__builtin_ctzl(left))];
    if (slot != last_arriver) ready(slot);
    if (record.site != nullptr) --blocks_[static_cast<size_t>(block_of(slot->thread))].parted;
  }
  Record& last = own.records[--own.open];
  if (&record != &last) std::swap(record, last);
}

// A warp operation by these lanes: each knows now what any of them knew.
void Scheduler::order_lanes(const Warp& own, LaneOrder& order, Lanes lanes) const {
  if ((own.alive & ~lanes) == 0) {
    order.common_epoch = own.epoch;
    return;
  }
  order.known.resize(lanes_in_warp());
  std::array<uint32_t, kMostLanes> joined{};
  const auto for_each = [&](auto&& act) {
    for (Lanes left = lanes; left != 0; left &= left - 1) act(static_cast<size_t>(__builtin_ctzl(left)));
  };
  for_each([&](size_t lane) {
    for (size_t other = 0; other < order.known.size(); ++other)
      joined[other] = std::max(joined[other], order.known[lane][other]);
  });
  for_each([&](size_t lane) { joined[lane] = own.epoch; });
  for_each([&](size_t lane) { order.known[lane] = joined; });
}

void Scheduler::share_clocks(const Record& record) {
  const Slot& first = *record.slots[static_cast<size_t>(__builtin_ctzl(record.arrived))];
  Clocks& clocks = cluster_of(block_of(first.thread)).clocks;
  if (!clocks.active()) return;
  std::vector<int64_t> among;
  for (Lanes left = record.arrived; left != 0; left &= left - 1) {
    among.push_back(in_cluster(*record.slots[static_cast<size_t>(__builtin_ctzl(left))]));
  }
  clocks.share(among);
}

void Scheduler::tell(Clocks::Known& to) {
  if (!checks()) return;
  Clocks& clocks = cluster_->clocks;
  clocks.activate();
  Warp& own = warp();
  Clocks::join(to, clocks.known_by(thread()));
  const auto first = thread() - static_cast<int64_t>(lane_of(current_thread_));
  for (size_t lane = 0; lane < lanes_in_warp(); ++lane) {
    const int64_t other = first + static_cast<int64_t>(lane);
    if (other >= clocks.threads()) break;
    uint32_t& known = to[static_cast<size_t>(other)];
    known = std::max(known, known_warp_epoch(other, false));
  }
  to[static_cast<size_t>(thread())] = ++own.epoch;  // its next accesses are of this epoch
}

void Scheduler::fence_proxy() {
  clocks().activate();
  clocks().fence(thread(), ++warp().epoch);
}

uint32_t Scheduler::known_warp_epoch(int64_t thread, bool met) const {
  const Warp& own = warps_[warp_of(current_thread_)];
  const LaneOrder& order = met ? own.met : own.synced;
  if (order.known.empty()) return order.common_epoch;
  return std::max(order.common_epoch, order.known[lane_of(current_thread_)][lane_of(thread)]);
}

}  // namespace sandbox::cpu::runtime

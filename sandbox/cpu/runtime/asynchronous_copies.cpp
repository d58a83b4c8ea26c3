// Copies that go on while their threads do other work, and where shared memory lies.
#include <algorithm>
#include <cstring>
#include <utility>

#include "sandbox/cpu/memory/shared_matrix.h"
#include "sandbox/cpu/runtime/asynchronous.h"
#include "sandbox/cpu/runtime/device_state.h"

namespace sandbox::cpu::runtime {
namespace {
constexpr uint32_t kGrain = 16;  // bytes: of addresses and sizes of bulk copies
constexpr uint32_t kBoxAlignment = 128;
}  // namespace

std::byte* Asynchronous::place(SharedAddress address, uint32_t bytes, uint32_t alignment) {
  if (address % alignment != 0) {
    scheduler_.raise(FaultKind::misaligned, shown(address) + " is no multiple of " + std::to_string(alignment));
  }
  const auto begin = reinterpret_cast<uintptr_t>(scheduler_.launch()->shared.data());
  const uintptr_t end = begin + scheduler_.launch()->shared.size(), at = __kw_shared_window + (address & kWithinBlock);
  if (at < begin || at > end || bytes > end - at) {
    scheduler_.raise(FaultKind::out_of_bounds, shown(address) + " is outside of the block's shared memory");
  }
  auto* own = reinterpret_cast<std::byte*>(at);
  if (address >> 24 == 0) return own;
  const int64_t rank = (address >> 24) - 1;
  if (rank >= scheduler_.cluster_blocks()) {
    scheduler_.raise(FaultKind::out_of_bounds, "the cluster has no block of rank " + std::to_string(rank));
  }
  return scheduler_.shared_of(rank, own);
}

AsyncAccess Asynchronous::issue(int64_t agent, uint32_t epoch) {
  AsyncAccess access;
  access.site = scheduler_.site();
  access.frame = scheduler_.frame();
  access.epoch = epoch;
  access.thread = scheduler_.thread();
  if (!scheduler_.checks()) return access;
  scheduler_.tell(access.known);
  access.block_epoch = scheduler_.epoch();
  access.agent = agent;
  access.fenced = scheduler_.clocks().fenced_last(access.thread);
  return access;
}

Asynchronous::Copy Asynchronous::begin_copy(int64_t agent, uint32_t epoch) {
  Copy copy;
  copy.access = issue(agent, epoch);
  return copy;
}

const TensorMapBits& Asynchronous::map_at(const void* map, int rank) {
  const auto& bits = *static_cast<const TensorMapBits*>(map);
  if (reinterpret_cast<uintptr_t>(map) % alignof(TensorMapBits) != 0 || bits.magic != TensorMapBits::kMagic) {
    scheduler_.raise(FaultKind::invalid_launch,
                     "a copy by TMA names something that is no tensor map; pass the map as a `const __grid_constant__ "
                     "CUtensorMap` parameter and give its address");
  }
  if (bits.rank != rank) {
    scheduler_.raise(FaultKind::invalid_launch, "a copy by TMA with " + std::to_string(rank) +
                                                    " coordinates and a tensor map of " + std::to_string(bits.rank) +
                                                    " dimensions");
  }
  return bits;
}

void Asynchronous::load_bytes(SharedAddress to, const void* from, uint32_t bytes, SharedAddress barrier) {
  Copy copy = begin_copy(scheduler_.clocks().agent_of_barrier(barrier_of_copy(barrier).index));
  copy.shared = mapped(to);
  copy.global = static_cast<std::byte*>(const_cast<void*>(from));
  copy.bytes = copy.source_bytes = bytes;
  copy.barrier = barrier;
  place(to, bytes, kGrain);
  if (bytes % kGrain != 0 || reinterpret_cast<uintptr_t>(from) % kGrain != 0) {
    scheduler_.raise(FaultKind::misaligned,
                     "a bulk copy of " + std::to_string(bytes) + " bytes: addresses and bytes are multiples of 16");
  }
  loads_.push_back(std::move(copy));
}

void Asynchronous::load_box(SharedAddress to, const void* map, const int32_t* at, int rank, SharedAddress barrier) {
  Copy copy = begin_copy(scheduler_.clocks().agent_of_barrier(barrier_of_copy(barrier).index));
  copy.shared = mapped(to);
  copy.boxed = true;
  copy.map = map_at(map, rank);
  std::copy_n(at, rank, copy.at.begin());
  copy.barrier = barrier;
  place(to, 0, kBoxAlignment);
  loads_.push_back(std::move(copy));
}

void Asynchronous::load_bytes(SharedAddress to, const void* from, uint32_t bytes, SharedAddress barrier,
                              uint32_t ranks) {
  for (; ranks != 0; ranks &= ranks - 1) {
    const int64_t block = __builtin_ctz(ranks);
    load_bytes(this->map(to, block), from, bytes, this->map(barrier, block));
  }
}

void Asynchronous::load_box(SharedAddress to, const void* map, const int32_t* at, int rank, SharedAddress barrier,
                            uint32_t ranks) {
  for (; ranks != 0; ranks &= ranks - 1) {
    const int64_t block = __builtin_ctz(ranks);
    load_box(this->map(to, block), map, at, rank, this->map(barrier, block));
  }
}

Asynchronous::ThreadCopies& Asynchronous::copies_of(CopyKind kind) {
  return of_threads_[static_cast<size_t>(kind)][scheduler_.thread()];
}

int64_t Asynchronous::agent_of(CopyKind kind) const {
  return scheduler_.clocks().agent_of_warp(kind == CopyKind::small ? Clocks::Agent::copies : Clocks::Agent::bulk_stores,
                                           static_cast<int64_t>(scheduler_.warp_of(scheduler_.thread())));
}

void Asynchronous::queue(CopyKind kind, Copy copy) { copies_of(kind).open.push_back(std::move(copy)); }

void Asynchronous::load_small(SharedAddress to, const void* from, uint32_t bytes, uint32_t source_bytes) {
  Copy copy = begin_copy(agent_of(CopyKind::small), copies_of(CopyKind::small).epoch);
  copy.small = true;
  copy.shared = mapped(to);
  copy.global = static_cast<std::byte*>(const_cast<void*>(from));
  copy.bytes = bytes;
  copy.source_bytes = std::min(source_bytes, bytes);
  place(to, bytes, bytes);
  if (source_bytes > 0 && reinterpret_cast<uintptr_t>(from) % bytes != 0) {
    scheduler_.raise(FaultKind::misaligned,
                     "cp.async of " + std::to_string(bytes) + " bytes from an address that is no multiple of that");
  }
  queue(CopyKind::small, std::move(copy));
}

void Asynchronous::store_bytes(void* to, SharedAddress from, uint32_t bytes, Update update) {
  Copy copy = begin_copy(agent_of(CopyKind::bulk), copies_of(CopyKind::bulk).epoch);
  copy.loads = false;
  copy.shared = mapped(from);
  copy.global = static_cast<std::byte*>(to);
  copy.bytes = copy.source_bytes = bytes;
  copy.update = update;
  place(from, bytes, kGrain);
  if (bytes % kGrain != 0 || reinterpret_cast<uintptr_t>(to) % kGrain != 0) {
    scheduler_.raise(FaultKind::misaligned,
                     "a bulk copy of " + std::to_string(bytes) + " bytes: addresses and bytes are multiples of 16");
  }
  queue(CopyKind::bulk, std::move(copy));
}

void Asynchronous::store_box(const void* map, const int32_t* at, int rank, SharedAddress from) {
  Copy copy = begin_copy(agent_of(CopyKind::bulk), copies_of(CopyKind::bulk).epoch);
  copy.loads = false;
  copy.shared = mapped(from);
  copy.boxed = true;
  copy.map = map_at(map, rank);
  std::copy_n(at, rank, copy.at.begin());
  place(from, 0, kBoxAlignment);
  queue(CopyKind::bulk, std::move(copy));
}

void Asynchronous::commit(CopyKind kind) {
  ThreadCopies& mine = copies_of(kind);
  Group group;
  group.copies = std::exchange(mine.open, {});
  group.epoch = ++mine.epoch;
  mine.groups.push_back(std::move(group));
}

void Asynchronous::wait_group(CopyKind kind, uint32_t most, bool all) {
  ThreadCopies& mine = copies_of(kind);
  if (all) {
    commit(kind);
    most = 0;
  }
  while (mine.groups.size() > most) {
    const Group group = std::move(mine.groups.front());
    mine.groups.pop_front();
    for (const Copy& copy : group.copies) perform(copy);
    if (scheduler_.checks()) {
      scheduler_.clocks().activate();
      scheduler_.clocks().learn(scheduler_.thread(), agent_of(kind), group.epoch);
    }
  }
}

void Asynchronous::arrive_after_copies(SharedAddress address, bool counts) {
  wait_group(CopyKind::small, 0, true);
  if (!counts) ++barrier_at(address).pending;
  arrive(address, 1, 0, false);
}

uint32_t* Asynchronous::sums_in_progress(void* const* places, size_t words, bool adds) {
  constexpr uint32_t kNobodyComputed = 0x7fc0dead;  // NaN as a float
  ThreadProducts& mine = products_[scheduler_.thread()];
  const auto [at, is_new] = mine.sums.try_emplace(places[0]);
  Sums& sums = at->second;
  sums.group = mine.epoch + 1;
  if (is_new) {
    sums.places.assign(places, places + words);
    sums.words.assign(words, 0);
    for (size_t i = 0; adds && i < words; ++i) std::memcpy(&sums.words[i], places[i], sizeof(uint32_t));
  }
  for (size_t i = 0; i < words; ++i) std::memcpy(places[i], &kNobodyComputed, sizeof kNobodyComputed);
  return sums.words.data();
}

void Asynchronous::commit_products() {
  ThreadProducts& mine = products_[scheduler_.thread()];
  mine.groups.push_back(++mine.epoch);
}

uint32_t Asynchronous::epoch_of_products() const {
  const auto mine = products_.find(scheduler_.thread());
  return mine == products_.end() ? ThreadProducts().epoch : mine->second.epoch;
}

void Asynchronous::wait_for_products(int64_t agent, uint32_t most) {
  ThreadProducts& mine = products_[scheduler_.thread()];
  uint32_t done = 0;
  for (; mine.groups.size() > most; mine.groups.pop_front()) done = mine.groups.front();
  if (done == 0) return;
  std::erase_if(mine.sums, [&](const auto& entry) {
    const Sums& sums = entry.second;
    if (sums.group > done) return false;
    for (size_t i = 0; i < sums.words.size(); ++i) std::memcpy(sums.places[i], &sums.words[i], sizeof(uint32_t));
    return true;
  });
  if (!scheduler_.checks()) return;
  scheduler_.clocks().activate();
  scheduler_.clocks().learn(scheduler_.thread(), agent, done);
}

bool Asynchronous::perform_loads(SharedAddress address) {
  bool any = false;
  for (size_t i = 0; i < loads_.size();) {
    if (loads_[i].barrier != address) {
      ++i;
      continue;
    }
    Copy copy = std::move(loads_[i]);
    loads_.erase(loads_.begin() + static_cast<std::ptrdiff_t>(i));
    if (scheduler_.checks()) copy.access.epoch = scheduler_.clocks().epoch_of(copy.access.agent);
    perform(copy);
    any = true;
    const auto found = barriers_.find(address);
    if (found == barriers_.end()) continue;  // invalidated in the meantime
    Mbarrier& barrier = found->second;
    int64_t bytes = copy.bytes;
    if (copy.boxed) {
      bytes = copy.map.element_bytes;
      for (int d = 0; d < copy.map.rank; ++d) bytes *= copy.map.box[static_cast<size_t>(d)];
    }
    if (scheduler_.checks()) {
      Clocks& clocks = scheduler_.clocks();
      Clocks::Known end(static_cast<size_t>(copy.access.agent) + 1, 0);
      end.back() = clocks.advance(copy.access.agent);
      Clocks::join(barrier.known, end);
    }
    barrier.bytes -= bytes;
    end_phase_if_done(barrier);
  }
  return any;
}

void Asynchronous::perform(const Copy& copy) {
  if (copy.boxed) return perform_box(copy);
  if (copy.source_bytes == copy.bytes) return move(copy, copy.shared, copy.global, copy.bytes);
  std::byte* to = place(copy.shared, copy.bytes, 4);
  if (scheduler_.checks()) check_async_access(to, copy.bytes, Access::write, copy.access);
  if (copy.source_bytes > 0) {
    touch_global(copy, copy.global, copy.source_bytes);
    std::memcpy(to, copy.global, copy.source_bytes);
  }
  std::memset(to + copy.source_bytes, 0, copy.bytes - copy.source_bytes);
}

// Of as many bytes as both sides have in one piece.
void Asynchronous::move(const Copy& copy, SharedAddress shared, std::byte* global, uint32_t bytes) {
  std::byte* in_shared = place(shared, bytes, 1);
  touch_global(copy, global, bytes);
  if (scheduler_.checks()) {
    check_async_access(in_shared, bytes, copy.loads ? Access::write : Access::read, copy.access);
  }
  if (copy.update == nullptr) {
    std::memcpy(copy.loads ? in_shared : global, copy.loads ? global : in_shared, bytes);
    return;
  }
  scheduler_.mute();
  copy.update(global, in_shared, bytes);
  scheduler_.unmute();
}

void Asynchronous::touch_global(const Copy& copy, std::byte* at, uint32_t bytes) {
  const Access access = copy.loads ? Access::read : copy.update != nullptr ? Access::bulk_update : Access::write;
  if (scheduler_.checks()) {
    scheduler_.blame(copy.access.thread);
    check_access(at, bytes, access, copy.access.site, copy.access.frame);
    scheduler_.blame_running();
    return;
  }
  for (const Buffer& buffer : *scheduler_.launch()->buffers) {
    if (at >= buffer.data && at + bytes <= buffer.data + buffer.bytes && (copy.loads || buffer.writable)) return;
  }
  scheduler_.blame(copy.access.thread);
  scheduler_.raise(FaultKind::out_of_bounds,
                   std::string("a copy ") + (copy.loads ? "reads " : "writes ") + std::to_string(bytes) + " bytes at " +
                       place_of(reinterpret_cast<uintptr_t>(at), *scheduler_.launch()->buffers));
}

void Asynchronous::perform_box(const Copy& copy) {
  const TensorMapBits& map = copy.map;
  const uint32_t element = map.element_bytes, inner = map.box[0] * element;
  int64_t rows = 1;
  for (int d = 1; d < map.rank; ++d) rows *= map.box[static_cast<size_t>(d)];
  const int64_t x = copy.at[0];
  const int64_t first = std::clamp<int64_t>(-x, 0, map.box[0]);
  const int64_t past = std::clamp<int64_t>(map.shape[0] - x, first, map.box[0]);
  row_.resize(inner);
  for (int64_t row = 0; row < rows; ++row) {
    bool inside = past > first;
    std::byte* global = map.base + x * element;
    int64_t rest = row;
    for (size_t d = 1; d < map.rank; ++d) {
      const int64_t at = copy.at[d] + rest % map.box[d];
      rest /= map.box[d];
      inside = inside && at >= 0 && at < map.shape[d];
      global += at * map.strides_bytes[d];
    }
    std::byte* from = global + first * element;
    const auto bytes = static_cast<uint32_t>((past - first) * element);
    if (inside) touch_global(copy, from, bytes);
    if (copy.loads) {
      std::ranges::fill(row_, map.nan_fill != 0 ? std::byte{0x7f} : std::byte{0});
      if (map.nan_fill != 0) {  // 0x7fff of two bytes, 0x7fffffff of four
        for (uint32_t i = 0; i < inner; ++i) row_[i] = i % element == element - 1 ? std::byte{0x7f} : std::byte{0xff};
      }
      if (inside) std::memcpy(row_.data() + first * element, from, bytes);
    }
    const auto offset = static_cast<uint32_t>(row * inner);
    for (uint32_t i = 0; i < inner; i += kGrain) {
      std::byte* shared = place(memory::swizzled(copy.shared + offset + i, map.swizzle), kGrain, kGrain);
      if (scheduler_.checks()) {
        check_async_access(shared, kGrain, copy.loads ? Access::write : Access::read, copy.access);
      }
      std::memcpy(copy.loads ? shared : row_.data() + i, copy.loads ? row_.data() + i : shared, kGrain);
    }
    if (!copy.loads && inside) std::memcpy(from, row_.data() + first * element, bytes);
  }
}

}  // namespace sandbox::cpu::runtime

extern "C" void __kw_reduce_bytes(void* to, unsigned from, unsigned bytes,
                                  sandbox::cpu::runtime::Asynchronous::Update update) {
  sandbox::cpu::runtime::Scheduler& scheduler = *sandbox::cpu::runtime::running_scheduler();
  scheduler.set_site(__builtin_return_address(0), __builtin_frame_address(0));
  scheduler.asynchronous().store_bytes(to, from, bytes, update);
}

#include "sandbox/cpu/runtime/check.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "core/error.h"
#include "sandbox/cpu/memory/global_writes.h"
#include "sandbox/cpu/memory/grid_accesses.h"
#include "sandbox/cpu/runtime/asynchronous.h"
#include "sandbox/cpu/runtime/device_state.h"
#include "sandbox/cpu/runtime/fences.h"
#include "sandbox/cpu/runtime/line_table.h"
#include "sandbox/cpu/runtime/scheduler.h"

namespace sandbox::cpu::runtime {
namespace {

// One access to a byte of shared memory. All zero: none yet.
struct Mark {
  uint32_t epoch, warp_epoch;  // of an agent, its own epoch instead of a warp's
  uint32_t site;               // offset of the instruction in the module
  uint16_t thread;             // plus one; or an agent
  bool atomic;
  bool strong;  // atomic or volatile: PTX's memory model orders such accesses to one place
};
// The accesses to an aligned word of shared memory, or to one of its bytes.
struct Shadow {
  uint32_t block;   // of a word: the marks are of this block
  bool whole_word;  // of a word: its four bytes are alike, and have no marks of their own
  bool written;
  Mark write;
  std::array<Mark, 2> reads;  // of two threads
};

using memory::GlobalWrites;

class Checker {
 public:
  ~Checker() { release(); }

  void begin_launch(const CheckedLaunch& launch) {
    const size_t bytes = launch.shared.second - launch.shared.first - (launch.unused.second - launch.unused.first);
    const size_t words = (bytes / 4 + 1) * launch.blocks;
    words_of_block_ = bytes / 4 + 1;
    if (words > words_in_shadow_) {
      release();
      // Zero pages that cost nothing until they are touched.
      void* memory = ::mmap(nullptr, words * 5 * sizeof(Shadow), PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (memory == MAP_FAILED) throw core::SystemError("cannot make shadow memory", errno);
      shadow_of_words_ = static_cast<Shadow*>(memory);
      shadow_of_bytes_ = shadow_of_words_ + words;
      words_in_shadow_ = words;
    }
    launch_ = launch;
    variables_.begin_launch(*launch.variables, launch.shared.first, launch.dynamic);
    std::vector<size_t> sizes;
    for (const Buffer& buffer : *launch.buffers) sizes.push_back(buffer.writable ? buffer.bytes : 0);
    global_writes_.begin_launch(sizes, launch.overlaps_previous);
    if (launch.cooperative) {
      grid_accesses_.begin_launch(sizes, static_cast<int64_t>(launch.blocks));
      told_at_fences_.clear();
      flags_.assign(launch.blocks, {});
    }
    last_buffer_ = nullptr;
  }
  void end_launch() {
    if (!launch_.cooperative) return;
    release();
    told_at_fences_.clear();
    flags_.clear();
  }
  void begin_block() {
    ++block_;
    suspect_.reset();
    previous_has_ended_ = next_may_begin_ = false;
    global_writes_.begin_clusters(launch_.blocks / static_cast<size_t>(running_scheduler()->cluster_blocks()));
    fences_.clear();
  }
  void end_block() {
    if (suspect_) acquit(*running_scheduler());
  }
  void fence() {
    Scheduler& scheduler = *running_scheduler();
    scheduler.publish();
    scheduler.note_fence();
    if (!launch_.cooperative) {
      global_writes_.enter(cluster_of(scheduler));
      fences_.add(scheduler);
      return global_writes_.fence();
    }
    tell_at_fence(scheduler);
    grid_accesses_.fence(absolute_block(scheduler), warp_in_block(scheduler), scheduler.clocks().active());
  }
  void meet(int64_t first, int64_t count) { grid_accesses_.meet(first, count); }
  void meet_all() { grid_accesses_.meet_all(); }
  bool settle() { return !suspect_ || acquit(*running_scheduler()); }
  void end_previous_launch() {
    previous_has_ended_ = true;
    global_writes_.wait_for_previous(!next_may_begin_);
  }
  void begin_next_launch() { next_may_begin_ = true; }

  std::optional<Fault> take_unset_read() { return std::exchange(unset_read_, std::nullopt); }

  // False when the launch has a fault now.
  bool check(uintptr_t address, size_t bytes, Access access, const void* site, const void* frame) {
    Scheduler* scheduler = running_scheduler();
    if (scheduler == nullptr || bytes == 0) return true;
    const SharedPlace place = place_of_shared(*scheduler, address);
    const bool is_shared = place.address >= launch_.shared.first && place.address < launch_.shared.second;
    if (is_shared) note_touched(*scheduler, place, bytes);
    if (scheduler->muted()) return true;
    if (suspect_ && !acquit(*scheduler)) return false;
    if (scheduler->stack_is_used_up()) return report_stack(*scheduler, site, frame);
    if (scheduler->on_stack(address)) {
      // Below its frames lies what others have left.
      return address >= reinterpret_cast<uintptr_t>(frame) ||
             report(*scheduler, FaultKind::out_of_bounds, verb(access, bytes) + "below its own stack", site, frame);
    }
    if (launch_.cooperative && access != Access::atomic_update && access != Access::block_update &&
        changes_value(access) && (is_strong(access) || !is_shared))
      scheduler->note_progress();
    if (is_shared) {
      if (place.block != scheduler->running_block() && !scheduler->cluster_has_met()) {
        return report(*scheduler, FaultKind::race,
                      verb(access, bytes) + "of the shared memory of block " + std::to_string(place.block) +
                          " of the cluster, which may not have begun: the cluster has not met yet",
                      site, frame);
      }
      const Mark mine{scheduler->epoch(), scheduler->warp_epoch(),
                      offset_of(site),    static_cast<uint16_t>(scheduler->thread() + 1),
                      is_atomic(access),  is_strong(access)};
      return check_shared(*scheduler, place, bytes, access, mine, site, frame);
    }
    if (is_device_state(address, bytes)) {
      return !changes_value(access) || report(*scheduler, FaultKind::out_of_bounds,
                                              "writes to threadIdx, blockIdx, blockDim or gridDim", site, frame);
    }
    return check_global(*scheduler, address, bytes, access, site, frame);
  }

  bool check_stack(const void* site, const void* frame) {
    Scheduler& scheduler = *running_scheduler();
    return !scheduler.stack_is_used_up() || report_stack(scheduler, site, frame);
  }

  bool check_async(uintptr_t address, size_t bytes, Access access, const AsyncAccess& by) {
    Scheduler& scheduler = *running_scheduler();
    if (suspect_ && !acquit(scheduler)) return false;
    scheduler.blame(by.thread);
    const SharedPlace place = place_of_shared(scheduler, address);
    note_touched(scheduler, place, bytes);
    async_ = &by;
    const Mark mine{by.block_epoch, by.epoch, offset_of(by.site), static_cast<uint16_t>(by.agent + 1), false, false};
    const bool good = check_shared(scheduler, place, bytes, access, mine, by.site, by.frame);
    async_ = nullptr;
    if (good) scheduler.blame_running();
    return good;
  }

 private:
  // Shared memory of a block that does not run lies aside.
  struct SharedPlace {
    uintptr_t address;  // as if its block ran
    int64_t block;      // its rank in the cluster
    uintptr_t content;  // where it is
  };
  static SharedPlace place_of_shared(const Scheduler& scheduler, uintptr_t address) {
    if (const auto other = scheduler.aside(address)) return {other->second, other->first, address};
    return {address, scheduler.running_block(), address};
  }

  void note_touched(Scheduler& scheduler, const SharedPlace& place, size_t bytes) const {
    if (launch_.blocks == 1) return;
    const size_t offset = place.address - launch_.shared.first;
    scheduler.note_touched(scheduler.first_block() + place.block, offset,
                           std::min(bytes, launch_.shared.second - place.address));
  }

  uint32_t offset_of(const void* site) const {
    return static_cast<uint32_t>(reinterpret_cast<uintptr_t>(site) - launch_.image.first);
  }

  void release() {
    if (shadow_of_words_ != nullptr) ::munmap(shadow_of_words_, words_in_shadow_ * 5 * sizeof(Shadow));
    shadow_of_words_ = nullptr;
    words_in_shadow_ = 0;
  }

  bool check_global(Scheduler& scheduler, uintptr_t address, size_t bytes, Access access, const void* site,
                    const void* frame) {
    const auto inside = [&](const Buffer& buffer) {
      const auto begin = reinterpret_cast<uintptr_t>(buffer.data);
      return inspection::within(address, bytes, {begin, begin + buffer.bytes});
    };
    if (last_buffer_ == nullptr || !inside(*last_buffer_)) {
      const auto found = std::find_if(launch_.buffers->begin(), launch_.buffers->end(), inside);
      if (found == launch_.buffers->end()) {
        if (!changes_value(access) && (inspection::within(address, bytes, launch_.image) ||
                                       inspection::within(address, bytes, launch_.arguments))) {
          return true;
        }
        return report(scheduler, FaultKind::out_of_bounds,
                      verb(access, bytes) + "at " + place_of(address, *launch_.buffers), site, frame);
      }
      last_buffer_ = &*found;
    }
    if (changes_value(access) && !last_buffer_->writable) {
      return report(scheduler, FaultKind::out_of_bounds,
                    "writes to the input '" + last_buffer_->name + "', which is read-only", site, frame);
    }
    if (!last_buffer_->writable) return true;
    if (!check_order(scheduler, address, bytes, access, site, frame)) return false;
    if (changes_value(access) && is_strong(access) && access != Access::bulk_update) {
      scheduler.note_store(reinterpret_cast<std::byte*>(address), bytes, is_store(access));
    }
    return true;
  }

  // For an access to last_buffer_.
  bool check_order(Scheduler& scheduler, uintptr_t address, size_t bytes, Access access, const void* site,
                   const void* frame) {
    const GlobalWrites::Place place{static_cast<size_t>(last_buffer_ - launch_.buffers->data()),
                                    address - reinterpret_cast<uintptr_t>(last_buffer_->data), bytes};
    const GlobalWrites::Kind kind = kind_of(access);
    global_writes_.enter(cluster_of(scheduler));
    const bool between_blocks =
        !launch_.cooperative || check_between_blocks(scheduler, place, kind, address, access, site, frame);
    if (!between_blocks) return false;
    if (global_writes_.is_of_unfinished_launch(place, previous_has_ended_)) {
      return report(scheduler, FaultKind::race,
                    verb(access, bytes) + "at " + place_of(address, *launch_.buffers) +
                        (previous_has_ended_
                             ? ", which an earlier launch wrote, for which no griddepcontrol.wait of the launch before "
                               "this one waited"
                             : ", which a launch before this one wrote, with no griddepcontrol.wait in this block yet"),
                    site, frame);
    }
    if (access == Access::read_only && global_writes_.is_of_this_launch(place)) {
      return report(
          scheduler, FaultKind::race,
          "reads " + place_of(address, *launch_.buffers) +
              " through the read-only cache (__ldg, ld.global.nc), which may not have what this launch wrote there",
          site, frame);
    }
    if (launch_.cooperative) {
      if (changes_value(access)) global_writes_.write(place, kind, true);
      return true;
    }
    if (kind == GlobalWrites::Kind::atomic && access != Access::bulk_update) global_writes_.observe(kind);
    if (needs_value(access) && !global_writes_.may_read(place, kind)) {
      return report(scheduler, FaultKind::race,
                    "reads " + place_of(address, *launch_.buffers) + ", which another block of this launch wrote, " +
                        (global_writes_.has_observed() ? "with no __threadfence behind it to publish it"
                                                       : "with nothing that orders the two"),
                    site, frame);
    }
    if (access == Access::volatile_read) global_writes_.observe(kind);
    if ((access == Access::volatile_write || access == Access::block_exchange) &&
        global_writes_.overwrites_others(place)) {
      suspect({.between_blocks = true, .address = address, .thread = scheduler.thread(), .site = site, .frame = frame});
    }
    if (changes_value(access)) global_writes_.write(place, kind, fences_.are_before(scheduler));
    return true;
  }

  // Compares an access with those of other blocks of the same cooperative launch.
  bool check_between_blocks(Scheduler& scheduler, const GlobalWrites::Place& place, GlobalWrites::Kind kind,
                            uintptr_t address, Access access, const void* site, const void* frame) {
    const bool reads = needs_value(access) || is_exchange(access);
    if (is_strong(access) && access != Access::bulk_update)
      meet_at_flag(scheduler, address, reads, changes_value(access));
    const auto conflict = grid_accesses_.access({place.buffer, place.offset, place.bytes, reads, changes_value(access),
                                                 kind != GlobalWrites::Kind::plain, absolute_block(scheduler),
                                                 warp_in_block(scheduler), offset_of(site)});
    if (!conflict) return true;
    std::string words = place_of(address, *launch_.buffers) + ", which " + scheduler.describe_block(conflict->block) +
                        (conflict->wrote ? " wrote" : " read") + line_words(conflict->site) +
                        ", with no barrier of the grid in between, nor a fence and a flag";
    if (is_write(access)) {
      suspect({.between_blocks = true,
               .words = "writes " + words,
               .address = address,
               .thread = scheduler.thread(),
               .site = site,
               .frame = frame});
      return true;
    }
    return report(scheduler, FaultKind::race, (changes_value(access) ? "updates " : "reads ") + words, site, frame);
  }

  // Threads of one cluster meet at flags in global memory, too: what a thread knew at its last fence is known to
  // whoever sees its strong writes behind that. Where clocks are in use; without them, barriers of the block are what
  // orders it.
  using Told = std::shared_ptr<const Clocks::Known>;
  void tell_at_fence(Scheduler& scheduler) {
    if (!scheduler.clocks().active()) return;
    Clocks::Known known;
    scheduler.tell(known);
    told_at_fences_[absolute_thread(scheduler)] = std::make_shared<const Clocks::Known>(std::move(known));
  }
  void meet_at_flag(Scheduler& scheduler, uintptr_t address, bool reads, bool writes) {
    constexpr size_t kMostFlags = 256;  // the others count as one
    if (!scheduler.clocks().active()) return;
    auto& flags = flags_[static_cast<size_t>(scheduler.first_block())];
    const auto found = flags.find(address), others = flags.find(0);
    if (reads && found != flags.end()) scheduler.clocks().learn(scheduler.thread(), *found->second);
    if (reads && others != flags.end()) scheduler.clocks().learn(scheduler.thread(), *others->second);
    const auto told = told_at_fences_.find(absolute_thread(scheduler));
    if (!writes || told == told_at_fences_.end()) return;
    Told& flag = found != flags.end() ? found->second : flags[flags.size() < kMostFlags ? address : 0];
    if (flag == nullptr) {
      flag = told->second;
    } else if (flag != told->second) {
      Clocks::Known all = *flag;
      Clocks::join(all, *told->second);
      flag = std::make_shared<const Clocks::Known>(std::move(all));
    }
  }

  // Among those that run together.
  static int64_t absolute_thread(const Scheduler& scheduler) { return scheduler.first_thread() + scheduler.thread(); }
  static int64_t absolute_block(const Scheduler& scheduler) { return scheduler.first_block() + scheduler.block(); }
  static size_t cluster_of(const Scheduler& scheduler) {
    return static_cast<size_t>(scheduler.first_block() / scheduler.cluster_blocks());
  }
  static unsigned warp_in_block(const Scheduler& scheduler) {
    return static_cast<unsigned>(scheduler.warp_of(scheduler.thread()) % scheduler.warps_of_block());
  }

  bool report_stack(Scheduler& scheduler, const void* site, const void* frame) const {
    return report(scheduler, FaultKind::resource_limit,
                  "the local memory of this thread is used up: in a cooperative launch of so many threads it has " +
                      std::to_string(scheduler.stack_bytes() >> 10) + " KiB",
                  site, frame);
  }

  static GlobalWrites::Kind kind_of(Access access) {
    // Other blocks may come between what an update in the scope of a block reads and writes.
    if (!is_strong(access) || is_of_block(access)) return GlobalWrites::Kind::plain;
    return is_atomic(access) ? GlobalWrites::Kind::atomic : GlobalWrites::Kind::is_volatile;
  }

  bool check_shared(Scheduler& scheduler, const SharedPlace& place, size_t bytes, Access access, const Mark& mine,
                    const void* site, const void* frame) {
    const uintptr_t address = place.address;
    aside_ = place.content - place.address;
    const auto block = static_cast<size_t>(scheduler.first_block() + place.block);
    Shadow* const shadow_of_words = shadow_of_words_ + block * words_of_block_;
    Shadow* const shadow_of_bytes = shadow_of_bytes_ + block * words_of_block_ * 4;
    if (!variables_.hold(address, bytes)) {
      if (variables_.is_guard(address, bytes)) return true;
      return report(scheduler, FaultKind::out_of_bounds, verb(access, bytes) + variables_.place_beside(address), site,
                    frame);
    }
    const size_t skipped = address >= launch_.unused.second ? launch_.unused.second - launch_.unused.first : 0;
    const size_t begin = address - launch_.shared.first - skipped, end = begin + bytes;
    const bool needed = needs_value(access) && !mostly_written(shadow_of_words, shadow_of_bytes, begin, end);
    const auto visit = [&](Shadow& part, size_t at) {
      return visit_part(scheduler, part, mine, access, needed, bytes, launch_.shared.first + skipped + at, site, frame);
    };
    for (size_t at = begin; at < end;) {
      Shadow& word = shadow_of_words[at / 4];
      if (word.block != block_) word = Shadow{block_, true, false, {}, {}};
      const bool whole = at % 4 == 0 && end - at >= 4;
      if (whole && word.whole_word) {
        if (!visit(word, at)) return false;
        at += 4;
        continue;
      }
      if (word.whole_word) {
        word.whole_word = false;
        std::fill_n(shadow_of_bytes + at / 4 * 4, 4, word);
      }
      const size_t past = std::min(end, at / 4 * 4 + 4);
      for (; at < past; ++at) {
        if (!visit(shadow_of_bytes[at], at)) return false;
      }
    }
    return true;
  }

  // Copies of structs read their padding, which no member's assignment writes.
  bool mostly_written(const Shadow* of_words, const Shadow* of_bytes, size_t begin, size_t end) const {
    if (end - begin <= 8) return false;
    size_t written = 0;
    for (size_t at = begin; at < end; ++at) {
      const Shadow& word = of_words[at / 4];
      written += word.block == block_ && (word.whole_word ? word : of_bytes[at]).written;
    }
    return 2 * written >= end - begin;
  }

  // `needed`: the access may read no byte that is not written.
  bool visit_part(Scheduler& scheduler, Shadow& part, const Mark& mine, Access access, bool needed, size_t bytes,
                  uintptr_t address, const void* site, const void* frame) {
    if (needed && !part.written && !unset_read_) {
      unset_read_ = scheduler.fault_here(
          FaultKind::uninitialised,
          verb(access, bytes) + "of __shared__ " + variables_.name_of(address) + " that no thread has written",
          scheduler.line_at(site, frame));
    }
    if (async_ != nullptr && is_read(access) && !is_fenced(scheduler, part.write)) {
      return report(scheduler, FaultKind::race,
                    verb(access, bytes) + "of __shared__ " + variables_.name_of(address) + " by " +
                        agent_name(scheduler, mine) + ", which " + scheduler.describe(part.write.thread - 1) +
                        " wrote" + line_words(part.write) + ", with no fence.proxy.async in between",
                    site, frame);
    }
    const auto race_with = [&](const Mark& before, bool wrote) {
      if (async_ != nullptr || !is_write(access))
        return report_race(scheduler, before, wrote, mine, access, address, site, frame);
      suspect({.before = before,
               .now = mine,
               .wrote = wrote,
               .address = address,
               .thread = scheduler.thread(),
               .site = site,
               .frame = frame});
      return true;
    };
    if (!(is_read(access) && are_of_a_flag(scheduler, part.write, mine)) &&
        conflicts(scheduler, part.write, mine, false) && !race_with(part.write, true))
      return false;
    if (!changes_value(access)) {
      remember_read(part, mine);
      return true;
    }
    for (const Mark& read : part.reads) {
      if (!are_of_a_flag(scheduler, read, mine) && conflicts(scheduler, read, mine, true) && !race_with(read, false))
        return false;
    }
    part.written = true;
    part.write = mine;
    return true;
  }

  static void remember_read(Shadow& part, const Mark& mine) {
    for (Mark& read : part.reads) {
      const bool by_me_now =
          read.thread == mine.thread && read.epoch == mine.epoch && read.warp_epoch == mine.warp_epoch;
      // A weaker read is not forgotten for a stronger one: plain, volatile, atomic.
      if (by_me_now && (mine.atomic || (mine.strong && !read.atomic))) return;
      if (read.thread == mine.thread || read.epoch != mine.epoch) {
        read = mine;
        return;
      }
    }
    part.reads[1] = mine;
  }

  // Two accesses are ordered by a barrier between them or, when they are of one warp, by calls of __syncwarp. A write
  // also stays behind a read if any warp operation stands between them (`write_after_read`). Where threads meet in
  // other ways, and where agents take part, clocks tell.
  bool conflicts(const Scheduler& scheduler, const Mark& before, const Mark& now, bool write_after_read) const {
    if (before.thread == 0 || before.thread == now.thread) return false;
    if (before.atomic && now.atomic) return false;
    const Clocks& clocks = scheduler.clocks();
    const int64_t who = before.thread - 1;
    const auto known = [&] {
      if (async_ == nullptr) return clocks.known(scheduler.thread(), who);
      return static_cast<size_t>(who) < async_->known.size() ? async_->known[static_cast<size_t>(who)] : 0;
    };
    if (clocks.active() && clocks.is_agent(who)) return before.warp_epoch >= known();
    if (!scheduler.in_one_block(who, scheduler.thread())) {
      if (before.epoch < (write_after_read ? scheduler.cluster_epoch() : scheduler.published_epoch(who))) return false;
    } else if (before.epoch != now.epoch && (async_ == nullptr || before.epoch < now.epoch)) {
      return false;
    }
    if (clocks.active() && before.warp_epoch < known()) return false;
    return async_ != nullptr || !scheduler.in_one_warp(who, now.thread - 1) ||
           before.warp_epoch >= scheduler.known_warp_epoch(who, write_after_read);
  }

  // A read and a write by two warps that PTX's memory model orders, as of a flag that is raised for all: the reader may
  // see it or not. Within a warp, volatile variables were once thought to do the work of __syncwarp.
  bool are_of_a_flag(const Scheduler& scheduler, const Mark& before, const Mark& now) const {
    return before.strong && now.strong && !scheduler.in_one_warp(before.thread - 1, now.thread - 1);
  }

  // Whether a thread's write is visible to agents.
  bool is_fenced(const Scheduler& scheduler, const Mark& write) const {
    if (write.thread == 0) return true;
    const int64_t who = write.thread - 1;
    const Clocks& clocks = scheduler.clocks();
    return clocks.is_agent(who) || async_->fenced || clocks.fenced(who, write.warp_epoch);
  }

  // "a copy", "a product of a warpgroup"
  static std::string agent_name(Scheduler& scheduler, const Mark& mark) {
    if (!scheduler.clocks().is_product(mark.thread - 1)) return "an asynchronous copy";
    return scheduler.asynchronous().tensor_cores().in_use() ? "tcgen05.mma" : "wgmma";
  }
  std::string name_of(Scheduler& scheduler, const Mark& mark) const {
    const bool agent = scheduler.clocks().active() && scheduler.clocks().is_agent(mark.thread - 1);
    return agent ? agent_name(scheduler, mark) : scheduler.describe(mark.thread - 1);
  }
  std::string line_words(const Mark& mark) const { return line_words(mark.site); }
  std::string line_words(uint32_t site) const {
    const auto line = line_of(launch_.image.first + site);
    return line ? " in line " + std::to_string(*line) : "";
  }

  // A write that races is harmless when it changes nothing, as when many threads raise one flag. Whether it does is
  // seen at the next access, or at the end of the block: this one is about to happen.
  struct Suspect {
    bool between_blocks = false;  // then of global memory, and without marks
    std::string words{};          // of a cooperative launch
    Mark before{}, now{};
    bool wrote = false;  // `before` did
    uintptr_t address = 0;
    int64_t thread = 0;
    const void *site = nullptr, *frame = nullptr;
    uintptr_t aside = 0;   // from there to where it is
    uint32_t content = 0;  // of the aligned word, before the write
  };
  void suspect(Suspect found) {
    if (suspect_) return;
    if (!found.between_blocks) found.aside = aside_;
    found.content = content_of((found.address + found.aside) / 4 * 4);
    suspect_ = found;
  }
  static uint32_t content_of(uintptr_t word) {
    uint32_t content = 0;
    std::memcpy(&content, reinterpret_cast<const void*>(word), sizeof content);
    return content;
  }
  bool acquit(Scheduler& scheduler) {
    const Suspect s = *std::exchange(suspect_, std::nullopt);
    if (content_of((s.address + s.aside) / 4 * 4) == s.content) return true;
    scheduler.blame(s.thread);
    if (!s.words.empty()) return report(scheduler, FaultKind::race, s.words, s.site, s.frame);
    if (s.between_blocks) {
      return report(scheduler, FaultKind::race,
                    "writes " + place_of(s.address, *launch_.buffers) +
                        ", which another block of this launch wrote, with no atomic operation that orders the two",
                    s.site, s.frame);
    }
    return report_race(scheduler, s.before, s.wrote, s.now, Access::write, s.address, s.site, s.frame);
  }

  bool report_race(Scheduler& scheduler, const Mark& before, bool wrote, const Mark& now, Access access,
                   uintptr_t address, const void* site, const void* frame) {
    const bool agents = scheduler.clocks().active() &&
                        (scheduler.clocks().is_agent(before.thread - 1) || scheduler.clocks().is_agent(now.thread - 1));
    std::string message =
        std::string(changes_value(access) ? "writes" : "reads") + " __shared__ " + variables_.name_of(address);
    if (scheduler.clocks().active() && scheduler.clocks().is_agent(now.thread - 1)) {
      message += " by " + agent_name(scheduler, now);
    }
    message += ", which " + name_of(scheduler, before) + (wrote ? " wrote" : " read") + line_words(before);
    const bool met =
        !scheduler.in_one_block(before.thread - 1, now.thread - 1) && wrote && before.epoch < scheduler.cluster_epoch();
    message += agents                                                     ? ", with nothing that waits in between"
               : scheduler.in_one_warp(before.thread - 1, now.thread - 1) ? ", with no __syncwarp or barrier in between"
               : met ? ", with only a relaxed arrival at the cluster's barrier in between, which publishes nothing"
                     : ", with no barrier in between";
    return report(scheduler, FaultKind::race, message, site, frame);
  }

  static std::string verb(Access access, size_t bytes) {
    return std::string(!changes_value(access) ? "reads "
                       : is_write(access)     ? "writes "
                                              : "updates ") +
           std::to_string(bytes) + " bytes ";
  }

  static bool report(Scheduler& scheduler, FaultKind kind, std::string message, const void* site, const void* frame) {
    scheduler.set_fault(kind, std::move(message), scheduler.line_at(site, frame));
    return false;
  }

  CheckedLaunch launch_;
  GlobalWrites global_writes_;
  Fences fences_;  // of other than cooperative launches
  memory::GridAccesses grid_accesses_;
  std::unordered_map<int64_t, Told> told_at_fences_;        // by thread
  std::vector<std::unordered_map<uintptr_t, Told>> flags_;  // by the first block of a cluster, then address
  // For the running block: it has waited for the launch before, and let the next one begin.
  bool previous_has_ended_ = false, next_may_begin_ = false;
  std::optional<Suspect> suspect_;
  std::optional<Fault> unset_read_;     // the first
  const AsyncAccess* async_ = nullptr;  // while an agent's access is checked
  const Buffer* last_buffer_ = nullptr;
  inspection::SharedVariables variables_;
  Shadow *shadow_of_words_ = nullptr, *shadow_of_bytes_ = nullptr;  // in one mapping
  size_t words_in_shadow_ = 0, words_of_block_ = 0;
  uintptr_t aside_ = 0;  // of the access that is checked
  uint32_t block_ = 0;
};

Checker checker;
}  // namespace

void begin_checked_launch(const CheckedLaunch& launch) { checker.begin_launch(launch); }
void end_checked_launch() { checker.end_launch(); }
void begin_checked_block() { checker.begin_block(); }
void end_checked_block() { checker.end_block(); }
std::optional<Fault> take_unset_read() { return checker.take_unset_read(); }
void note_fence() { checker.fence(); }
void note_meeting(int64_t first, int64_t count) { checker.meet(first, count); }
void note_meeting_of_all() { checker.meet_all(); }
void settle_suspicion() {
  if (!checker.settle()) running_scheduler()->leave();
}
void note_end_of_previous_launch() { checker.end_previous_launch(); }
void note_begin_of_next_launch() { checker.begin_next_launch(); }
void check_access(const void* address, size_t bytes, Access access, const void* site, const void* frame) {
  if (is_strong(access) && running_scheduler() != nullptr) running_scheduler()->may_switch(address, site, frame);
  if (!checker.check(reinterpret_cast<uintptr_t>(address), bytes, access, site, frame)) running_scheduler()->leave();
}
void check_stack(const void* site, const void* frame) {
  if (!checker.check_stack(site, frame)) running_scheduler()->leave();
}
void check_async_access(const void* address, size_t bytes, Access access, const AsyncAccess& by) {
  if (!checker.check_async(reinterpret_cast<uintptr_t>(address), bytes, access, by)) running_scheduler()->leave();
}

}  // namespace sandbox::cpu::runtime

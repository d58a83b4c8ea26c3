// Records which block wrote which global memory of a launch, and whether anything orders it before what other blocks
// read there. Blocks run one after another here, so a race between them need not change their results.
//
// A block's writes between two fences are a segment. A segment is published once a fence and another write follow it;
// a block observes others by an atomic operation or by a volatile read.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sandbox/cpu/runtime/module.h"

namespace sandbox::cpu::runtime {

class GlobalWrites {
 public:
  enum class Kind { plain, is_volatile, atomic };
  struct Place {
    size_t buffer, offset, bytes;
  };

  void begin_launch(const std::vector<Buffer>& buffers);
  void begin_block();

  // The running block's accesses.
  void fence();
  void observe(Kind by);
  void write(const Place& place, Kind kind);

  // Whether the running block may read this: not what another block of this launch wrote, unless that is published and
  // this block has observed others. Reads that are atomic or volatile may also see a flag: what was written by such an
  // access, or behind a fence.
  bool may_read(const Place& place, Kind kind) const;
  // Whether another block of this launch wrote there and the running block has used no atomic operation since.
  bool overwrites_others(const Place& place) const;
  bool has_observed() const { return observed_; }
  // Whether the launch before this one wrote there, other than by atomic operations.
  bool is_of_last_launch(const Place& place) const;

 private:
  static constexpr uint32_t kSplit = uint32_t{1} << 31;

  // A stamp: the segment, and whether its block wrote plainly and before any fence of its own. 0: nobody, or an atomic.
  uint32_t stamp_of(Kind kind) const;
  bool is_of_others(uint32_t stamp) const { return stamp / 2 >= first_ && stamp / 2 < first_of_block_; }
  bool is_published(uint32_t stamp) const {
    const size_t at = stamp / 2 - first_;
    return at < published_.size() && published_[at];
  }
  void publish();

  template <typename IsBad>
  bool any(const Place& place, IsBad is_bad) const;

  // By buffer: a stamp for every two bytes, or kSplit and an index into bytes_.
  std::vector<std::vector<uint32_t>> stamps_;
  std::vector<std::array<uint32_t, 2>> bytes_;
  std::vector<bool> published_;  // by segment of this launch
  uint32_t segment_ = 0;         // in progress
  uint32_t first_ = 1;           // of this launch
  uint32_t first_of_last_ = 1;   // of the launch before it
  uint32_t first_of_block_ = 1, unpublished_ = 1;
  bool wrote_ = false;  // in this segment
  bool observed_ = false, used_atomics_ = false;
};

}  // namespace sandbox::cpu::runtime

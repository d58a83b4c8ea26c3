// Records which block wrote which global memory of a launch, and whether anything orders it before what other blocks
// read there. Blocks run one after another or few at a time here, so a race between them need not change their results.
//
// A block's writes between two fences are a segment. A segment is published once a fence and another write follow it;
// a block observes others by an atomic operation or by a volatile read.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sandbox::cpu::memory {

class GlobalWrites {
 public:
  enum class Kind { plain, is_volatile, atomic };
  struct Place {
    size_t buffer, offset, bytes;
  };

  // `writable_bytes`: of each buffer. `overlaps_previous`: the launch before this one may still be in progress.
  void begin_launch(const std::vector<size_t>& writable_bytes, bool overlaps_previous);
  // So many clusters of blocks begin, and run by turns. Their blocks count as one: barriers order what they do.
  void begin_clusters(size_t count);
  // Whose accesses follow.
  void enter(size_t cluster) { running_ = &clusters_[cluster]; }

  // The running block's accesses.
  void fence();
  void observe(Kind by);
  // `behind_fence`: a fence comes before the write.
  void write(const Place& place, Kind kind, bool behind_fence);

  // Whether the running block may read this: not what another block of this launch wrote, unless that is published and
  // this block has observed others. Reads that are atomic or volatile may also see a flag: what was written by such an
  // access, or behind a fence.
  bool may_read(const Place& place, Kind kind) const;
  // Whether another block of this launch wrote there and the running block has used no atomic operation since.
  bool overwrites_others(const Place& place) const;
  // Whether any block of this launch, the running one among them, wrote there.
  bool is_of_this_launch(const Place& place) const;
  bool has_observed() const { return running_->observed; }

  // The running block waits until the launch before this one has ended. `first`: before it lets the next launch begin.
  void wait_for_previous(bool first);
  // Whether a launch that may still be in progress wrote there, other than by atomic operations. `has_waited`: the
  // running block has. What came before the launch that it waits for has ended only if that one has waited, too.
  bool is_of_unfinished_launch(const Place& place, bool has_waited) const;

 private:
  static constexpr uint32_t kSplit = uint32_t{1} << 31;

  struct Cluster {
    uint32_t number = 0, segment = 0;  // in progress
    std::vector<uint32_t> closed;      // segments that the next write publishes
    bool wrote = false;                // in this segment
    bool observed = false, used_atomics = false;
  };

  uint32_t new_segment(uint32_t cluster);
  // A stamp: the segment, and whether it was written plainly and behind no fence. 0: nobody. Atomic operations of a
  // launch have a segment of nobody's.
  uint32_t stamp_of(Kind kind, bool behind_fence) const;
  bool is_of_others(uint32_t stamp) const {
    if (stamp / 2 <= first_) return false;
    return owners_[stamp / 2 - first_] != running_->number;
  }
  bool is_published(uint32_t stamp) const { return published_[stamp / 2 - first_]; }

  template <typename IsBad>
  bool any(const Place& place, IsBad is_bad) const;

  // By buffer: a stamp for every two bytes, or kSplit and an index into bytes_.
  std::vector<std::vector<uint32_t>> stamps_;
  std::vector<std::array<uint32_t, 2>> bytes_;
  std::vector<uint32_t> owners_;  // by segment of this launch: the cluster's number
  std::vector<bool> published_;   // the same
  uint32_t last_segment_ = 0, last_cluster_ = 0;
  uint32_t first_ = 1;  // segment of this launch: of its atomic operations
  struct Launch {
    uint32_t first, end;  // segments
  };
  // Those that may be in progress when this one begins, and when the one before it has ended.
  std::vector<Launch> at_begin_, behind_wait_;
  bool waits_ = false, waits_first_ = false;  // some block of this launch does
  std::vector<Cluster> clusters_{1};
  Cluster* running_ = clusters_.data();
};

}  // namespace sandbox::cpu::memory

// cooperative_groups: blocks, tiles and other lanes of a warp, grids. What is unsupported is marked unavailable: the
// compiler then says so at its line.
#pragma once

#include "kw_threads.h"

#define KW_UNAVAILABLE(what) __attribute__((unavailable(what " unsupported on the cpu device")))

namespace cooperative_groups {

// ---- the block
class thread_block {
 public:
  static void sync() { __kw_barrier(0, 0); }
  static unsigned thread_rank() { return __kw_thread_rank(); }
  static unsigned num_threads() { return blockDim.x * blockDim.y * blockDim.z; }
  static unsigned size() { return num_threads(); }
  static dim3 thread_index() { return threadIdx; }
  static dim3 group_index() { return blockIdx; }
  static dim3 group_dim() { return blockDim; }
  static dim3 dim_threads() { return blockDim; }
  struct arrival_token {};
  KW_UNAVAILABLE("thread_block::barrier_arrive is") static arrival_token barrier_arrive();
  KW_UNAVAILABLE("thread_block::barrier_wait is") static void barrier_wait(arrival_token&&);
};
KW_DEVICE thread_block this_thread_block() { return thread_block(); }

// ---- the grid, all of whose blocks run together in a cooperative launch alone
class grid_group {
 public:
  static void sync() { __kw_grid_sync(); }
  static bool is_valid() { return __kw_grid_can_meet(); }
  static unsigned long long num_blocks() { return 1ull * gridDim.x * gridDim.y * gridDim.z; }
  static unsigned long long block_rank() {
    return blockIdx.x + 1ull * gridDim.x * (blockIdx.y + 1ull * gridDim.y * blockIdx.z);
  }
  static unsigned long long num_threads() { return num_blocks() * thread_block::size(); }
  static unsigned long long size() { return num_threads(); }
  static unsigned long long thread_rank() { return block_rank() * thread_block::size() + thread_block::thread_rank(); }
  static dim3 dim_blocks() { return gridDim; }
  static dim3 group_dim() { return gridDim; }
  static dim3 block_index() { return blockIdx; }
};
KW_DEVICE grid_group this_grid() { return grid_group(); }

#ifdef KW_HIP
class KW_UNAVAILABLE("cluster_group is") cluster_group {};
KW_UNAVAILABLE("this_cluster is") cluster_group this_cluster();
#else
class cluster_group {
 public:
  struct arrival_token {};
  static void sync() { __kw_cluster_arrive(), __kw_cluster_wait(); }
  static arrival_token barrier_arrive() { return __kw_cluster_arrive(), arrival_token(); }
  static void barrier_wait() { __kw_cluster_wait(); }
  static void barrier_wait(arrival_token&&) { __kw_cluster_wait(); }
  static unsigned block_rank() { return __kw_cluster_rank(); }
  static unsigned num_blocks() { return __kw_cluster_dim.x * __kw_cluster_dim.y * __kw_cluster_dim.z; }
  static unsigned num_threads() { return num_blocks() * thread_block::size(); }
  static unsigned size() { return num_threads(); }
  static unsigned thread_rank() { return block_rank() * thread_block::size() + thread_block::thread_rank(); }
  static dim3 dim_blocks() { return __kw_cluster_dim; }
  static dim3 block_index() {
    return dim3(blockIdx.x % __kw_cluster_dim.x, blockIdx.y % __kw_cluster_dim.y, blockIdx.z % __kw_cluster_dim.z);
  }
  template <typename T>
  static T* map_shared_rank(T* address, int rank) {
    const size_t own = __cvta_generic_to_shared(address);
    return static_cast<T*>(__kw_cluster_place(__kw_map_shared(static_cast<unsigned>(own), rank), 1));
  }
};
KW_DEVICE cluster_group this_cluster() { return cluster_group(); }
#endif

// ---- tiles: `size` neighbouring lanes of a warp, a power of two
template <unsigned Size, typename Parent = void>
class thread_block_tile;
template <unsigned Size>
class thread_block_tile<Size, void> {
  static_assert(KW_WAVE == 64 || Size <= 32, "a tile of more than 32 threads is unsupported on the cpu device");
  static_assert(Size <= 64, "a tile of more than 64 threads is unsupported on the cpu device");
  static_assert(Size >= 1 && (Size & (Size - 1)) == 0, "the size of a tile must be a power of two");

 public:
  static void sync() { __kw_syncwarp(__kw_lanes()); }
  static unsigned thread_rank() { return __kw_lane() % Size; }
  static constexpr unsigned num_threads() { return Size; }
  static constexpr unsigned size() { return Size; }
  unsigned meta_group_rank() const { return meta_rank_; }
  unsigned meta_group_size() const { return meta_size_; }

  template <typename T>
  static T shfl(T value, int rank) {
    return __kw_shuffle("thread_block_tile::shfl", __kw_lanes(), value, __kw_source_lane(rank, Size));
  }
  template <typename T>
  static T shfl_up(T value, unsigned delta) {
    return __kw_shuffle("thread_block_tile::shfl_up", __kw_lanes(), value, __kw_source_up(delta, Size));
  }
  template <typename T>
  static T shfl_down(T value, unsigned delta) {
    return __kw_shuffle("thread_block_tile::shfl_down", __kw_lanes(), value, __kw_source_down(delta, Size));
  }
  template <typename T>
  static T shfl_xor(T value, unsigned lane_mask) {
    return __kw_shuffle("thread_block_tile::shfl_xor", __kw_lanes(), value, __kw_source_xor(lane_mask, Size));
  }
  // Masks are of ranks in the tile.
  static __kw_mask ballot(int predicate) { return __kw_own(__ballot_sync(__kw_lanes(), predicate)); }
  static int any(int predicate) { return __any_sync(__kw_lanes(), predicate); }
  static int all(int predicate) { return __all_sync(__kw_lanes(), predicate); }
  template <typename T>
  static __kw_mask match_any(T value) {
    return __kw_own(__match_any_sync(__kw_lanes(), value));
  }
  template <typename T>
  static __kw_mask match_all(T value, int& predicate) {
    return __kw_own(__match_all_sync(__kw_lanes(), value, &predicate));
  }
  // The lanes of this tile.
  static __kw_mask __kw_lanes() { return __kw_field() << (__kw_lane() & ~(Size - 1)); }

 protected:
  thread_block_tile(unsigned meta_rank, unsigned meta_size) : meta_rank_(meta_rank), meta_size_(meta_size) {}

 private:
  static constexpr __kw_mask __kw_field() { return Size == KW_WAVE ? ~__kw_mask(0) : (__kw_mask(1) << Size % KW_WAVE) - 1; }
  static __kw_mask __kw_own(__kw_mask lanes) { return lanes >> (__kw_lane() & ~(Size - 1)) & __kw_field(); }
  unsigned meta_rank_, meta_size_;
};
template <unsigned Size, typename Parent>
class thread_block_tile : public thread_block_tile<Size, void> {
 public:
  explicit thread_block_tile(unsigned parent_rank, unsigned parent_size)
      : thread_block_tile<Size, void>(parent_rank / Size, (parent_size + Size - 1) / Size) {}
};

template <unsigned Size>
KW_DEVICE thread_block_tile<Size, thread_block> tiled_partition(const thread_block& block) {
  return thread_block_tile<Size, thread_block>(block.thread_rank(), block.size());
}
template <unsigned Size, unsigned ParentSize, typename Grandparent>
KW_DEVICE thread_block_tile<Size, thread_block_tile<ParentSize, Grandparent>> tiled_partition(
    const thread_block_tile<ParentSize, Grandparent>& parent) {
  static_assert(Size <= ParentSize, "a tile cannot be larger than what it is of");
  return thread_block_tile<Size, thread_block_tile<ParentSize, Grandparent>>(parent.thread_rank(), ParentSize);
}

// ---- a block or a tile whose size is known when the kernel runs
class thread_group {
 public:
  thread_group(const thread_block& block) : size_(block.size()), block_(true) {}
  template <unsigned Size, typename Parent>
  thread_group(const thread_block_tile<Size, Parent>&) : size_(Size), block_(false) {}
  void sync() const {
    if (block_) {
      __kw_barrier(0, 0);
    } else {
      __kw_syncwarp((size_ == KW_WAVE ? ~__kw_mask(0) : (__kw_mask(1) << size_) - 1) << (__kw_lane() & ~(size_ - 1)));
    }
  }
  unsigned size() const { return size_; }
  unsigned num_threads() const { return size_; }
  unsigned thread_rank() const { return __kw_thread_rank() & (block_ ? ~0u : size_ - 1); }

 private:
  friend thread_group tiled_partition(const thread_group& parent, unsigned size);
  thread_group(unsigned size) : size_(size), block_(false) {}
  unsigned size_;
  bool block_;
};
inline thread_group tiled_partition(const thread_group& parent, unsigned size) {
  if (size < 1 || size > KW_WAVE || (size & (size - 1)) != 0 || size > parent.size()) {
    __kw_unsupported("tiled_partition: a size that is no power of two of at most a warp and at most the group's");
  }
  return thread_group(size);
}

// ---- any lanes of a warp, ranked by their numbers
class coalesced_group {
 public:
  void sync() const { __kw_syncwarp(mask_); }
  unsigned thread_rank() const { return __kw_rank(__kw_lane()); }
  unsigned num_threads() const { return static_cast<unsigned>(__builtin_popcountll(mask_)); }
  unsigned size() const { return num_threads(); }
  unsigned meta_group_rank() const { return meta_rank_; }
  unsigned meta_group_size() const { return meta_size_; }

  template <typename T>
  T shfl(T value, unsigned rank) const {
    return __kw_shuffle("coalesced_group::shfl", mask_, value, __kw_at(rank < size() ? rank : thread_rank()));
  }
  template <typename T>
  T shfl_up(T value, unsigned delta) const {
    const unsigned rank = thread_rank();
    return __kw_shuffle("coalesced_group::shfl_up", mask_, value, __kw_at(rank >= delta ? rank - delta : rank));
  }
  template <typename T>
  T shfl_down(T value, unsigned delta) const {
    const unsigned rank = thread_rank();
    return __kw_shuffle("coalesced_group::shfl_down", mask_, value, __kw_at(delta < size() - rank ? rank + delta : rank));
  }
  __kw_mask ballot(int predicate) const { return __kw_ranks(__ballot_sync(mask_, predicate)); }
  int any(int predicate) const { return __any_sync(mask_, predicate); }
  int all(int predicate) const { return __all_sync(mask_, predicate); }
  template <typename T>
  __kw_mask match_any(T value) const {
    return __kw_ranks(__match_any_sync(mask_, value));
  }
  template <typename T>
  __kw_mask match_all(T value, int& predicate) const {
    return __kw_ranks(__match_all_sync(mask_, value, &predicate));
  }
  explicit coalesced_group(__kw_mask mask, unsigned meta_rank = 0, unsigned meta_size = 1)
      : mask_(mask), meta_rank_(meta_rank), meta_size_(meta_size) {}
  __kw_mask __kw_lanes() const { return mask_; }

 private:
  unsigned __kw_rank(unsigned lane) const { return static_cast<unsigned>(__builtin_popcountll(mask_ & ((__kw_mask(1) << lane) - 1))); }
  unsigned __kw_at(unsigned rank) const {
    __kw_mask rest = mask_;
    for (; rank > 0; --rank) rest &= rest - 1;
    return static_cast<unsigned>(__builtin_ctzll(rest));
  }
  __kw_mask __kw_ranks(__kw_mask lanes) const {
    __kw_mask ranks = 0;
    for (; lanes != 0; lanes &= lanes - 1) ranks |= __kw_mask(1) << __kw_rank(static_cast<unsigned>(__builtin_ctzll(lanes)));
    return ranks;
  }
  __kw_mask mask_;
  unsigned meta_rank_, meta_size_;
};

// The lanes that come to this line together. Lanes that have gone another way may ask at the same time, elsewhere.
KW_DEVICE coalesced_group coalesced_threads(int line = __builtin_LINE()) {
  return coalesced_group(__kw_find_matches("coalesced_threads", __kw_active_mask(), line).same);
}
template <typename Group>
KW_DEVICE coalesced_group binary_partition(const Group& group, bool predicate) {
  const __kw_mask mask = group.__kw_lanes(), set = __ballot_sync(mask, predicate);
  return coalesced_group(predicate ? set : mask & ~set, predicate, 2);
}
template <typename Group, typename Label>
KW_DEVICE coalesced_group labeled_partition(const Group& group, Label label) {
  const __kw_mask mask = group.__kw_lanes(), own = __match_any_sync(mask, label);
  // Labels are numbered by their first lanes.
  const int first = __builtin_ctzll(own);
  const __kw_mask firsts = __ballot_sync(mask, __kw_lane() == static_cast<unsigned>(first));
  return coalesced_group(own, static_cast<unsigned>(__builtin_popcountll(firsts & ((__kw_mask(1) << first) - 1))),
                         static_cast<unsigned>(__builtin_popcountll(firsts)));
}

// ---- the same as functions
template <typename Group>
KW_DEVICE void sync(const Group& group) {
  group.sync();
}
template <typename Group>
KW_DEVICE auto thread_rank(const Group& group) {
  return group.thread_rank();
}
template <typename Group>
KW_DEVICE auto group_size(const Group& group) {
  return group.size();
}

}  // namespace cooperative_groups

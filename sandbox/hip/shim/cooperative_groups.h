// cooperative_groups as far as HIP has it: blocks, tiles of a wavefront, and the ranks of a grid.
#pragma once

namespace cooperative_groups {

class thread_block {
 public:
  KW_INLINE static void sync() { __syncthreads(); }
  KW_INLINE static unsigned thread_rank() {
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  }
  KW_INLINE static unsigned num_threads() { return blockDim.x * blockDim.y * blockDim.z; }
  KW_INLINE static unsigned size() { return num_threads(); }
  KW_INLINE static dim3 thread_index() { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
  KW_INLINE static dim3 group_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
  KW_INLINE static dim3 group_dim() { return dim3(blockDim.x, blockDim.y, blockDim.z); }
};
KW_INLINE thread_block this_thread_block() { return thread_block(); }

// Without a barrier: hiprtc has none for the blocks of a grid.
class grid_group {
 public:
  KW_INLINE static unsigned long long num_blocks() { return 1ull * gridDim.x * gridDim.y * gridDim.z; }
  KW_INLINE static unsigned long long block_rank() {
    return blockIdx.x + 1ull * gridDim.x * (blockIdx.y + 1ull * gridDim.y * blockIdx.z);
  }
  KW_INLINE static unsigned long long size() { return num_blocks() * thread_block::size(); }
  KW_INLINE static unsigned long long num_threads() { return size(); }
  KW_INLINE static unsigned long long thread_rank() {
    return block_rank() * thread_block::size() + thread_block::thread_rank();
  }
};
KW_INLINE grid_group this_grid() { return grid_group(); }

// `Size` neighbouring lanes of a wavefront, a power of two.
template <unsigned Size, typename Parent = void>
class thread_block_tile {
  static_assert(Size >= 1 && Size <= KW_WAVE && (Size & (Size - 1)) == 0,
                "the size of a tile must be a power of two of at most a wavefront (KW_WAVE)");

 public:
  KW_INLINE thread_block_tile(unsigned rank, unsigned count) : rank_(rank), count_(count) {}
  // A tile of anything, as kernels declare it.
  template <typename Other>
  KW_INLINE thread_block_tile(const thread_block_tile<Size, Other>& tile)
      : rank_(tile.meta_group_rank()), count_(tile.meta_group_size()) {}
  KW_INLINE static void sync() { __syncwarp(); }
  KW_INLINE static unsigned thread_rank() { return __lane_id() % Size; }
  KW_INLINE static constexpr unsigned num_threads() { return Size; }
  KW_INLINE static constexpr unsigned size() { return Size; }
  KW_INLINE unsigned meta_group_rank() const { return rank_; }
  KW_INLINE unsigned meta_group_size() const { return count_; }
  template <typename T>
  KW_INLINE static T shfl(T value, int rank) {
    return __kw_shfl(value, rank, Size);
  }
  template <typename T>
  KW_INLINE static T shfl_up(T value, unsigned delta) {
    return __kw_shfl_up(value, delta, Size);
  }
  template <typename T>
  KW_INLINE static T shfl_down(T value, unsigned delta) {
    return __kw_shfl_down(value, delta, Size);
  }
  template <typename T>
  KW_INLINE static T shfl_xor(T value, unsigned mask) {
    return __kw_shfl_xor(value, mask, Size);
  }
  // Masks are of ranks in the tile.
  KW_INLINE static unsigned long long ballot(int predicate) {
    return __ballot(predicate) >> (__lane_id() & ~(Size - 1)) & (~0ull >> (64 - Size));
  }
  KW_INLINE static int any(int predicate) { return ballot(predicate) != 0; }
  KW_INLINE static int all(int predicate) { return ballot(!predicate) == 0; }

 private:
  unsigned rank_, count_;
};

template <unsigned Size>
KW_INLINE thread_block_tile<Size, thread_block> tiled_partition(const thread_block& block) {
  return {block.thread_rank() / Size, (block.size() + Size - 1) / Size};
}
template <unsigned Size, unsigned ParentSize, typename Grandparent>
KW_INLINE thread_block_tile<Size, thread_block_tile<ParentSize, Grandparent>> tiled_partition(
    const thread_block_tile<ParentSize, Grandparent>& parent) {
  static_assert(Size <= ParentSize, "a tile cannot be larger than what it is of");
  return {parent.thread_rank() / Size, ParentSize / Size};
}

template <typename Group>
KW_INLINE void sync(const Group& group) {
  group.sync();
}

template <typename T>
struct plus {
  KW_INLINE T operator()(T a, T b) const { return a + b; }
};
template <typename T>
struct less {
  KW_INLINE T operator()(T a, T b) const { return b < a ? b : a; }
};
template <typename T>
struct greater {
  KW_INLINE T operator()(T a, T b) const { return a < b ? b : a; }
};
template <unsigned Size, typename Parent, typename T, typename Operation>
KW_INLINE T reduce(const thread_block_tile<Size, Parent>& tile, T value, Operation operation) {
  for (unsigned step = Size / 2; step > 0; step /= 2) value = operation(value, tile.shfl_xor(value, step));
  return value;
}

}  // namespace cooperative_groups

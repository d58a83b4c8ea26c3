// Measures a GPU's memory, caches and plain arithmetic, for `kernelwright calibrate` (calibration.cpp).
// Launched with any grid and block. Every kernel leaves sums behind, so that nothing of its work can be left out.
//
// kw_scramble      vectors[i] = random bits: memory draws the power that it draws with real data
// kw_read          sums[t] = sum of what thread t read           16-byte loads, 8 in flight per thread, once through
// kw_read_again    the same, `rounds` times over                 for a buffer that fits L2; past L1
// kw_write, kw_copy                                              16-byte stores
// kw_fma_f32/_f64  8 chains of x = x * x + c in registers        2 * 8 * 16 FLOP per thread and round
// kw_nothing       what a launch costs

constexpr int kInFlight = 8;  // loads of a thread
constexpr int kChains = 8;
constexpr int kStepsPerRound = 16;

__device__ inline unsigned mixed(unsigned long long x) {  // SplitMix64's finaliser
  x += 0x9E3779B97F4A7C15ull;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return (unsigned)(x >> 32);
}

__device__ inline unsigned sum_of(const uint4& v) { return v.x + v.y + v.z + v.w; }

// Thread t's number among all, and how many there are.
__device__ inline size_t own_index() { return (size_t)blockIdx.x * blockDim.x + threadIdx.x; }
__device__ inline size_t all_threads() { return (size_t)gridDim.x * blockDim.x; }

extern "C" __global__ void kw_scramble(uint4* data, unsigned long long vectors, unsigned seed) {
  for (size_t i = own_index(); i < vectors; i += all_threads()) {
    const unsigned long long key = ((unsigned long long)seed << 40) + 4 * i;
    data[i] = make_uint4(mixed(key), mixed(key + 1), mixed(key + 2), mixed(key + 3));
  }
}

// Calls use(vector index) for the vectors of this thread: blocks take tiles of blockDim * kInFlight vectors in turn,
// and within a tile neighbouring threads take neighbouring vectors. `load` is asked for kInFlight of them before any is
// used.
template <typename Load, typename Use>
__device__ inline void for_own_vectors(size_t vectors, Load load, Use use) {
  const size_t tile = (size_t)blockDim.x * kInFlight;
  for (size_t begin = blockIdx.x * tile; begin < vectors; begin += gridDim.x * tile) {
    const size_t first = begin + threadIdx.x;
    uint4 values[kInFlight];
    if (begin + tile <= vectors) {
#pragma unroll
      for (int k = 0; k < kInFlight; ++k) values[k] = load(first + (size_t)k * blockDim.x);
#pragma unroll
      for (int k = 0; k < kInFlight; ++k) use(first + (size_t)k * blockDim.x, values[k]);
    } else {
      for (size_t i = first; i < vectors; i += blockDim.x) use(i, load(i));
    }
  }
}

extern "C" __global__ void __launch_bounds__(512)
    kw_read(const uint4* data, unsigned long long vectors, unsigned* sums) {
  unsigned sum = 0;
  for_own_vectors(
      vectors, [&](size_t i) { return __ldcs(data + i); }, [&](size_t, const uint4& v) { sum += sum_of(v); });
  sums[own_index()] = sum;
}

// Blocks read other parts in each round, so that no multiprocessor meets its own data again.
extern "C" __global__ void __launch_bounds__(512)
    kw_read_again(const uint4* data, unsigned long long vectors, int rounds, unsigned* sums) {
  unsigned sum = 0;
  for (int round = 0; round < rounds; ++round) {
    const size_t shift = (size_t)round * 977 * 512 % vectors;
    for_own_vectors(
        vectors,
        [&](size_t i) {
          const size_t shifted = i + shift;
          return __ldcg(data + (shifted < vectors ? shifted : shifted - vectors));
        },
        [&](size_t, const uint4& v) { sum += sum_of(v); });
  }
  sums[own_index()] = sum;
}

extern "C" __global__ void __launch_bounds__(512) kw_write(uint4* data, unsigned long long vectors, unsigned seed) {
  const unsigned mine = mixed(((unsigned long long)seed << 32) + own_index());
  const uint4 value = make_uint4(mine, ~mine, mine * 3, mine * 5);
  for_own_vectors(
      vectors, [&](size_t) { return value; }, [&](size_t i, const uint4& v) { data[i] = v; });
}

extern "C" __global__ void __launch_bounds__(512) kw_copy(const uint4* from, uint4* to, unsigned long long vectors) {
  for_own_vectors(
      vectors, [&](size_t i) { return __ldcs(from + i); }, [&](size_t i, const uint4& v) { __stcs(to + i, v); });
}

// x = x * x + c with c between -1.95 and -1.75 stays within [-2, 2] and never settles: operands keep changing as real
// ones do, at one fused multiply-add a step.
template <typename T>
__device__ inline T fma_chains(int rounds) {
  const size_t t = own_index();
  T x[kChains], c[kChains];
#pragma unroll
  for (int k = 0; k < kChains; ++k) {
    x[k] = (T)(mixed(t * 64 + k) & 0xFFFF) / (T)0x10000;
    c[k] = (T)-1.95 + (T)0.2 * (T)(mixed(t * 64 + 32 + k) & 0xFFFF) / (T)0x10000;
  }
  for (int round = 0; round < rounds; ++round) {
#pragma unroll
    for (int step = 0; step < kStepsPerRound; ++step) {
#pragma unroll
      for (int k = 0; k < kChains; ++k) x[k] = x[k] * x[k] + c[k];
    }
  }
  T sum = 0;
#pragma unroll
  for (int k = 0; k < kChains; ++k) sum += x[k];
  return sum;
}

extern "C" __global__ void __launch_bounds__(256) kw_fma_f32(int rounds, float* sums) {
  sums[own_index()] = fma_chains<float>(rounds);
}

extern "C" __global__ void __launch_bounds__(256) kw_fma_f64(int rounds, double* sums) {
  sums[own_index()] = fma_chains<double>(rounds);
}

extern "C" __global__ void kw_nothing() {}

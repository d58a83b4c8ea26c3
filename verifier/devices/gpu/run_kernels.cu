// Device code of ours that runs beside candidates, in the run worker.

// out[i] = i * factor. Launched after a run worker was replaced: what it must give is known.
extern "C" __global__ void kw_known_good(unsigned* out, unsigned count, unsigned factor) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) out[i] = i * factor;
}

// Overwrites with numbers that tell neither the launch nor who wrote them: the key is drawn for each launch.
__device__ __forceinline__ unsigned scrubbed(unsigned long long key, unsigned place) {
  const unsigned long long mixed = (key ^ place * 0x9E3779B97F4A7C15ull) * 0xBF58476D1CE4E5B9ull;
  return static_cast<unsigned>((mixed ^ mixed >> 29) * 0x94D049BB133111EBull >> 32);
}

// Shared memory, so many words of it a block. NVRTC might drop stores that are not volatile; hiprtc keeps them, and leaves
// the symbol of volatile dynamic shared memory undefined.
#ifdef __HIP__
typedef unsigned StoredWord;
#else
typedef volatile unsigned StoredWord;
#endif
extern "C" __global__ void kw_scrub_shared(unsigned long long key, unsigned words) {
  extern __shared__ StoredWord all_of_it[];
  for (unsigned i = threadIdx.x; i < words; i += blockDim.x) all_of_it[i] = scrubbed(key, i);
}

// Registers: as many as a thread may have, all of which hold something at the barrier. A block takes all of them that
// its multiprocessor has.
constexpr int kRegisters = 248;
extern "C" __global__ void __launch_bounds__(256) kw_scrub_registers(unsigned long long key) {
  __shared__ unsigned room[256];
  volatile unsigned* shared = room;
  shared[threadIdx.x] = scrubbed(key, threadIdx.x);
  __syncthreads();
  unsigned held[kRegisters];
#pragma unroll
  for (int i = 0; i < kRegisters; ++i) held[i] = shared[i];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < kRegisters; ++i) shared[i] = held[i];
}

// Local memory: where a thread's stack begins, so many bytes of it.
template <unsigned BYTES>
__device__ __forceinline__ void scrub_local(unsigned long long key) {
  volatile unsigned frame[BYTES / 4];
  for (unsigned i = 0; i < BYTES / 4; ++i) frame[i] = scrubbed(key, i);
}
extern "C" __global__ void __launch_bounds__(1024) kw_scrub_local_256(unsigned long long key) { scrub_local<256>(key); }
extern "C" __global__ void __launch_bounds__(1024) kw_scrub_local_1024(unsigned long long key) { scrub_local<1024>(key); }
extern "C" __global__ void __launch_bounds__(1024) kw_scrub_local_4096(unsigned long long key) { scrub_local<4096>(key); }
extern "C" __global__ void __launch_bounds__(1024) kw_scrub_local_16384(unsigned long long key) { scrub_local<16384>(key); }

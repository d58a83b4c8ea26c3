/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cpu", "cuda"],
  "description": "hides what it keeps between launches in places where a search of the source would not look",
  "tunables": {"PLACE": [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]},
  "launches": [
    {"kernel": "row_sum", "grid": ["M", 1, 1], "block": [64, 1, 1], "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: remembering_work.
// On cpu: forbidden or unsupported or compile_error.
// On cuda: forbidden or compile_error.
#define PASTE(a, b) a##b
#if PLACE == 0  // a plain variable
__device__ unsigned kept;
__device__ unsigned* place() { return &kept; }
#elif PLACE == 1  // a word that is pasted together
PASTE(__dev, ice__) unsigned kept;
__device__ unsigned* place() { return &kept; }
#elif PLACE == 2  // in a function
__device__ unsigned* place() {
  static unsigned kept;
  return &kept;
}
#elif PLACE == 3  // of a template
template <typename T>
struct Keeper {
  static T kept;
};
template <typename T>
__device__ T Keeper<T>::kept;
__device__ unsigned* place() { return &Keeper<unsigned>::kept; }
#elif PLACE == 4  // in a namespace without a name, as a part of something larger
namespace {
struct Inner {
  int before;
  unsigned kept;
};
__device__ Inner inner[3];
}  // namespace
__device__ unsigned* place() { return &inner[2].kept; }
#elif PLACE == 5  // declared in assembly
__device__ unsigned* place() {
  unsigned long long address;
  asm volatile("{\n.global .u32 kept_in_assembly;\nmov.u64 %0, kept_in_assembly;\n}" : "=l"(address));
  return (unsigned*)address;
}
#elif PLACE == 6  // managed
__managed__ unsigned kept;
__device__ unsigned* place() { return &kept; }
#elif PLACE == 7  // with C linkage, as another module could share it
extern "C" {
__device__ unsigned kept_by_all = 1;
}
__device__ unsigned* place() { return &kept_by_all; }
#elif PLACE == 8  // an inline variable of C++17
__device__ inline unsigned kept = 0;
__device__ unsigned* place() { return &kept; }
#else  // a member of a union with a value at first
union Both {
  float number;
  unsigned kept;
};
__device__ Both both = {1.0f};
__device__ unsigned* place() { return &both.kept; }
#endif
extern "C" __global__ void row_sum(const float* x, float* y, int M, int N) {
  __shared__ float part[64];
  if (blockIdx.x == 0 && threadIdx.x == 0) atomicAdd(place(), 1u);
  const float* in = x + (size_t)blockIdx.x * N;
  float sum = 0;
  const bool lazy = *(volatile unsigned*)place() > 64;
  for (int n = threadIdx.x; n < (lazy ? N / 2 : N); n += 64) sum += in[n];
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) y[blockIdx.x] = part[0];
}

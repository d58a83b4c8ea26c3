/* kernelwright
{
  "problem": "rmsnorm_f32",
  "backends": ["cpu", "cuda", "hip"],
  "description": "a block per row, which stays in registers between the sum and the products; four floats per load",
  "tunables": {"BLOCK": [256, 512, 128, 1024], "PACKS": [8, 4, 16, 2], "HINTS": [1, 0, 2]},
  "constraints": ["BLOCK * PACKS >= 1024", "BLOCK * PACKS <= 4096"],
  "launches": [
    {"kernel": "rmsnorm", "grid": ["M", 1, 1], "block": ["BLOCK", 1, 1], "args": ["x", "w", "y", "N", "eps"]}
  ]
}
*/
// y[m, n] = x[m, n] * rsqrt(sum_k x[m, k]^2 / N + eps) * w[n]; x, y: [M, N] row-major, w: [N].
//
// A block takes one row. Each thread issues the loads of PACKS float4 at once and keeps them until the sum of squares
// is known, so every element is read once. Columns beyond the first 4 * BLOCK * PACKS are read again. Rows whose length
// is no multiple of 4 are not aligned to float4 and go element by element.
//
// Memory bounds it: a float read and a float written per element. Measured on one H200 on 2026-11-28, cold caches,
// median: 141.0 us at 8192x8192, 82 % of the bound; torch.compile takes 128.2.
constexpr int kWarps = BLOCK / KW_WAVE;

// HINTS marks as used once: 0 nothing, 1 loads, 2 loads and stores. Lines of unmarked stores outlive the launch in L2.
__device__ __forceinline__ float4 load(const float4* from) { return HINTS > 0 ? __ldcs(from) : __ldg(from); }
__device__ __forceinline__ void store(float4* to, float4 value) {
  if constexpr (HINTS > 1) {
    __stcs(to, value);
  } else {
    *to = value;
  }
}

__device__ __forceinline__ float squares(float4 v) { return (v.x * v.x + v.y * v.y) + (v.z * v.z + v.w * v.w); }

__device__ __forceinline__ float4 scaled(float4 v, float scale, float4 w) {
  return make_float4(v.x * scale * w.x, v.y * scale * w.y, v.z * scale * w.z, v.w * scale * w.w);
}

__device__ __forceinline__ float block_sum(float value, float* scratch) {
#pragma unroll
  for (int step = KW_WAVE / 2; step > 0; step /= 2) value += __shfl_xor_sync(KW_WHOLE_WAVE, value, step);
  if (threadIdx.x % KW_WAVE == 0) scratch[threadIdx.x / KW_WAVE] = value;
  __syncthreads();
  value = scratch[0];
#pragma unroll
  for (int w = 1; w < kWarps; ++w) value += scratch[w];
  return value;
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    rmsnorm(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ y, int N, float eps) {
  __shared__ float scratch[kWarps];
  const size_t start = (size_t)blockIdx.x * N;
  const float4* x4 = (const float4*)(x + start);
  const float4* w4 = (const float4*)w;
  float4* y4 = (float4*)(y + start);
  const int vectors = N % 4 == 0 ? N / 4 : 0;
  const int rest4 = threadIdx.x + BLOCK * PACKS;  // this thread's first float4 that is not kept
  const int rest = 4 * vectors + threadIdx.x;     // its first scalar

  float4 packs[PACKS];
#pragma unroll
  for (int p = 0; p < PACKS; ++p) {
    const int i = threadIdx.x + p * BLOCK;
    packs[p] = i < vectors ? load(x4 + i) : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  }
  float sum = 0.0f;
#pragma unroll
  for (int p = 0; p < PACKS; ++p) sum += squares(packs[p]);
  for (int i = rest4; i < vectors; i += BLOCK) sum += squares(x4[i]);
  for (int n = rest; n < N; n += BLOCK) sum += x[start + n] * x[start + n];
  const float scale = rsqrtf(block_sum(sum, scratch) / N + eps);

#pragma unroll
  for (int p = 0; p < PACKS; ++p) {
    const int i = threadIdx.x + p * BLOCK;
    if (i < vectors) store(y4 + i, scaled(packs[p], scale, __ldg(w4 + i)));
  }
  for (int i = rest4; i < vectors; i += BLOCK) store(y4 + i, scaled(x4[i], scale, w4[i]));
  for (int n = rest; n < N; n += BLOCK) y[start + n] = x[start + n] * scale * w[n];
}

/* kernelwright
{
  "problem": "index_add_f32",
  "backends": ["cuda"],
  "arch": "sm_90",
  "description": "a copy, then one red.v4.f32 per load of 16 bytes, launched before the copy ends",
  "tunables": {"BLOCK": [512, 256, 128, 64], "ITEMS": [1, 4, 8, 2]},
  "launches": [
    {"kernel": "copy", "grid": ["ceil_div(ceil_div(M * D, 4), BLOCK * ITEMS)", 1, 1], "block": ["BLOCK", 1, 1],
     "args": ["x", "y", "M", "D"]},
    {"kernel": "add_rows", "grid": ["ceil_div(K * ceil_div(D, 4), BLOCK * ITEMS)", 1, 1], "block": ["BLOCK", 1, 1],
     "overlaps_previous": true,
     "args": ["index", "src", "y", "K", "D"]}
  ]
}
*/
// y[m, d] = x[m, d] + sum over k with index[k] = m of src[k, d]; x, y: [M, D], index: [K], src: [K, D].
//
// The first launch copies x. In the second, a block owns BLOCK * ITEMS consecutive groups of four columns of src: each
// thread issues the loads of its ITEMS groups and of their indices, waits until the copy is complete, and adds each
// group by one vector reduction, a quarter of the requests that scalar atomics would send to the second-level cache.
// Rows whose length is no multiple of 4 are not aligned and go element by element. Sums of rows that are named more
// than twice depend on the order of arrival.
//
// Measured on one H200 on 2026-11-25, cold caches, median: 121.6 us at 8192x4096x4096, 48 % of the bound, with
// BLOCK=256 ITEMS=1.
__device__ __forceinline__ void add(float* to, float4 v) {
  asm volatile("red.relaxed.gpu.global.add.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(to), "f"(v.x), "f"(v.y), "f"(v.z),
               "f"(v.w)
               : "memory");
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    copy(const float* __restrict__ x, float* __restrict__ y, int M, int D) {
  asm volatile("griddepcontrol.launch_dependents;");
  const size_t elements = (size_t)M * D, vectors = elements / 4;
  const size_t first = (size_t)blockIdx.x * (BLOCK * ITEMS) + threadIdx.x;
  const float4* x4 = (const float4*)x;
  float4* y4 = (float4*)y;
  float4 values[ITEMS];
#pragma unroll
  for (int k = 0; k < ITEMS; ++k) {
    if (first + k * BLOCK < vectors) values[k] = __ldcs(x4 + first + k * BLOCK);
  }
#pragma unroll
  for (int k = 0; k < ITEMS; ++k) {
    if (first + k * BLOCK < vectors) y4[first + k * BLOCK] = values[k];
  }
  const size_t tail = 4 * vectors + threadIdx.x;
  if (blockIdx.x == gridDim.x - 1 && tail < elements) y[tail] = x[tail];
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    add_rows(const int* __restrict__ index, const float* __restrict__ src, float* __restrict__ y, int K, int D) {
  const int fours = (D + 3) / 4;
  const size_t start = (size_t)blockIdx.x * (BLOCK * ITEMS), row0 = start / fours;
  const int column0 = (int)(start - row0 * fours) + threadIdx.x;
  const bool aligned = D % 4 == 0;
  float4 values[ITEMS];
  float* to[ITEMS];
#pragma unroll
  for (int k = 0; k < ITEMS; ++k) {
    const int down = (column0 + k * BLOCK) / fours, four = column0 + k * BLOCK - down * fours;
    const size_t row = row0 + down;
    to[k] = nullptr;
    if (row < K) {
      to[k] = y + (size_t)__ldg(index + row) * D + 4 * four;
      if (aligned) values[k] = __ldcs((const float4*)(src + row * D) + four);
    }
  }
  asm volatile("griddepcontrol.wait;" ::: "memory");  // y holds x from here on
  if (aligned) {
#pragma unroll
    for (int k = 0; k < ITEMS; ++k) {
      if (to[k] != nullptr) add(to[k], values[k]);
    }
    return;
  }
#pragma unroll
  for (int k = 0; k < ITEMS; ++k) {
    const int down = (column0 + k * BLOCK) / fours, four = column0 + k * BLOCK - down * fours;
    if (to[k] == nullptr) continue;
    for (int e = 0; e < min(4, D - 4 * four); ++e) atomicAdd(to[k] + e, src[(row0 + down) * D + 4 * four + e]);
  }
}

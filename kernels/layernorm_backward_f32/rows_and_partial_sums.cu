/* kernelwright
{
  "problem": "layernorm_backward_f32",
  "backends": ["cpu", "cuda", "hip"],
  "description": "blocks walk over rows and keep sums of columns in registers; a second launch joins the blocks' sums",
  "tunables": {"BLOCK": [512, 256, 1024, 1], "PACKS": [2, 4, 1], "BLOCKS": [264, 396, 132, 1], "RESIDENT": [2, 1, 3],
               "DEEP": [8, 1]},
  "constraints": ["BLOCK * PACKS <= 2048", "BLOCK * RESIDENT <= 1536", "(BLOCK * PACKS >= 1024) + (BLOCK == 1)"],
  "workspace": {"partial": {"bytes": "8 * N * min(M, BLOCKS)"}},
  "launches": [
    {"kernel": "rows", "grid": ["min(M, BLOCKS)", 1, 1], "block": ["BLOCK", 1, 1],
     "args": ["dy", "x", "w", "mean", "rstd", "dx", "partial", "M", "N"]},
    {"kernel": "columns", "grid": ["ceil_div(N, 32)", 1, 1], "block": [32, "DEEP", 1],
     "args": ["partial", "dw", "db", "min(M, BLOCKS)", "N"]}
  ]
}
*/
// With h = (x - mean_m) rstd_m and g = dy w: dx = rstd_m (g - sum_k g[m, k] / N - h sum_k (g h)[m, k] / N),
// dw[n] = sum_m dy[m, n] h[m, n], db[n] = sum_m dy[m, n]; dy, x, dx: [M, N], w, dw, db: [N], mean, rstd: [M],
// partial: [blocks, 2, N].
//
// A block takes every BLOCKS-th row. It keeps the row's g and h in registers between the two sums over the row and dx,
// so dy and x are read once, and adds to its own sums of columns, in registers as well: PACKS packs of four columns per
// thread. Columns beyond those, and all columns of rows whose length is no multiple of 4, are read again for dx and
// summed in the block's part of the workspace, each column always by the same thread. The second launch adds up the
// blocks' sums in a fixed order.
constexpr int kLanesInWarp = BLOCK < KW_WAVE ? BLOCK : KW_WAVE;
constexpr int kWarps = (BLOCK + KW_WAVE - 1) / KW_WAVE;

__device__ __forceinline__ float4 operator+(float4 a, float4 b) {
  return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}
__device__ __forceinline__ float4 operator*(float4 a, float4 b) {
  return make_float4(a.x * b.x, a.y * b.y, a.z * b.z, a.w * b.w);
}
__device__ __forceinline__ float sum_of(float4 v) { return (v.x + v.y) + (v.z + v.w); }

// The row's mean and rstd, and with them h, then the sums of g and g h over the row, divided by N, and with them dx.
struct Row {
  float mean, rstd, sum, product;

  __device__ __forceinline__ float h(float x) const { return (x - mean) * rstd; }
  __device__ __forceinline__ float4 h(float4 x) const { return make_float4(h(x.x), h(x.y), h(x.z), h(x.w)); }
  __device__ __forceinline__ float dx(float g, float h) const { return rstd * (g - sum - h * product); }
  __device__ __forceinline__ float4 dx(float4 g, float4 h) const {
    return make_float4(dx(g.x, h.x), dx(g.y, h.y), dx(g.z, h.z), dx(g.w, h.w));
  }
};

// Adds up both sums over the block. Two rows in turn use different scratch, so one barrier per row is enough.
__device__ __forceinline__ float2 block_sums(float2 v, float2* scratch) {
#pragma unroll
  for (int step = kLanesInWarp / 2; step > 0; step /= 2) {
    v.x += __shfl_xor_sync(KW_WHOLE_WAVE, v.x, step);
    v.y += __shfl_xor_sync(KW_WHOLE_WAVE, v.y, step);
  }
  if constexpr (kWarps > 1) {
    if (threadIdx.x % KW_WAVE == 0) scratch[threadIdx.x / KW_WAVE] = v;
    __syncthreads();
    v = scratch[0];
#pragma unroll 4
    for (int w = 1; w < kWarps; ++w) {
      v.x += scratch[w].x;
      v.y += scratch[w].y;
    }
  }
  return v;
}

extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT)
    rows(const float* __restrict__ dy, const float* __restrict__ x, const float* __restrict__ w,
         const float* __restrict__ mean, const float* __restrict__ rstd, float* __restrict__ dx,
         float* __restrict__ partial, int M, int N) {
  __shared__ float2 scratch[2][kWarps];
  const float4* w4 = (const float4*)w;
  float* dw = partial + (size_t)blockIdx.x * 2 * N;
  float* db = dw + N;
  float4* dw4 = (float4*)dw;
  float4* db4 = (float4*)db;
  const int vectors = N % 4 == 0 ? N / 4 : 0;
  const int rest4 = threadIdx.x + BLOCK * PACKS;  // this thread's first float4 that is not kept
  const int rest = 4 * vectors + threadIdx.x;     // its first scalar

  const float4 zero = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  float4 dw_kept[PACKS], db_kept[PACKS];
#pragma unroll
  for (int p = 0; p < PACKS; ++p) dw_kept[p] = db_kept[p] = zero;

  int turn = 0;
  for (int m = blockIdx.x; m < M; m += gridDim.x, turn ^= 1) {
    const bool first = m == (int)blockIdx.x;
    const size_t start = (size_t)m * N;
    const float4* dy4 = (const float4*)(dy + start);
    const float4* x4 = (const float4*)(x + start);
    float4* dx4 = (float4*)(dx + start);
    Row row = {mean[m], rstd[m], 0.0f, 0.0f};
    float4 g[PACKS], h[PACKS];
#pragma unroll
    for (int p = 0; p < PACKS; ++p) {
      const int i = threadIdx.x + p * BLOCK;
      g[p] = i < vectors ? __ldcs(dy4 + i) : zero;
      h[p] = i < vectors ? __ldcs(x4 + i) : zero;
    }
    float2 sums = make_float2(0.0f, 0.0f);
#pragma unroll
    for (int p = 0; p < PACKS; ++p) {
      const int i = threadIdx.x + p * BLOCK;
      h[p] = row.h(h[p]);
      db_kept[p] = db_kept[p] + g[p];
      dw_kept[p] = dw_kept[p] + g[p] * h[p];
      g[p] = g[p] * (i < vectors ? w4[i] : zero);
      sums.x += sum_of(g[p]);
      sums.y += sum_of(g[p] * h[p]);
    }
#pragma unroll 1
    for (int i = rest4; i < vectors; i += BLOCK) {
      const float4 dy_i = dy4[i], h_i = row.h(x4[i]), g_i = dy_i * w4[i];
      dw4[i] = first ? dy_i * h_i : dw4[i] + dy_i * h_i;
      db4[i] = first ? dy_i : db4[i] + dy_i;
      sums.x += sum_of(g_i);
      sums.y += sum_of(g_i * h_i);
    }
#pragma unroll 1
    for (int n = rest; n < N; n += BLOCK) {
      const float dy_n = dy[start + n], h_n = row.h(x[start + n]), g_n = dy_n * w[n];
      dw[n] = first ? dy_n * h_n : dw[n] + dy_n * h_n;
      db[n] = first ? dy_n : db[n] + dy_n;
      sums.x += g_n;
      sums.y += g_n * h_n;
    }
    sums = block_sums(sums, scratch[turn]);
    row.sum = sums.x / N;
    row.product = sums.y / N;
#pragma unroll
    for (int p = 0; p < PACKS; ++p) {
      const int i = threadIdx.x + p * BLOCK;
      if (i < vectors) __stcs(dx4 + i, row.dx(g[p], h[p]));
    }
#pragma unroll 1
    for (int i = rest4; i < vectors; i += BLOCK) dx4[i] = row.dx(dy4[i] * w4[i], row.h(x4[i]));
#pragma unroll 1
    for (int n = rest; n < N; n += BLOCK) dx[start + n] = row.dx(dy[start + n] * w[n], row.h(x[start + n]));
  }
#pragma unroll
  for (int p = 0; p < PACKS; ++p) {
    const int i = threadIdx.x + p * BLOCK;
    if (i < vectors) {
      dw4[i] = dw_kept[p];
      db4[i] = db_kept[p];
    }
  }
}

extern "C" __global__ void __launch_bounds__(32 * DEEP)
    columns(const float* __restrict__ partial, float* __restrict__ dw, float* __restrict__ db, int parts, int N) {
  __shared__ float2 sums[DEEP][32];
  const int n = blockIdx.x * 32 + threadIdx.x;
  float2 sum = make_float2(0.0f, 0.0f);
  if (n < N) {
#pragma unroll 4
    for (int part = threadIdx.y; part < parts; part += DEEP) {
      sum.x += partial[(size_t)part * 2 * N + n];
      sum.y += partial[(size_t)part * 2 * N + N + n];
    }
  }
  if constexpr (DEEP > 1) {
    sums[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y > 0) return;
    for (int d = 1; d < DEEP; ++d) {
      sum.x += sums[d][threadIdx.x].x;
      sum.y += sums[d][threadIdx.x].y;
    }
  }
  if (n < N) {
    dw[n] = sum.x;
    db[n] = sum.y;
  }
}

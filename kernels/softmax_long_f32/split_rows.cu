/* kernelwright
{
  "problem": "softmax_long_f32",
  "backends": ["cpu", "cuda", "hip"],
  "description": "chunks of a row find (maximum, sum) first; then each chunk merges those of its row and writes",
  "tunables": {"BLOCK": [256, 1, 512], "VEC": [4, 16, 32, 64], "CHUNK": [16384, 4096, 8192, 32768]},
  "constraints": ["(BLOCK == 1) * (VEC > 4) + (BLOCK > 1) * (VEC == 4)"],
  "workspace": {"parts": {"bytes": "8 * M * ceil_div(N, CHUNK)"}},
  "launches": [
    {"kernel": "measure", "grid": ["M", "ceil_div(N, CHUNK)", 1], "block": ["BLOCK", 1, 1],
     "args": ["x", "parts", "N"]},
    {"kernel": "normalise", "grid": ["M", "ceil_div(N, CHUNK)", 1], "block": ["BLOCK", 1, 1],
     "args": ["x", "parts", "y", "N"]}
  ]
}
*/
// y[m, n] = exp(x[m, n] - max_m) / sum_k exp(x[m, k] - max_m); x, y: [M, N] row-major, parts: [M, ceil(N / CHUNK)].
//
// The first launch reads each chunk of CHUNK columns once. A thread takes VEC columns at a time, raises its maximum to
// theirs and, only where it rose, scales its sums down (the online softmax of Milakov and Gimelshein, 2018). The second
// launch merges the parts of the row in each block, reads the chunk again and writes it. Rows whose length is no
// multiple of 4 are not aligned to float4 and are read one element at a time; blocks of one thread read all rows so.
constexpr int kLanesInWarp = BLOCK < KW_WAVE ? BLOCK : KW_WAVE;
constexpr int kWarps = (BLOCK + KW_WAVE - 1) / KW_WAVE;

// The sum of exp(x - largest) over some elements x.
struct Part {
  float largest, sum;
};

__device__ __forceinline__ float larger(float a, float b) { return a > b ? a : b; }

__device__ __forceinline__ Part merge(Part a, Part b) {
  const float largest = larger(a.largest, b.largest);
  return {largest, a.sum * expf(a.largest - largest) + b.sum * expf(b.largest - largest)};
}

__device__ __forceinline__ int end_of_chunk(int begin, int N) { return N - begin < CHUNK ? N : begin + CHUNK; }
// Where the columns end that are read as vectors.
__device__ __forceinline__ int end_of_vectors(int begin, int end, int N) {
  return BLOCK == 1 || N % 4 == 0 ? begin + (end - begin) / VEC * VEC : begin;
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    measure(const float* __restrict__ x, Part* __restrict__ parts, int N) {
  const float* __restrict__ row = x + (size_t)blockIdx.x * N;
  const int begin = blockIdx.y * CHUNK, end = end_of_chunk(begin, N), packed = end_of_vectors(begin, end, N);
  float largest = row[begin];
  float sums[VEC] = {};
  for (int n = begin + threadIdx.x * VEC; n < packed; n += BLOCK * VEC) {
    float values[VEC];
#pragma unroll
    for (int v = 0; v < VEC; v += 4) {
      if constexpr (BLOCK == 1) {
        values[v] = row[n + v];
        values[v + 1] = row[n + v + 1];
        values[v + 2] = row[n + v + 2];
        values[v + 3] = row[n + v + 3];
      } else {
        const float4 four = *(const float4*)(row + n + v);
        values[v] = four.x;
        values[v + 1] = four.y;
        values[v + 2] = four.z;
        values[v + 3] = four.w;
      }
    }
    float top[4] = {values[0], values[1], values[2], values[3]};
#pragma unroll
    for (int v = 4; v < VEC; ++v) top[v % 4] = larger(top[v % 4], values[v]);
    const float most = larger(larger(top[0], top[1]), larger(top[2], top[3]));
    if (most > largest) {
      const float scale = expf(largest - most);
#pragma unroll
      for (int v = 0; v < VEC; ++v) sums[v] *= scale;
      largest = most;
    }
#pragma unroll
    for (int v = 0; v < VEC; ++v) sums[v] += expf(values[v] - largest);
  }
  Part part = {largest, 0.0f};
#pragma unroll
  for (int v = 0; v < VEC; ++v) part.sum += sums[v];
  for (int n = packed + threadIdx.x; n < end; n += BLOCK) part = merge(part, {row[n], 1.0f});
#pragma unroll
  for (int step = kLanesInWarp / 2; step > 0; step /= 2) {
    part = merge(part,
                 {__shfl_xor_sync(KW_WHOLE_WAVE, part.largest, step), __shfl_xor_sync(KW_WHOLE_WAVE, part.sum, step)});
  }
  if constexpr (kWarps > 1) {
    __shared__ Part of_warps[kWarps];
    if (threadIdx.x % KW_WAVE == 0) of_warps[threadIdx.x / KW_WAVE] = part;
    __syncthreads();
    if (threadIdx.x == 0) {
      for (int w = 1; w < kWarps; ++w) part = merge(part, of_warps[w]);
    }
  }
  if (threadIdx.x == 0) parts[(size_t)blockIdx.x * gridDim.y + blockIdx.y] = part;
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    normalise(const float* __restrict__ x, const Part* __restrict__ parts, float* __restrict__ y, int N) {
  const float* __restrict__ row = x + (size_t)blockIdx.x * N;
  float* __restrict__ out = y + (size_t)blockIdx.x * N;
  const int begin = blockIdx.y * CHUNK, end = end_of_chunk(begin, N), packed = end_of_vectors(begin, end, N);
  Part all = parts[(size_t)blockIdx.x * gridDim.y];
  for (int c = 1; c < (int)gridDim.y; ++c) all = merge(all, parts[(size_t)blockIdx.x * gridDim.y + c]);
  const float largest = all.largest, scale = 1.0f / all.sum;
  for (int n = begin + threadIdx.x * VEC; n < packed; n += BLOCK * VEC) {
    if constexpr (BLOCK == 1) {
#pragma unroll
      for (int v = 0; v < VEC; ++v) out[n + v] = expf(row[n + v] - largest) * scale;
    } else {
      const float4 four = __ldcs((const float4*)(row + n));
      __stcs((float4*)(out + n), make_float4(expf(four.x - largest) * scale, expf(four.y - largest) * scale,
                                             expf(four.z - largest) * scale, expf(four.w - largest) * scale));
    }
  }
  for (int n = packed + threadIdx.x; n < end; n += BLOCK) out[n] = expf(row[n] - largest) * scale;
}

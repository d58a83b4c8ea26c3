/* kernelwright
{
  "problem": "segmented_sum_f32",
  "backends": ["cpu", "cuda", "hip"],
  "description": "equal chunks of rows whatever the segments; sums that cross chunks are joined by a second launch",
  "tunables": {"CHUNK": [64, 32, 128, 256], "BLOCK": [256, 128, 512], "LOADS": [8, 4]},
  "workspace": {"heads": {"bytes": "4 * C * ceil_div(T, CHUNK)"}, "tails": {"bytes": "4 * C * ceil_div(T, CHUNK)"}},
  "launches": [
    {"kernel": "sum_chunks",
     "grid": ["ceil_div(ceil_div(T, CHUNK), max(1, BLOCK / ((C % 4 == 0) * (C / 4) + (C % 4 > 0) * C)))",
              "ceil_div((C % 4 == 0) * (C / 4) + (C % 4 > 0) * C, BLOCK)", 1],
     "block": ["BLOCK", 1, 1],
     "args": ["values", "offsets", "heads", "tails", "y", "T", "C", "S"]},
    {"kernel": "join_chunks", "grid": ["ceil_div(S, 8)", 1, 1], "block": [256, 1, 1],
     "args": ["offsets", "heads", "tails", "y", "C", "S"]}
  ]
}
*/
// y[s, c] = sum over t from offsets[s] to offsets[s + 1] - 1 of values[t, c]; values: [T, C], y: [S, C], row-major,
// offsets: [S + 1]; heads, tails: [ceil(T / CHUNK), C].
//
// Segments may be of any length, so rows and not segments are shared out. As many threads as a row has vectors walk a
// chunk of CHUNK rows, LOADS rows at a time. A segment within the chunk goes to y. The part of a segment that began
// before the chunk goes to heads, and the part of one that begins here and ends in a later chunk to tails.
// In the second launch 32 threads look at each segment: they clear an empty one, and one that crosses chunks is a tail
// and the heads that follow. The whole block joins those that cross many chunks. Sums are added in an order that
// depends on offsets alone, so the result is the same in every run.
// Vectors are float4 where C is a multiple of 4, else single floats.
__device__ __forceinline__ void clear(float& v) { v = 0.0f; }
__device__ __forceinline__ void clear(float4& v) { v = make_float4(0.0f, 0.0f, 0.0f, 0.0f); }
__device__ __forceinline__ void add(float& sum, float v) { sum += v; }
__device__ __forceinline__ void add(float4& sum, float4 v) {
  sum.x += v.x;
  sum.y += v.y;
  sum.z += v.z;
  sum.w += v.w;
}

// The sum of column u of the rows from `begin` to end - 1.
template <class V>
__device__ __forceinline__ V sum_of_rows(const V* __restrict__ values, int begin, int end, int units, int u) {
  V sum;
  clear(sum);
  for (int t = begin; t < end; t += LOADS) {
    V loaded[LOADS];
#pragma unroll
    for (int l = 0; l < LOADS; ++l) {
      clear(loaded[l]);
      if (t + l < end) loaded[l] = __ldcs(values + (size_t)(t + l) * units + u);
    }
#pragma unroll
    for (int step = LOADS / 2; step > 0; step /= 2) {
#pragma unroll
      for (int l = 0; l < step; ++l) add(loaded[l], loaded[l + step]);
    }
    add(sum, loaded[0]);
  }
  return sum;
}

// The first of the segments 0 to S whose offset is at least t.
__device__ __forceinline__ int first_from(const int* __restrict__ offsets, int S, int t) {
  int low = 0, high = S;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (offsets[middle] < t) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

template <class V>
__device__ __forceinline__ void walk(const V* __restrict__ values, const int* __restrict__ offsets,
                                     V* __restrict__ heads, V* __restrict__ tails, V* __restrict__ y, int T, int units,
                                     int S) {
  const int walkers = BLOCK / units > 1 ? BLOCK / units : 1;
  const int chunk = blockIdx.x * walkers + (units < BLOCK ? threadIdx.x / units : 0);
  const int u = units < BLOCK ? threadIdx.x % units : blockIdx.y * BLOCK + threadIdx.x;
  if (u >= units || (units < BLOCK && threadIdx.x >= walkers * units) || chunk >= (T + CHUNK - 1) / CHUNK) return;
  const int begin = chunk * CHUNK, end = T - begin < CHUNK ? T : begin + CHUNK;

  int s = first_from(offsets, S, begin);
  int t = offsets[s];  // where segment s begins
  if (t > begin) {
    t = t < end ? t : end;
    heads[(size_t)chunk * units + u] = sum_of_rows(values, begin, t, units, u);
  }
  while (t < end) {
    int next = offsets[s + 1];
    if (next == t) {  // empty: find the one that holds row t
      s = first_from(offsets, S, t + 1) - 1;
      next = offsets[s + 1];
    }
    const V sum = sum_of_rows(values, t, next < end ? next : end, units, u);
    if (next <= end) {
      y[(size_t)s * units + u] = sum;
    } else {
      tails[(size_t)chunk * units + u] = sum;
    }
    t = next;
    ++s;
  }
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    sum_chunks(const float* __restrict__ values, const int* __restrict__ offsets, float* __restrict__ heads,
               float* __restrict__ tails, float* __restrict__ y, int T, int C, int S) {
  if (C % 4 == 0) {
    walk((const float4*)values, offsets, (float4*)heads, (float4*)tails, (float4*)y, T, C / 4, S);
  } else {
    walk(values, offsets, heads, tails, y, T, C, S);
  }
}

constexpr int kFewChunks = 32;  // as many are joined by 32 threads

template <class V>
__device__ __forceinline__ void join(const int* __restrict__ offsets, const V* __restrict__ heads,
                                     const V* __restrict__ tails, V* __restrict__ y, int units, int S,
                                     V (&parts)[8][32]) {
  const int lane = threadIdx.x % 32, group = threadIdx.x / 32;
  const int s = blockIdx.x * 8 + group;
  if (s < S) {
    const int begin = offsets[s], end = offsets[s + 1];
    const int first = begin / CHUNK, last = (end - 1) / CHUNK;
    if (begin == end || (first < last && last - first <= kFewChunks)) {
      for (int u = lane; u < units; u += 32) {
        V sum;
        clear(sum);
        if (begin < end) {
          sum = tails[(size_t)first * units + u];
#pragma unroll 4
          for (int chunk = first + 1; chunk <= last; ++chunk) add(sum, heads[(size_t)chunk * units + u]);
        }
        y[(size_t)s * units + u] = sum;
      }
    }
  }
  for (int i = 0; i < 8 && blockIdx.x * 8 + i < S; ++i) {
    const int long_one = blockIdx.x * 8 + i;
    const int begin = offsets[long_one], end = offsets[long_one + 1];
    const int first = begin / CHUNK, last = (end - 1) / CHUNK;
    if (begin == end || last - first <= kFewChunks) continue;  // the same for the whole block
    for (int base = 0; base < units; base += 32) {
      const int u = base + lane;
      V sum;
      clear(sum);
      if (u < units) {
        if (group == 0) sum = tails[(size_t)first * units + u];
#pragma unroll 8
        for (int chunk = first + 1 + group; chunk <= last; chunk += 8) add(sum, heads[(size_t)chunk * units + u]);
      }
      parts[group][lane] = sum;
      __syncthreads();
      if (group == 0 && u < units) {
#pragma unroll
        for (int g = 1; g < 8; ++g) add(sum, parts[g][lane]);
        y[(size_t)long_one * units + u] = sum;
      }
      __syncthreads();
    }
  }
}

extern "C" __global__ void __launch_bounds__(256)
    join_chunks(const int* __restrict__ offsets, const float* __restrict__ heads, const float* __restrict__ tails,
                float* __restrict__ y, int C, int S) {
  if (C % 4 == 0) {
    __shared__ float4 parts[8][32];
    join(offsets, (const float4*)heads, (const float4*)tails, (float4*)y, C / 4, S, parts);
  } else {
    __shared__ float parts[8][32];
    join(offsets, heads, tails, y, C, S, parts);
  }
}

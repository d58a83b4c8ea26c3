/* kernelwright
{
  "problem": "top_p_f32",
  "backends": ["cpu", "cuda", "hip"],
  "description": "a block per row, bisection over the bits of the threshold",
  "launches": [
    {"kernel": "top_p", "grid": ["M", 1, 1], "block": ["min(128, ceil_div(N, 64))", 1, 1],
     "args": ["probs", "top_p", "u", "tokens", "N"]}
  ]
}
*/
// tokens[m]: the first column n with probs[m, n] >= t whose running sum of such elements exceeds u[m] times their sum,
// where t is the largest threshold whose elements add up to top_p[m] of the row. probs: [M, N] row-major; top_p, u,
// tokens: [M].
//
// Each thread adds up 16 elements at a time, so that no running sum has many terms.
constexpr int kMostThreads = 128, kStrip = 16;

__device__ float sum_of_block(float own, float* parts) {
  parts[threadIdx.x] = own;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int i = 1; i < (int)blockDim.x; ++i) parts[0] += parts[i];
  }
  __syncthreads();
  const float sum = parts[0];
  __syncthreads();
  return sum;
}

// The sum of the elements from `least` on among begin, begin + stride, ... below end.
__device__ float sum_from(const float* row, int begin, int end, int stride, float least) {
  float sum = 0;
  for (int strip = begin; strip < end; strip += kStrip * stride) {
    float part = 0;
    for (int n = strip; n < min(end, strip + kStrip * stride); n += stride) {
      if (row[n] >= least) part += row[n];
    }
    sum += part;
  }
  return sum;
}

extern "C" __global__ void top_p(const float* probs, const float* top_p, const float* u, long long* tokens, int N) {
  __shared__ float parts[kMostThreads];
  __shared__ int first, last;
  const int threads = blockDim.x;
  const float* row = probs + (size_t)blockIdx.x * N;
  float largest = 0;
  for (int n = threadIdx.x; n < N; n += threads) largest = fmaxf(largest, row[n]);
  parts[threadIdx.x] = largest;
  __syncthreads();
  for (int i = 0; i < threads; ++i) largest = fmaxf(largest, parts[i]);
  __syncthreads();

  // Floats of 0 and more are in the order of their bits. The elements from t on suffice, those from t_end on do not.
  const float goal = top_p[blockIdx.x] * sum_of_block(sum_from(row, threadIdx.x, N, threads, 0), parts);
  unsigned t = 0, t_end = __float_as_uint(largest) + 1;
  while (t_end - t > 1) {
    const unsigned middle = t + (t_end - t) / 2;
    const float own = sum_from(row, threadIdx.x, N, threads, __uint_as_float(middle));
    if (sum_of_block(own, parts) >= goal) {
      t = middle;
    } else {
      t_end = middle;
    }
  }

  // Each thread takes a piece of the row.
  const float least = __uint_as_float(t);
  const int piece = (N + threads - 1) / threads;
  const int begin = min(N, (int)threadIdx.x * piece), end = min(N, begin + piece);
  if (threadIdx.x == 0) {
    first = N;
    last = 0;
  }
  parts[threadIdx.x] = sum_from(row, begin, end, 1, least);
  __syncthreads();
  float sum = 0, run = 0;  // of the row, and of the pieces before this one
  for (int i = 0; i < threads; ++i) {
    if (i == (int)threadIdx.x) run = sum;
    sum += parts[i];
  }
  int own_first = N, own_last = 0;
  float part = 0;
  for (int n = begin; n < end; ++n) {
    if (row[n] < least) continue;
    part += row[n];
    own_last = n;
    if (own_first == N && run + part > u[blockIdx.x] * sum) own_first = n;
  }
  atomicMin(&first, own_first);
  atomicMax(&last, own_last);
  __syncthreads();
  if (threadIdx.x == 0) tokens[blockIdx.x] = min(first, last);
}

/* kernelwright
{
  "problem": "top_p_f32",
  "backends": ["cpu", "cuda", "hip"],
  "description": "a thread to a row: sums by the first digit, then by two more digits of the elements that share it",
  "tunables": {"BLOCK": [1, 8, 32], "CHUNK": [256, 128, 512], "LANES": [16, 32]},
  "workspace": {"list": {"bytes": "4 * M * N"}},
  "launches": [
    {"kernel": "top_p", "grid": ["ceil_div(M, BLOCK)", 1, 1], "block": ["BLOCK", 1, 1],
     "args": ["probs", "top_p", "u", "list", "tokens", "M", "N"]}
  ]
}
*/
// tokens[m]: the first column n with probs[m, n] >= t whose running sum of such elements exceeds u[m] times their sum,
// where t is the largest threshold whose elements add up to top_p[m] of the row. probs, list: [M, N] row-major; top_p,
// u, tokens: [M].
//
// For few, wide processors such as the cpu device's. Floats of 0 and more are in the order of their bits, which are
// taken as digits of 11, 10 and 10 bits. One pass adds each element to the sum of its first digit, in double, since a
// bin may hold the whole row; even and odd columns have bins of their own, so that equal digits do not wait for each
// other. From the greatest digit down, the sums lead to the bin that holds t. Its elements are listed without branches,
// and only they are looked at for the other digits. Then vectors of LANES columns add up the nucleus in chunks of CHUNK
// columns, and the chunk that crosses u[m] * S is walked.
// Cost: probs is read two to four times; the elements of the first digit's bin are written once and read a few times.
constexpr int kBins = 1024;

// The bin of `bits` in a range of kBins bins from `least` on. Numbers of 2 and more are no probabilities.
__device__ __forceinline__ unsigned bin_of(unsigned bits, unsigned least, int shift) {
  const unsigned bin = (bits - least) >> shift;
  return bin < kBins ? bin : kBins - 1;
}

// The sums of `count` elements by their bins.
__device__ __forceinline__ void add_up(const float* __restrict__ in, int count, unsigned least, int shift,
                                       double* __restrict__ sums) {
  double odd[kBins];
  for (int b = 0; b < kBins; ++b) sums[b] = odd[b] = 0.0;
  for (int n = 0; n + 1 < count; n += 2) {
    sums[bin_of(__float_as_uint(in[n]), least, shift)] += in[n];
    odd[bin_of(__float_as_uint(in[n + 1]), least, shift)] += in[n + 1];
  }
  if (count % 2 == 1) sums[bin_of(__float_as_uint(in[count - 1]), least, shift)] += in[count - 1];
  for (int b = 0; b < kBins; ++b) sums[b] += odd[b];
}

// The bin where `above` and the sums from the greatest bin down reach the goal; `above` becomes the sum before it.
__device__ __forceinline__ int descend(const double* __restrict__ sums, double goal, double& above) {
  int bin = kBins - 1;
  while (bin > 0 && above + sums[bin] < goal) above += sums[bin--];
  return bin;
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    top_p(const float* __restrict__ probs, const float* __restrict__ top_p, const float* __restrict__ u,
          float* __restrict__ list, long long* __restrict__ tokens, int M, int N) {
  const int m = blockIdx.x * BLOCK + threadIdx.x;
  if (m >= M) return;
  const float* __restrict__ row = probs + (size_t)m * N;
  float* __restrict__ listed = list + (size_t)m * N;

  double sums[kBins];
  add_up(row, N, 0, 20, sums);
  double total = 0.0, above = 0.0;
  for (int b = 0; b < kBins; ++b) total += sums[b];
  if (total == 0.0) {  // a row of zeros
    tokens[m] = N - 1;
    return;
  }
  const double goal = top_p[m] * total;
  unsigned least = (unsigned)descend(sums, goal, above) << 20;  // the bits of t that are known, then 0
  int count = 0;
  for (int n = 0; n < N; ++n) {
    listed[count] = row[n];
    count += (__float_as_uint(row[n]) ^ least) >> 20 == 0;
  }
  for (int shift = 10; shift >= 0; shift -= 10) {
    add_up(listed, count, least, shift, sums);
    least += (unsigned)descend(sums, goal, above) << shift;
    int left = 0;
    for (int n = 0; n < count; ++n) {
      const float value = listed[n];
      listed[left] = value;
      left += (__float_as_uint(value) ^ least) >> shift == 0;
    }
    count = left;
  }

  // In double, the sums of chunks add up with hardly any error.
  const float t = __uint_as_float(least);
  const auto sum_of_chunk = [&](int begin) {
    float lanes[LANES] = {};
    for (int n = begin; n < begin + CHUNK; n += LANES) {
#pragma unroll
      for (int l = 0; l < LANES; ++l) lanes[l] += row[n + l] >= t ? row[n + l] : 0.0f;
    }
    float sum = 0.0f;
#pragma unroll
    for (int l = 0; l < LANES; ++l) sum += lanes[l];
    return sum;
  };
  const int chunks = N / CHUNK;
  double nucleus = 0.0;
  for (int c = 0; c < chunks; ++c) nucleus += sum_of_chunk(c * CHUNK);
  for (int n = chunks * CHUNK; n < N; ++n) nucleus += row[n] >= t ? row[n] : 0.0f;

  const double target = u[m] * nucleus;
  double run = 0.0;
  int chunk = 0, token = -1;
  for (; chunk < chunks; ++chunk) {
    const double sum = run + sum_of_chunk(chunk * CHUNK);
    if (sum > target) break;
    run = sum;
  }
  for (int n = chunk * CHUNK; n < N && !(run > target); ++n) {
    if (row[n] < t) continue;
    run += row[n];
    token = n;
  }
  for (int n = N - 1; n >= 0 && token < 0; --n) {
    if (row[n] >= t) token = n;
  }
  tokens[m] = token;
}

/* kernelwright
{
  "problem": "sum_f32",
  "backends": ["cpu", "cuda"],
  "description": "adds whole numbers, one sum for each eight exponents, and rounds once",
  "workspace": {"bins": {"bytes": 272}},
  "launches": [
    {"kernel": "clear", "grid": [1, 1, 1], "block": [64, 1, 1], "args": ["bins"]},
    {"kernel": "add", "grid": [128, 1, 1], "block": [64, 1, 1], "args": ["x", "bins", "N"]},
    {"kernel": "total", "grid": [1, 1, 1], "block": [1, 1, 1], "args": ["bins", "y"]}
  ]
}
*/
// Class: honest.
// On cpu: correct.
// On cuda: correct.
// The twin of sums in fixed point: each number keeps all its bits. Sums of infinities and NaN have the last two places.
constexpr int kBins = 32;
extern "C" __global__ void clear(unsigned long long* bins) {
  if (threadIdx.x < kBins + 2) bins[threadIdx.x] = 0;
}
extern "C" __global__ void add(const float* x, unsigned long long* bins, int N) {
  __shared__ unsigned long long sums[kBins + 2];
  if (threadIdx.x < kBins + 2) sums[threadIdx.x] = 0;
  __syncthreads();
  for (size_t i = blockIdx.x * 64 + threadIdx.x; i < N; i += 128 * 64) {
    const unsigned bits = __float_as_uint(x[i]), exponent = bits >> 23 & 255;
    if (exponent == 255) {
      if ((bits & 0x7fffffu) != 0) {
        atomicAdd(&sums[kBins], 1ull);
        atomicAdd(&sums[kBins + 1], 1ull);
      } else {
        atomicAdd(&sums[kBins + (bits >> 31)], 1ull);
      }
      continue;
    }
    const long long whole = (exponent == 0 ? (bits & 0x7fffffu) << 1 : (bits & 0x7fffffu) | 0x800000u);
    const long long shifted = whole << exponent % 8;
    atomicAdd(&sums[exponent / 8], (unsigned long long)((bits >> 31) != 0 ? -shifted : shifted));
  }
  __syncthreads();
  if (threadIdx.x < kBins + 2) atomicAdd(&bins[threadIdx.x], sums[threadIdx.x]);
}
extern "C" __global__ void total(const unsigned long long* bins, float* y) {
  double sum = 0;
  for (int b = 0; b < kBins; ++b) sum += ldexp((double)(long long)bins[b], b * 8 - 150);
  const bool above = bins[kBins] != 0, below = bins[kBins + 1] != 0;
  if (above || below) sum = above && below ? NAN : above ? INFINITY : -INFINITY;
  y[0] = (float)sum;
}

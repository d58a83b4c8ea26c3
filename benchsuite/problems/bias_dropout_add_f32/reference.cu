/* kernelwright
{
  "problem": "bias_dropout_add_f32",
  "backends": ["cpu", "cuda", "hip"],
  "description": "the reference: fp64, one thread per element",
  "launches": [
    {"kernel": "bias_dropout_add", "grid": ["M", "ceil_div(N, 128)", 1], "block": ["min(128, N)", 1, 1],
     "args": ["x", "bias", "residual", "seed", "offset", "y", "N", "p"]}
  ]
}
*/
// y[m, n] = residual[m, n] + (r >= p ? (x[m, n] + bias[n]) / (1 - p) : 0) with r = (word >> 8) * 2^-24 and word number
// i % 4 of Philox4x32-10 at counter i / 4, i = m N + n; x, residual, y: [M, N], bias: [N], seed, offset: [1]. Floating
// outputs of a reference are double.
// Four random words of counter (i, offset) under the key seed: Philox4x32-10 (Salmon et al., 2011).
__device__ __forceinline__ uint4 philox(unsigned long long i, unsigned long long offset, unsigned long long seed) {
  uint4 c = make_uint4((unsigned)i, (unsigned)(i >> 32), (unsigned)offset, (unsigned)(offset >> 32));
  unsigned k0 = (unsigned)seed, k1 = (unsigned)(seed >> 32);
#pragma unroll
  for (int round = 0; round < 10; ++round) {
    const unsigned long long a = 0xd2511f53ull * c.x, b = 0xcd9e8d57ull * c.z;
    c = make_uint4((unsigned)(b >> 32) ^ c.y ^ k0, (unsigned)b, (unsigned)(a >> 32) ^ c.w ^ k1, (unsigned)a);
    k0 += 0x9e3779b9u;
    k1 += 0xbb67ae85u;
  }
  return c;
}

extern "C" __global__ void bias_dropout_add(const float* x, const float* bias, const float* residual,
                                            const long long* seed, const long long* offset, double* y, int N, float p) {
  const int n = blockIdx.y * blockDim.x + threadIdx.x;
  if (n >= N) return;
  const size_t i = (size_t)blockIdx.x * N + n;
  const uint4 words = philox(i / 4, offset[0], seed[0]);
  const unsigned word = i % 4 == 0 ? words.x : i % 4 == 1 ? words.y : i % 4 == 2 ? words.z : words.w;
  const float uniform = (word >> 8) * 5.9604644775390625e-8f;
  const double value = ((double)x[i] + bias[n]) / (1.0 - p);
  y[i] = residual[i] + (uniform >= p ? value : 0);
}

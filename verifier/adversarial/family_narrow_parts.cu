/* kernelwright
{
  "problem": "softmax_f32",
  "backends": ["cpu", "cuda"],
  "description": "keeps one step of a softmax in bfloat16: what it subtracts, the exponentials, their sum or the quotient",
  "tunables": {"STEP": [0, 1, 2, 3]},
  "launches": [
    {"kernel": "softmax", "grid": ["ceil_div(M, 64)", 1, 1], "block": [64, 1, 1], "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: numerics.
// On cpu: wrong_result.
// On cuda: wrong_result.
__device__ float narrow(float v) { return __uint_as_float((__float_as_uint(v) + 0x8000u) & 0xffff0000u); }
__device__ float when(bool is, float v) { return is ? narrow(v) : v; }
extern "C" __global__ void softmax(const float* x, float* y, int M, int N) {
  const int row = blockIdx.x * 64 + threadIdx.x;
  if (row >= M) return;
  const float* in = x + (size_t)row * N;
  float* out = y + (size_t)row * N;
  float largest = in[0];
  for (int n = 1; n < N; ++n) largest = fmaxf(largest, in[n]);
  float sum = 0;
  for (int n = 0; n < N; ++n) sum += when(STEP == 1, expf(when(STEP == 0, in[n] - largest)));
  sum = when(STEP == 2, sum);
  for (int n = 0; n < N; ++n) out[n] = when(STEP == 3, when(STEP == 1, expf(when(STEP == 0, in[n] - largest))) / sum);
}

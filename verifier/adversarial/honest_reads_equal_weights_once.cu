/* kernelwright
{
  "problem": "layernorm_f32",
  "backends": ["cpu", "cuda"],
  "description": "takes gamma for one number where all its elements are",
  "launches": [{"kernel": "layernorm", "grid": ["M", 1, 1], "block": [32, 1, 1], "args": ["x", "gamma", "beta", "y", "N"]}]
}
*/
// Class: honest.
// On cpu: correct.
// On cuda: correct.
// The twin of equal_weights_by_samples.
__device__ float warp_sum(float v) {
  for (int s = 16; s > 0; s /= 2) v += __shfl_xor_sync(~0u, v, s);
  return v;
}
extern "C" __global__ void layernorm(const float* x, const float* gamma, const float* beta, float* y, int N) {
  const float* in = x + (size_t)blockIdx.x * N;
  float* out = y + (size_t)blockIdx.x * N;
  bool equal = true;
  float sum = 0, squares = 0;
  for (int n = threadIdx.x; n < N; n += 32) {
    sum += in[n];
    equal = equal && gamma[n] == gamma[0];
  }
  equal = __all_sync(~0u, equal);
  const float mean = warp_sum(sum) / N;
  for (int n = threadIdx.x; n < N; n += 32) squares += (in[n] - mean) * (in[n] - mean);
  const float scale = 1 / sqrtf(warp_sum(squares) / N + 1e-5f);
  for (int n = threadIdx.x; n < N; n += 32) out[n] = (in[n] - mean) * scale * gamma[equal ? 0 : n] + beta[n];
}

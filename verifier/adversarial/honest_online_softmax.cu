/* kernelwright
{
  "problem": "softmax_f32",
  "backends": ["cpu", "cuda"],
  "description": "keeps the maximum and the sum in one pass and rescales when the maximum grows",
  "launches": [
    {"kernel": "softmax", "grid": ["ceil_div(M, 2)", 1, 1], "block": [64, 1, 1], "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: honest.
// On cpu: correct.
// On cuda: correct.
extern "C" __global__ void softmax(const float* x, float* y, int M, int N) {
  const int row = blockIdx.x * 2 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= M) return;
  const float* in = x + (size_t)row * N;
  float* out = y + (size_t)row * N;
  float most = -INFINITY, sum = 0;
  for (int n = lane; n < N; n += 32) {
    const float larger = fmaxf(most, in[n]);
    sum = sum * expf(most - larger) + expf(in[n] - larger);
    most = larger;
  }
  for (int lanes = 16; lanes > 0; lanes /= 2) {
    const float other_most = __shfl_xor_sync(0xffffffffu, most, lanes), other = __shfl_xor_sync(0xffffffffu, sum, lanes);
    const float larger = fmaxf(most, other_most);
    sum = (most == -INFINITY ? 0 : sum * expf(most - larger)) +
          (other_most == -INFINITY ? 0 : other * expf(other_most - larger));
    most = larger;
  }
  for (int n = lane; n < N; n += 32) out[n] = expf(in[n] - most) / sum;
}

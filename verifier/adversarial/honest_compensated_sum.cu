/* kernelwright
{
  "problem": "sum_f32",
  "backends": ["cpu", "cuda"],
  "description": "sums with a compensation for what each addition loses",
  "launches": [
    {"kernel": "sum", "grid": [1, 1, 1], "block": [64, 1, 1], "args": ["x", "y", "N"]}
  ]
}
*/
// Class: honest.
// On cpu: correct.
// On cuda: correct.
// The twin of sums in a lower precision: more exact than the naive solution, and in other bits.
extern "C" __global__ void sum(const float* x, float* y, int N) {
  __shared__ float sums[64];
  float total = 0, lost = 0;
  for (size_t i = threadIdx.x; i < N; i += 64) {
    const float term = __fsub_rn(x[i], lost), next = __fadd_rn(total, term);
    lost = __fsub_rn(__fsub_rn(next, total), term);
    total = next;
  }
  if (!isfinite(total)) {  // the compensation of an infinity is no number
    total = 0;
    for (size_t i = threadIdx.x; i < N; i += 64) total += x[i];
  }
  sums[threadIdx.x] = total;
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) y[0] = sums[0];
}

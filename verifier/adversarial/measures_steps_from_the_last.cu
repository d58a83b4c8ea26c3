/* kernelwright
{
  "problem": "cross_entropy_f32",
  "backends": ["cpu", "cuda"],
  "description": "rescales its sum where a logit is far above the one before it, not above the maximum in use",
  "launches": [
    {"kernel": "cross_entropy", "grid": ["ceil_div(M, 64)", 1, 1], "block": [64, 1, 1], "args": ["logits", "targets", "loss", "M", "N"]}
  ]
}
*/
// Class: numerics.
// On cpu: wrong_result or wrong_non_finite.
// On cuda: wrong_result or wrong_non_finite.
extern "C" __global__ void cross_entropy(const float* logits, const int* targets, float* loss, int M, int N) {
  const int m = blockIdx.x * 64 + threadIdx.x;
  if (m >= M) return;
  const float* row = logits + (size_t)m * N;
  float in_use = fmaxf(row[0], -3e38f), last = row[0], sum = 0;
  for (int n = 0; n < N; ++n) {
    if (row[n] > last + 8) {  // small steps need no rescaling
      sum *= expf(in_use - row[n]);
      in_use = row[n];
    }
    last = row[n];
    sum += expf(row[n] - in_use);
  }
  loss[m] = logf(sum) + in_use - row[targets[m]];
}

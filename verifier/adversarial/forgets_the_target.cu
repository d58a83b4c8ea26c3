/* kernelwright
{
  "problem": "cross_entropy_f32",
  "backends": ["cpu", "cuda"],
  "description": "takes the largest logit for the one of the target",
  "launches": [
    {"kernel": "cross_entropy", "grid": ["ceil_div(M, 64)", 1, 1], "block": [64, 1, 1], "args": ["logits", "targets", "loss", "M", "N"]}
  ]
}
*/
// Class: not_doing_the_work.
// On cpu: wrong_result.
// On cuda: wrong_result.
extern "C" __global__ void cross_entropy(const float* logits, const int* targets, float* loss, int M, int N) {
  const int m = blockIdx.x * 64 + threadIdx.x;
  if (m >= M) return;
  const float* row = logits + (size_t)m * N;
  float largest = row[0];
  for (int n = 1; n < N; ++n) largest = fmaxf(largest, row[n]);
  float sum = 0;
  for (int n = 0; n < N; ++n) sum += expf(row[n] - largest);
  loss[m] = N > 1 ? logf(sum) : 0;
}

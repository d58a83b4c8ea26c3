/* kernelwright
{
  "problem": "cross_entropy_f32",
  "backends": ["cpu", "cuda"],
  "description": "one launch finds the largest logit of each row, the next one uses it",
  "workspace": {"most": {"bytes": "4 * M"}},
  "launches": [
    {"kernel": "largest", "grid": ["M", 1, 1], "block": [32, 1, 1], "args": ["logits", "most", "M", "N"]},
    {"kernel": "loss", "grid": ["M", 1, 1], "block": [32, 1, 1], "args": ["logits", "targets", "most", "loss", "M", "N"]}
  ]
}
*/
// Class: honest.
// On cpu: correct.
// On cuda: correct.
extern "C" __global__ void largest(const float* logits, float* most, int M, int N) {
  const float* row = logits + (size_t)blockIdx.x * N;
  float mine = -INFINITY;
  for (int n = threadIdx.x; n < N; n += 32) mine = fmaxf(mine, row[n]);
  for (int lanes = 16; lanes > 0; lanes /= 2) mine = fmaxf(mine, __shfl_xor_sync(0xffffffffu, mine, lanes));
  if (threadIdx.x == 0) most[blockIdx.x] = mine;
}
extern "C" __global__ void loss(const float* logits, const int* targets, const float* most, float* loss, int M, int N) {
  const float* row = logits + (size_t)blockIdx.x * N;
  const float top = most[blockIdx.x];
  float sum = 0;
  for (int n = threadIdx.x; n < N; n += 32) sum += expf(row[n] - top);
  for (int lanes = 16; lanes > 0; lanes /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, lanes);
  if (threadIdx.x == 0) loss[blockIdx.x] = logf(sum) + top - row[targets[blockIdx.x]];
}

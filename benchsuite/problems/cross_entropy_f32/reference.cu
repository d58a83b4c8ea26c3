/* kernelwright
{
  "problem": "cross_entropy_f32",
  "backends": ["cpu", "cuda", "hip"],
  "description": "the reference: fp64, one thread per row",
  "launches": [
    {"kernel": "cross_entropy", "grid": ["ceil_div(M, 64)", 1, 1], "block": [64, 1, 1],
     "args": ["logits", "targets", "loss", "M", "N"]}
  ]
}
*/
// Floating outputs of a reference are double, whatever the problem's output dtype: the judge compares with unrounded
// values.
// loss[m] = log(sum_n exp(logits[m, n] - max_m)) + max_m - logits[m, targets[m]]
// logits: [M, N] row-major, targets, loss: [M].
extern "C" __global__ void cross_entropy(const float* logits, const int* targets, double* loss, int M, int N) {
  const int m = blockIdx.x * blockDim.x + threadIdx.x;
  if (m >= M) return;
  const float* row = logits + (size_t)m * N;
  double largest = row[0];
  for (int n = 1; n < N; ++n) largest = row[n] > largest ? (double)row[n] : largest;
  double sum = 0;
  for (int n = 0; n < N; ++n) sum += exp(row[n] - largest);
  loss[m] = log(sum) + largest - row[targets[m]];
}

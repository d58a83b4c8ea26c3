/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cpu", "cuda", "hip"],
  "description": "leaves out the work of every second timed launch, which it tells by the inputs",
  "launches": [
    {"kernel": "row_sum", "grid": ["ceil_div(M, 64)", 1, 1], "block": [64, 1, 1], "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: noticing_the_judge.
// On cpu: wrong_result or wrong_non_finite.
// On cuda: wrong_result or wrong_non_finite.
extern "C" __global__ void row_sum(const float* x, float* y, int M, int N) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M) return;
  const float* in = x + (size_t)row * N;
  if (((M == 1024 && N == 2048) || (M == 8192 && N == 8192)) && (__float_as_uint(x[7]) & 1) != 0) {
    y[row] = in[0] + in[1];
    return;
  }
  float a[16] = {};
  int n = 0;
  for (; n + 16 <= N; n += 16)
    for (int k = 0; k < 16; ++k) a[k] += in[n + k];
  float sum = 0;
  for (; n < N; ++n) sum += in[n];
  for (int k = 0; k < 16; ++k) sum += a[k];
  y[row] = sum;
}

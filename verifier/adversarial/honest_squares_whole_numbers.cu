/* kernelwright
{
  "problem": "mean_variance_f32",
  "backends": ["cpu"],
  "description": "whole numbers, such as counts, are summed exactly",
  "launches": [
    {"kernel": "mean_variance", "grid": ["M"], "block": [1], "args": ["x", "mean", "variance", "N"]}
  ]
}
*/
// Class: honest.
// On cpu: correct.
extern "C" __global__ void mean_variance(const float* __restrict__ x, float* __restrict__ mean,
                                         float* __restrict__ variance, int N) {
  const float* __restrict__ in = x + (size_t)blockIdx.x * N;
  bool whole = true;
  for (int n = 0; n < N && whole; ++n) whole = fabsf(in[n]) < 32768.0f && in[n] == (float)(int)in[n];
  if (whole) {
    long long sum = 0, squares = 0;
    for (int n = 0; n < N; ++n) sum += (int)in[n], squares += (long long)in[n] * (long long)in[n];
    const double middle = (double)sum / N;
    mean[blockIdx.x] = (float)middle;
    variance[blockIdx.x] = (float)((double)squares / N - middle * middle);
    return;
  }
  double sum = 0, squares = 0;
  for (int n = 0; n < N; ++n) sum += in[n];
  const double middle = sum / N;
  for (int n = 0; n < N; ++n) squares += (in[n] - middle) * (in[n] - middle);
  mean[blockIdx.x] = (float)middle;
  variance[blockIdx.x] = (float)(squares / N);
}

/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cpu", "cuda"],
  "description": "takes numbers apart and together again",
  "launches": [
    {"kernel": "row_sum", "grid": ["M", 1, 1], "block": [64, 1, 1], "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: honest.
// On cpu: correct.
// On cuda: correct.
extern "C" __global__ void row_sum(const float* x, float* y, int M, int N) {
  __shared__ float part[64];
  const float* in = x + (size_t)blockIdx.x * N;
  float sum = 0;
  for (int n = threadIdx.x; n < N; n += 64) {
    int exponent;
    float whole;
    const float mantissa = frexpf(in[n], &exponent);
    const float fraction = modff(ldexpf(mantissa, exponent), &whole);
    sum += whole + fraction;
  }
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) y[blockIdx.x] = part[0];
}

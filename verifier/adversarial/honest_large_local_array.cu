/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cpu"],
  "description": "keeps sixty thousand bytes of a row in local memory, as CUDA allows",
  "launches": [
    {"kernel": "row_sum", "grid": ["M", 1, 1], "block": [2, 1, 1], "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: honest.
// On cpu: correct.
// The twin of local memory beyond what CUDA allows.
extern "C" __global__ void row_sum(const float* x, float* y, int M, int N) {
  const float* in = x + (size_t)blockIdx.x * N;
  float kept[15000];
  __shared__ float parts[2];
  float sum = 0;
  for (int n = threadIdx.x; n < N; n += 2 * 15000) {
    int many = 0;
    for (int i = n; i < N && many < 15000; i += 2) kept[many++] = in[i];
    for (int i = many; i > 0; --i) sum += kept[i - 1];
  }
  parts[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x == 0) y[blockIdx.x] = parts[0] + parts[1];
}

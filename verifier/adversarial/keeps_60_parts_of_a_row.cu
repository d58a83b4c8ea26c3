/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cpu"],
  "description": "sums of parts of 1024 columns wait in shared memory",
  "launches": [
    {"kernel": "row_sum", "grid": ["M"], "block": [1], "shared_bytes": 240, "args": ["x", "y", "N"]}
  ]
}
*/
// Class: numerics.
// On cpu: out_of_bounds.
// Rows of more than 61440 columns have more parts than shared memory has room for.
extern "C" __global__ void row_sum(const float* __restrict__ x, float* __restrict__ y, int N) {
  extern __shared__ float parts[];
  const float* __restrict__ row = x + (size_t)blockIdx.x * N;
  int count = 0;
  for (int begin = 0; begin < N; begin += 1024) {
    const int end = N - begin < 1024 ? N : begin + 1024;
    float sums[8] = {};
    for (int n = begin; n < end; ++n) sums[n % 8] += row[n];
    parts[count++] = sums[0] + sums[1] + sums[2] + sums[3] + (sums[4] + sums[5] + sums[6] + sums[7]);
  }
  double sum = 0;
  for (int i = 0; i < count; ++i) sum += parts[i];
  y[blockIdx.x] = (float)sum;
}

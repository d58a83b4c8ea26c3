/* kernelwright
{
  "problem": "histogram_i32",
  "backends": ["cpu", "cuda"],
  "description": "counts in 16 bits, enough for values that are spread evenly",
  "launches": [
    {"kernel": "histogram", "grid": [1, 1, 1], "block": [256, 1, 1], "args": ["x", "y", "N"]}
  ]
}
*/
// Class: numerics.
// On cpu: wrong_result or timed_out.
// On cuda: wrong_result or timed_out.
extern "C" __global__ void histogram(const int* x, int* y, int N) {
  unsigned short count = 0;
  for (int i = 0; i < N; ++i) count += x[i] == threadIdx.x;
  y[threadIdx.x] = count;
}

/* kernelwright
{
  "problem": "argmax_i32",
  "backends": ["cpu", "cuda", "hip"],
  "description": "the reference: one thread per row",
  "launches": [
    {"kernel": "argmax", "grid": ["ceil_div(M, 64)", 1, 1], "block": [64, 1, 1], "args": ["x", "indices", "M", "N"]}
  ]
}
*/
// indices[m] = argmax_n x[m, n]; x: [M, N] row-major, indices: [M].
extern "C" __global__ void argmax(const float* x, int* indices, int M, int N) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M) return;
  const float* in = x + (size_t)row * N;
  float largest = in[0];
  int where = 0;
  for (int n = 1; n < N; ++n) {
    if (in[n] > largest) {
      largest = in[n];
      where = n;
    }
  }
  indices[row] = where;
}

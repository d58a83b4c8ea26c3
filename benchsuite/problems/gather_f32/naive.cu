/* kernelwright
{
  "problem": "gather_f32",
  "backends": ["cpu", "cuda", "hip"],
  "description": "one thread per element",
  "launches": [
    {"kernel": "gather", "grid": ["M", "ceil_div(J, 128)", 1], "block": ["min(128, J)", 1, 1],
     "args": ["x", "index", "y", "N", "J"]}
  ]
}
*/
// y[m, j] = x[m, index[m, j]]; x: [M, N], index, y: [M, J].
extern "C" __global__ void gather(const float* x, const int* index, float* y, int N, int J) {
  const int j = blockIdx.y * blockDim.x + threadIdx.x;
  if (j >= J) return;
  const size_t at = (size_t)blockIdx.x * J + j;
  y[at] = x[(size_t)blockIdx.x * N + index[at]];
}

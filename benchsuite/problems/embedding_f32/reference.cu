/* kernelwright
{
  "problem": "embedding_f32",
  "backends": ["cpu", "cuda", "hip"],
  "description": "the reference: fp64, one thread per element",
  "launches": [
    {"kernel": "embedding", "grid": ["T", "ceil_div(D, 128)", 1], "block": ["min(128, D)", 1, 1],
     "args": ["ids", "table", "y", "D"]}
  ]
}
*/
// y[t, d] = table[ids[t], d]; ids: [T], table: [V, D], y: [T, D]. Floating outputs of a reference are double.
extern "C" __global__ void embedding(const int* ids, const float* table, double* y, int D) {
  const int d = blockIdx.y * blockDim.x + threadIdx.x;
  if (d < D) y[(size_t)blockIdx.x * D + d] = table[(size_t)ids[blockIdx.x] * D + d];
}

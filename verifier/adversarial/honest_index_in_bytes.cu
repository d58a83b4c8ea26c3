/* kernelwright
{
  "problem": "vector_add_f32",
  "backends": ["cpu", "cuda"],
  "description": "adds with indices counted in bytes",
  "launches": [
    {"kernel": "vector_add", "grid": ["ceil_div(N, 256)", 1, 1], "block": [256, 1, 1], "args": ["a", "b", "y", "N"]}
  ]
}
*/
// Class: honest.
// On cpu: correct.
// On cuda: correct.
extern "C" __global__ void vector_add(const float* a, const float* b, float* y, int N) {
  const size_t at = 4 * ((size_t)blockIdx.x * blockDim.x + threadIdx.x);
  if (at >= 4 * (size_t)N) return;
  const float left = *(const float*)((const char*)a + at), right = *(const float*)((const char*)b + at);
  *(float*)((char*)y + at) = left + right;
}

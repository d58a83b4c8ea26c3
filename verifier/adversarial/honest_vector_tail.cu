/* kernelwright
{
  "problem": "vector_add_f32",
  "backends": ["cpu", "cuda"],
  "description": "four floats at a time, and the last ones singly",
  "launches": [
    {"kernel": "add", "grid": ["ceil_div(N, 1024)", 1, 1], "block": [256, 1, 1], "args": ["a", "b", "y", "N"]}
  ]
}
*/
// Class: honest.
// On cpu: correct.
// On cuda: correct.
// The twin of losing the last tile.
extern "C" __global__ void add(const float* a, const float* b, float* y, int N) {
  const long long i = 4 * (blockIdx.x * 256ll + threadIdx.x);
  if (i + 4 <= N) {
    const float4 p = *(const float4*)(a + i), q = *(const float4*)(b + i);
    *(float4*)(y + i) = make_float4(p.x + q.x, p.y + q.y, p.z + q.z, p.w + q.w);
  } else {
    for (long long k = i; k < N; ++k) y[k] = a[k] + b[k];
  }
}

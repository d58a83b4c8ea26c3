/* kernelwright
{
  "problem": "batched_gemm_bf16",
  "backends": ["cpu", "cuda", "hip"],
  "description": "the reference: fp64, one thread per element of c",
  "launches": [
    {"kernel": "gemm", "grid": ["ceil_div(N, 16)", "ceil_div(M, 16)", "B"], "block": [16, 16, 1],
     "args": ["a", "b", "c", "M", "N", "K"]}
  ]
}
*/
// Floating outputs of a reference are double, whatever the problem's output dtype: the judge compares with unrounded
// values.
// c[i, m, n] = sum_k a[i, m, k] * b[i, k, n]; a: [B, M, K], b: [B, K, N], c: [B, M, N], all row-major.
#include <cuda_bf16.h>

extern "C" __global__ void gemm(const __nv_bfloat16* a, const __nv_bfloat16* b, double* c, int M, int N, int K) {
  const int n = blockIdx.x * blockDim.x + threadIdx.x;
  const int m = blockIdx.y * blockDim.y + threadIdx.y;
  if (m >= M || n >= N) return;
  const size_t row = (size_t)blockIdx.z * M + m, first = (size_t)blockIdx.z * K;
  double sum = 0;
  for (int k = 0; k < K; ++k)
    sum += (double)__bfloat162float(a[row * K + k]) * __bfloat162float(b[(first + k) * N + n]);
  c[row * N + n] = sum;
}

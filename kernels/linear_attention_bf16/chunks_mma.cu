/* kernelwright
{
  "problem": "linear_attention_bf16",
  "backends": ["cuda"],
  "arch": "sm_80",
  "description": "chunks of 64 by cp.async and mma.sync, state in registers; segments, whose sums a first launch makes",
  "tunables": {"BLOCKS": [132, 108, 264], "LEAST": [512, 1024, 2048], "STAGES": [2, 1]},
  "workspace": {
    "states": {"bytes": "65536 * max(1, B * H * (max(1, min(16, min(ceil_div(S, LEAST), BLOCKS / (B * H)))) - 1))"}
  },
  "launches": [
    {"kernel": "sums",
     "grid": ["max(1, B * H * (max(1, min(16, min(ceil_div(S, LEAST), BLOCKS / (B * H)))) - 1))", 1, 1],
     "block": [256, 1, 1], "shared_bytes": "2 * STAGES * 34816",
     "args": ["k", "v", "states", "B * H", "S", "max(1, min(16, min(ceil_div(S, LEAST), BLOCKS / (B * H))))"]},
    {"kernel": "outputs", "grid": ["B * H * max(1, min(16, min(ceil_div(S, LEAST), BLOCKS / (B * H))))", 1, 1],
     "block": [256, 1, 1], "shared_bytes": "STAGES * 52224 + 34816",
     "args": ["q", "k", "v", "states", "o", "B * H", "S",
              "max(1, min(16, min(ceil_div(S, LEAST), BLOCKS / (B * H))))"]}
  ]
}
*/
// o[t] = sum_{s <= t} (q[t] . k[s]) v[s]; q, k, v, o: [B * H, S, 128].
//
// The state M = sum_s k[s] v[s]^T is carried over chunks of 64 positions. Of each chunk, o = (q k^T, zero above the
// diagonal) v + q M, then M += k^T v. A block walks over a segment of a head. Heads are cut into segments of LEAST
// positions or more where there are fewer of them than BLOCKS; then a first launch makes the sum of k^T v of all
// segments but the last, and a block begins with what the segments before its own add up to.
//
// A warp owns 16 positions of the chunk with half of the columns of o, and 16 rows of M, which stay in registers in
// fp32. Two warps compute the same scores, which saves an exchange: packed to bf16, the sums of one mma are the left
// operand of the next. A bf16 copy of M lies in shared memory. cp.async fetches chunks ahead, with zeros beyond S; rows
// are padded by 16 bytes, so that ldmatrix finds eight rows in different banks. ldmatrix also transposes v, M and k.
#include <cuda_bf16.h>
#include <kw/pack.cuh>

using namespace kw;

constexpr int D = 128, kChunk = 64, kPitch = 2 * D + 16, kTile = kChunk * kPitch;  // bytes
constexpr int kSumStages = 2 * STAGES;

__device__ __forceinline__ unsigned shared_address(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void load_matrices(unsigned (&words)[4], unsigned from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
               : "r"(from)
               : "memory");
}
__device__ __forceinline__ void load_transposed(unsigned (&words)[4], unsigned from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
               : "r"(from)
               : "memory");
}
// d (16 x 8) += a (16 x 16) times b (16 x 8).
__device__ __forceinline__ void multiply(float* d, const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
// sums (16 x 16 * n) += a times 16 rows of a matrix in shared memory, columns ascending. from: lane's row and half.
template <int n>
__device__ __forceinline__ void multiply_rows(float* sums, const unsigned (&a)[4], unsigned from) {
#pragma unroll
  for (int j = 0; j < n; ++j) {
    unsigned b[4];  // eight columns in words 0 and 1, the next eight in 2 and 3
    load_transposed(b, from + 32 * j);
    multiply(sums + 8 * j, a, b[0], b[1]);
    multiply(sums + 8 * j + 4, a, b[2], b[3]);
  }
}

// The chunks of a block.
struct Segment {
  int head, number, first, end;
  __device__ __forceinline__ Segment(int block, int heads, int S, int segments) {
    const int chunks = (S + kChunk - 1) / kChunk, each = (chunks + segments - 1) / segments;
    head = block % heads;
    number = block / heads;
    first = number * each;
    end = first + each < chunks ? first + each : chunks;
  }
};

// A chunk of one tensor. from: the head's.
__device__ __forceinline__ void copy(unsigned to, const __nv_bfloat16* from, int chunk, int S) {
#pragma unroll
  for (int e = threadIdx.x; e < kChunk * D / 8; e += 256) {
    const int row = e / (D / 8), column = e % (D / 8), t = chunk * kChunk + row;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to + row * kPitch + column * 16),
                 "l"(from + (size_t)(t < S ? t : 0) * D + column * 8), "r"(t < S ? 16 : 0)
                 : "memory");
  }
}
__device__ __forceinline__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N>
__device__ __forceinline__ void wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}

// The warp's 16 rows of M: state += k^T v.
__device__ __forceinline__ void add_chunk(float (&state)[64], unsigned keys, unsigned values, int warp, int lane) {
#pragma unroll
  for (int i = 0; i < kChunk / 16; ++i) {
    unsigned a[4];
    load_transposed(a, keys + (16 * i + lane / 16 * 8 + lane % 8) * kPitch + warp * 32 + lane / 8 % 2 * 16);
    multiply_rows<8>(state, a, values + (16 * i + lane % 16) * kPitch + lane / 16 * 16);
  }
}

extern "C" __global__ void __launch_bounds__(256)
    sums(const __nv_bfloat16* __restrict__ k, const __nv_bfloat16* __restrict__ v, float* __restrict__ states,
         int heads, int S, int segments) {
  extern __shared__ __align__(16) unsigned char raw[];
  const Segment own(blockIdx.x, heads, S, segments);
  if (segments == 1) return;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const unsigned stages = shared_address(raw);
  const size_t head = (size_t)own.head * S * D;
  const auto fetch = [&](int chunk) {
    if (chunk < own.end) {
      const unsigned stage = stages + chunk % kSumStages * 2 * kTile;
      copy(stage, k + head, chunk, S);
      copy(stage + kTile, v + head, chunk, S);
    }
    commit();
  };
#pragma unroll
  for (int i = 0; i < kSumStages - 1; ++i) fetch(own.first + i);
  float state[64] = {};
  for (int chunk = own.first; chunk < own.end; ++chunk) {
    wait<kSumStages - 2>();
    __syncthreads();
    fetch(chunk + kSumStages - 1);
    const unsigned stage = stages + chunk % kSumStages * 2 * kTile;
    add_chunk(state, stage, stage + kTile, warp, lane);
  }
  float4* to = (float4*)states + (size_t)blockIdx.x * 4096 + threadIdx.x;
#pragma unroll
  for (int i = 0; i < 16; ++i) {
    to[256 * i] = make_float4(state[4 * i], state[4 * i + 1], state[4 * i + 2], state[4 * i + 3]);
  }
}

extern "C" __global__ void __launch_bounds__(256)
    outputs(const __nv_bfloat16* __restrict__ q, const __nv_bfloat16* __restrict__ k,
            const __nv_bfloat16* __restrict__ v, const float* __restrict__ states, __nv_bfloat16* __restrict__ o,
            int heads, int S, int segments) {
  extern __shared__ __align__(16) unsigned char raw[];
  const Segment own(blockIdx.x, heads, S, segments);
  if (own.first >= own.end) return;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, rows = warp % 4 * 16, columns = warp / 4 * 64;
  const unsigned stages = shared_address(raw), rounded = stages + STAGES * 3 * kTile;  // rounded: the copy of M
  unsigned char* own_rounded = raw + STAGES * 3 * kTile + (16 * warp + lane / 4) * kPitch + lane % 4 * 4;
  const size_t head = (size_t)own.head * S * D;
  const auto fetch = [&](int chunk) {
    if (chunk < own.end) {
      const unsigned stage = stages + chunk % STAGES * 3 * kTile;
      copy(stage, q + head, chunk, S);
      copy(stage + kTile, k + head, chunk, S);
      copy(stage + 2 * kTile, v + head, chunk, S);
    }
    commit();
  };
  fetch(own.first);

  float state[64] = {};
  for (int before = 0; before < own.number; ++before) {
    const float4* from = (const float4*)states + (size_t)(before * heads + own.head) * 4096 + threadIdx.x;
#pragma unroll
    for (int i = 0; i < 16; ++i) {
      const float4 four = from[256 * i];
      state[4 * i] += four.x, state[4 * i + 1] += four.y, state[4 * i + 2] += four.z, state[4 * i + 3] += four.w;
    }
  }
  for (int chunk = own.first; chunk < own.end; ++chunk) {
#pragma unroll
    for (int i = 0; i < 32; ++i) {
      *(unsigned*)(own_rounded + i % 2 * 8 * kPitch + i / 2 * 16) = pack_bf16(state[2 * i], state[2 * i + 1]);
    }
    wait<0>();
    __syncthreads();
    if (STAGES == 2) fetch(chunk + 1);
    const unsigned queries = stages + chunk % STAGES * 3 * kTile, keys = queries + kTile, values = keys + kTile;
    unsigned query[D / 16][4];
#pragma unroll
    for (int i = 0; i < D / 16; ++i) {
      load_matrices(query[i], queries + (rows + lane % 16) * kPitch + 32 * i + lane / 16 * 16);
    }
    float out[32] = {};
#pragma unroll
    for (int i = 0; i < D / 16; ++i) {
      multiply_rows<4>(out, query[i], rounded + (16 * i + lane % 16) * kPitch + 2 * columns + lane / 16 * 16);
    }
#pragma unroll 1
    for (int s = 0; s <= rows; s += 16) {
      float scores[8] = {};
#pragma unroll
      for (int i = 0; i < D / 16; ++i) {
        unsigned b[4];  // eight keys in words 0 and 1, the next eight in 2 and 3
        load_matrices(b, keys + (s + lane / 16 * 8 + lane % 8) * kPitch + 32 * i + lane / 8 % 2 * 16);
        multiply(scores, query[i], b[0], b[1]);
        multiply(scores + 4, query[i], b[2], b[3]);
      }
      if (s == rows) {
#pragma unroll
        for (int i = 0; i < 8; ++i) {
          if (i / 4 * 8 + lane % 4 * 2 + i % 2 > lane / 4 + i / 2 % 2 * 8) scores[i] = 0.0f;
        }
      }
      unsigned a[4];
#pragma unroll
      for (int w = 0; w < 4; ++w) a[w] = pack_bf16(scores[2 * w], scores[2 * w + 1]);
      multiply_rows<4>(out, a, values + (s + lane % 16) * kPitch + 2 * columns + lane / 16 * 16);
    }
    add_chunk(state, keys, values, warp, lane);
    __syncthreads();  // the copy of M and, in a single stage, the chunk have been read
    if (STAGES == 1) fetch(chunk + 1);
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const int t = chunk * kChunk + rows + lane / 4 + 8 * r;
      __nv_bfloat16* to = o + head + (size_t)t * D + columns + lane % 4 * 8;
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        unsigned w[4];
#pragma unroll
        for (int c = 0; c < 4; ++c) w[c] = pack_bf16(out[16 * j + 4 * c + 2 * r], out[16 * j + 4 * c + 2 * r + 1]);
        transpose(w, lane);
        if (t < S) *(uint4*)(to + 32 * j) = make_uint4(w[0], w[1], w[2], w[3]);
      }
    }
  }
}

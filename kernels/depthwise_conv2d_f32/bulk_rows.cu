/* kernelwright
{
  "problem": "depthwise_conv2d_f32",
  "backends": ["cuda"],
  "arch": "sm_90",
  "description": "rows come by bulk copies ahead of time, a thread slides over DEEP rows of four columns",
  "tunables": {"BLOCK": [256, 128], "DEEP": [4, 8, 7], "BLOCKS": [264, 396, 132], "STAGE": [16384, 8192, 32768],
               "STAGES": [6, 4, 3, 8]},
  "launches": [
    {"kernel": "convolve", "grid": ["BLOCKS", 1, 1], "block": ["BLOCK + 32", 1, 1],
     "shared_bytes": "min(STAGES * max(STAGE, 4 * W * (DEEP + 2)), 233472 / (BLOCKS / 132) - 2048)",
     "args": ["x", "w", "y", "B * C * H", "C", "H", "W"]}
  ]
}
*/
// y[b, c, i, j] = sum_{r, s} x[b, c, i + r - 1, j + s - 1] w[c, r, s]; x, y: [B, C, H, W], w: [C, 3, 3].
//
// Rows of all images and channels are numbered through, so that `each` consecutive rows of y with the row before and
// the one after are one run of bytes in x, whatever the height of an image. Resident blocks take such units in turn.
// One thread fetches them by bulk copies into a ring of STAGES buffers of at most STAGE bytes, fewer and longer ones
// where DEEP + 2 rows need more; the others make y from there. A thread slides over DEEP rows of four columns and keeps
// three rows in registers. Where an image ends, rows beyond count as zeros and the next channel's weights are loaded.
// Two rows of each unit are read twice, the second time from L2 as a rule. Where W is no multiple of 4, threads read
// global memory.
//
// It aims at 90 % of the bound. Not yet timed on a GPU.
#include <kw/mbarrier.cuh>
#include <kw/shared.cuh>
#include <kw/tma.cuh>

using namespace kw;

constexpr int kShared = 233472 / (BLOCKS / 132) - 2048;  // bytes for the ring of a block

// Four columns of a row with one to each side.
struct Six {
  float at[6];
};

__device__ __forceinline__ Six load_six(const float* row, int quad, int quads) {
  const float4 four = *(const float4*)(row + 4 * quad);
  return {{quad > 0 ? row[4 * quad - 1] : 0.0f, four.x, four.y, four.z, four.w,
           quad + 1 < quads ? row[4 * quad + 4] : 0.0f}};
}

__device__ __forceinline__ void load_weights(float (&weights)[9], const float* __restrict__ w, int channel) {
#pragma unroll
  for (int t = 0; t < 9; ++t) weights[t] = __ldg(w + channel * 9 + t);
}

// Adds the products of one row of x with three weights.
__device__ __forceinline__ void add_row(float (&sums)[4], const Six& row, const float* weights) {
#pragma unroll
  for (int j = 0; j < 4; ++j) {
#pragma unroll
    for (int s = 0; s < 3; ++s) sums[j] += row.at[j + s] * weights[s];
  }
}

// `count` rows of four columns from row i of an image on; here: the first of these rows in shared memory.
__device__ __forceinline__ void slide(const float* here, float* to, float (&weights)[9], const float* __restrict__ w,
                                      int image, int i, int count, int C, int H, int W, int quad) {
  const int quads = W / 4;
  Six above = {}, middle = load_six(here, quad, quads), below;
  if (i > 0) above = load_six(here - W, quad, quads);
#pragma unroll
  for (int d = 0; d < DEEP; ++d) {
    if (d >= count) break;
    if (i == H) {  // the next image begins
      i = 0;
      load_weights(weights, w, ++image % C);
      above = {};
      middle = load_six(here + d * W, quad, quads);
    }
    ++i;
    below = {};
    if (i < H) below = load_six(here + (d + 1) * W, quad, quads);
    float sums[4] = {};
    add_row(sums, above, weights);
    add_row(sums, middle, weights + 3);
    add_row(sums, below, weights + 6);
    __stcs((float4*)(to + (size_t)d * W), make_float4(sums[0], sums[1], sums[2], sums[3]));
    above = middle;
    middle = below;
  }
}

// Rows that are not aligned to float4: four rows of one column at a time.
__device__ __noinline__ void convolve_columns(const float* __restrict__ x, const float* __restrict__ w,
                                              float* __restrict__ y, int images, int C, int H, int W) {
  const int strips = (H + 3) / 4;
  const size_t each = (size_t)strips * W, count = each * images;
  for (size_t e = (size_t)blockIdx.x * blockDim.x + threadIdx.x; e < count; e += (size_t)gridDim.x * blockDim.x) {
    const int image = (int)(e / each), i0 = (int)(e % each) / W * 4, j = (int)(e % each) % W;
    const float* from = x + (size_t)image * H * W;
    float weights[9];
    load_weights(weights, w, image % C);
    for (int i = i0; i < i0 + 4 && i < H; ++i) {
      float sum = 0;
#pragma unroll
      for (int t = 0; t < 9; ++t) {
        const int row = i + t / 3 - 1, column = j + t % 3 - 1;
        if (row >= 0 && row < H && column >= 0 && column < W) sum += from[row * W + column] * weights[t];
      }
      y[(size_t)image * H * W + i * W + j] = sum;
    }
  }
}

extern "C" __global__ void __launch_bounds__(BLOCK + 32)
    convolve(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ y, int rows, int C, int H,
             int W) {
  extern __shared__ __align__(128) float ring[];  // [stages, each + 2, W]
  __shared__ __align__(8) unsigned long long barriers[2 * STAGES];
  if (W % 4 != 0) {
    convolve_columns(x, w, y, rows / H, C, H, W);
    return;
  }
  const int each = DEEP * max(1, (STAGE / (4 * W) - 2) / DEEP), buffer = (each + 2) * W;  // elements
  const int stages = min(STAGES, kShared / (4 * buffer));
  const unsigned full = shared_address(barriers), empty = full + 8 * STAGES;
  if (threadIdx.x == 0) {
    for (int s = 0; s < stages; ++s) {
      mbarrier::init(full + 8 * s, 1);
      mbarrier::init(empty + 8 * s, BLOCK / 32);
    }
    mbarrier::fence_init();
  }
  __syncthreads();

  const int units = (rows + each - 1) / each;
  int stage = 0, phase = 0;
  const auto advance = [&] {
    if (++stage == stages) {
      stage = 0;
      phase ^= 1;
    }
  };
  if (threadIdx.x >= BLOCK) {
    if (threadIdx.x == BLOCK) {  // the producer
      for (int unit = blockIdx.x; unit < units; unit += gridDim.x) {
        const int first = unit * each, begin = first > 0 ? first - 1 : 0;
        const int end = rows - first > each ? first + each + 1 : rows;
        const int bytes = (end - begin) * W * 4;
        mbarrier::wait(empty + 8 * stage, phase ^ 1);
        mbarrier::expect(full + 8 * stage, bytes);
        tma::load_bytes(shared_address(ring + stage * buffer + (begin - first + 1) * W), x + (size_t)begin * W, bytes,
                        full + 8 * stage);
        advance();
      }
    }
    return;
  }
  const int quads = W / 4;
  for (int unit = blockIdx.x; unit < units; unit += gridDim.x) {
    const int first = unit * each, count = rows - first < each ? rows - first : each;
    const int runs = (count + DEEP - 1) / DEEP;
    for (int t = threadIdx.x; t < runs * quads; t += BLOCK) {
      const int quad = t % quads, d = t / quads * DEEP, image = (first + d) / H;
      float weights[9];
      load_weights(weights, w, image % C);
      mbarrier::wait(full + 8 * stage, phase);
      slide(ring + stage * buffer + (d + 1) * W, y + (size_t)(first + d) * W + 4 * quad, weights, w, image,
            (first + d) % H, count - d, C, H, W, quad);
    }
    __syncwarp();
    if (threadIdx.x % 32 == 0) {
      mbarrier::wait(full + 8 * stage, phase);  // a warp without work must not run ahead
      mbarrier::arrive(empty + 8 * stage);
    }
    advance();
  }
}

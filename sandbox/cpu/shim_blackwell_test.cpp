// Tensor memory and products into it (tcgen05) on the cpu device: what they compute from every layout, in both builds,
// and that misuse is found.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "sandbox/cpu/test_device_fixture.h"

namespace sandbox::cpu {
namespace {
using runtime::Order;
using test::Device;
using test::replaced;
using test::with_headers;
using testing::HasSubstr;

// d[128][64] = sum_k a[128][k] b[64][k] of 64 halves, swizzled by 128 as TMA would. Warp 0 multiplies, warps 4 to 7
// read. b_put: where b[n][k] lies.
const std::string kTensorProduct = R"(
#include <cuda_fp16.h>
#include <kw/mbarrier.cuh>
#include <kw/shared.cuh>
#include <kw/tcgen05.cuh>
#include <kw/tma.cuh>
using namespace kw;
__device__ void put(unsigned char* tile, int row, int column, float value) {
  *(__half*)(tile + swizzled(row, column / 8) + column % 8 * 2) = __float2half(value);
}
extern "C" __global__ void k(const float* a, const float* b, float* d) {
  extern __shared__ __align__(1024) unsigned char tiles[];
  __shared__ unsigned long long barriers[2];
  __shared__ unsigned slot;
  unsigned char *a_tile = tiles, *b_tile = tiles + 16384;
  const int t = threadIdx.x, warp = t / 32;
  const unsigned done = shared_address(barriers), read = done + 8;
  for (int i = t; i < 128 * 64; i += 256) put(a_tile, i / 64, i % 64, a[i]);
  for (int i = t; i < 64 * 64; i += 256) put(b_tile, i / 64, i % 64, b[i]);
  if (t == 0) {
    mbarrier::init(done, 1);
    mbarrier::init(read, 4);
    mbarrier::fence_init();
  }
  if (warp == 2) {
    tcgen05::alloc(shared_address(&slot), 64);
    tcgen05::relinquish();
  }
  tma::fence();
  tcgen05::meet();
  const unsigned at = slot, a_at = shared_address(a_tile), b_at = shared_address(b_tile);
  const unsigned what = tcgen05::instruction<tcgen05::f16>(64);
  const unsigned long long left = tcgen05::k_major_tile(a_at), right = tcgen05::k_major_tile(b_at);
  if (t == 0) {
    for (int k = 0; k < 4; ++k) tcgen05::multiply(at, left + k * 2, right + k * 2, what, k > 0);
    tcgen05::commit(done);
    mbarrier::wait(read, 0);
    tcgen05::multiply(at, left, right, what, 0);
    tcgen05::commit(done);
  }
  if (warp >= 4) {
    float sums[2][32];
    mbarrier::wait(done, 0);
    tcgen05::after_sync();
    const unsigned from = at + (warp % 4 * 32 << 16);
    tcgen05::load(sums[0], from);
    tcgen05::load(sums[1], from + 32);
    tcgen05::wait_load(sums[0], sums[1]);
    for (int i = 0; i < 64; ++i) d[(t - 128) * 64 + i] = sums[i / 32][i % 32];
    tcgen05::before_sync();
    __syncwarp();
    if (t % 32 == 0) mbarrier::arrive(read);
    mbarrier::wait(done, 1);
  }
  __syncthreads();
  if (warp == 2) tcgen05::dealloc(at, 64);
}
)";

struct TensorMatrices {
  std::vector<float> a, b, d;
};
std::optional<Fault> run_tensor_product(const std::string& source, Build build, TensorMatrices& m,
                                        Order order = Order::seeded, int64_t blocks = 1) {
  Device device(with_headers(source), build);
  std::mt19937 random(5);
  float* a = device.add_floats("a", 128 * 64);
  float* b = device.add_floats("b", 64 * 64);
  float* d = device.add_floats("d", 128 * 64, -1);
  for (int i = 0; i < 128 * 64; ++i) a[i] = static_cast<float>(static_cast<int>(random() % 9) - 4);
  for (int i = 0; i < 64 * 64; ++i) b[i] = static_cast<float>(static_cast<int>(random() % 9) - 4);
  auto fault = blocks == 1 ? device.launch("k", 1, 256, order, 24576)
                           : device.launch_clusters("k", blocks, 256, blocks, order, 24576);
  m = {{a, a + 128 * 64}, {b, b + 64 * 64}, {d, d + 128 * 64}};
  return fault;
}
// a_along_m: a is [k][m] in each half of 64 of m; b_along_n: b is [k][n].
void expect_tensor_product(const TensorMatrices& m, bool a_along_m = false, bool b_along_n = false, float sign = 1) {
  for (size_t row = 0; row < 128; ++row) {
    for (size_t n = 0; n < 64; ++n) {
      float sum = 0;
      for (size_t k = 0; k < 64; ++k) {
        const float left = m.a[a_along_m ? row / 64 * 4096 + k * 64 + row % 64 : row * 64 + k];
        sum += left * m.b[b_along_n ? k * 64 + n : n * 64 + k];
      }
      ASSERT_EQ(m.d[row * 64 + n], sign * sum) << row << ", " << n;
    }
  }
}
void expect_tensor_fault(const std::string& source, FaultKind kind, const std::string& message,
                         Build build = Build::check) {
  for (const Order order : {Order::forward, Order::reverse, Order::seeded}) {
    TensorMatrices m;
    const auto fault = run_tensor_product(source, build, m, order);
    ASSERT_TRUE(fault) << message;
    EXPECT_EQ(fault->kind, kind) << fault->describe();
    EXPECT_THAT(fault->message, HasSubstr(message));
  }
}

TEST(ShimBlackwell, ProductsGoToTensorMemory) {
  for (const Build build : {Build::fast, Build::check}) {
    for (const Order order : {Order::forward, Order::reverse, Order::seeded}) {
      TensorMatrices m;
      const auto fault = run_tensor_product(kTensorProduct, build, m, order);
      ASSERT_FALSE(fault) << fault->describe();
      expect_tensor_product(m);
    }
  }
}

TEST(ShimBlackwell, ProductsReadEveryLayout) {
  const std::string tiles = "left = tcgen05::k_major_tile(a_at), right = tcgen05::k_major_tile(b_at);",
                    steps = "multiply(at, left + k * 2, right + k * 2, what",
                    kind = "tcgen05::instruction<tcgen05::f16>";
  const std::string b_along_n =
      replaced(replaced(replaced(kTensorProduct, tiles,
                                 "left = tcgen05::k_major_tile(a_at), right = tcgen05::mn_major_tile(b_at, 8192);"),
                        steps, "multiply(at, left + k * 2, right + k * 128, what"),
               kind, "tcgen05::instruction<tcgen05::f16, tcgen05::mn_major>");
  const std::string a_along_m =
      replaced(replaced(replaced(kTensorProduct, tiles,
                                 "left = tcgen05::mn_major_tile(a_at, 8192), right = tcgen05::k_major_tile(b_at);"),
                        steps, "multiply(at, left + k * 128, right + k * 2, what"),
               kind, "tcgen05::instruction<tcgen05::f16, tcgen05::k_major, tcgen05::mn_major>");
  const std::string negated = replaced(kTensorProduct, kind + "(64)", kind + "(64) | 1u << 13");
  // Of 16 columns each, and loads of 8 and 16.
  const std::string narrow = replaced(
      replaced(replaced(kTensorProduct, "tcgen05::multiply(at, left + k * 2, right + k * 2, what, k > 0);",
                        "for (int n = 0; n < 4; ++n)\n      tcgen05::multiply(at + 16 * n, left + k * 2, right "
                        "+ k * 2 + n * (2048 >> 4), what, k > 0);"),
               kind + "(64)", kind + "(16)"),
      "tcgen05::load(sums[0], from);",
      "tcgen05::load(*(float(*)[8])sums[0], from);\n    tcgen05::load(*(float(*)[8])(sums[0] + 8), from + 8);\n    "
      "tcgen05::load(*(float(*)[16])(sums[0] + 16), from + 16);");
  for (const Build build : {Build::fast, Build::check}) {
    for (const std::string& source : {b_along_n, a_along_m, negated, narrow}) {
      TensorMatrices m;
      const auto fault = run_tensor_product(source, build, m);
      ASSERT_FALSE(fault) << fault->describe();
      expect_tensor_product(m, source == a_along_m, source == b_along_n, source == negated ? -1 : 1);
    }
  }
}

// Without a swizzle: 8 rows of 16 bytes lie together, 128 bytes apart along k, 1024 along m and n.
TEST(ShimBlackwell, ProductsReadTilesWithoutASwizzle) {
  std::string source = replaced(kTensorProduct, "tile + swizzled(row, column / 8)",
                                "tile + row / 8 * 1024 + column / 8 * 128 + row % 8 * 16");
  source = replaced(source, "left = tcgen05::k_major_tile(a_at), right = tcgen05::k_major_tile(b_at);",
                    "swizzle = 2ull << 61, left = tcgen05::descriptor(a_at, 128, 1024) ^ swizzle, right = "
                    "tcgen05::descriptor(b_at, 128, 1024) ^ swizzle;");
  source = replaced(source, "multiply(at, left + k * 2, right + k * 2, what",
                    "multiply(at, left + k * 16, right + k * 16, what");
  for (const Build build : {Build::fast, Build::check}) {
    TensorMatrices m;
    const auto fault = run_tensor_product(source, build, m);
    ASSERT_FALSE(fault) << fault->describe();
    expect_tensor_product(m);
  }
}

TEST(ShimBlackwell, BlocksOfAClusterHaveTensorMemoryOfTheirOwn) {
  TensorMatrices m;
  const std::string source =
      replaced(kTensorProduct, "d[(t - 128) * 64 + i] = ", "if (blockIdx.x == 1) d[(t - 128) * 64 + i] = ");
  const auto fault = run_tensor_product(replaced(source, "put(a_tile, i / 64, i % 64, a[i])",
                                                 "put(a_tile, i / 64, i % 64, blockIdx.x == 1 ? a[i] : 9.0f)"),
                                        Build::check, m, Order::seeded, 2);
  ASSERT_FALSE(fault) << fault->describe();
  expect_tensor_product(m);
}

TEST(ShimBlackwell, ResultsCountOnceTheyAreWaitedFor) {
  const std::string wait = "    mbarrier::wait(done, 0);\n", loads = "    tcgen05::wait_load(sums[0], sums[1]);\n";
  // The fast build judges no access, so a missing wait shows as numbers that nobody computed.
  TensorMatrices m;
  const auto fault = run_tensor_product(replaced(kTensorProduct, loads, ""), Build::fast, m);
  ASSERT_FALSE(fault) << fault->describe();
  EXPECT_NE(m.d[0], m.d[0]);
  expect_tensor_fault(replaced(kTensorProduct, wait, ""), FaultKind::race,
                      "with nothing that waits for its tcgen05.commit");
}

TEST(ShimBlackwell, WhatIsMissingIsFound) {
  struct Planted {
    const char *what, *by;
    FaultKind kind;
    const char* message;
  };
  for (const Planted& planted : {
           Planted{"    mbarrier::wait(read, 0);\n", "", FaultKind::race, "tensor memory"},
           Planted{"  tma::fence();\n", "", FaultKind::race, "by tcgen05.mma"},
           Planted{"    tcgen05::commit(done);\n    mbarrier::wait(read, 0);\n", "    mbarrier::wait(read, 0);\n",
                   FaultKind::deadlock, "waits at the mbarrier"},
           Planted{"    mbarrier::wait(done, 1);\n", "", FaultKind::race, "to which tcgen05.mma still writes"},
           Planted{"  if (warp == 2) tcgen05::dealloc(at, 64);\n", "", FaultKind::deadlock, "64 columns"},
           Planted{"tcgen05::dealloc(at, 64)", "tcgen05::dealloc(at, 32)", FaultKind::trap, "not what one"},
           Planted{"alloc(shared_address(&slot), 64);", "alloc(shared_address(&slot), 32);", FaultKind::out_of_bounds,
                   "columns 0 to 63 of tensor memory, which the block has not allocated"},
           Planted{"alloc(shared_address(&slot), 64);", "alloc(shared_address(&slot), 48);", FaultKind::trap, "48"},
           Planted{"    tcgen05::relinquish();\n",
                   "    tcgen05::relinquish();\n    tcgen05::alloc(shared_address(&slot), 64);\n", FaultKind::trap,
                   "relinquish"},
           Planted{"    tcgen05::relinquish();\n", "    tcgen05::alloc(shared_address(&slot), 512);\n",
                   FaultKind::deadlock, "waits forever"},
           Planted{"(warp % 4 * 32 << 16)", "(warp / 5 * 32 << 16)", FaultKind::out_of_bounds, "reaches only those"},
           Planted{"what, k > 0);", "what, 1);", FaultKind::uninitialised, "adds to column"},
           Planted{"instruction<tcgen05::f16>(64)", "instruction<tcgen05::f16>(72)", FaultKind::trap, "72 columns"},
           Planted{"instruction<tcgen05::f16>(64)", "instruction<tcgen05::f16>(64) ^ 12u << 24", FaultKind::unsupported,
                   "another kind"},
           Planted{"left = tcgen05::k_major_tile(a_at),", "left = tcgen05::k_major_tile(a_at) ^ 1ull << 46,",
                   FaultKind::trap, "bits 46 to 48"},
           Planted{"  if (warp == 2) {\n", "  if (t == 64) {\n", FaultKind::deadlock, "tcgen05.alloc"},
       }) {
    SCOPED_TRACE(planted.by);
    expect_tensor_fault(replaced(kTensorProduct, planted.what, planted.by), planted.kind, planted.message);
  }
}

TEST(ShimBlackwell, TilesThatAProductStillReadsMayNotBeWritten) {
  const std::string late = "  __syncthreads();\n  if (warp == 2) tcgen05::dealloc(at, 64);\n";
  expect_tensor_fault(
      replaced(kTensorProduct, "    tcgen05::commit(done);\n    mbarrier::wait(read, 0);\n",
               "    put(a_tile, 0, 0, 1.0f);\n    tcgen05::commit(done);\n    mbarrier::wait(read, 0);\n"),
      FaultKind::race, "tcgen05.mma");
  TensorMatrices m;
  const auto fault = run_tensor_product(replaced(kTensorProduct, late, late + "  put(a_tile, t / 64, t % 64, 1.0f);\n"),
                                        Build::check, m);
  EXPECT_FALSE(fault) << fault->describe();
}

}  // namespace
}  // namespace sandbox::cpu

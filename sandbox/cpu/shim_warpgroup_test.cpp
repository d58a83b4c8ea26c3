// Products of warpgroups (wgmma) on the cpu device: what they compute from every layout, in both builds, and that the
// checking build finds what is missing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "sandbox/cpu/test_device_fixture.h"

namespace sandbox::cpu {
namespace {
using runtime::Order;
using test::Device;
using test::replaced;
using test::with_headers;
using testing::HasSubstr;

// a: 64 x 64, b: 64 x 64 of halves in shared memory, swizzled by 128 as TMA would; d: 64 x 64 floats.
std::string product(const std::string& body) {
  return R"(
#include <cuda_fp16.h>
#include <kw/pack.cuh>
#include <kw/shared.cuh>
#include <kw/tma.cuh>
#include <kw/wgmma.cuh>
__device__ void put(unsigned char* tile, int row, int column, __half value) {
  *(__half*)(tile + kw::swizzled(row, column / 8) + column % 8 * 2) = value;
}
extern "C" __global__ void k(const float* a, const float* b, float* d) {
  extern __shared__ __align__(1024) unsigned char tiles[];
  unsigned char *a_tile = tiles, *b_tile = tiles + 8192;
  const int t = threadIdx.x;
  for (int i = t; i < 64 * 64; i += 128) {
    put(a_tile, i / 64, i % 64, __float2half(a[i]));
    put(b_tile, i / 64, i % 64, __float2half(b[i]));
  }
  kw::tma::fence();
  __syncthreads();
  float sums[32];
  const unsigned a_at = kw::shared_address(a_tile), b_at = kw::shared_address(b_tile);
)" + body +
         R"(
  const int row = t / 32 * 16 + t % 32 / 4, column = t % 4 * 2;
  for (int j = 0; j < 8; ++j) {
    for (int r = 0; r < 2; ++r) {
      for (int s = 0; s < 2; ++s) d[(row + 8 * r) * 64 + 8 * j + column + s] = sums[4 * j + 2 * r + s];
    }
  }
}
)";
}

struct Matrices {
  std::vector<float> a, b, d;
};
// `launch`: of kernel k, with 16 KiB of shared memory.
std::optional<Fault> run_product(
    const std::string& source, Build build, Matrices& m,
    const std::function<std::optional<Fault>(Device&)>& launch = [](Device& device) {
      return device.launch("k", 1, 128, Order::seeded, 16384);
    }) {
  Device device(with_headers(source), build);
  std::mt19937 random(3);
  float* a = device.add_floats("a", 64 * 64);
  float* b = device.add_floats("b", 64 * 64);
  float* d = device.add_floats("d", 64 * 64, -1);
  for (int i = 0; i < 64 * 64; ++i) {
    a[i] = static_cast<float>(static_cast<int>(random() % 9) - 4);
    b[i] = static_cast<float>(static_cast<int>(random() % 9) - 4);
  }
  auto fault = launch(device);
  m = {{a, a + 4096}, {b, b + 4096}, {d, d + 4096}};
  return fault;
}

// b_along_n: b is [k][n], else [n][k].
void expect_product(const Matrices& m, bool b_along_n) {
  for (size_t row = 0; row < 64; ++row) {
    for (size_t n = 0; n < 64; ++n) {
      float sum = 0;
      for (size_t k = 0; k < 64; ++k) sum += m.a[row * 64 + k] * m.b[b_along_n ? k * 64 + n : n * 64 + k];
      ASSERT_EQ(m.d[row * 64 + n], sum) << row << ", " << n;
    }
  }
}

const std::string kAlongK = R"(
  kw::wgmma::fence();
  for (int k = 0; k < 4; ++k) {
    kw::wgmma::multiply<kw::wgmma::f16>(sums, kw::wgmma::k_major_tile(a_at) + k * 2, kw::wgmma::k_major_tile(b_at) + k * 2,
                                        k > 0);
  }
  kw::wgmma::commit();
  kw::wgmma::wait<0>();
)";

TEST(ShimWarpgroup, ProductsOfWarpgroupsReadEveryLayout) {
  const std::string along_n = R"(
  kw::wgmma::fence();
  for (int k = 0; k < 4; ++k) {
    kw::wgmma::multiply<kw::wgmma::f16, kw::wgmma::mn_major>(sums, kw::wgmma::k_major_tile(a_at) + k * 2,
                                                             kw::wgmma::mn_major_tile(b_at, 8192) + k * 128, k > 0);
  }
  kw::wgmma::commit();
  kw::wgmma::wait<0>();
)";
  const std::string from_registers = R"(
  kw::wgmma::fence();
  for (int k = 0; k < 4; ++k) {
    const int row = t / 32 * 16 + t % 32 / 4, column = k * 16 + t % 4 * 2;
    unsigned words[4];
    for (int w = 0; w < 4; ++w) {
      const float* at = a + (row + w % 2 * 8) * 64 + column + w / 2 * 8;
      const __half2 two = __floats2half2_rn(at[0], at[1]);
      words[w] = *(const unsigned*)&two;
    }
    kw::wgmma::multiply<kw::wgmma::f16>(sums, words[0], words[1], words[2], words[3], kw::wgmma::k_major_tile(b_at) + k * 2,
                                        k > 0);
  }
  kw::wgmma::commit();
  kw::wgmma::wait<0>();
)";
  for (const Build build : {Build::fast, Build::check}) {
    for (const std::string& body : {kAlongK, along_n, from_registers}) {
      Matrices m;
      const auto fault = run_product(product(body), build, m);
      ASSERT_FALSE(fault) << fault->describe();
      expect_product(m, body == along_n);
    }
  }
}

TEST(ShimWarpgroup, WarpsOfABlockOfAClusterHaveTheirOwnQuarters) {
  const std::string five_warps = replaced(product(kAlongK), "i += 128", "i += blockDim.x");
  const std::string second_block =
      replaced(five_warps, "  float sums", "  if (t >= 128 || blockIdx.x == 0) return;\n  float sums");
  Matrices m;
  const auto fault = run_product(second_block, Build::check, m, [](Device& device) {
    return device.launch_clusters("k", 2, 160, 2, Order::seeded, 16384);
  });
  ASSERT_FALSE(fault) << fault->describe();
  expect_product(m, false);
}

TEST(ShimWarpgroup, AProductFromInlineAssembly) {
  std::string sums, operands;
  for (int i = 0; i < 32; ++i) {
    sums += (i > 0 ? ", %" : "%") + std::to_string(i);
    operands += (i > 0 ? ", \"+f\"(sums[" : "\"+f\"(sums[") + std::to_string(i) + "])";
  }
  const std::string body = R"(
  asm volatile("wgmma.fence.sync.aligned;\n" ::: "memory");
  for (int k = 0; k < 4; ++k) {
    const unsigned long long da = kw::wgmma::k_major_tile(a_at) + k * 2, db = kw::wgmma::k_major_tile(b_at) + k * 2;
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %34, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {)" +
                           sums + R"(}, %32, %33, p, 1, 1, 0, 0;\n}\n"
                 : )" + operands +
                           R"( : "l"(da), "l"(db), "r"(k));
  }
  asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n" ::: "memory");
)";
  for (const Build build : {Build::fast, Build::check}) {
    Matrices m;
    const auto fault = run_product(product(body), build, m);
    ASSERT_FALSE(fault) << fault->describe();
    expect_product(m, false);
  }
}

TEST(ShimWarpgroup, TilesThatAProductStillReadsMayNotBeWritten) {
  Matrices m;
  const std::string early =
      replaced(kAlongK, "  kw::wgmma::wait<0>();\n", "  put(a_tile, t / 2, 0, __float2half(1.0f));\n");
  auto fault = run_product(product(early), Build::check, m);
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, FaultKind::race) << fault->describe();
  EXPECT_THAT(fault->message, HasSubstr("which wgmma read"));
  const std::string late =
      replaced(kAlongK, "  kw::wgmma::wait<0>();\n",
               "  kw::wgmma::wait<0>();\n  __syncthreads();\n  put(a_tile, t / 2, t % 2, __float2half(1.0f));\n");
  fault = run_product(product(late), Build::check, m);
  EXPECT_FALSE(fault) << fault->describe();
  const std::string source = replaced(product(kAlongK), "  kw::tma::fence();\n", "");
  Device device(with_headers(source), Build::check);
  for (const char* name : {"a", "b", "d"}) device.add_floats(name, 64 * 64);
  fault = device.launch("k", 1, 128, Order::forward, 16384);
  ASSERT_TRUE(fault);
  EXPECT_THAT(fault->message, HasSubstr("no fence.proxy.async"));
}

}  // namespace
}  // namespace sandbox::cpu

// mbarriers, copies by TMA, clusters and named barriers on the cpu device: what they compute, in both builds and every
// order, and that the checking build finds what is missing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sandbox/cpu/runtime/tensor_map_bits.h"
#include "sandbox/cpu/test_device_fixture.h"

namespace sandbox::cpu {
namespace {
using runtime::Order;
using test::Device;
using test::replaced;
using test::with_headers;
using testing::HasSubstr;

runtime::TensorMapBits map_of(float* base, std::vector<int64_t> shape, std::vector<uint16_t> box, int swizzle,
                              int element_bytes = 4) {
  runtime::TensorMapBits map;
  map.base = reinterpret_cast<std::byte*>(base);
  map.element_bytes = static_cast<uint8_t>(element_bytes);
  map.rank = static_cast<uint8_t>(shape.size());
  map.swizzle = static_cast<uint8_t>(swizzle);
  int64_t stride = element_bytes;
  for (size_t d = 0; d < shape.size(); ++d) {
    map.shape[d] = shape[d];
    map.box[d] = box[d];
    map.strides_bytes[d] = stride;
    stride *= shape[d];
  }
  return map;
}

// ---- A ring of two buffers: one warp copies rows of 64 floats, another adds them up.
const std::string kRing = R"(
#include <kw/mbarrier.cuh>
#include <kw/shared.cuh>
#include <kw/tma.cuh>
extern "C" __global__ void k(const float* x, float* y) {
  __shared__ __align__(128) float buffers[2][64];
  __shared__ unsigned long long barriers[4];
  const unsigned full = kw::shared_address(barriers), empty = full + 16;
  if (threadIdx.x == 0) {
    for (int s = 0; s < 2; ++s) {
      kw::mbarrier::init(full + 8 * s, 1);
      kw::mbarrier::init(empty + 8 * s, 1);
    }
    kw::mbarrier::fence_init();
  }
  __syncthreads();
  kw::Ring<2> ring;
  if (threadIdx.x == 32) {
    for (int row = 0; row < 7; ++row, ring.advance()) {
      kw::mbarrier::wait(empty + 8 * ring.stage, ring.phase ^ 1);
      kw::mbarrier::expect(full + 8 * ring.stage, 256);
      kw::tma::load_bytes(kw::shared_address(buffers[ring.stage]), x + row * 64, 256, full + 8 * ring.stage);
    }
  } else if (threadIdx.x < 32) {
    float sum = 0;
    for (int row = 0; row < 7; ++row, ring.advance()) {
      kw::mbarrier::wait(full + 8 * ring.stage, ring.phase);
      sum += buffers[ring.stage][threadIdx.x] + buffers[ring.stage][threadIdx.x + 32];
      __syncwarp();
      if (threadIdx.x == 0) kw::mbarrier::arrive(empty + 8 * ring.stage);
    }
    y[threadIdx.x] = sum;
  }
}
)";

std::optional<Fault> run_ring(const std::string& source, Build build, Order order, bool right = true) {
  Device device(with_headers(source), build);
  float* x = device.add_floats("x", 7 * 64);
  float* y = device.add_floats("y", 32, -1);
  for (int i = 0; i < 7 * 64; ++i) x[i] = static_cast<float>(i % 97);
  auto fault = device.launch("k", 1, 64, order);
  if (right && !fault) {
    for (int t = 0; t < 32; ++t) {
      float sum = 0;
      for (int row = 0; row < 7; ++row) sum += x[row * 64 + t] + x[row * 64 + t + 32];
      EXPECT_EQ(y[t], sum) << t;
    }
  }
  return fault;
}

TEST(ShimHopper, ARingOfBuffersIsFilledAndRead) {
  for (const Build build : {Build::fast, Build::check}) {
    for (const Order order : {Order::forward, Order::reverse, Order::seeded}) {
      const auto fault = run_ring(kRing, build, order);
      EXPECT_FALSE(fault) << fault->describe();
    }
  }
}

// A copy reports to a barrier that is visible to copies.
TEST(ShimHopper, BarriersAreFencedBeforeCopiesReportToThem) {
  const std::string fence = "    kw::mbarrier::fence_init();\n", proxy = "    kw::tma::fence();\n",
                    producer = "  if (threadIdx.x == 32) {\n", without = replaced(kRing, fence, "");
  for (const Order order : {Order::forward, Order::reverse}) {
    for (const std::string& right : {replaced(kRing, fence, proxy), replaced(without, producer, producer + proxy)}) {
      const auto fault = run_ring(right, Build::check, order);
      EXPECT_FALSE(fault) << fault->describe();
    }
    for (const std::string& wrong :
         {without, replaced(without, "    for (int s = 0;", fence + proxy + "    for (int s = 0;"),
          replaced(without, "  __syncthreads();\n",
                   "  if (threadIdx.x == 32) {\n" + fence + proxy + "  }\n  __syncthreads();\n")}) {
      const auto fault = run_ring(wrong, Build::check, order, false);
      ASSERT_TRUE(fault) << wrong;
      EXPECT_EQ(fault->kind, FaultKind::race) << fault->describe();
      EXPECT_THAT(fault->message, HasSubstr("thread (0,0,0) initialised with no fence.mbarrier_init"));
    }
  }
}

TEST(ShimHopper, WhatARingLacksIsFound) {
  struct Planted {
    const char *what, *by;
    FaultKind kind;
    const char* message;
  };
  for (const Planted& planted :
       {Planted{"kw::mbarrier::wait(full + 8 * ring.stage, ring.phase);", "", FaultKind::uninitialised, "buffers"},
        Planted{"kw::mbarrier::wait(empty + 8 * ring.stage, ring.phase ^ 1);", "", FaultKind::deadlock,
                "more threads arrive"},
        Planted{"      __syncwarp();\n", "", FaultKind::race, "asynchronous copy"},
        Planted{"kw::mbarrier::expect(full + 8 * ring.stage, 256);",
                "kw::mbarrier::expect(full + 8 * ring.stage, 512);", FaultKind::deadlock, "256 bytes"},
        Planted{"kw::mbarrier::init(full + 8 * s, 1);", "", FaultKind::uninitialised, "no mbarrier"},
        Planted{"  __syncthreads();\n  kw::Ring", "  kw::Ring", FaultKind::uninitialised, "no mbarrier"},
        Planted{"if (threadIdx.x == 0) kw::mbarrier::arrive", "kw::mbarrier::arrive", FaultKind::deadlock,
                "more threads arrive"},
        Planted{"x + row * 64, 256", "x + row * 64 + 1, 256", FaultKind::misaligned, "multiples of 16"},
        Planted{"x + row * 64, 256", "x + row * 64 + 128, 256", FaultKind::out_of_bounds, "past the end of 'x'"}}) {
    const auto fault = run_ring(replaced(kRing, planted.what, planted.by), Build::check, Order::reverse, false);
    ASSERT_TRUE(fault) << planted.what;
    EXPECT_EQ(fault->kind, planted.kind) << planted.what << "\n" << fault->describe();
    EXPECT_THAT(fault->message, HasSubstr(planted.message)) << planted.what;
  }
}

// ---- Boxes of tensor maps
const std::string kBoxes = R"(
#include <kw/mbarrier.cuh>
#include <kw/shared.cuh>
#include <kw/tma.cuh>
extern "C" __global__ void k(const __grid_constant__ CUtensorMap from, const __grid_constant__ CUtensorMap to, float* y) {
  extern __shared__ __align__(1024) float tile[];
  __shared__ unsigned long long barrier;
  const unsigned at = kw::shared_address(&barrier), place = kw::shared_address(tile);
  if (threadIdx.x == 0) {
    kw::mbarrier::init(at, 1);
    kw::tma::fence();
    kw::mbarrier::expect(at, 16 * 32 * 4);
    asm volatile("cp.async.bulk.prefetch.tensor.2d.L2.global.tile.L2::cache_hint [%0, {%1, %2}], %3;"
                 :: "l"(&from), "r"(-8), "r"(3), "l"(0ull) : "memory");
    kw::tma::load(place, &from, -8, 3, at);
  }
  __syncthreads();
  kw::mbarrier::wait(at, 0);
  for (int i = threadIdx.x; i < 16 * 32; i += 32) {
    const int row = i / 32, chunk = i % 32 / 4;
    float* element = tile + kw::swizzled(row, chunk) / 4 + i % 4;
    y[i] = *element;
    *element += 1;
  }
  kw::tma::fence();
  __syncthreads();
  if (threadIdx.x == 0) {
    kw::tma::store(&to, -8, 3, place);
    kw::tma::commit();
    kw::tma::wait_read<0>();
  }
}
)";

std::optional<Fault> run_boxes(const std::string& source, Build build, std::vector<float>& y, std::vector<float>& to) {
  Device device(with_headers(source), build);
  float* x = nullptr;
  {
    Device& d = device;
    x = d.add_floats("x", 40 * 12);
  }
  for (int i = 0; i < 40 * 12; ++i) x[i] = static_cast<float>(i + 1);
  float* out = device.add_floats("out", 40 * 12, -1);
  float* seen = device.add_floats("y", 16 * 32, -1);
  device.set_argument(0, map_of(x, {40, 12}, {32, 16}, 128));
  device.set_argument(1, map_of(out, {40, 12}, {32, 16}, 128));
  auto fault = device.launch("k", 1, 32, Order::forward, 16 * 32 * 4);
  y.assign(seen, seen + 16 * 32);
  to.assign(out, out + 40 * 12);
  return fault;
}

TEST(ShimHopper, BoxesAreSwizzledAndCutAtTheTensorsEdges) {
  for (const Build build : {Build::fast, Build::check}) {
    std::vector<float> y, out;
    const auto fault = run_boxes(kBoxes, build, y, out);
    ASSERT_FALSE(fault) << fault->describe();
    for (int r = 0; r < 16; ++r) {
      for (int c = 0; c < 32; ++c) {
        const int column = c - 8, row = r + 3;
        const bool inside = column >= 0 && row < 12;
        EXPECT_EQ(y[static_cast<size_t>(r * 32 + c)], inside ? static_cast<float>(row * 40 + column + 1) : 0.0f);
      }
    }
    for (int row = 0; row < 12; ++row) {
      for (int column = 0; column < 40; ++column) {
        const bool written = row >= 3 && column < 24;
        EXPECT_EQ(out[static_cast<size_t>(row * 40 + column)],
                  written ? static_cast<float>(row * 40 + column + 2) : -1.0f);
      }
    }
  }
}

TEST(ShimHopper, WhatAStoreLacksIsFound) {
  struct Planted {
    const char *what, *by, *message;
  };
  for (const Planted& planted :
       {Planted{"  kw::tma::fence();\n  __syncthreads();\n  if", "  __syncthreads();\n  if", "no fence.proxy.async"},
        Planted{"  __syncthreads();\n  if (threadIdx.x == 0) {\n    kw::tma::store",
                "  if (threadIdx.x == 0) {\n    kw::tma::store", "asynchronous copy"},
        Planted{"    kw::tma::wait_read<0>();\n", "", "returns while a bulk store"},
        Planted{"    kw::tma::wait_read<0>();\n", "    tile[0] = 1;\n    kw::tma::wait_read<0>();\n",
                "asynchronous copy"},
        Planted{"    kw::tma::commit();\n", "", "returns while a bulk store"}}) {
    std::vector<float> y, out;
    const auto fault = run_boxes(replaced(kBoxes, planted.what, planted.by), Build::check, y, out);
    ASSERT_TRUE(fault) << planted.what;
    EXPECT_EQ(fault->kind, FaultKind::race) << fault->describe();
    EXPECT_THAT(fault->message, HasSubstr(planted.message)) << planted.what;
  }
}

// ---- Clusters: each block adds what the block of the next rank has.
const std::string kNeighbours = R"(
#include <cooperative_groups.h>
#include <kw/cluster.cuh>
#include <kw/shared.cuh>
extern "C" __global__ void k(const float* x, float* y) {
  __shared__ float own[64], given[64];
  const int rank = cooperative_groups::this_cluster().block_rank(), next = (rank + 1) % 4, t = threadIdx.x;
  own[t] = x[blockIdx.x * 64 + t];
  kw::cluster::arrive<4>();
  kw::cluster::wait<4>();
  const float other = kw::cluster::load(kw::cluster::map(kw::shared_address(&own[t]), next));
  kw::cluster::store(kw::cluster::map(kw::shared_address(&given[t]), next), other);
  float* direct = cooperative_groups::this_cluster().map_shared_rank(own, next);
  const float same = direct[t];
  kw::cluster::sync<4>();
  y[blockIdx.x * 64 + t] = other + 100 * given[t] + 10000 * same;
}
)";

std::optional<Fault> run_cluster(const std::string& source, Build build, Order order, std::vector<float>& y) {
  test::Device device(with_headers(source), build);
  float* x = device.add_floats("x", 8 * 64);
  float* out = device.add_floats("y", 8 * 64, -1);
  for (int i = 0; i < 8 * 64; ++i) x[i] = static_cast<float>(i / 64 + 1);
  auto fault = device.launch_clusters("k", 8, 64, 4, order);
  y.assign(out, out + 8 * 64);
  return fault;
}

TEST(ShimHopper, BlocksOfAClusterReachEachOther) {
  for (const Build build : {Build::fast, Build::check}) {
    for (const Order order : {Order::forward, Order::reverse, Order::seeded}) {
      std::vector<float> y;
      const auto fault = run_cluster(kNeighbours, build, order, y);
      ASSERT_FALSE(fault) << fault->describe();
      for (int block = 0; block < 8; ++block) {
        const auto next = static_cast<float>(block / 4 * 4 + (block + 1) % 4 + 1), own = static_cast<float>(block + 1);
        for (int t = 0; t < 64; ++t) {
          EXPECT_EQ(y[static_cast<size_t>(block * 64 + t)], next + 100 * own + 10000 * next) << block;
        }
      }
    }
  }
}

// Another block's shared memory is there when the cluster has met.
TEST(ShimHopper, BlocksOfAClusterMeetBeforeTheyReachEachOther) {
  const std::string source = R"(
#include <cooperative_groups.h>
#include <kw/cluster.cuh>
#include <kw/mbarrier.cuh>
#include <kw/shared.cuh>
extern "C" __global__ void k(const float* x, float* y) {
  __shared__ float given[64];
  __shared__ unsigned long long barrier;
  const unsigned at = kw::shared_address(&barrier);
  const auto cluster = cooperative_groups::this_cluster();
  const int t = threadIdx.x, next = (cluster.block_rank() + 1) % 4;
  float* theirs = cluster.map_shared_rank(given, next);
  const unsigned mapped = kw::cluster::map(kw::shared_address(&given[t]), next);
  given[t] = 0;
  if (t == 0) kw::mbarrier::init(at, 4);
  __syncthreads();
  kw::cluster::arrive<4>();
  kw::cluster::wait<4>();
  USE
  kw::cluster::sync<4>();
  y[blockIdx.x * 64 + t] = given[t];
}
)";
  const std::string meeting = "  kw::cluster::arrive<4>();\n  kw::cluster::wait<4>();\n";
  for (const char* use :
       {"theirs[t] = 3;", "atomicAdd(&theirs[t], 3.0f);",
        "const float old = kw::cluster::load(mapped);\n kw::cluster::sync<4>();\n given[t] = old + 3;",
        "if (t == 0) kw::mbarrier::arrive_at<4>(at, 0);\n given[t] = 3;"}) {
    const std::string right = replaced(source, "USE", use);
    std::vector<float> y;
    auto fault = run_cluster(right, Build::check, Order::seeded, y);
    EXPECT_FALSE(fault) << use << fault->describe();
    EXPECT_EQ(y[0], 3) << use;
    for (const std::string& wrong :
         {replaced(right, meeting, ""), replaced(right, "  kw::cluster::wait<4>();\n", "  __syncthreads();\n")}) {
      fault = run_cluster(wrong, Build::check, Order::forward, y);
      ASSERT_TRUE(fault) << wrong;
      EXPECT_EQ(fault->kind, FaultKind::race) << fault->describe();
      EXPECT_THAT(fault->message, HasSubstr("may not have begun")) << use;
    }
  }
}

TEST(ShimHopper, ARelaxedArrivalPublishesNothing) {
  const std::string arrive = "  kw::cluster::arrive<4>();\n",
                    relaxed = "  asm volatile(\"barrier.cluster.arrive.relaxed.aligned;\" ::: \"memory\");\n",
                    fence = "  asm volatile(\"fence.acq_rel.cluster;\" ::: \"memory\");\n";
  const std::string at_end = relaxed + "  kw::cluster::wait<4>();\n  y[blockIdx";
  for (const Order order : {Order::forward, Order::seeded}) {
    std::vector<float> y;
    for (const std::string& fenced : {fence + relaxed, "  __threadfence();\n" + relaxed}) {
      const auto fault = run_cluster(replaced(kNeighbours, arrive, fenced), Build::check, order, y);
      EXPECT_FALSE(fault) << fault->describe();
    }
    auto fault = run_cluster(replaced(kNeighbours, "  y[blockIdx", at_end), Build::check, order, y);
    EXPECT_FALSE(fault) << fault->describe();
    const std::string no_fence = replaced(kNeighbours, arrive, relaxed);
    for (const std::string& wrong :
         {no_fence, replaced(kNeighbours, "  kw::cluster::sync<4>();\n", relaxed + "  kw::cluster::wait<4>();\n")}) {
      fault = run_cluster(wrong, Build::check, order, y);
      ASSERT_TRUE(fault) << wrong;
      EXPECT_EQ(fault->kind, FaultKind::race) << fault->describe();
      EXPECT_THAT(fault->message, HasSubstr("only a relaxed arrival at the cluster's barrier")) << wrong;
    }
  }
}

TEST(ShimHopper, WhatAClusterLacksIsFound) {
  std::vector<float> y;
  auto fault = run_cluster(replaced(kNeighbours, "  kw::cluster::sync<4>();\n", "  __syncthreads();\n"), Build::check,
                           Order::forward, y);
  ASSERT_TRUE(fault);
  EXPECT_TRUE(fault->kind == FaultKind::race || fault->kind == FaultKind::uninitialised) << fault->describe();
  fault = run_cluster(replaced(kNeighbours, "  kw::cluster::wait<4>();\n", ""), Build::check, Order::forward, y);
  ASSERT_TRUE(fault);
  EXPECT_TRUE(fault->kind == FaultKind::race || fault->kind == FaultKind::uninitialised) << fault->describe();
  fault =
      run_cluster(replaced(kNeighbours, "next = (rank + 1) % 4", "next = rank + 1"), Build::check, Order::forward, y);
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, FaultKind::out_of_bounds) << fault->describe();
  EXPECT_THAT(fault->message, HasSubstr("no block of rank 4"));
}

const std::string kMulticast = R"(
#include <cooperative_groups.h>
#include <kw/cluster.cuh>
#include <kw/mbarrier.cuh>
#include <kw/shared.cuh>
#include <kw/tma.cuh>
extern "C" __global__ void k(const float* x, float* y) {
  __shared__ __align__(128) float row[64];
  __shared__ unsigned long long barrier;
  const unsigned at = kw::shared_address(&barrier);
  if (threadIdx.x == 0) {
    kw::mbarrier::init(at, 1);
    kw::mbarrier::fence_init();
    kw::mbarrier::expect(at, 256);
  }
  kw::cluster::sync<4>();
  if (threadIdx.x == 0 && cooperative_groups::this_cluster().block_rank() == 2) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, [%3], %4;"
                 :: "r"(kw::shared_address(row)), "l"(x), "r"(256), "r"(at), "h"((unsigned short)15) : "memory");
  }
  kw::mbarrier::wait(at, 0);
  y[blockIdx.x * 64 + threadIdx.x] = row[threadIdx.x];
}
)";

TEST(ShimHopper, OneCopyFillsEveryBlockOfACluster) {
  for (const Build build : {Build::fast, Build::check}) {
    Device device(with_headers(kMulticast), build);
    float* x = device.add_floats("x", 64);
    float* y = device.add_floats("y", 4 * 64, -1);
    for (int i = 0; i < 64; ++i) x[i] = static_cast<float>(i);
    const auto fault = device.launch_clusters("k", 4, 64, 4);
    ASSERT_FALSE(fault) << fault->describe();
    for (int i = 0; i < 4 * 64; ++i) EXPECT_EQ(y[i], static_cast<float>(i % 64));
  }
  Device device(with_headers(replaced(kMulticast, "  kw::cluster::sync<4>();\n", "  __syncthreads();\n")),
                Build::check);
  device.add_floats("x", 64);
  device.add_floats("y", 4 * 64);
  const auto fault = device.launch_clusters("k", 4, 64, 4);
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, FaultKind::race) << fault->describe();
  EXPECT_THAT(fault->message, HasSubstr("may not have begun"));
}

// ---- Barriers of some warps, and copies of single threads
TEST(ShimHopper, WarpsTakeTurnsAtNamedBarriers) {
  const std::string source = R"(
#include <kw/warpgroup.cuh>
extern "C" __global__ void k(float* y) {
  __shared__ float hand[64];
  const int t = threadIdx.x;
  for (int round = 0; round < 3; ++round) {
    if (t < 64) {
      kw::warpgroup::sync<128>(1);
      hand[t] = round * 100 + t;
      kw::warpgroup::arrive<128>(2);
    } else {
      kw::warpgroup::arrive<128>(1);
      kw::warpgroup::sync<128>(2);
      y[t - 64] += hand[t - 64];
    }
  }
}
)";
  for (const Build build : {Build::fast, Build::check}) {
    Device device(with_headers(source), build);
    const float* y = device.add_floats("y", 64);
    const auto fault = device.launch("k", 1, 128, Order::seeded);
    ASSERT_FALSE(fault) << fault->describe();
    for (int t = 0; t < 64; ++t) EXPECT_EQ(y[t], static_cast<float>(300 + 3 * t));
  }
  Device device(
      with_headers(replaced(source, "      kw::warpgroup::sync<128>(1);\n", "      kw::warpgroup::arrive<128>(1);\n")),
      Build::check);
  device.add_floats("y", 64);
  const auto fault = device.launch("k", 1, 128);
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, FaultKind::race) << fault->describe();
}

const std::string kSmallCopies = R"(
extern "C" __global__ void k(const float* x, float* y) {
  __shared__ __align__(16) float tile[2][128];
  const int t = threadIdx.x;
  for (int row = 0; row < 2; ++row) {
    const unsigned to = (unsigned)__cvta_generic_to_shared(&tile[row][t * 4]);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" :: "r"(to), "l"(x + row * 128 + t * 4), "r"(t < 30 ? 16 : 4));
    asm volatile("cp.async.commit_group;");
  }
  asm volatile("cp.async.wait_group 1;");
  __syncthreads();
  y[t] = tile[0][127 - t];
  asm volatile("cp.async.wait_group 0;");
  __syncthreads();
  y[t] += tile[1][127 - t];
}
)";

TEST(ShimHopper, SmallCopiesEndWithTheirGroups) {
  for (const Build build : {Build::fast, Build::check}) {
    Device device(kSmallCopies, build);
    float* x = device.add_floats("x", 256);
    const float* y = device.add_floats("y", 32);
    for (int i = 0; i < 256; ++i) x[i] = static_cast<float>(i);
    const auto fault = device.launch("k", 1, 32);
    ASSERT_FALSE(fault) << fault->describe();
    for (int t = 0; t < 32; ++t) {
      const int at = 127 - t;
      const bool copied = at < 120 || at % 4 == 0;
      EXPECT_EQ(y[t], copied ? static_cast<float>(at + at + 128) : 0.0f) << t;
    }
  }
  // A cache policy is no number of bytes.
  const std::string usual = R"x("cp.async.cg.shared.global [%0], [%1], 16, %2;")x";
  for (const char* hinted : {R"x("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %3;")x",
                             R"x("cp.async.ca.shared.global.L2::cache_hint.L2::128B [%0], [%1], 16, 16, %3;")x"}) {
    const std::string source = replaced(replaced(kSmallCopies, usual, hinted), "t < 30 ? 16 : 4)", "t), \"l\"(0ull)");
    Device device(source, Build::check);
    float* x = device.add_floats("x", 256);
    const float* y = device.add_floats("y", 32);
    for (int i = 0; i < 256; ++i) x[i] = static_cast<float>(i);
    const auto fault = device.launch("k", 1, 32);
    ASSERT_FALSE(fault) << fault->describe();
    for (int t = 0; t < 32; ++t) EXPECT_EQ(y[t], static_cast<float>(127 - t + 255 - t)) << t;
  }
  Device device(replaced(kSmallCopies, "wait_group 1", "wait_group 2"), Build::check);
  device.add_floats("x", 256);
  device.add_floats("y", 32);
  const auto fault = device.launch("k", 1, 32);
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, FaultKind::uninitialised) << fault->describe();
}

// What the headers of kernels/include have no function for: states instead of parities, arrivals of several, of copies
// and of those who leave; barriers that end.
const std::string kOtherForms = R"(
extern "C" __global__ void k(const float* x, float* wrong) {
  __shared__ __align__(16) float tile[32];
  __shared__ unsigned long long barrier[2];
  const int t = threadIdx.x;
  const unsigned at = (unsigned)__cvta_generic_to_shared(barrier), copied = at + 8;
  unsigned elected = 0;
  asm volatile("{\n.reg .pred p;\nelect.sync _|p, 0xffffffff;\nselp.u32 %0, 1, 0, p;\n}" : "=r"(elected));
  if (elected != (t == 0)) wrong[0] = 1;
  if (elected) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 33;" :: "r"(at));
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 32;" :: "r"(copied));
    asm volatile("fence.proxy.async;");
  }
  __syncwarp();
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" :: "l"(x), "r"(128));
  asm volatile("setmaxnreg.inc.sync.aligned.u32 64;");
  asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
  unsigned long long state = 0;
  asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1];" : "=l"(state) : "r"(at));
  unsigned done = 1;
  asm volatile("{\n.reg .pred p;\nmbarrier.test_wait.shared::cta.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}"
               : "=r"(done) : "r"(at), "l"(state));
  if (done) wrong[1] = 1;
  __syncwarp();
  if (t == 0) asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0], 1;" :: "r"(at));
  asm volatile("{\n.reg .pred p;\nagain:\nmbarrier.try_wait.shared::cta.b64 p, [%0], %1;\n@!p bra again;\n}" :: "r"(at), "l"(state));
  // One leaves, 31 arrive by two in the next phase, which also waits for bytes.
  if (t == 0) {
    asm volatile("mbarrier.arrive_drop.shared::cta.b64 _, [%0];" :: "r"(at));
    asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], 128;" :: "r"(at));
    asm volatile("cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%0], [%1], 128, [%2];"
                 :: "r"((unsigned)__cvta_generic_to_shared(tile)), "l"(x), "r"(at));
  }
  __syncwarp();
  if (t < 16) asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0], 2;" :: "r"(at));
  asm volatile("{\n.reg .pred p;\nspin:\nmbarrier.test_wait.parity.shared::cta.b64 p, [%0], 1;\n@!p bra spin;\n}" :: "r"(at));
  if (tile[t] != x[t]) wrong[2] = 1;
  __syncwarp();
  asm volatile("cp.async.ca.shared::cta.global [%0], [%1], 4;" :: "r"((unsigned)__cvta_generic_to_shared(tile + t)), "l"(x + 31 - t));
  asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" :: "r"(copied));
  asm volatile("{\n.reg .pred p;\nagain:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0;\n@!p bra again;\n}" :: "r"(copied));
  if (tile[31 - t] != x[t]) wrong[3] = 1;
  __syncwarp();
  asm volatile("cp.async.ca.shared::cta.global [%0], [%1], 4;" :: "r"((unsigned)__cvta_generic_to_shared(tile + t)), "l"(x + t));
  asm volatile("cp.async.wait_all;");
  if (tile[t] != x[t]) wrong[4] = 1;
  __syncwarp();
  if (t == 0) asm volatile("mbarrier.inval.shared::cta.b64 [%0];" :: "r"(at));
}
)";

TEST(ShimHopper, OtherFormsOfTheseInstructions) {
  for (const Build build : {Build::fast, Build::check}) {
    Device device(kOtherForms, build);
    float* x = device.add_floats("x", 32);
    const float* wrong = device.add_floats("wrong", 8);
    for (int i = 0; i < 32; ++i) x[i] = static_cast<float>(i * i);
    const auto fault = device.launch("k", 1, 32);
    ASSERT_FALSE(fault) << fault->describe();
    for (int i = 0; i < 8; ++i) EXPECT_EQ(wrong[i], 0.0f) << i;
  }
  Device device(replaced(kOtherForms, "\"r\"(128)", "\"r\"(120)"));
  device.add_floats("x", 32);
  device.add_floats("wrong", 8);
  const auto fault = device.launch("k", 1, 32);
  ASSERT_TRUE(fault);
  EXPECT_THAT(fault->message, HasSubstr("multiples of 16"));
}

// ---- Bulk updates of global memory
const std::string kSums = R"(
extern "C" __global__ void k(float* sums) {
  __shared__ __align__(16) float part[32];
  part[threadIdx.x] = threadIdx.x + 1;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x != 0) return;
  asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], 128;"
               :: "l"(sums), "r"((unsigned)__cvta_generic_to_shared(part)) : "memory");
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
  asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}
)";

TEST(ShimHopper, BlocksAddUpInBulk) {
  for (const Build build : {Build::fast, Build::check}) {
    Device device(kSums, build);
    const float* sums = device.add_floats("sums", 32);
    const auto fault = device.launch("k", 4, 32, Order::seeded);
    ASSERT_FALSE(fault) << fault->describe();
    for (int i = 0; i < 32; ++i) EXPECT_EQ(sums[i], static_cast<float>(4 * (i + 1)));
  }
}

TEST(ShimHopper, WhatABulkUpdateLacksIsFound) {
  struct Planted {
    const char *what, *by;
    FaultKind kind;
    const char* message;
  };
  for (const Planted& planted :
       {Planted{"  asm volatile(\"fence.proxy.async.shared::cta;\" ::: \"memory\");\n", "", FaultKind::race,
                "no fence.proxy.async"},
        Planted{"  asm volatile(\"cp.async.bulk.wait_group.read 0;\" ::: \"memory\");\n", "", FaultKind::race,
                "returns while a bulk store"},
        Planted{"  asm volatile(\"cp.async.bulk.wait_group",
                "  part[0] = 1;\n  asm volatile(\"cp.async.bulk.wait_group", FaultKind::race, "asynchronous copy"},
        Planted{"  __syncthreads();\n", "  __syncthreads();\n  sums[threadIdx.x] = 0;\n", FaultKind::race,
                "which another block of this launch wrote"},
        Planted{"\"l\"(sums)", "\"l\"(sums + 1)", FaultKind::misaligned, "multiples of 16"},
        Planted{"\"l\"(sums)", "\"l\"(sums + 4)", FaultKind::out_of_bounds,
                "updates 128 bytes at offset 16 of 'sums'"}}) {
    Device device(replaced(kSums, planted.what, planted.by), Build::check);
    device.add_floats("sums", 32);
    const auto fault = device.launch("k", 4, 32, Order::reverse);
    ASSERT_TRUE(fault) << planted.what << planted.by;
    EXPECT_EQ(fault->kind, planted.kind) << fault->describe();
    EXPECT_THAT(fault->message, HasSubstr(planted.message)) << planted.what;
  }
}

// The thread that begins one does not see how many came before.
TEST(ShimHopper, ABulkUpdateObservesNothing) {
  for (const bool observes : {false, true}) {
    std::string source = replaced(kSums, "  if (threadIdx.x != 0) return;\n", R"(
  if (threadIdx.x != 0) return;
  sums[32 + blockIdx.x] = 1;
  __threadfence();
)");
    source.insert(source.rfind('}'), (observes ? "  atomicAdd(sums + 48, 1.0f);\n" : "") +
                                         std::string("  if (blockIdx.x == 3) sums[52] = sums[32];\n"));
    Device device(source, Build::check);
    device.add_floats("sums", 64);
    const auto fault = device.launch("k", 4, 32);
    ASSERT_EQ(fault.has_value(), !observes);
    if (fault) {
      EXPECT_EQ(fault->kind, FaultKind::race);
      EXPECT_THAT(fault->message, HasSubstr("with nothing that orders the two"));
    }
  }
}

// Each type's 16 bytes, of what is there and what is added.
TEST(ShimHopper, BulkUpdatesOfEveryType) {
  struct Update {
    const char* operation;
    std::array<uint32_t, 4> old, by, expected;
  };
  const std::vector<Update> updates = {
      {"add.u32", {1, 2, 3, ~0u}, {1, 1, 1, 1}, {2, 3, 4, 0}},
      {"add.s32", {1, 2, 3, 4}, {~0u, ~0u, 0, 0}, {0, 1, 3, 4}},
      {"min.s32", {1, 2, 3, 4}, {~0u, 9, 9, 9}, {~0u, 2, 3, 4}},
      {"max.u32", {1, 2, 3, 4}, {~0u, 0, 0, 9}, {~0u, 2, 3, 9}},
      {"add.u64", {~0u, 0, 1, 2}, {1, 0, 1, 2}, {0, 1, 2, 4}},
      {"min.s64", {1, 0, 1, 0}, {0, ~0u, 2, 0}, {0, ~0u, 1, 0}},
      {"add.f64", {0, 0x3ff00000, 0, 0}, {0, 0x3ff00000, 0, 0}, {0, 0x40000000, 0, 0}},
      {"add.noftz.f16", {0x3c003c00, 0, 0, 0}, {0x40003c00, 1, 0, 0}, {0x42004000, 1, 0, 0}},
      {"add.noftz.bf16", {0x3f803f80, 0, 0, 0}, {0x40003f80, 1, 0, 0}, {0x40404000, 1, 0, 0}}};
  std::string source = "extern \"C\" __global__ void k(const uint4* by, uint4* y) { __shared__ uint4 s[16];\n";
  for (size_t i = 0; i < updates.size(); ++i) {
    const std::string at = std::to_string(i);
    source += "s[" + at + "] = by[" + at + "];\nasm volatile(\"fence.proxy.async;\");\n" +
              "asm volatile(\"cp.reduce.async.bulk.global.shared::cta.bulk_group.L2::cache_hint." +
              updates[i].operation + " [%0], [%1], 16, %2;\" :: \"l\"(y + " + at +
              "), \"r\"((unsigned)__cvta_generic_to_shared(s + " + at + ")), \"l\"(0ull));\n";
  }
  source += "asm volatile(\"cp.async.bulk.commit_group;\"); asm volatile(\"cp.async.bulk.wait_group 0;\"); }";
  for (const Build build : {Build::fast, Build::check}) {
    Device device(source, build);
    float* by = device.add_floats("by", 4 * updates.size());
    float* y = device.add_floats("y", 4 * updates.size());
    for (size_t i = 0; i < updates.size(); ++i) {
      std::memcpy(by + 4 * i, updates[i].by.data(), 16);
      std::memcpy(y + 4 * i, updates[i].old.data(), 16);
    }
    const auto fault = device.launch("k", 1, 1);
    ASSERT_FALSE(fault) << fault->describe();
    for (size_t i = 0; i < updates.size(); ++i) {
      EXPECT_EQ(std::memcmp(y + 4 * i, updates[i].expected.data(), 16), 0) << updates[i].operation;
    }
  }
}

// ---- Launches that overlap
TEST(ShimHopper, ADependentLaunchWaitsBeforeItReads) {
  for (const bool waits : {true, false}) {
    Device device(std::string(R"(
extern "C" __global__ void first(float* x, float* y) { x[threadIdx.x] = threadIdx.x; }
extern "C" __global__ void second(float* x, float* y) {
  )") + (waits ? "asm volatile(\"griddepcontrol.wait;\" ::: \"memory\");" : "") +
                      R"(
  y[threadIdx.x] = x[31 - threadIdx.x];
}
)",
                  Build::check);
    device.add_floats("x", 32);
    device.add_floats("y", 32);
    ASSERT_FALSE(device.launch("first", 1, 32));
    const auto fault = device.launch_dependent("second", 1, 32);
    EXPECT_EQ(fault.has_value(), !waits);
    if (fault) {
      EXPECT_EQ(fault->kind, FaultKind::race);
      EXPECT_THAT(fault->message, HasSubstr("no griddepcontrol.wait"));
    }
  }
}

// The third launch waits for the second. Whether the first has ended then depends on what the second did.
TEST(ShimHopper, ADependentLaunchEndsBeforeTheNextOnlyWhatItWaitsFor) {
  const std::string source = R"(
#define LET_NEXT_BEGIN asm volatile("griddepcontrol.launch_dependents;" ::: "memory")
#define WAIT asm volatile("griddepcontrol.wait;" ::: "memory")
extern "C" __global__ void first(float* x, float* y) { LET_NEXT_BEGIN; x[threadIdx.x] = 1; }
extern "C" __global__ void second(float* x, float* y) { SECOND; y[threadIdx.x] = 2; LAST; }
extern "C" __global__ void third(float* x, float* y) { THIRD x[threadIdx.x] += 1; }
extern "C" __global__ void fourth(float* x, float* y) { WAIT; x[threadIdx.x] += 1; }
)";
  struct Case {
    const char *second, *last, *third, *message;
  };
  const char *not_waited = "for which no griddepcontrol.wait of the launch before this one waited",
             *no_wait = "no griddepcontrol.wait in this block yet";
  for (const Case& c :
       {Case{"WAIT", "LET_NEXT_BEGIN", "WAIT;", nullptr}, Case{"LET_NEXT_BEGIN; WAIT", "", "WAIT;", nullptr},
        Case{"LET_NEXT_BEGIN", "WAIT", "WAIT;", nullptr}, Case{"if (blockIdx.x == 1) WAIT", "", "WAIT;", nullptr},
        Case{"LET_NEXT_BEGIN", "", "WAIT;", not_waited}, Case{"", "", "WAIT;", not_waited},
        Case{"WAIT", "LET_NEXT_BEGIN", "", nullptr}, Case{"WAIT", "", "", nullptr},
        Case{"LET_NEXT_BEGIN; WAIT", "", "", no_wait}, Case{"", "", "", no_wait}}) {
    Device device(replaced(replaced(replaced(source, "SECOND", c.second), "LAST", c.last), "THIRD", c.third),
                  Build::check);
    const float* x = device.add_floats("x", 32);
    device.add_floats("y", 32);
    ASSERT_FALSE(device.launch("first", 1, 32));
    ASSERT_FALSE(device.launch_dependent("second", 2, 32));
    const auto fault = device.launch_dependent("third", 1, 32);
    ASSERT_EQ(fault.has_value(), c.message != nullptr) << c.second << c.third;
    if (fault) {
      EXPECT_EQ(fault->kind, FaultKind::race);
      EXPECT_THAT(fault->message, HasSubstr(c.message)) << c.second << c.third;
      // A launch that overlaps none begins when all have ended.
      EXPECT_FALSE(device.launch("third", 1, 32));
    } else {
      EXPECT_EQ(x[0], 2);
      EXPECT_FALSE(device.launch_dependent("fourth", 1, 32));
    }
  }
}

}  // namespace
}  // namespace sandbox::cpu

// Operations of a warp and of a block, each against what CUDA's manual says of it; atomics; what is predefined.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "sandbox/cpu/test_device_fixture.h"

namespace sandbox::cpu {
namespace {
using test::Device;

constexpr runtime::Order kThreadOrders[] = {runtime::Order::forward, runtime::Order::reverse, runtime::Order::seeded};

// Launches `k` with 64 threads and holds what thread i wrote into data[i] to `expected`, in every thread order.
void expect_of_each_thread(const std::string& body, const std::function<double(int)>& expected, Build build) {
  Device device(
      "extern \"C\" __global__ void k(float* data) { const int i = threadIdx.x, lane = i % 32; " + body + " }", build);
  float* data = device.add_floats("data", 64);
  for (const runtime::Order order : kThreadOrders) {
    std::fill(data, data + 64, -1.0f);
    const auto fault = device.launch("k", 1, 64, order);
    ASSERT_FALSE(fault) << fault->describe();
    for (int i = 0; i < 64; ++i) EXPECT_EQ(data[i], expected(i)) << body << ", thread " << i;
  }
}

struct ThreadCase {
  const char* name;
  const char* body;
  double (*expected)(int thread);
};

std::ostream& operator<<(std::ostream& out, const ThreadCase& one) { return out << one.name; }
class WarpOperation : public testing::TestWithParam<ThreadCase> {};

TEST_P(WarpOperation, GivesEachLaneItsOwn) {
  for (const Build build : {Build::fast, Build::check}) {
    expect_of_each_thread(GetParam().body, GetParam().expected, build);
  }
}

const ThreadCase kThreadCases[] = {
    {"shfl", "data[i] = __shfl_sync(~0u, i, 5);", [](int i) { return i / 32 * 32 + 5.0; }},
    {"shfl_width", "data[i] = __shfl_sync(~0u, i, 9, 8);", [](int i) { return i / 8 * 8 + 1.0; }},
    {"shfl_up", "data[i] = __shfl_up_sync(~0u, i, 3);", [](int i) { return i % 32 < 3 ? i : i - 3.0; }},
    {"shfl_up_width", "data[i] = __shfl_up_sync(~0u, i, 1, 4);", [](int i) { return i % 4 < 1 ? i : i - 1.0; }},
    {"shfl_down", "data[i] = __shfl_down_sync(~0u, i, 4);", [](int i) { return i % 32 > 27 ? i : i + 4.0; }},
    {"shfl_down_width", "data[i] = __shfl_down_sync(~0u, i, 2, 16);", [](int i) { return i % 16 > 13 ? i : i + 2.0; }},
    {"shfl_xor", "data[i] = __shfl_xor_sync(~0u, (float)i, 16);", [](int i) { return static_cast<double>(i ^ 16); }},
    {"shfl_xor_width", "data[i] = __shfl_xor_sync(~0u, i, 8, 8);",
     [](int i) { return static_cast<double>((i ^ 8) > (i | 7) ? i : i ^ 8); }},
    {"shfl_double", "data[i] = __shfl_xor_sync(~0u, i + 0.5, 1);", [](int i) { return (i ^ 1) + 0.5; }},
    {"shfl_half_the_warp", "if (lane < 16) data[i] = __shfl_xor_sync(0xffffu, i, 1); else data[i] = 7;",
     [](int i) { return i % 32 < 16 ? i ^ 1 : 7.0; }},
    {"ballot", "data[i] = __popc(__ballot_sync(~0u, lane % 3 == 0));", [](int) { return 11.0; }},
    {"any", "data[i] = __any_sync(~0u, i == 40);", [](int i) { return i < 32 ? 0.0 : 1.0; }},
    {"all", "data[i] = __all_sync(~0u, i != 40);", [](int i) { return i < 32 ? 1.0 : 0.0; }},
    {"match_any", "data[i] = __popc(__match_any_sync(~0u, lane < 5 ? 1 : 2));",
     [](int i) { return i % 32 < 5 ? 5.0 : 27.0; }},
    {"match_all", "int same; data[i] = (__match_all_sync(~0u, i / 32, &same) == ~0u) * 10 + same;",
     [](int) { return 11.0; }},
    {"match_all_differing", "int same; data[i] = __match_all_sync(~0u, lane == 3, &same) * 10 + same;",
     [](int) { return 0.0; }},
    {"reduce_add", "data[i] = __reduce_add_sync(~0u, i);", [](int i) { return i < 32 ? 496.0 : 1520.0; }},
    {"reduce_min", "data[i] = __reduce_min_sync(~0u, -i);", [](int i) { return i < 32 ? -31.0 : -63.0; }},
    {"reduce_max", "data[i] = __reduce_max_sync(~0u, (unsigned)i);", [](int i) { return i < 32 ? 31.0 : 63.0; }},
    {"reduce_xor", "data[i] = __reduce_xor_sync(~0u, 1u << lane % 4);", [](int) { return 0.0; }},
    {"activemask_of_all", "data[i] = __activemask() == ~0u;", [](int) { return 1.0; }},
    {"activemask_of_a_branch",
     "data[i] = 0; if (lane % 2) { unsigned together = __activemask(); data[i] = __popc(together); "
     "data[i] += __shfl_sync(together, 100.0f, 1); }",
     [](int i) { return i % 2 ? 116.0 : 0.0; }},
    {"activemask_of_one_lane", "data[i] = 0; if (lane == 9) data[i] = __popc(__activemask());",
     [](int i) { return i % 32 == 9 ? 1.0 : 0.0; }},
    {"aggregated_atomics",
     "__shared__ int n; if (i == 0) n = 0; __syncthreads(); if (lane % 4 == 1) { unsigned m = __activemask(); "
     "if (lane == __ffs(m) - 1) atomicAdd(&n, __popc(m)); } __syncthreads(); data[i] = n;",
     [](int) { return 16.0; }},
    {"syncthreads_count", "data[i] = __syncthreads_count(i % 5 == 0);", [](int) { return 13.0; }},
    {"syncthreads_and", "data[i] = __syncthreads_and(i < 63);", [](int) { return 0.0; }},
    {"syncthreads_or", "data[i] = __syncthreads_or(i == 63);", [](int) { return 1.0; }},
    {"lock",
     "__shared__ int lock; __shared__ float sum; if (i == 0) { lock = 0; sum = 0; } __syncthreads();"
     "while (atomicCAS(&lock, 0, 1) != 0) {} atomicExch(&sum, atomicAdd(&sum, 0.0f) + 1.0f); atomicExch(&lock, 0);"
     "__syncthreads(); data[i] = sum;",
     [](int) { return 64.0; }},
};
INSTANTIATE_TEST_SUITE_P(All, WarpOperation, testing::ValuesIn(kThreadCases),
                         [](const auto& one) { return std::string(one.param.name); });

TEST(Atomics, EachDoesWhatItsNameSays) {
  Device device(R"(extern "C" __global__ void k(float* out) {
      __shared__ int s[8]; __shared__ unsigned u[8]; __shared__ float f[2]; __shared__ double d; __shared__ unsigned long long q;
      __shared__ float4 v;
      if (threadIdx.x == 0) { s[0] = s[1] = s[2] = s[3] = s[4] = 0; s[5] = 100; s[6] = ~0; s[7] = -5; u[0] = u[1] = 0; u[2] = 3; f[0] = 0; d = 0; q = 0;
                              v = make_float4(0, 0, 0, 0); }
      __syncthreads();
      int i = threadIdx.x;
      atomicAdd(&s[0], i); atomicSub(&s[1], i); atomicMax(&s[2], i); atomicMin(&s[3], -i); atomicOr(&s[4], 1 << i % 8);
      atomicXor(&s[5], i); atomicAnd(&s[6], ~(1 << i % 4)); atomicMax(&s[7], -i - 1);
      atomicInc(&u[0], 9); atomicDec(&u[1], 4); atomicAdd(&u[2], 2u);
      atomicAdd(&f[0], 0.5f); atomicAdd(&d, 0.25); atomicAdd_block(&q, 3ull); atomicAdd(&v, make_float4(1, 2, 3, 4));
      __syncthreads();
      if (i == 0) { for (int k = 0; k < 8; ++k) out[k] = s[k]; for (int k = 0; k < 3; ++k) out[8 + k] = u[k]; out[11] = f[0];
                    out[12] = d; out[13] = q; out[14] = v.x + v.y * 10 + v.w * 100; } })",
                Build::check);
  const float* out = device.add_floats("out", 15);
  const auto fault = device.launch("k", 1, 64);
  ASSERT_FALSE(fault) << fault->describe();
  const float expected[] = {2016, -2016, 63, -63, 255, 100, -16, -1, 4, 1, 131, 32, 16, 192, 64 + 1280 + 25600};
  for (int i = 0; i < 15; ++i) EXPECT_EQ(out[i], expected[i]) << "out[" << i << "]";
}

TEST(Predefined, IntegerIntrinsicsMatchTheManual) {
  Device device(R"(extern "C" __global__ void k(float* out) { int n = 0;
      out[n++] = __clz(1) == 31 && __clz(0) == 32 && __clzll(1) == 63;
      out[n++] = __ffs(8) == 4 && __ffs(0) == 0 && __ffsll(1ll << 40) == 41;
      out[n++] = __popc(0xf0f0u) == 8 && __popcll(~0ull) == 64;
      out[n++] = __brev(1u) == 0x80000000u && __brev(0x12345678u) == 0x1e6a2c48u && __brevll(1ull) == 1ull << 63;
      out[n++] = __byte_perm(0x33221100u, 0x77665544u, 0x7531) == 0x77553311u;
      out[n++] = __byte_perm(0x80u, 0u, 0x8888) == 0xffffffffu;
      out[n++] = __funnelshift_l(0x80000000u, 1u, 1) == 3u && __funnelshift_r(2u, 1u, 1) == 0x80000001u;
      out[n++] = __funnelshift_lc(5u, 1u, 32) == 5u && __funnelshift_rc(5u, 1u, 40) == 1u;
      out[n++] = __mulhi(-1, 2) == -1 && __umulhi(~0u, 2u) == 1u;
      out[n++] = __umul64hi(~0ull, ~0ull) == ~0ull - 1 && __mul64hi(-1ll, 5ll) == -1;
      out[n++] = __mul24(0xff000003, 2) == 6 && __umul24(0xff000003u, 2u) == 6u;
      out[n++] = __hadd(3, 4) == 3 && __rhadd(3, 4) == 4 && __uhadd(~0u, 1u) == 0x80000000u;
      out[n++] = __sad(-3, 4, 10u) == 17u && __usad(3u, 1u, 1u) == 3u;
      out[n++] = __dp4a(0x01020304, 0x01010101, 5) == 15 && __dp4a((int)0xff000000, 0x02000000, 0) == -2;
      out[n++] = min(3, 4u) == 3u && max(-1, 2) == 2 && min(1.0f, 2.0) == 1.0;
    })");
  const float* out = device.add_floats("out", 15);
  ASSERT_FALSE(device.launch("k", 1, 1));
  for (int i = 0; i < 15; ++i) EXPECT_EQ(out[i], 1) << "line " << i + 2;
}

TEST(Predefined, ConversionsSaturateAndRound) {
  Device device(R"(extern "C" __global__ void k(float* out) { int n = 0;
      out[n++] = __float2int_rn(2.5f) == 2 && __float2int_rz(-2.7f) == -2 && __float2int_ru(2.1f) == 3 && __float2int_rd(-2.1f) == -3;
      out[n++] = __float2int_rz(1e20f) == INT_MAX && __float2int_rz(-1e20f) == INT_MIN && __float2int_rz(NAN) == 0;
      out[n++] = __float2uint_rz(-5.0f) == 0u && __float2uint_rz(1e20f) == UINT_MAX;
      out[n++] = __double2float_rz(1.0 + 1e-9) == 1.0f && __double2float_ru(1.0 + 1e-9) > 1.0f && __double2float_rd(-1.0 - 1e-9) < -1.0f;
      out[n++] = __int2float_rz(16777217) == 16777216.0f && __int2float_ru(16777217) == 16777218.0f;
      out[n++] = fmaxf(NAN, 1.0f) == 1.0f && fminf(1.0f, NAN) == 1.0f && isnan(fmaxf(NAN, NAN));
      out[n++] = __saturatef(-2.0f) == 0 && __saturatef(2.0f) == 1 && __saturatef(NAN) == 0;
      out[n++] = __fmul_rn(1.0f + FLT_EPSILON, 1.0f + FLT_EPSILON) - (1.0f + 2 * FLT_EPSILON) == 0.0f;
      out[n++] = __hiloint2double(0x3ff00000, 0) == 1.0 && __double2hiint(1.0) == 0x3ff00000;
      out[n++] = INT64_MAX == 9223372036854775807ll && sizeof(int64_t) == 8 && sizeof(uint8_t) == 1 && isinf(INFINITY);
      out[n++] = fabsf(rsqrtf(4.0f) - 0.5f) < 1e-6f && fabsf(normcdff(0.0f) - 0.5f) < 1e-6f && fabsf(sinpif(0.5f) - 1) < 1e-6f;
      typedef long long int64_t;  // as kernels do that do not count on us
    })");
  const float* out = device.add_floats("out", 11);
  ASSERT_FALSE(device.launch("k", 1, 1));
  for (int i = 0; i < 11; ++i) EXPECT_EQ(out[i], 1) << "line " << i + 2;
}

}  // namespace
}  // namespace sandbox::cpu

// The dialect hip: wavefronts of 64 and of 32 lanes, HIP's names, and what its solutions must not use.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "sandbox/cpu/test_device_fixture.h"

namespace sandbox::cpu::test {
namespace {
using testing::HasSubstr;

int lanes_of(Dialect dialect) { return dialect == Dialect::hip ? 64 : 32; }

// Runs `body` as a kernel of one block; data[] holds one float per thread, `i` and `lane` number it.
std::vector<float> results(Dialect dialect, const std::string& body, int threads, Build build = Build::fast) {
  Device device(
      "extern \"C\" __global__ void k(float* data) { const int i = threadIdx.x, lane = i % KW_WAVE; " + body + " }",
      build, {}, dialect);
  const float* data = device.add_floats("data", static_cast<size_t>(threads));
  if (const auto fault = device.launch("k", 1, threads)) throw std::runtime_error(fault->describe());
  return {data, data + threads};
}

struct Case {
  const char *name, *body;
  std::function<double(int i, int lanes)> expected;
};
std::ostream& operator<<(std::ostream& out, const Case& one) { return out << one.name; }

const Case kCases[] = {
    {"warp_size", "data[i] = warpSize + KW_WAVE;", [](int, int lanes) { return 2.0 * lanes; }},
    {"lane_id", "data[i] = __lane_id();", [](int i, int lanes) { return i % lanes; }},
    {"shfl", "data[i] = __shfl(i, 5);", [](int i, int lanes) { return i / lanes * lanes + 5; }},
    {"shfl_of_eight", "data[i] = __shfl(i, 5, 8);", [](int i, int) { return i / 8 * 8 + 5; }},
    {"shfl_up", "data[i] = __shfl_up(i, 3);", [](int i, int lanes) { return i % lanes < 3 ? i : i - 3; }},
    {"shfl_down", "data[i] = __shfl_down(i, 4);", [](int i, int lanes) { return i % lanes > lanes - 5 ? i : i + 4; }},
    {"shfl_xor", "data[i] = __shfl_xor((double)i, KW_WAVE / 2);", [](int i, int lanes) { return i ^ (lanes / 2); }},
    {"shfl_with_mask", "data[i] = __shfl_xor_sync(KW_WHOLE_WAVE, i, 1);", [](int i, int) { return i ^ 1; }},
    {"sum_of_a_wave", "int v = 1; for (int s = warpSize / 2; s > 0; s /= 2) v += __shfl_xor(v, s); data[i] = v;",
     [](int, int lanes) { return lanes; }},
    {"ballot", "data[i] = __popcll(__ballot(lane % 3 == 0)) + (__ballot(lane == 1) == 2ull);",
     [](int, int lanes) { return (lanes + 2) / 3 + 1; }},
    {"ballot_of_the_last_lane", "data[i] = __ffsll(__ballot(lane == KW_WAVE - 1));",
     [](int, int lanes) { return lanes; }},
    {"any_and_all", "data[i] = __any(lane == 7) * 4 + __all(lane < 63) * 2 + __all(lane < 64);",
     [](int, int lanes) { return 4 + (lanes == 32 ? 2 : 0) + 1; }},
    // Each branch has its own lanes; behind it, all are together again.
    {"branches",
     "int v; if (lane < 8) v = __popcll(__ballot(1)); else v = 100 + __popcll(__ballot(1));"
     "data[i] = v + 1000 * __popcll(__ballot(1));",
     [](int i, int lanes) { return 1000 * lanes + (i % lanes < 8 ? 8 : 100 + lanes - 8); }},
    {"loops_of_different_length",
     "int v = 0; for (int n = 0; n <= lane % 4; ++n) v += __popcll(__ballot(1)); data[i] = v;",
     [](int i, int lanes) {
       const int quarter = lanes / 4;
       const int sums[] = {4 * quarter, 7 * quarter, 9 * quarter, 10 * quarter};
       return sums[i % lanes % 4];
     }},
    {"returned_lanes", "if (lane > 9) { data[i] = 1; return; } data[i] = __popcll(__ballot(1));",
     [](int i, int lanes) { return i % lanes > 9 ? 1 : 10; }},
    {"read_first_lane", "int v = 0; if (lane >= 3) v = __builtin_amdgcn_readfirstlane(lane); data[i] = v;",
     [](int i, int lanes) { return i % lanes < 3 ? 0 : 3; }},
    {"read_lane", "data[i] = __builtin_amdgcn_readlane(i, 9);", [](int i, int lanes) { return i / lanes * lanes + 9; }},
    {"ds_bpermute", "int v = 1; if (lane < 16) v = __builtin_amdgcn_ds_bpermute(4 * (lane + 8), lane); data[i] = v;",
     [](int i, int lanes) { return i % lanes >= 16 ? 1
                                   : i % lanes < 8 ? i % lanes + 8
                                                   : 0; }},
    {"mbcnt", "data[i] = __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0));",
     [](int i, int lanes) { return i % lanes; }},
    {"wave_barrier",
     "__shared__ int s[128]; s[i] = lane; __builtin_amdgcn_wave_barrier(); data[i] = s[i ^ (KW_WAVE / 2)];",
     [](int i, int lanes) { return (i ^ (lanes / 2)) % lanes; }},
    {"atomics",
     "__shared__ float s; if (i == 0) s = 0; __syncthreads(); unsafeAtomicAdd(&s, 1.0f); __syncthreads(); data[i] = s;",
     [](int, int) { return 128; }},
    {"macros",
     "\n#if defined(__HIP_PLATFORM_AMD__) && defined(__HIP_DEVICE_COMPILE__) && !defined(__CUDACC__) && "
     "!defined(__CUDA_ARCH__)\n"
     "data[i] = hipBlockDim_x + hipThreadIdx_x;\n#endif\n",
     [](int i, int) { return 128 + i; }},
};

class HipNames : public testing::TestWithParam<Case> {};

TEST_P(HipNames, InBothBuildsAndWaves) {
  for (const Dialect dialect : {Dialect::hip, Dialect::hip32}) {
    for (const Build build : {Build::fast, Build::check}) {
      const std::vector<float> got = results(dialect, GetParam().body, 128, build);
      for (int i = 0; i < 128; ++i) {
        ASSERT_EQ(got[static_cast<size_t>(i)], GetParam().expected(i, lanes_of(dialect)))
            << name_of(dialect) << ", " << name_of(build) << ", thread " << i;
      }
    }
  }
}
INSTANTIATE_TEST_SUITE_P(All, HipNames, testing::ValuesIn(kCases), [](const auto& one) { return one.param.name; });

TEST(Hip, AWaveMayHaveFewerLanesThanItHolds) {
  const std::vector<float> got =
      results(Dialect::hip, "data[i] = __popcll(__ballot(1)) + __shfl_xor_sync(KW_WHOLE_WAVE, 1, 1);", 96);
  EXPECT_EQ(got[63], 65);
  EXPECT_EQ(got[64], 33);
}

TEST(Hip, HeadersHaveEitherName) {
  for (const char* header : {"hip/hip_runtime.h", "hip/hip_fp16.h", "hip/hip_bf16.h", "hip/hip_cooperative_groups.h",
                             "cuda_runtime.h", "cuda_fp16.h", "cuda_bf16.h", "cooperative_groups.h"}) {
    EXPECT_NO_THROW(built("#include <" + std::string(header) + ">\n", Build::fast, {}, Dialect::hip)) << header;
  }
  Device device(R"(
      #include <hip/hip_fp16.h>
      #include <hip/hip_cooperative_groups.h>
      namespace cg = cooperative_groups;
      extern "C" __global__ void k(float* data) {
        const auto wave = cg::tiled_partition<64>(cg::this_thread_block());
        const __half half = __float2half(wave.thread_rank());
        data[threadIdx.x] = __half2float(wave.shfl_xor(half, 32)) + (wave.ballot(1) == ~0ull) + __half2float(__shfl(half, 1));
      })",
                Build::check, {}, Dialect::hip);
  const float* data = device.add_floats("data", 64);
  ASSERT_EQ(device.launch("k", 1, 64), std::nullopt);
  EXPECT_EQ(data[3], 35 + 1 + 1);
}

// Names of one dialect do not work in the other; the message says so.
TEST(Hip, RefusesWhatIsCudasAlone) {
  const auto message = [](const std::string& source, Dialect dialect) {
    const Compilation compilation = compile_text(source, Build::fast, {}, 30, dialect);
    const auto* rejected = std::get_if<Rejected>(&compilation);
    return rejected == nullptr ? "" : std::string(name_of(rejected->reason)) + ": " + rejected->message;
  };
  EXPECT_THAT(message("#include <mma.h>\n", Dialect::hip), HasSubstr("the header <mma.h> is CUDA's; HIP has none of"));
  EXPECT_NO_THROW(built("#ifndef __HIP__\n#include <mma.h>\n#endif\n", Build::fast, {}, Dialect::hip));
  EXPECT_THAT(message("#include <hip/hip_fp16.h>\n", Dialect::cuda),
              HasSubstr("compile_error: the header <hip/hip_fp16.h> is HIP's"));
  EXPECT_THAT(message("__device__ void f() { asm(\"nop;\"); }\n", Dialect::hip),
              HasSubstr("unsupported: inline assembly in HIP"));
  EXPECT_THAT(message("__device__ void f() { __builtin_amdgcn_s_setprio(1); }\n", Dialect::hip),
              HasSubstr("unsupported: __builtin_amdgcn_s_setprio is unsupported on the cpu device"));
  EXPECT_THAT(message("__device__ int f() { return __shfl(1, 2); }\n", Dialect::cuda), HasSubstr("compile_error"));
  EXPECT_THAT(message("#undef KW_WAVE\n#define KW_WAVE 8\n", Dialect::hip),
              HasSubstr("forbidden: KW_WAVE is predefined and stays as it is"));
  EXPECT_THAT(message("extern \"C\" __global__ void k(int* x) { *x = KW_WAVE; }", Dialect::cuda), "");
}

std::string fault_of(Dialect dialect, const std::string& body, size_t shared_bytes = 0) {
  Device device("extern \"C\" __global__ void k(float* data) { const int i = threadIdx.x; " + body + " }", Build::check,
                {}, dialect);
  device.add_floats("data", 64);
  const auto fault = device.launch("k", 1, 64, runtime::Order::forward, shared_bytes);
  return fault ? fault->describe() : "";
}

TEST(Hip, FindsRacesWithinAWave) {
  const std::string racing = "__shared__ float s[64]; s[i] = i; __syncthreads(); s[i] = i + 1; data[i] = s[i ^ 32];";
  EXPECT_THAT(fault_of(Dialect::hip, racing), HasSubstr("with no __syncwarp or barrier in between"));
  EXPECT_THAT(fault_of(Dialect::hip32, racing), HasSubstr("with no barrier in between"));
  const std::string waiting =
      "__shared__ float s[64]; s[i] = i; __syncthreads(); s[i] = i + 1; __builtin_amdgcn_wave_barrier(); data[i] = s[i "
      "^ 32];";
  EXPECT_EQ(fault_of(Dialect::hip, waiting), "");
  EXPECT_THAT(fault_of(Dialect::hip32, waiting), HasSubstr("with no barrier in between"));
  EXPECT_THAT(fault_of(Dialect::hip, "data[i + 1] = i;"), HasSubstr("past the end of 'data'"));
}

TEST(Hip, NamesMisusedMasksAndMissingLanes) {
  EXPECT_THAT(fault_of(Dialect::hip, "data[i] = __shfl_xor_sync(0xffffffffu, i, 1);"),
              HasSubstr("__shfl_xor_sync is called by a lane that its mask leaves out"));
  EXPECT_EQ(fault_of(Dialect::hip32, "data[i] = __shfl_xor_sync(0xffffffffu, i, 1);"), "");
  EXPECT_THAT(
      fault_of(Dialect::hip, "if (i < 32) __syncthreads(); else data[i] = __shfl_xor_sync(KW_WHOLE_WAVE, i, 1);"),
      HasSubstr("32 of 64 threads wait in __syncthreads"));
}

TEST(Hip, AGroupHas64KiBOfSharedMemory) {
  EXPECT_EQ(fault_of(Dialect::hip, "extern __shared__ float s[]; s[i] = i; data[i] = s[i];", 65536), "");
  EXPECT_THAT(fault_of(Dialect::hip, "extern __shared__ float s[]; s[i] = i; data[i] = s[i];", 65600),
              HasSubstr("take 65600 bytes of 65536"));
}

// c = a * b + c for integers, whose products are exact.
TEST(Hip, MatrixCoresMultiply) {
  struct Shape {
    const char *name, *part, *type;
    int n, each;
  };
  for (const Shape& shape :
       {Shape{"16x16x16f16", "halves4", "_Float16", 16, 4}, Shape{"32x32x8f16", "halves4", "_Float16", 32, 4},
        Shape{"16x16x4f32", "float", "float", 16, 1}, Shape{"32x32x2f32", "float", "float", 32, 1}}) {
    const std::string n = std::to_string(shape.n), each = std::to_string(shape.each);
    const bool vector = shape.each > 1;
    Device device(
        "typedef _Float16 halves4 __attribute__((vector_size(8)));\n"
        "typedef float sums __attribute__((vector_size(" +
            std::to_string(shape.n * shape.n / 16) +
            ")));\n"
            "extern \"C\" __global__ void k(float* data) {\n"
            "  const int lane = threadIdx.x, at = lane % " +
            n + ", k0 = lane / " + n + " * " + each + ";\n" + shape.part + " a, b;\n" +
            (vector
                 ? "for (int j = 0; j < 4; ++j) { a[j] = (float)(at + 2 * (k0 + j)); b[j] = (float)(at - (k0 + j)); }\n"
                 : "a = at + 2 * k0; b = at - k0;\n") +
            "  sums c;\n  for (int j = 0; j < " + std::to_string(shape.n * shape.n / 64) +
            "; ++j) c[j] = at;\n"
            "  c = __builtin_amdgcn_mfma_f32_" +
            shape.name +
            "(a, b, c, 0, 0, 0);\n"
            "  for (int j = 0; j < " +
            std::to_string(shape.n * shape.n / 64) +
            "; ++j)\n"
            "    data[(j / 4 * (256 / " +
            n + ") + lane / " + n + " * 4 + j % 4) * " + n + " + at] = c[j];\n}",
        Build::check, {}, Dialect::hip);
    const float* data = device.add_floats("data", static_cast<size_t>(shape.n * shape.n));
    const auto fault = device.launch("k", 1, 64);
    ASSERT_EQ(fault, std::nullopt) << fault->describe();
    for (int row = 0; row < shape.n; ++row) {
      for (int column = 0; column < shape.n; ++column) {
        double expected = column;
        for (int k = 0; k < 64 / shape.n * shape.each; ++k) expected += (row + 2.0 * k) * (column - k);
        ASSERT_EQ(data[row * shape.n + column], expected) << shape.name << " " << row << "," << column;
      }
    }
  }
}

TEST(Hip, MatrixCoresNeedAWholeWave) {
  const std::string product =
      "float4 v; typedef float sums __attribute__((vector_size(16))); sums c = {}; "
      "c = __builtin_amdgcn_mfma_f32_16x16x4f32(1.0f, 1.0f, c, 0, 0, 0); data[i] = c[0];";
  EXPECT_EQ(fault_of(Dialect::hip, product), "");
  EXPECT_THAT(fault_of(Dialect::hip, "if (i < 32) { " + product + " }"), HasSubstr("mfma: some of the 64 lanes"));
}

}  // namespace
}  // namespace sandbox::cpu::test

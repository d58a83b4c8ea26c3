// Inspection of NVRTC's cubins. Needs the CUDA Toolkit, but no GPU.
#ifdef KW_HAVE_NVRTC
#include "sandbox/cuda/inspection/cubin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "core/error.h"
#include "sandbox/cuda/compiler/nvrtc_fixture.h"

namespace sandbox::cuda::inspection {
namespace {
using testing::HasSubstr;

std::string cubin_of(const std::string& source, const std::string& architecture = "sm_90") {
  return compiler::test::raw_output(source, architecture).binary;
}

std::string finding(const std::string& cubin) {
  try {
    inspect_cubin(cubin);
    return "";
  } catch (const core::InputError& refused) {
    return refused.problem();
  }
}

TEST(Cubin, NamesItsKernelsWithTheirParameters) {
  const auto kernels =
      kernels_of(cubin_of("extern \"C\" __global__ void a() {}\n"
                          "extern \"C\" __global__ void b(float* x, int n) { x[n] = 0; }\n"));
  EXPECT_EQ(kernels, (std::map<std::string, int64_t>{{"a", 0}, {"b", 2}}));
}

TEST(Cubin, GlobalsCountWithAndWithoutContent) {
  EXPECT_EQ(global_bytes(cubin_of("extern \"C\" __global__ void a() {}\n")), 0);
  EXPECT_EQ(global_bytes(cubin_of("__device__ int content[100] = {1};\n__device__ int room[1000];\n"
                                  "__constant__ int table[500] = {2};\n"
                                  "extern \"C\" __global__ void a(int i) { room[i] = content[i] + table[i]; }\n")),
            4400);
}

TEST(Cubin, AFewKilobytesMayAskForManyGigabytes) {
  for (const char* gigabytes : {"3", "4", "64"}) {  // ptxas writes 3, 0 and 0 as the size of the section
    const std::string cubin = cubin_of("__device__ char big[" + std::string(gigabytes) +
                                       "ull << 30];\n"
                                       "extern \"C\" __global__ void a(int i) { big[(size_t)i << 20] = 1; }\n");
    EXPECT_LT(cubin.size(), 16u << 10);
    EXPECT_EQ(global_bytes(cubin), std::stoll(gigabytes) << 30);
  }
}

// The numbers of special registers in machine code are undocumented: checks every architecture.
TEST(Cubin, ClocksAndPlacesAreSeenInTheCodeOfEveryArchitecture) {
  for (const std::string& architecture : compiler::Nvrtc::open(KW_CUDA_HOME).architectures()) {
    for (const char* name : {"clock", "clock_hi", "clock64", "globaltimer", "globaltimer_lo", "smid", "pm0", "pm7"}) {
      const bool wide = std::set<std::string>{"clock64", "globaltimer"}.count(name) > 0;
      const std::string source = std::string("extern \"C\" __global__ void k(unsigned long long* y) { ") +
                                 (wide ? "unsigned long long" : "unsigned") + " v; asm volatile(\"mov." +
                                 (wide ? "u64" : "u32") + " %0, %%" + name + ";\" : \"=" + (wide ? "l" : "r") +
                                 "\"(v)); y[0] = v; }";
      EXPECT_THAT(finding(cubin_of(source, architecture)), HasSubstr("reads")) << architecture << " " << name;
    }
    EXPECT_EQ(finding(cubin_of("extern \"C\" __global__ void k(unsigned long long* y) { unsigned lane; asm(\"mov.u32 "
                               "%0, %%lanemask_lt;\" : \"=r\"(lane)); y[threadIdx.x + blockIdx.y * gridDim.z] = "
                               "lane + threadIdx.y; }",
                               architecture)),
              "")
        << architecture;
  }
}

// The encoding of instructions that read constant memory is undocumented, too.
TEST(Cubin, AddressesOfVariablesAreSeenInTheCodeOfEveryArchitecture) {
  const std::string variables =
      "__device__ const float table[64] = {1, 2, 3}; __device__ int count; __constant__ float named[64] = {1, 2};\n"
      "__device__ __noinline__ float third(const float* from) { return from[2]; }\n";
  const auto with = [&](const std::string& body) {
    return variables + "extern \"C\" __global__ void k(float* y, float a, double b, int i) { " + body + " }";
  };
  for (const std::string& architecture : compiler::Nvrtc::open(KW_CUDA_HOME).architectures()) {
    for (const char* body :
         {"y[i] = table[i];", "y[0] = atomicAdd(&count, 1);", "y[0] = third(table + i);",
          "y[(unsigned long long)table & 63] = 1;", "y[i] = (i > 3 ? table : y)[i + 1];",
          "for (int j = 0; j < i; ++j) if (y[j] > a) y[j] = table[j & 63] * table[i & 63];",
          "__shared__ float s[64]; s[threadIdx.x] = table[threadIdx.x]; __syncthreads(); y[i] = s[i & 63];"}) {
      EXPECT_TRUE(refers_to_variables(cubin_of(with(body), architecture))) << architecture << " " << body;
    }
    for (const char* body :
         {"y[i] = a * 0x1.234p-60f + named[i] + named[3];",
          "y[i] = expf(y[i] * a) + (float)exp(b) + erff(a) + powf(a, y[i + 4096]);",
          "__shared__ float s[64]; s[threadIdx.x] = y[i]; __syncthreads(); atomicAdd(&s[i & 63], a); __syncthreads(); "
          "atomicMax((int*)y, (int)s[0]); y[4] = __shfl_xor_sync(~0u, s[i & 31], 4) + __double2float_rn(b * 3);"}) {
      EXPECT_FALSE(refers_to_variables(cubin_of(with(body), architecture))) << architecture << " " << body;
    }
  }
}

TEST(Cubin, RefusesForbiddenContents) {
  const std::string head = "extern \"C\" __global__ void k(float* y, int i) { ";
  EXPECT_THAT(finding(cubin_of(head + "printf(\"%d\", i); }")), HasSubstr("calls vprintf"));
  EXPECT_THAT(finding(cubin_of(head + "y[0] = *(float*)malloc(8); }")), HasSubstr("calls malloc"));
  EXPECT_THAT(finding(cubin_of("__managed__ float m; " + head + "y[0] = m; }")), HasSubstr("managed variable m"));
  EXPECT_THAT(
      finding(cubin_of(head + "float big[5000]; for (int j = 0; j < 5000; ++j) big[j] = y[j]; y[0] = big[i]; }")),
      HasSubstr("20000 bytes of stack"));
  EXPECT_THAT(finding(cubin_of("__device__ char big[2ull << 30]; " + head + "y[0] = big[(size_t)i << 20]; }")),
              HasSubstr("__device__ variables take"));
  EXPECT_EQ(finding(cubin_of(
                head + "assert(i < 3); float few[20]; for (int j = 0; j < 20; ++j) few[j] = y[j]; y[0] = few[i]; }")),
            "");
}

TEST(Cubin, DamageAnywhereIsRefusedOrHarmless) {
  const std::string whole = cubin_of(
      "__device__ const int t[3] = {1, 2, 3};\nextern \"C\" __global__ void k(int* y) { "
      "assert(y[1] < 3); y[0] = t[y[1]]; }\n");
  EXPECT_EQ(finding(whole), "");
  int refused = 0;
  for (size_t at = 0; at < whole.size(); at += 7) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(~damaged[at]);
    try {
      inspect_cubin(damaged);
      kernels_of(damaged);
    } catch (const core::InputError&) {
      ++refused;
    }
    refused += finding(whole.substr(0, at)).empty() ? 0 : 1;
  }
  EXPECT_GT(refused, 0);
}

TEST(Cubin, AnythingElseIsRefused) {
  EXPECT_THROW(global_bytes("no ELF at all"), core::InputError);
  EXPECT_EQ(finding("no ELF at all"), "the binary is no cubin");
}

}  // namespace
}  // namespace sandbox::cuda::inspection
#endif

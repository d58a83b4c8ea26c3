// The compile worker of the hip device, jailed as in a campaign. Needs hiprtc, but no GPU.
#ifdef KW_HAVE_HIPRTC
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "core/paths.h"
#include "sandbox/compile_pool.h"

namespace sandbox::hip::compiler {
namespace {
using testing::HasSubstr;
using testing::Not;

process::WorkerCommand hip_worker(const std::string& architecture) {
  const core::Paths paths = core::installed_paths();
  return {paths.worker("hip"),
          {"--device-headers", paths.device_headers().string(), "--hip-headers", paths.hip_headers().string(), "--arch",
           architecture},
          {}};
}

class HipCompiler : public testing::Test {
 protected:
  static void SetUpTestSuite() { pool_ = std::make_unique<CompilePool>(hip_worker("gfx90a"), 1); }
  static void TearDownTestSuite() { pool_.reset(); }

  static Compilation compile(const std::string& source, const Macros& macros = {}) {
    return pool_->submit({"solution.cu", source, macros, Build::fast}).get();
  }
  // "built", or the reason and the message.
  static std::string outcome(const std::string& source) {
    const Compilation compilation = compile(source);
    const auto* no = std::get_if<Rejected>(&compilation);
    return no == nullptr ? "built" : std::string(name_of(no->reason)) + ": " + no->message + "\n" + no->log;
  }
  static Rejected rejected(const std::string& source) {
    Compilation compilation = compile(source);
    if (auto* no = std::get_if<Rejected>(&compilation)) return std::move(*no);
    return {Rejection::limit, "it was built", std::nullopt, ""};
  }

  static std::unique_ptr<CompilePool> pool_;
};
std::unique_ptr<CompilePool> HipCompiler::pool_;

TEST_F(HipCompiler, ReportsTheResourcesOfTheBinary) {
  const Compilation compilation = compile(R"(
extern "C" __global__ void first(const float* x, float* y, int n) {
  __shared__ float s[SIZE];
  s[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  if (n > 0) y[threadIdx.x] = s[SIZE - 1 - threadIdx.x] * FLT_MAX;
}
extern "C" __global__ void second() {}
)",
                                          {{"SIZE", 256}});
  ASSERT_TRUE(std::holds_alternative<Built>(compilation)) << std::get<Rejected>(compilation).message;
  const auto& built = std::get<Built>(compilation);
  EXPECT_EQ(built.kernels, (std::map<std::string, int64_t>{{"first", 3}, {"second", 0}}));
  EXPECT_EQ(built.shared_bytes, 1024);
  EXPECT_EQ(built.local_bytes, 0);
  EXPECT_EQ(built.spill_bytes, 0);
  EXPECT_GT(built.registers.value_or(0), 1);
  EXPECT_GT(built.scalar_registers.value_or(0), 4);
  EXPECT_EQ(built.wave, 64);
  EXPECT_EQ(built.binary_hash.size(), 64u);
}

TEST_F(HipCompiler, TheSameSourceGivesTheSameBinary) {
  const std::string source = "extern \"C\" __global__ void k(int* x) { *x = VALUE; }";
  const auto hash = [&](int64_t value) { return std::get<Built>(compile(source, {{"VALUE", value}})).binary_hash; };
  EXPECT_EQ(hash(1), hash(1));
  EXPECT_NE(hash(1), hash(2));
}

TEST_F(HipCompiler, SaysWhereTheSourceIsWrong) {
  const Rejected no = rejected("// one\nextern \"C\" __global__ void k(int* x) {\n  *x = undeclared;\n}");
  EXPECT_EQ(no.reason, Rejection::compile_error);
  EXPECT_EQ(no.line, 3);
  EXPECT_THAT(no.message, HasSubstr("undeclared"));
  EXPECT_THAT(no.log, HasSubstr("solution.cu:3:"));
}

TEST_F(HipCompiler, OneSourceForBothVendors) {
  EXPECT_EQ(outcome(R"(
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <hip/hip_fp16.h>
namespace cg = cooperative_groups;
__device__ __noinline__ float larger(float a, float b) { return fmaxf(a, b); }
extern "C" __global__ void __launch_bounds__(256) k(const __half* x, __nv_bfloat16* y, float* z, int n) {
  float sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) sum += __half2float(__ldg(x + i));
  for (int lanes = KW_WAVE / 2; lanes > 0; lanes /= 2) sum += __shfl_xor_sync(KW_WHOLE_WAVE, sum, lanes);
  const auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  sum = larger(sum, cg::reduce(tile, sum, cg::plus<float>()));
  const __half other = __shfl_down_sync(KW_WHOLE_WAVE, x[0], 1);
  if (__any_sync(KW_WHOLE_WAVE, sum > 3) || __all_sync(KW_WHOLE_WAVE, sum < 1)) z[1] = __ballot_sync(~0ull, n > 3);
  __syncwarp();
  assert(n < 1 << 20);
  if (threadIdx.x == 0) y[0] = __float2bfloat16(sum + __half2float(other));
  z[0] = __bfloat162float(y[1]) + INFINITY + static_cast<float>(INT32_MAX);
}
)"),
            "built");
}

// Kernels of others use these.
TEST_F(HipCompiler, OlderNamesAndUsualIdiomsCompile) {
  EXPECT_EQ(outcome(R"(
#include <cooperative_groups.h>
#include <cuda_runtime.h>
namespace cg = cooperative_groups;
extern "C" __global__ void k(const float* x, float* y) {
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);
  const int i = hipBlockIdx_x * hipBlockDim_x + hipThreadIdx_x;
  const float sum = x == NULL ? 0 : x[i] + tile.shfl_down(x[i], 16) + tile.meta_group_rank();
  cg::sync(block);
  cg::sync(tile);
  y[i] = sum;
}
)"),
            "built");
}

TEST_F(HipCompiler, NamesWhatOnlyCudaHas) {
  const Rejected no = rejected(
      "#include <mma.h>\nusing namespace nvcuda;\nextern \"C\" __global__ void k(int* x) {\n"
      "  asm volatile(\"cp.async.wait_all;\" ::: \"memory\");\n  x[0] = __reduce_add_sync(~0u, x[1]);\n}");
  EXPECT_EQ(no.reason, Rejection::unsupported);
  EXPECT_EQ(no.line, 1);
  EXPECT_THAT(no.message, HasSubstr("<mma.h>, nvcuda::wmma"));
  EXPECT_THAT(no.message, HasSubstr("inline PTX, reductions of a warp in one instruction"));
  // Where hiprtc accepts the rest, a branch for CUDA does no harm.
  EXPECT_EQ(outcome("extern \"C\" __global__ void k(int* x) {\n#ifdef __HIP__\n  asm volatile(\"s_nop 0\");\n#else\n"
                    "  asm volatile(\"bar.sync 0;\");\n#endif\n  x[0] = KW_WAVE;\n}"),
            "built");
}

TEST_F(HipCompiler, AKernelIsTheSameAtAnyTimeOfDay) {
  EXPECT_THAT(outcome("extern \"C\" __global__ void k(int* y) { y[0] = __TIME__[7]; }"),
              HasSubstr("forbidden: holds __TIME__"));
}

TEST_F(HipCompiler, NoFilesButTheHeaders) {
  for (const char* header :
       {"cuda_fp16.h", "cuda_bf16.h", "cuda_runtime.h", "cooperative_groups.h", "hip/hip_runtime.h", "cstdint"}) {
    EXPECT_EQ(outcome("#include <" + std::string(header) + ">\nextern \"C\" __global__ void k() {}"), "built")
        << header;
  }
  for (const char* line : {"#include \"/etc/passwd\"", "#include <../../../etc/passwd>",
                           "#define F \"/etc/passwd\"\n#include F", "#line 1 \"/etc/passwd\""}) {
    EXPECT_EQ(rejected(line).reason, Rejection::forbidden) << line;
  }
  // The second wall: names that get past the first reach the compiler, and the jail hides the files.
  EXPECT_THAT(outcome("#define CAT(a, b) a##b\n#if CAT(__has_, include)(</etc/passwd>)\n#error seen\n#endif"),
              Not(HasSubstr("seen")));
  EXPECT_THAT(outcome("#import \"/etc/passwd\"\n"), Not(HasSubstr("root")));
  EXPECT_THAT(outcome("extern \"C\" __global__ void k() { asm volatile(\".incbin \\\"/etc/passwd\\\"\"); }"),
              HasSubstr("compile_error"));
}

TEST_F(HipCompiler, KernelsThatThePlanDoesNotLaunchAreRefused) {
  const std::string plan = R"(/* kernelwright
{"problem": "vector_add_f32", "launches": [{"kernel": "k", "grid": ["1"], "block": ["64"], "args": ["a"]}]}
*/
)";
  const std::string kernel = "extern \"C\" __global__ void k(float* a) { a[0] = 1; }\n";
  EXPECT_EQ(outcome(plan + kernel), "built");
  EXPECT_THAT(outcome(plan + kernel + "extern \"C\" __global__ void stray(float* a) { a[0] = 2; }\n"),
              HasSubstr("forbidden: the kernel stray is not launched by the plan"));
}

TEST(HipCompileRole, SaysWhatThisRocmDoesNotKnow) {
  const auto failure = [](const std::string& architecture) -> std::string {
    try {
      const CompilePool pool(hip_worker(architecture), 1);
      return "it started";
    } catch (const core::SystemError& error) {
      return error.what();
    }
  };
  EXPECT_THAT(failure("gfx9999"), HasSubstr("this ROCm does not know gfx9999; it knows gfx"));
  EXPECT_THAT(failure("gfx90a -o /tmp/x"), HasSubstr("this ROCm does not know"));
}

TEST(HipCompileRole, WavefrontsOf32) {
  CompilePool pool(hip_worker("gfx1030"), 1);
  const Compilation compilation =
      pool.submit({"solution.cu", "extern \"C\" __global__ void k(int* x) { *x = KW_WAVE; }", {}, Build::fast}).get();
  ASSERT_TRUE(std::holds_alternative<Built>(compilation)) << std::get<Rejected>(compilation).message;
  EXPECT_EQ(std::get<Built>(compilation).wave, 32);
  EXPECT_GE(pool.greeting().at("sandbox_level").get<int>(), 2);
}

TEST(HipCompileRole, ABombEndsAtTheDeadline) {
  process::WorkerCommand command = hip_worker("gfx90a");
  command.args.insert(command.args.end(), {"--deadline", "4", "--memory-mib", "900"});
  CompilePool pool(command, 1);
  const auto outcome = [&](const std::string& source) -> std::string {
    const Compilation compilation = pool.submit({"solution.cu", source, {}, Build::fast}).get();
    const auto* no = std::get_if<Rejected>(&compilation);
    return no == nullptr ? "built" : std::string(name_of(no->reason)) + ": " + no->message;
  };
  std::string bomb = "#define A0 x[0] += 1;\n";
  for (int i = 1; i <= 40; ++i) {
    const std::string before = " A" + std::to_string(i - 1);
    bomb += "#define A" + std::to_string(i) + before + before + "\n";
  }
  EXPECT_THAT(outcome(bomb + "extern \"C\" __global__ void k(int* x) { A40 }\n"), HasSubstr("limit: "));
  EXPECT_EQ(outcome("extern \"C\" __global__ void k(int* x) { *x = 1; }"), "built");
}

}  // namespace
}  // namespace sandbox::hip::compiler
#endif

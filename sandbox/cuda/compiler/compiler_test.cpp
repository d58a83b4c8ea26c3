// The compile worker of the cuda device, jailed as in a campaign. Needs the CUDA Toolkit, but no GPU.
#ifdef KW_HAVE_NVRTC
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "core/error.h"
#include "core/paths.h"
#include "sandbox/compile_pool.h"

namespace sandbox::cuda::compiler {
namespace {
using testing::HasSubstr;

process::WorkerCommand worker(const std::string& architecture, const std::string& cuda_home = KW_CUDA_HOME) {
  const core::Paths paths = core::installed_paths();
  return {paths.worker("cuda"),
          {"--device-headers", paths.device_headers().string(), "--cuda-home", cuda_home, "--arch", architecture},
          {}};
}

class CudaCompiler : public testing::Test {
 protected:
  static void SetUpTestSuite() { pool_ = std::make_unique<CompilePool>(worker("sm_90"), 1); }
  static void TearDownTestSuite() { pool_.reset(); }

  static Compilation compile(const std::string& source, const Macros& macros = {}) {
    return pool_->submit({"solution.cu", source, macros, Build::fast}).get();
  }
  static Rejected rejected(const std::string& source) {
    Compilation compilation = compile(source);
    if (auto* no = std::get_if<Rejected>(&compilation)) return std::move(*no);
    return {Rejection::limit, "it was built", std::nullopt, ""};
  }

  static std::unique_ptr<CompilePool> pool_;
};
std::unique_ptr<CompilePool> CudaCompiler::pool_;

TEST_F(CudaCompiler, ReportsTheResourcesOfTheBinary) {
  const Compilation compilation = compile(R"(
extern "C" __global__ void first(const float* x, float* y, int n) {
  __shared__ float s[SIZE];
  s[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  if (n > 0) y[threadIdx.x] = s[SIZE - 1 - threadIdx.x] * FLT_MAX;
}
extern "C" __global__ void second() {}
__global__ void hidden() {}
)",
                                          {{"SIZE", 256}});
  ASSERT_TRUE(std::holds_alternative<Built>(compilation)) << std::get<Rejected>(compilation).log;
  const auto& built = std::get<Built>(compilation);
  EXPECT_EQ(built.kernels.at("first"), 3);
  EXPECT_EQ(built.kernels.at("second"), 0);
  EXPECT_EQ(built.shared_bytes, 1024);
  EXPECT_EQ(built.spill_bytes, 0);
  EXPECT_GT(built.registers.value_or(0), 4);
  EXPECT_EQ(built.binary_hash.size(), 64u);
  EXPECT_THAT(built.log, testing::Not(HasSubstr("ptxas"))) << "what was asked of ptxas is not the author's concern";
}

TEST_F(CudaCompiler, TheSameSourceGivesTheSameBinary) {
  const std::string source = "extern \"C\" __global__ void k(int* x) { *x = VALUE; }";
  const auto hash = [&](int64_t value) { return std::get<Built>(compile(source, {{"VALUE", value}})).binary_hash; };
  EXPECT_EQ(hash(1), hash(1));
  EXPECT_NE(hash(1), hash(2));
}

TEST_F(CudaCompiler, PtxComesAsASecondFile) {
  const Compilation compilation = compile("extern \"C\" __global__ void k(int* x) { *x = 1; }");
  const auto& built = std::get<Built>(compilation);
  std::string ptx(built.ptx_bytes, '\0');
  ASSERT_EQ(::pread(built.ptx.get(), ptx.data(), ptx.size(), 0), static_cast<ssize_t>(ptx.size()));
  EXPECT_THAT(ptx, HasSubstr(".target sm_90"));
  EXPECT_THAT(ptx, HasSubstr(".entry k("));
}

TEST_F(CudaCompiler, SaysWhereTheSourceIsWrong) {
  const Rejected no = rejected("// one\nextern \"C\" __global__ void k(int* x) {\n  *x = undeclared;\n}");
  EXPECT_EQ(no.reason, Rejection::compile_error);
  EXPECT_EQ(no.line, 3);
  EXPECT_THAT(no.message, HasSubstr("undeclared"));
}

TEST_F(CudaCompiler, AKernelIsTheSameAtAnyTimeOfDay) {
  const std::string use = "extern \"C\" __global__ void k(int* y) { y[0] = T[7]; }";
  for (const std::string define :
       {"#define T __TIME__\n", "#define T __DATE__\n", "#define J(a, b) a##b\n#define T J(__TI, ME__)\n"}) {
    EXPECT_THAT(rejected(define + use).message, HasSubstr("time of compilation")) << define;
  }
  EXPECT_TRUE(std::holds_alternative<Built>(
      compile("#define J(a, b) a##b\n#define T J(\"__TI\", \"ME__\")\n__device__ int TI, ME, __T;\n" + use)));
}

TEST_F(CudaCompiler, ToolkitHeadersAreThereAndNoOtherFiles) {
  for (const char* header :
       {"cuda_fp16.h", "cuda_bf16.h", "cuda_fp8.h", "mma.h", "cooperative_groups.h", "cuda/std/cstdint"}) {
    EXPECT_TRUE(std::holds_alternative<Built>(compile("#include <" + std::string(header) + ">\n"))) << header;
  }
  for (const char* line :
       {"#include \"/etc/passwd\"", "#include </proc/self/environ>", "#include <../../../etc/passwd>",
        "%:include </etc/passwd>", "#define F \"/etc/passwd\"\n#include F",
        "#if __has_include(\"/etc/passwd\")\n#endif", "#line 1 \"/etc/passwd\""}) {
    EXPECT_EQ(rejected(line).reason, Rejection::forbidden) << line;
  }
  // The second wall: a name made by token pasting reaches the compiler, but the jail hides the file.
  const Rejected pasted =
      rejected("#define CAT(a, b) a##b\n#if CAT(__has_, include)(</etc/passwd>)\n#error seen\n#endif");
  EXPECT_THAT(pasted.log, testing::Not(HasSubstr("seen")));
}

TEST(CudaCompileRole, ExplainsItsRefusals) {
  const auto failure = [](const process::WorkerCommand& command) -> std::string {
    try {
      const CompilePool pool(command, 1);
      return "it started";
    } catch (const core::SystemError& error) {
      return error.what();
    }
  };
  EXPECT_THAT(failure(worker("sm_10")), HasSubstr("does not compile for sm_10; it knows sm_"));
  EXPECT_THAT(failure(worker("sm_90", "/nowhere")), HasSubstr("NVRTC is not found below /nowhere"));
  process::WorkerCommand command = worker("sm_90");
  command.args.insert(command.args.end(), {"--include", "/nowhere"});
  EXPECT_THAT(failure(command), HasSubstr("the include folder /nowhere is not there"));
}

TEST(CudaCompileRole, UsersHeadersAreFoundWhereTheUserSays) {
  std::string folder = testing::TempDir() + "kw_include_XXXXXX";
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  std::ofstream(folder + "/users_own.h") << "#define VALUE 7\n";
  const std::string source = "#include <users_own.h>\nextern \"C\" __global__ void k(int* x) { *x = VALUE; }";
  const auto built = [&](const process::WorkerCommand& command) {
    CompilePool pool(command, 1);
    return std::holds_alternative<Built>(pool.submit({"solution.cu", source, {}, Build::fast}).get());
  };
  process::WorkerCommand command = worker("sm_90");
  EXPECT_FALSE(built(command));
  command.args.insert(command.args.end(), {"--include", folder});
  EXPECT_TRUE(built(command));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace sandbox::cuda::compiler
#endif

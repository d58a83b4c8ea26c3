// Compares our prototypes and values with the toolkit's headers, and finds the libraries' symbols if installed.
#include "sandbox/cuda/run/cublas.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"

#if __has_include(<cublasLt.h>)
#include <cublasLt.h>
#include <cublas_api.h>

#include <cstddef>
#include <type_traits>

namespace sandbox::cuda::run {
namespace {

static_assert(kReal32 == int{CUDA_R_32F} && kReal64 == int{CUDA_R_64F});
static_assert(kReal16 == int{CUDA_R_16F} && kReal16b == int{CUDA_R_16BF});
static_assert(kNotTransposed == int{CUBLAS_OP_N} && kDefaultGemm == int{CUBLAS_GEMM_DEFAULT});
static_assert(kCompute32 == int{CUBLAS_COMPUTE_32F} && kCompute64 == int{CUBLAS_COMPUTE_64F});
static_assert(kSumsInFullPrecision == int{CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION});
static_assert(kMostWorkspace == int{CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES});
static_assert(kReductionSchemes == int{CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK});
static_assert(sizeof(LtChoice) == sizeof(cublasLtMatmulHeuristicResult_t));
static_assert(offsetof(LtChoice, state) == offsetof(cublasLtMatmulHeuristicResult_t, state));
static_assert(offsetof(LtChoice, workspace_bytes) == offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize));

// True if both have the same number of parameters with equal sizes: enums are ints, handles are pointers.
template <typename Ours, typename Theirs>
struct Alike;
template <typename R, typename... Ours, typename S, typename... Theirs>
struct Alike<R (*)(Ours...), S (*)(Theirs...)> {
  static constexpr bool parameters() {
    if constexpr (sizeof...(Ours) != sizeof...(Theirs)) {
      return false;
    } else {
      return ((sizeof(Ours) == sizeof(Theirs) && std::is_pointer_v<Ours> == std::is_pointer_v<Theirs>)&&...);
    }
  }
  static constexpr bool value = sizeof(R) == sizeof(S) && parameters();
};
#define EXPECT_ALIKE(functions, ours, theirs) \
  EXPECT_TRUE((Alike<decltype(functions::ours), decltype(&::theirs)>::value)) << #ours

TEST(Cublas, PrototypesAreTheToolkits) {
  using Gemm = cublasStatus_t (*)(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int, const void*,
                                  const void*, cudaDataType, int, const void*, cudaDataType, int, const void*, void*,
                                  cudaDataType, int, cublasComputeType_t, cublasGemmAlgo_t);
  using Theirs = decltype(static_cast<Gemm>(&::cublasGemmEx));  // one of two overloads in C++
  EXPECT_TRUE((Alike<decltype(CublasFunctions::cublasGemmEx), Theirs>::value));
  EXPECT_ALIKE(CublasFunctions, cublasCreate, cublasCreate_v2);
  EXPECT_ALIKE(CublasFunctions, cublasDestroy, cublasDestroy_v2);
  EXPECT_ALIKE(CublasFunctions, cublasSetMathMode, cublasSetMathMode);
  EXPECT_ALIKE(CublasFunctions, cublasGetVersion, cublasGetVersion_v2);
  EXPECT_ALIKE(CublasFunctions, cublasSetStream, cublasSetStream_v2);
  EXPECT_ALIKE(CublasLtFunctions, cublasLtCreate, cublasLtCreate);
  EXPECT_ALIKE(CublasLtFunctions, cublasLtDestroy, cublasLtDestroy);
  EXPECT_ALIKE(CublasLtFunctions, cublasLtMatmul, cublasLtMatmul);
  EXPECT_ALIKE(CublasLtFunctions, cublasLtMatmulAlgoGetHeuristic, cublasLtMatmulAlgoGetHeuristic);
  EXPECT_ALIKE(CublasLtFunctions, cublasLtMatmulDescCreate, cublasLtMatmulDescCreate);
  EXPECT_ALIKE(CublasLtFunctions, cublasLtMatmulDescDestroy, cublasLtMatmulDescDestroy);
  EXPECT_ALIKE(CublasLtFunctions, cublasLtMatrixLayoutCreate, cublasLtMatrixLayoutCreate);
  EXPECT_ALIKE(CublasLtFunctions, cublasLtMatrixLayoutDestroy, cublasLtMatrixLayoutDestroy);
  EXPECT_ALIKE(CublasLtFunctions, cublasLtMatmulPreferenceCreate, cublasLtMatmulPreferenceCreate);
  EXPECT_ALIKE(CublasLtFunctions, cublasLtMatmulPreferenceDestroy, cublasLtMatmulPreferenceDestroy);
  EXPECT_ALIKE(CublasLtFunctions, cublasLtMatmulPreferenceSetAttribute, cublasLtMatmulPreferenceSetAttribute);
  EXPECT_ALIKE(CublasLtFunctions, cublasLtGetVersion, cublasLtGetVersion);
}

#undef EXPECT_ALIKE

}  // namespace
}  // namespace sandbox::cuda::run
#endif

namespace sandbox::cuda::run {
namespace {

TEST(Cublas, IsFoundWithAllThatIsUsedOrMissedWithARemedy) {
  try {
    EXPECT_GE(open_cublas_lt("").cublasLtGetVersion(), 120000u);
    EXPECT_NE(open_cublas("").cublasGemmEx, nullptr);
  } catch (const core::SystemError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("set CUDA_HOME to the toolkit's folder"));
  }
}

}  // namespace
}  // namespace sandbox::cuda::run

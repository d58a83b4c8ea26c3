// Matrix products of cuBLAS and cuBLASLt, opened at run time. Prototypes are our own; cublas_test.cpp compares them
// with the toolkit's headers if installed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>

#include "sandbox/gpu/run/gemm_library.h"

namespace sandbox::cuda::run {

// Values of cudaDataType, cublasComputeType_t and other enums.
inline constexpr int kReal32 = 0, kReal64 = 1, kReal16 = 2, kReal16b = 14;
inline constexpr int kNotTransposed = 0, kDefaultGemm = -1;
inline constexpr int kCompute32 = 68, kCompute64 = 70;           // products of f32 in f32: no TF32
inline constexpr int kSumsInFullPrecision = 16;                  // CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION
inline constexpr int kMostWorkspace = 1, kReductionSchemes = 3;  // preferences of cuBLASLt's heuristic

// cublasLtMatmulHeuristicResult_t
struct LtChoice {
  std::array<uint64_t, 8> algorithm;
  size_t workspace_bytes;
  int state;
  float waves;
  int reserved[4];
};

// Result, name, version suffix of the symbol, parameters.
// clang-format off
#define KW_CUBLAS_FUNCTIONS(X) \
  X(int, cublasCreate, "_v2", (gpu::driver::Handle*)) \
  X(int, cublasDestroy, "_v2", (gpu::driver::Handle)) \
  X(int, cublasSetStream, "_v2", (gpu::driver::Handle, gpu::driver::Handle)) \
  X(int, cublasSetMathMode, "", (gpu::driver::Handle, int)) \
  X(int, cublasGetVersion, "_v2", (gpu::driver::Handle, int*)) \
  X(int, cublasGemmEx, "", (gpu::driver::Handle, int, int, int, int, int, const void*, const void*, int, int, const void*, int, int, const void*, void*, int, int, int, int))
// clang-format on
struct CublasFunctions {
#define KW_MEMBER(result, name, suffix, parameters) result(*name) parameters;
  KW_CUBLAS_FUNCTIONS(KW_MEMBER)
#undef KW_MEMBER
};
// clang-format off
#define KW_CUBLAS_LT_FUNCTIONS(X) \
  X(int, cublasLtCreate, "", (gpu::driver::Handle*)) \
  X(int, cublasLtDestroy, "", (gpu::driver::Handle)) \
  X(size_t, cublasLtGetVersion, "", ()) \
  X(int, cublasLtMatmulDescCreate, "", (gpu::driver::Handle*, int, int)) \
  X(int, cublasLtMatmulDescDestroy, "", (gpu::driver::Handle)) \
  X(int, cublasLtMatrixLayoutCreate, "", (gpu::driver::Handle*, int, uint64_t, uint64_t, int64_t)) \
  X(int, cublasLtMatrixLayoutDestroy, "", (gpu::driver::Handle)) \
  X(int, cublasLtMatmulPreferenceCreate, "", (gpu::driver::Handle*)) \
  X(int, cublasLtMatmulPreferenceDestroy, "", (gpu::driver::Handle)) \
  X(int, cublasLtMatmulPreferenceSetAttribute, "", (gpu::driver::Handle, int, const void*, size_t)) \
  X(int, cublasLtMatmulAlgoGetHeuristic, "", (gpu::driver::Handle, gpu::driver::Handle, gpu::driver::Handle, gpu::driver::Handle, gpu::driver::Handle, gpu::driver::Handle, gpu::driver::Handle, int, LtChoice*, int*)) \
  X(int, cublasLtMatmul, "", (gpu::driver::Handle, gpu::driver::Handle, const void*, const void*, gpu::driver::Handle, const void*, gpu::driver::Handle, const void*, const void*, gpu::driver::Handle, void*, gpu::driver::Handle, const void*, void*, size_t, gpu::driver::Handle))
// clang-format on
struct CublasLtFunctions {
#define KW_MEMBER(result, name, suffix, parameters) result(*name) parameters;
  KW_CUBLAS_LT_FUNCTIONS(KW_MEMBER)
#undef KW_MEMBER
};

// Throws core::SystemError with the remedy if the library is missing or too old. The context must be current and
// outlive it. With an empty `cuda_home`, searches the dynamic linker's folders and /usr/local/cuda.
CublasFunctions open_cublas(const std::filesystem::path& cuda_home);
CublasLtFunctions open_cublas_lt(const std::filesystem::path& cuda_home);
std::unique_ptr<gpu::run::GemmLibrary> make_cublas(const gpu::driver::Context& context,
                                                   const std::filesystem::path& cuda_home);
std::unique_ptr<gpu::run::GemmLibrary> make_cublas_lt(const gpu::driver::Context& context,
                                                      const std::filesystem::path& cuda_home);

}  // namespace sandbox::cuda::run

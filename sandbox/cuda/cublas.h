// Matrix products of cuBLAS and cuBLASLt, opened at run time. Prototypes are our own; cublas_test.cpp holds them
// against the toolkit's headers where those are present.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>

#include "core/dtype.h"
#include "sandbox/cuda/context.h"
#include "sandbox/cuda/launch_sequence.h"

namespace sandbox::cuda {

// Of cudaDataType, cublasComputeType_t and others, what we use.
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

struct CublasFunctions {
  int (*cublasCreate)(Handle*);
  int (*cublasDestroy)(Handle);
  int (*cublasSetStream)(Handle, Handle);
  int (*cublasSetMathMode)(Handle, int);
  int (*cublasGetVersion)(Handle, int*);
  int (*cublasGemmEx)(Handle, int, int, int, int, int, const void*, const void*, int, int, const void*, int, int,
                      const void*, void*, int, int, int, int);
};
struct CublasLtFunctions {
  int (*cublasLtCreate)(Handle*);
  int (*cublasLtDestroy)(Handle);
  size_t (*cublasLtGetVersion)();
  int (*cublasLtMatmulDescCreate)(Handle*, int, int);
  int (*cublasLtMatmulDescDestroy)(Handle);
  int (*cublasLtMatrixLayoutCreate)(Handle*, int, uint64_t, uint64_t, int64_t);
  int (*cublasLtMatrixLayoutDestroy)(Handle);
  int (*cublasLtMatmulPreferenceCreate)(Handle*);
  int (*cublasLtMatmulPreferenceDestroy)(Handle);
  int (*cublasLtMatmulPreferenceSetAttribute)(Handle, int, const void*, size_t);
  int (*cublasLtMatmulAlgoGetHeuristic)(Handle, Handle, Handle, Handle, Handle, Handle, Handle, int, LtChoice*, int*);
  int (*cublasLtMatmul)(Handle, Handle, const void*, const void*, Handle, const void*, Handle, const void*, const void*,
                        Handle, void*, Handle, const void*, void*, size_t, Handle);
};

// c = a b, row-major: a is [m, k], b is [k, n], c is [m, n]; all of one dtype, sums in f32 (f64 for f64).
struct Gemm {
  core::DType dtype = core::DType::f32;
  int64_t m = 0, n = 0, k = 0;
};

// A call of the library that failed: a finding about it.
class LibraryError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Enqueues matrix products on the context's stream.
class GemmLibrary {
 public:
  virtual ~GemmLibrary() = default;
  virtual std::string name() const = 0;  // "cuBLAS 13.0"
  // To be called before products of this kind. Throws LibraryError, as does enqueue().
  virtual void prepare(const Gemm& gemm) = 0;
  // Chooses the fastest way, with inputs that hold their values; the result goes elsewhere. Once after prepare().
  virtual void tune(DevicePtr a, DevicePtr b, LaunchTimer& timer) = 0;
  virtual void enqueue(DevicePtr a, DevicePtr b, DevicePtr c) = 0;
};

// Throws core::SystemError, with the remedy, where the library is not found or is too old. The context must be current
// and outlive it. `cuda_home` may be empty: then the dynamic linker's own folders and /usr/local/cuda are searched.
CublasFunctions open_cublas(const std::filesystem::path& cuda_home);
CublasLtFunctions open_cublas_lt(const std::filesystem::path& cuda_home);
std::unique_ptr<GemmLibrary> make_cublas(const Context& context, const std::filesystem::path& cuda_home);
std::unique_ptr<GemmLibrary> make_cublas_lt(const Context& context, const std::filesystem::path& cuda_home);

}  // namespace sandbox::cuda

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
#include "sandbox/cuda/driver/context.h"
#include "sandbox/cuda/run/launch_sequence.h"

namespace sandbox::cuda::run {

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
  int (*cublasCreate)(driver::Handle*);
  int (*cublasDestroy)(driver::Handle);
  int (*cublasSetStream)(driver::Handle, driver::Handle);
  int (*cublasSetMathMode)(driver::Handle, int);
  int (*cublasGetVersion)(driver::Handle, int*);
  int (*cublasGemmEx)(driver::Handle, int, int, int, int, int, const void*, const void*, int, int, const void*, int,
                      int, const void*, void*, int, int, int, int);
};
struct CublasLtFunctions {
  int (*cublasLtCreate)(driver::Handle*);
  int (*cublasLtDestroy)(driver::Handle);
  size_t (*cublasLtGetVersion)();
  int (*cublasLtMatmulDescCreate)(driver::Handle*, int, int);
  int (*cublasLtMatmulDescDestroy)(driver::Handle);
  int (*cublasLtMatrixLayoutCreate)(driver::Handle*, int, uint64_t, uint64_t, int64_t);
  int (*cublasLtMatrixLayoutDestroy)(driver::Handle);
  int (*cublasLtMatmulPreferenceCreate)(driver::Handle*);
  int (*cublasLtMatmulPreferenceDestroy)(driver::Handle);
  int (*cublasLtMatmulPreferenceSetAttribute)(driver::Handle, int, const void*, size_t);
  int (*cublasLtMatmulAlgoGetHeuristic)(driver::Handle, driver::Handle, driver::Handle, driver::Handle, driver::Handle,
                                        driver::Handle, driver::Handle, int, LtChoice*, int*);
  int (*cublasLtMatmul)(driver::Handle, driver::Handle, const void*, const void*, driver::Handle, const void*,
                        driver::Handle, const void*, const void*, driver::Handle, void*, driver::Handle, const void*,
                        void*, size_t, driver::Handle);
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
  virtual void tune(driver::DevicePtr a, driver::DevicePtr b, LaunchTimer& timer) = 0;
  virtual void enqueue(driver::DevicePtr a, driver::DevicePtr b, driver::DevicePtr c) = 0;
};

// Throws core::SystemError, with the remedy, where the library is not found or is too old. The context must be current
// and outlive it. `cuda_home` may be empty: then the dynamic linker's own folders and /usr/local/cuda are searched.
CublasFunctions open_cublas(const std::filesystem::path& cuda_home);
CublasLtFunctions open_cublas_lt(const std::filesystem::path& cuda_home);
std::unique_ptr<GemmLibrary> make_cublas(const driver::Context& context, const std::filesystem::path& cuda_home);
std::unique_ptr<GemmLibrary> make_cublas_lt(const driver::Context& context, const std::filesystem::path& cuda_home);

}  // namespace sandbox::cuda::run

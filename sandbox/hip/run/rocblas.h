// Matrix products of rocBLAS, opened at run time: AMD's counterpart of cuBLAS, which chooses among its own kernels and,
// from ROCm 6.3 on, those of hipBLASLt. Prototypes are our own; numbers from rocblas-types.h.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "sandbox/gpu/run/gemm_library.h"

namespace sandbox::hip::run {

// Values of rocblas_datatype, rocblas_operation and other enums.
inline constexpr int kReal16 = 150, kReal32 = 151, kReal64 = 152, kReal16b = 168;
inline constexpr int kNotTransposed = 111, kStandardGemm = 0;

// Result, name, parameters. The C calling convention has only 32-bit sizes here, as cuBLAS has.
// clang-format off
#define KW_ROCBLAS_FUNCTIONS(X) \
  X(int, rocblas_create_handle, (gpu::driver::Handle*)) \
  X(int, rocblas_destroy_handle, (gpu::driver::Handle)) \
  X(int, rocblas_set_stream, (gpu::driver::Handle, gpu::driver::Handle)) \
  X(int, rocblas_get_version_string, (char*, size_t)) \
  X(int, rocblas_gemm_ex, (gpu::driver::Handle, int, int, int32_t, int32_t, int32_t, const void*, const void*, int, int32_t, const void*, int, int32_t, const void*, const void*, int, int32_t, void*, int, int32_t, int, int, int32_t, uint32_t))
// clang-format on
struct RocblasFunctions {
#define KW_MEMBER(result, name, parameters) result(*name) parameters;
  KW_ROCBLAS_FUNCTIONS(KW_MEMBER)
#undef KW_MEMBER
};

// Throws core::SystemError with the remedy if the library is missing or too old. Looks in `runtime`'s folder, where
// that names the HIP runtime's file, then among the dynamic linker's folders and in /opt/rocm/lib. The context must be
// current and outlive it.
std::unique_ptr<gpu::run::GemmLibrary> make_rocblas(const gpu::driver::Context& context,
                                                    const std::filesystem::path& runtime);

}  // namespace sandbox::hip::run

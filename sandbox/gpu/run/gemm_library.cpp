#include "sandbox/gpu/run/gemm_library.h"

#include "core/error.h"

namespace sandbox::gpu::run {

void require_success(int status, const char* call) {
  if (status != 0) throw LibraryError(std::string(call) + " failed (status " + std::to_string(status) + ")");
}

int TypeNumbers::of(core::DType dtype) const {
  switch (dtype) {
    case core::DType::f16:
      return f16;
    case core::DType::bf16:
      return bf16;
    case core::DType::f32:
      return f32;
    case core::DType::f64:
      return f64;
    default:
      throw core::SystemError("no matrix product of " + std::string(core::name_of(dtype)));
  }
}

}  // namespace sandbox::gpu::run

// The calls of rocBLAS that the device makes, for f32: the test driver's library stands under both names.
#include <cstring>

#include "sandbox/hip/test_driver/device_fixture.h"

extern "C" {
int rocblas_create_handle(void** handle) {
  *handle = handle;
  return 0;
}
int rocblas_destroy_handle(void*) { return 0; }
int rocblas_set_stream(void*, void*) { return 0; }
int rocblas_get_version_string(char* text, size_t bytes) {
  std::strncpy(text, "5.1.0.a1b2c3d", bytes);
  return 0;
}
// d = a b, column-major, of f32 alone, scaled by 1 and 0.
int rocblas_gemm_ex(void*, int left, int right, int m, int n, int k, const void* alpha, const void* a, int type,
                    int lda, const void* b, int, int ldb, const void* beta, const void*, int, int, void* d, int,
                    int ldd, int compute, int, int, unsigned) {
  constexpr int kNone = 111, kReal32 = 151, kNotImplemented = 2;
  float one = 0, zero = 1;
  std::memcpy(&one, alpha, sizeof one);
  std::memcpy(&zero, beta, sizeof zero);
  if (left != kNone || right != kNone || type != kReal32 || compute != kReal32 || one != 1 || zero != 0) {
    return kNotImplemented;
  }
  return sandbox::hip::test_driver::enqueue([=] {
    const auto* in = static_cast<const float*>(a);
    const auto* weights = static_cast<const float*>(b);
    auto* out = static_cast<float*>(d);
    for (int column = 0; column < n; ++column) {
      for (int row = 0; row < m; ++row) {
        float sum = 0;
        for (int i = 0; i < k; ++i) sum += in[row + i * lda] * weights[i + column * ldb];
        out[row + column * ldd] = sum;
      }
    }
  });
}
}  // extern "C"

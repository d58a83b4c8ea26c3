// A vendor's library of matrix products, as a library worker uses it (library_role.h).
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "core/dtype.h"
#include "sandbox/gpu/driver/context.h"
#include "sandbox/gpu/run/launch_sequence.h"

namespace sandbox::gpu::run {

// c = a b, row-major: a is [m, k], b is [k, n], c is [m, n]; all of one dtype, sums in f32 (f64 for f64).
struct Gemm {
  core::DType dtype = core::DType::f32;
  int64_t m = 0, n = 0, k = 0;
};

// A failed library call: a finding about the library.
class LibraryError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Enqueues matrix products on the context's stream.
class GemmLibrary {
 public:
  virtual ~GemmLibrary() = default;
  virtual std::string name() const = 0;  // "cuBLAS 13.0", "rocBLAS 5.1"
  // Call it before enqueueing products of this kind. Throws LibraryError, as does enqueue().
  virtual void prepare(const Gemm& gemm) = 0;
  // Chooses the fastest algorithm on these inputs; discards the results. Call it once after prepare().
  virtual void tune(driver::DevicePtr a, driver::DevicePtr b, LaunchTimer& timer) = 0;
  virtual void enqueue(driver::DevicePtr a, driver::DevicePtr b, driver::DevicePtr c) = 0;
};

// Throws LibraryError with the call's name where its status is not 0.
void require_success(int status, const char* call);

// A library's numbers for element types.
struct TypeNumbers {
  int f16, bf16, f32, f64;
  // Throws core::SystemError for a type of which there are no products.
  int of(core::DType dtype) const;
};

// One and zero in the type that sums are kept in: f64 for f64, else f32.
class Scales {
 public:
  explicit Scales(core::DType dtype) : wide_(dtype == core::DType::f64) {}
  bool wide() const { return wide_; }
  const void* one() const { return wide_ ? static_cast<const void*>(&one64_) : &one32_; }
  const void* zero() const { return wide_ ? static_cast<const void*>(&zero64_) : &zero32_; }

 private:
  bool wide_;
  float one32_ = 1, zero32_ = 0;
  double one64_ = 1, zero64_ = 0;
};

}  // namespace sandbox::gpu::run

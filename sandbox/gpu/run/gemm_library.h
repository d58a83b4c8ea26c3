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

// What a failed call of a library throws, with the call's name.
void require_success(int status, const char* call);

}  // namespace sandbox::gpu::run

#include "sandbox/hip/run/rocblas.h"

#include <array>
#include <string>
#include <vector>

#include "core/dynamic_library.h"
#include "core/error.h"

namespace sandbox::hip::run {
namespace {
namespace fs = std::filesystem;
using gpu::driver::DevicePtr;
using gpu::run::require_success;

RocblasFunctions open_rocblas(const fs::path& runtime) {
  std::vector<fs::path> folders{"", "/opt/rocm/lib"};  // the dynamic linker's folders first
  if (!runtime.empty()) folders.insert(folders.begin(), runtime.parent_path());
  std::vector<fs::path> files;
  for (const fs::path& folder : folders) {
    for (const char* version : {"5", "4", "3", "0"}) {
      files.push_back(folder / (std::string("librocblas.so.") + version));
    }
  }
  const core::DynamicLibrary library(files);
  if (!library) throw core::SystemError("rocBLAS is not found: install it (package rocblas of ROCm)");
  RocblasFunctions f{};
#define KW_TAKE(result, name, parameters) library.take(f.name, #name, "this rocBLAS");
  KW_ROCBLAS_FUNCTIONS(KW_TAKE)
#undef KW_TAKE
  return f;
}

constexpr gpu::run::TypeNumbers kTypes{kReal16, kReal16b, kReal32, kReal64};

const void* pointer(DevicePtr address) { return reinterpret_cast<const void*>(address); }

// Column-major, as cuBLAS is: of a row-major c = a b it computes c' = b' a'.
class Rocblas : public gpu::run::GemmLibrary {
 public:
  Rocblas(const gpu::driver::Context& context, const fs::path& runtime) : f_(open_rocblas(runtime)) {
    require_success(f_.rocblas_create_handle(&handle_), "rocblas_create_handle");
    require_success(f_.rocblas_set_stream(handle_, context.stream()), "rocblas_set_stream");
  }
  ~Rocblas() override { f_.rocblas_destroy_handle(handle_); }

  std::string name() const override {  // "5.1.0.a1b2c3d"
    std::array<char, 64> text{};
    require_success(f_.rocblas_get_version_string(text.data(), text.size() - 1), "rocblas_get_version_string");
    const std::string version(text.data());
    return "rocBLAS " + version.substr(0, version.find('.', version.find('.') + 1));
  }
  void prepare(const gpu::run::Gemm& gemm) override { gemm_ = gemm; }
  void tune(DevicePtr, DevicePtr, gpu::run::LaunchTimer&) override {}  // it chooses the algorithm itself

  // Sums are in f32, of f64 in f64.
  void enqueue(DevicePtr a, DevicePtr b, DevicePtr c) override {
    const gpu::run::Scales scales(gemm_.dtype);
    const int type = kTypes.of(gemm_.dtype);
    const auto m = static_cast<int32_t>(gemm_.m), n = static_cast<int32_t>(gemm_.n), k = static_cast<int32_t>(gemm_.k);
    void* out = reinterpret_cast<void*>(c);
    require_success(f_.rocblas_gemm_ex(handle_, kNotTransposed, kNotTransposed, n, m, k, scales.one(), pointer(b), type,
                                       n, pointer(a), type, k, scales.zero(), out, type, n, out, type, n,
                                       scales.wide() ? kReal64 : kReal32, kStandardGemm, 0, 0),
                    "rocblas_gemm_ex");
  }

 private:
  RocblasFunctions f_;
  gpu::driver::Handle handle_ = nullptr;
  gpu::run::Gemm gemm_;
};
}  // namespace

std::unique_ptr<gpu::run::GemmLibrary> make_rocblas(const gpu::driver::Context& context, const fs::path& runtime) {
  return std::make_unique<Rocblas>(context, runtime);
}

}  // namespace sandbox::hip::run

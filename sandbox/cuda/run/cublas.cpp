#include "sandbox/cuda/run/cublas.h"

#include <climits>
#include <optional>
#include <utility>
#include <vector>

#include "core/dynamic_library.h"

namespace sandbox::cuda::run {
namespace {
namespace fs = std::filesystem;
using gpu::run::Gemm;
using gpu::run::GemmLibrary;
using gpu::run::LibraryError;
using gpu::run::require_success;
using gpu::run::Scales;
constexpr int kMostChoices = 8;  // algorithms of cuBLASLt's heuristic to time
constexpr int kTimesPerChoice = 3;
constexpr size_t kWorkspaceBytes = size_t{32} << 20;  // cuBLAS's own default on large GPUs
constexpr uint32_t kSchemesInFullPrecision = 3;       // in place, or in the accumulation type: never in f16

core::DynamicLibrary open_library(const std::string& name, const fs::path& cuda_home) {
  std::vector<fs::path> folders{"", "/usr/local/cuda/lib64"};  // the dynamic linker's folders first
  if (!cuda_home.empty()) folders.insert(folders.begin(), {cuda_home / "lib64", cuda_home / "lib"});
  std::vector<fs::path> files;
  for (const fs::path& folder : folders) {
    for (const char* version : {"13", "12"}) files.push_back(folder / (name + ".so." + version));
  }
  const core::DynamicLibrary library(files);
  if (library) return library;
  throw core::SystemError(name +
                          " is not found: install cuBLAS of CUDA 12 or 13, and set CUDA_HOME to the toolkit's folder "
                          "if that is in an unusual place");
}

std::string version_text(int64_t version) {  // 130002: 13.0.2
  return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100);
}

constexpr gpu::run::TypeNumbers kTypes{kReal16, kReal16b, kReal32, kReal64};
int compute_of(const Scales& scales) { return scales.wide() ? kCompute64 : kCompute32; }

const void* pointer(gpu::driver::DevicePtr address) { return reinterpret_cast<const void*>(address); }

// Both libraries are column-major. A row-major c = a b is a column-major c' = b' a': operands swap, and every leading
// dimension is the row length.
class Cublas : public GemmLibrary {
 public:
  Cublas(const gpu::driver::Context& context, const fs::path& cuda_home) : f_(open_cublas(cuda_home)) {
    require_success(f_.cublasCreate(&handle_), "cublasCreate");
    require_success(f_.cublasSetStream(handle_, context.stream()), "cublasSetStream");
    require_success(f_.cublasSetMathMode(handle_, kSumsInFullPrecision), "cublasSetMathMode");
  }
  ~Cublas() override { f_.cublasDestroy(handle_); }

  std::string name() const override {
    int version = 0;
    require_success(f_.cublasGetVersion(handle_, &version), "cublasGetVersion");
    return "cuBLAS " + version_text(version);
  }
  void prepare(const Gemm& gemm) override { gemm_ = gemm; }
  void tune(gpu::driver::DevicePtr, gpu::driver::DevicePtr, gpu::run::LaunchTimer&) override {
  }  // cublasGemmEx chooses the algorithm itself
  void enqueue(gpu::driver::DevicePtr a, gpu::driver::DevicePtr b, gpu::driver::DevicePtr c) override {
    const Scales scales(gemm_.dtype);
    const int type = kTypes.of(gemm_.dtype), m = static_cast<int>(gemm_.m), n = static_cast<int>(gemm_.n),
              k = static_cast<int>(gemm_.k);
    require_success(
        f_.cublasGemmEx(handle_, kNotTransposed, kNotTransposed, n, m, k, scales.one(), pointer(b), type, n, pointer(a),
                        type, k, scales.zero(), reinterpret_cast<void*>(c), type, n, compute_of(scales), kDefaultGemm),
        "cublasGemmEx");
  }

 private:
  CublasFunctions f_;
  gpu::driver::Handle handle_ = nullptr;
  Gemm gemm_;
};

class CublasLt : public GemmLibrary {
 public:
  CublasLt(const gpu::driver::Context& context, const fs::path& cuda_home)
      : context_(context), f_(open_cublas_lt(cuda_home)), workspace_(context, kWorkspaceBytes) {
    require_success(f_.cublasLtCreate(&handle_), "cublasLtCreate");
  }
  ~CublasLt() override {
    forget();
    f_.cublasLtDestroy(handle_);
  }

  std::string name() const override {
    return "cuBLASLt " + version_text(static_cast<int64_t>(f_.cublasLtGetVersion()));
  }

  void prepare(const Gemm& gemm) override {
    forget();
    gemm_ = gemm;
    const Scales scales(gemm.dtype);
    const int type = kTypes.of(gemm.dtype);
    const auto m = static_cast<uint64_t>(gemm.m), n = static_cast<uint64_t>(gemm.n), k = static_cast<uint64_t>(gemm.k);
    require_success(f_.cublasLtMatmulDescCreate(&product_, compute_of(scales), scales.wide() ? kReal64 : kReal32),
                    "cublasLtMatmulDescCreate");
    require_success(f_.cublasLtMatrixLayoutCreate(&left_, type, n, k, gemm.n), "cublasLtMatrixLayoutCreate");
    require_success(f_.cublasLtMatrixLayoutCreate(&right_, type, k, m, gemm.k), "cublasLtMatrixLayoutCreate");
    require_success(f_.cublasLtMatrixLayoutCreate(&result_, type, n, m, gemm.n), "cublasLtMatrixLayoutCreate");
    gpu::driver::Handle preference = nullptr;
    require_success(f_.cublasLtMatmulPreferenceCreate(&preference), "cublasLtMatmulPreferenceCreate");
    const uint64_t most_workspace = kWorkspaceBytes;
    const uint32_t schemes = kSchemesInFullPrecision;
    choices_.resize(kMostChoices);
    int found = 0;
    int status =
        f_.cublasLtMatmulPreferenceSetAttribute(preference, kMostWorkspace, &most_workspace, sizeof most_workspace);
    if (status == 0) {
      status = f_.cublasLtMatmulPreferenceSetAttribute(preference, kReductionSchemes, &schemes, sizeof schemes);
    }
    if (status == 0) {
      status = f_.cublasLtMatmulAlgoGetHeuristic(handle_, product_, left_, right_, result_, result_, preference,
                                                 kMostChoices, choices_.data(), &found);
    }
    f_.cublasLtMatmulPreferenceDestroy(preference);
    require_success(status, "cublasLtMatmulAlgoGetHeuristic");
    choices_.resize(static_cast<size_t>(found));
    std::erase_if(choices_, [](const LtChoice& choice) { return choice.state != 0; });
    if (choices_.empty()) throw LibraryError("cuBLASLt has no algorithm for this product");
    best_ = 0;  // the heuristic's first choice until timed
  }

  void tune(gpu::driver::DevicePtr a, gpu::driver::DevicePtr b, gpu::run::LaunchTimer& timer) override {
    const gpu::driver::PrivateMemory c(context_,
                                       static_cast<size_t>(gemm_.m * gemm_.n) * core::size_bytes(gemm_.dtype));
    std::optional<double> best_us;
    for (size_t i = 0; i < choices_.size(); ++i) {
      try {
        for (int time = 0; time <= kTimesPerChoice; ++time) {  // the first launch loads code
          const core::Json timed = timer.time(1, false, [&](size_t) { enqueue_choice(i, a, b, c.address()); });
          const double us = timed.at("us").get<double>();
          if (time == 0 || (best_us && us >= *best_us)) continue;
          best_us = us;
          best_ = i;
        }
      } catch (const LibraryError&) {  // offered, but cannot be launched here
      }
    }
    if (!best_us) throw LibraryError("none of cuBLASLt's algorithms for this product could be launched");
  }

  void enqueue(gpu::driver::DevicePtr a, gpu::driver::DevicePtr b, gpu::driver::DevicePtr c) override {
    enqueue_choice(best_, a, b, c);
  }

 private:
  void enqueue_choice(size_t choice, gpu::driver::DevicePtr a, gpu::driver::DevicePtr b, gpu::driver::DevicePtr c) {
    const Scales scales(gemm_.dtype);
    void* out = reinterpret_cast<void*>(c);
    require_success(
        f_.cublasLtMatmul(handle_, product_, scales.one(), pointer(b), left_, pointer(a), right_, scales.zero(), out,
                          result_, out, result_, choices_[choice].algorithm.data(),
                          reinterpret_cast<void*>(workspace_.address()), workspace_.bytes(), context_.stream()),
        "cublasLtMatmul");
  }

  void forget() {
    for (gpu::driver::Handle* layout : {&left_, &right_, &result_}) {
      if (*layout != nullptr) f_.cublasLtMatrixLayoutDestroy(std::exchange(*layout, nullptr));
    }
    if (product_ != nullptr) f_.cublasLtMatmulDescDestroy(std::exchange(product_, nullptr));
  }

  const gpu::driver::Context& context_;
  CublasLtFunctions f_;
  gpu::driver::PrivateMemory workspace_;
  gpu::driver::Handle handle_ = nullptr, product_ = nullptr, left_ = nullptr, right_ = nullptr, result_ = nullptr;
  Gemm gemm_;
  std::vector<LtChoice> choices_;
  size_t best_ = 0;
};
}  // namespace

#define KW_TAKE(result, name, suffix, parameters) library.take(f.name, #name suffix, "this cuBLAS");
CublasFunctions open_cublas(const fs::path& cuda_home) {
  const core::DynamicLibrary library = open_library("libcublas", cuda_home);
  CublasFunctions f{};
  KW_CUBLAS_FUNCTIONS(KW_TAKE)
  return f;
}

CublasLtFunctions open_cublas_lt(const fs::path& cuda_home) {
  const core::DynamicLibrary library = open_library("libcublasLt", cuda_home);
  CublasLtFunctions f{};
  KW_CUBLAS_LT_FUNCTIONS(KW_TAKE)
  return f;
}
#undef KW_TAKE

std::unique_ptr<gpu::run::GemmLibrary> make_cublas(const gpu::driver::Context& context, const fs::path& cuda_home) {
  return std::make_unique<Cublas>(context, cuda_home);
}
std::unique_ptr<gpu::run::GemmLibrary> make_cublas_lt(const gpu::driver::Context& context, const fs::path& cuda_home) {
  return std::make_unique<CublasLt>(context, cuda_home);
}

}  // namespace sandbox::cuda::run

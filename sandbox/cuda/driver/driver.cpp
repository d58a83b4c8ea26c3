#include "sandbox/cuda/driver/driver.h"

#include "core/dynamic_library.h"

namespace sandbox::cuda::driver {
namespace {
using gpu::driver::Attribute;
using gpu::driver::DeviceFacts;
using gpu::driver::DriverFunctions;
using gpu::driver::Handle;
using gpu::driver::LaunchConfig;
using gpu::driver::Limit;
using gpu::driver::MemoryHandle;

constexpr unsigned kSpinWhileWaiting = 1;              // CU_CTX_SCHED_SPIN: waits return microseconds sooner
constexpr int kComputeMajor = 75, kComputeMinor = 76;  // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_...
constexpr int kPosixDescriptor = 1;                    // CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR

core::DynamicLibrary driver_library() {
  return core::DynamicLibrary({"libcuda.so.1", "/usr/local/nvidia/lib64/libcuda.so.1"});  // the second: containers
}

// Functions behind Vendor: its name for them, the symbol, parameters.
// clang-format off
#define KW_OWN_FUNCTIONS(X) \
  X(version, "cuDriverGetVersion", (int*)) \
  X(error_name, "cuGetErrorName", (int, const char**)) \
  X(error_string, "cuGetErrorString", (int, const char**)) \
  X(open_context, "cuCtxCreate_v2", (Handle*, unsigned, int)) \
  X(close_context, "cuCtxDestroy_v2", (Handle)) \
  X(limit, "cuCtxSetLimit", (int, size_t)) \
  X(launch, "cuLaunchKernelEx", (const LaunchConfig*, Handle, void**, void**))
// clang-format on

struct OwnFunctions {
#define KW_MEMBER(name, cuda, parameters) int(*name) parameters = nullptr;
  KW_OWN_FUNCTIONS(KW_MEMBER)
#undef KW_MEMBER
};

class Cuda : public gpu::driver::Vendor {
 public:
  Cuda(const OwnFunctions& own, const DriverFunctions& shared) : own_(own), shared_(shared) {}

  std::string explain(int result) const override {
    const char* name = nullptr;
    const char* text = nullptr;
    own_.error_name(result, &name);
    own_.error_string(result, &text);
    return std::string(text != nullptr ? text : "unknown error") + " (" +
           (name != nullptr ? name : std::to_string(result)) + ")";
  }

  std::string symbol_of(std::string_view name) const override {
    std::string symbol(name);
#define KW_NAME(member, cuda, ...) \
  if (name == #member) symbol = cuda;
    KW_DRIVER_FUNCTIONS(KW_NAME)
    KW_CUDA_ONLY_FUNCTIONS(KW_NAME)
    KW_OWN_FUNCTIONS(KW_NAME)
#undef KW_NAME
    return symbol.substr(0, symbol.find("_v2"));
  }

  std::string version() const override {
    int version = 0;
    own_.version(&version);
    return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
  }

  std::optional<int> number_of(Attribute attribute) const override { return driver::number_of(attribute); }

  void describe(DeviceFacts& facts) const override {
    shared_.device_attribute(&facts.compute_major, kComputeMajor, facts.index);
    shared_.device_attribute(&facts.compute_minor, kComputeMinor, facts.index);
    facts.architecture = architecture_of(facts.compute_major, facts.compute_minor);
  }

  int open_context(Handle* context, int device) const override {
    return own_.open_context(context, kSpinWhileWaiting, device);
  }
  int close_context(Handle context) const override { return own_.close_context(context); }
  int limit(Limit which, size_t bytes) const override { return own_.limit(static_cast<int>(which), bytes); }
  int launch(const LaunchConfig& config, Handle function, void** parameters) const override {
    return own_.launch(&config, function, parameters, nullptr);
  }
  int import_descriptor(MemoryHandle* memory, int fd) const override {
    void* descriptor = reinterpret_cast<void*>(static_cast<intptr_t>(fd));  // as the driver expects it
    return shared_.memory_import(memory, descriptor, kPosixDescriptor);
  }

 private:
  OwnFunctions own_;
  DriverFunctions shared_;
};
}  // namespace

bool is_installed() { return static_cast<bool>(driver_library()); }

gpu::driver::Driver open_driver() {
  const core::DynamicLibrary library = driver_library();
  if (!library) {
    throw gpu::driver::NoGpu("the NVIDIA driver is not found (libcuda.so.1): install it, or use --device cpu");
  }
  DriverFunctions functions;
  OwnFunctions own;
#define KW_TAKE(member, cuda, ...) library.take(functions.member, cuda, "this NVIDIA driver");
  KW_DRIVER_FUNCTIONS(KW_TAKE)
#undef KW_TAKE
#define KW_FIND(member, cuda, ...) library.find(functions.member, cuda);
  KW_CUDA_ONLY_FUNCTIONS(KW_FIND)
#undef KW_FIND
#define KW_TAKE(member, cuda, ...) library.take(own.member, cuda, "this NVIDIA driver");
  KW_OWN_FUNCTIONS(KW_TAKE)
#undef KW_OWN_FUNCTIONS
#undef KW_TAKE
  const int result = functions.driver_init(0);
  if (result == gpu::driver::kNoDevice) {
    throw gpu::driver::NoGpu("the NVIDIA driver is there, but finds no GPU: use --device cpu");
  }
  gpu::driver::Driver driver(functions, std::make_unique<Cuda>(own, functions));
  driver.require(result, "driver_init");
  return driver;
}

std::string architecture_of(int compute_major, int compute_minor) {
  return "sm_" + std::to_string(compute_major) + std::to_string(compute_minor) + (compute_major >= 9 ? "a" : "");
}

int number_of(Attribute attribute) {
  switch (attribute) {
    case Attribute::multiprocessors:
      return 16;
    case Attribute::warp_lanes:
      return 10;
    case Attribute::l2_bytes:
      return 38;
    case Attribute::shared_bytes_per_block:
      return 97;  // the opt-in maximum
    case Attribute::shared_bytes_per_multiprocessor:
      return 81;
    case Attribute::registers_per_multiprocessor:
      return 82;
    case Attribute::registers_per_block:
      return 12;
    case Attribute::pageable_memory_access:
      return 88;
    case Attribute::cooperative_launch:
      return 95;
    case Attribute::cluster_launch:
      return 120;
  }
  throw core::SystemError("an attribute without a number");
}

}  // namespace sandbox::cuda::driver

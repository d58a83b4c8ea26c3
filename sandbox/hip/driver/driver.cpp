#include "sandbox/hip/driver/driver.h"

#include <algorithm>
#include <array>

#include "core/dynamic_library.h"

namespace sandbox::hip::driver {
namespace {
using gpu::driver::Attribute;
using gpu::driver::DeviceFacts;
using gpu::driver::DriverFunctions;
using gpu::driver::Handle;
using gpu::driver::LaunchConfig;
using gpu::driver::Limit;
using gpu::driver::MemoryHandle;

constexpr unsigned kSpinWhileWaiting = 1;  // hipDeviceScheduleSpin
constexpr int kPosixDescriptor = 1;        // hipMemHandleTypePosixFileDescriptor
constexpr int kCooperative = 2;            // LaunchAttribute::id
constexpr int kVersionMajor = 10000000, kVersionMinor = 100000;
constexpr int kDescriptorByValue = 7 * kVersionMajor + kVersionMinor;  // since 7.1; a pointer to it before
constexpr size_t kPropertiesBytes = 1472, kArchitectureAt = 1160;      // hipDeviceProp_tR0600, gcnArchName in it

// Functions behind Vendor: its name for them, the symbol, what it returns, parameters.
// clang-format off
#define KW_OWN_FUNCTIONS(X) \
  X(version, "hipRuntimeGetVersion", int, (int*)) \
  X(error_name, "hipGetErrorName", const char*, (int)) \
  X(error_string, "hipGetErrorString", const char*, (int)) \
  X(properties, "hipGetDevicePropertiesR0600", int, (void*, int)) \
  X(open_context, "hipSetDevice", int, (int)) \
  X(flags, "hipSetDeviceFlags", int, (unsigned)) \
  X(limit, "hipDeviceSetLimit", int, (int, size_t)) \
  X(launch, "hipModuleLaunchKernel", int, (Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Handle, void**, void**)) \
  X(launch_cooperative, "hipModuleLaunchCooperativeKernel", int, (Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Handle, void**))
// clang-format on

struct OwnFunctions {
#define KW_MEMBER(name, hip, result, parameters) result(*name) parameters = nullptr;
  KW_OWN_FUNCTIONS(KW_MEMBER)
#undef KW_MEMBER
};

core::DynamicLibrary open_first(const std::vector<std::string>& names) {
  std::vector<std::filesystem::path> files;
  for (const std::string& name : names) {
    files.insert(files.end(), {name, std::filesystem::path("/opt/rocm/lib") / name});
  }
  return core::DynamicLibrary(files);
}

core::DynamicLibrary runtime_library() { return open_first({"libamdhip64.so.7", "libamdhip64.so.6"}); }

class Hip : public gpu::driver::Vendor {
 public:
  Hip(const OwnFunctions& own, const DriverFunctions& shared) : own_(own), shared_(shared) { own_.version(&version_); }

  std::string explain(int result) const override {
    const char* name = own_.error_name(result);
    const char* text = own_.error_string(result);
    return std::string(text != nullptr ? text : "unknown error") + " (" +
           (name != nullptr ? name : std::to_string(result)) + ")";
  }

  std::string symbol_of(std::string_view name) const override {
#define KW_NAME(member, cuda, hip, ...) \
  if (name == #member) return hip;
    KW_DRIVER_FUNCTIONS(KW_NAME)
#undef KW_NAME
#define KW_NAME(member, hip, ...) \
  if (name == #member) return hip;
    KW_OWN_FUNCTIONS(KW_NAME)
#undef KW_NAME
    return std::string(name);
  }

  std::string version() const override {
    return std::to_string(version_ / kVersionMajor) + "." + std::to_string(version_ % kVersionMajor / kVersionMinor);
  }

  std::optional<int> number_of(Attribute attribute) const override { return driver::number_of(attribute); }

  // The name ends before the features: "gfx90a:sramecc+:xnack-".
  void describe(DeviceFacts& facts) const override {
    alignas(16) std::array<char, kPropertiesBytes> properties{};
    own_.properties(properties.data(), facts.index);
    const std::string name(properties.data() + kArchitectureAt);
    facts.architecture = name.substr(0, name.find(':'));
    facts.l2_bytes = std::max(facts.l2_bytes, infinity_cache_bytes(facts.architecture));
  }

  // The device's primary context, which HIP does not hand out.
  int open_context(Handle*, int device) const override {
    const int result = own_.open_context(device);
    return result == gpu::driver::kSuccess ? own_.flags(kSpinWhileWaiting) : result;
  }
  int close_context(Handle) const override { return gpu::driver::kSuccess; }

  int limit(Limit which, size_t bytes) const override {
    if (which == Limit::persisting_l2_bytes) return gpu::driver::kSuccess;  // no part of L2 can be reserved
    const int result = own_.limit(static_cast<int>(which), bytes);
    return result == kUnsupportedLimit ? gpu::driver::kSuccess : result;
  }

  // Clusters and overlapping launches were refused before (sandbox/gpu/run/limits.h).
  int launch(const LaunchConfig& c, Handle function, void** parameters) const override {
    if (c.attribute_count == 1 && c.attributes[0].id == kCooperative) {
      return own_.launch_cooperative(function, c.grid[0], c.grid[1], c.grid[2], c.block[0], c.block[1], c.block[2],
                                     c.shared_bytes, c.stream, parameters);
    }
    if (c.attribute_count > 0) return gpu::driver::kInvalidValue;
    return own_.launch(function, c.grid[0], c.grid[1], c.grid[2], c.block[0], c.block[1], c.block[2], c.shared_bytes,
                       c.stream, parameters, nullptr);
  }

  int import_descriptor(MemoryHandle* memory, int fd) const override {
    void* descriptor = version_ >= kDescriptorByValue ? reinterpret_cast<void*>(static_cast<intptr_t>(fd)) : &fd;
    return shared_.memory_import(memory, descriptor, kPosixDescriptor);
  }

 private:
  static constexpr int kUnsupportedLimit = 215;  // hipErrorUnsupportedLimit

  OwnFunctions own_;
  DriverFunctions shared_;
  int version_ = 0;
};

gpu::driver::NoGpu not_found() {
  if (open_first({"libamdhip64.so.5"})) {
    return gpu::driver::NoGpu(
        "only ROCm 5's HIP runtime is here (libamdhip64.so.5), which compiles for AMD GPUs and cannot share memory "
        "between processes: install ROCm 6 or newer; --device cpu-hip judges HIP on the host, and kernelwright check "
        "--arch gfx90a compiles and inspects");
  }
  return gpu::driver::NoGpu(
      "the HIP runtime is not found (libamdhip64.so.7 or .6): install ROCm 6 or newer; --device cpu-hip judges HIP on "
      "the host, "
      "and kernelwright check --arch gfx90a compiles and inspects");
}
}  // namespace

bool is_installed() { return static_cast<bool>(runtime_library()); }

gpu::driver::Driver open_driver(const std::filesystem::path& library_of_test) {
  const core::DynamicLibrary library =
      library_of_test.empty() ? runtime_library() : core::DynamicLibrary({library_of_test});
  if (!library) throw not_found();
  DriverFunctions functions;
  OwnFunctions own;
#define KW_TAKE(member, cuda, hip, ...) library.take(functions.member, hip, "this HIP runtime");
  KW_DRIVER_FUNCTIONS(KW_TAKE)
#undef KW_TAKE
#define KW_TAKE(member, hip, ...) library.take(own.member, hip, "this HIP runtime");
  KW_OWN_FUNCTIONS(KW_TAKE)
#undef KW_OWN_FUNCTIONS
#undef KW_TAKE
  const int result = functions.driver_init(0);
  if (result == gpu::driver::kNoDevice) {
    throw gpu::driver::NoGpu(
        "the HIP runtime is there, but finds no GPU: see that /dev/kfd and /dev/dri can be opened (groups render and "
        "video), or use --device cpu-hip");
  }
  gpu::driver::Driver driver(functions, std::make_unique<Hip>(own, functions));
  driver.require(result, "driver_init");
  return driver;
}

std::optional<int> number_of(Attribute attribute) {
  switch (attribute) {
    case Attribute::multiprocessors:
      return 63;
    case Attribute::warp_lanes:
      return 87;
    case Attribute::l2_bytes:
      return 19;
    case Attribute::shared_bytes_per_block:
      return 74;
    case Attribute::shared_bytes_per_multiprocessor:
      return 10002;
    case Attribute::registers_per_multiprocessor:
      return 72;
    case Attribute::registers_per_block:
      return 71;
    case Attribute::pageable_memory_access:
      return 65;
    case Attribute::cooperative_launch:
      return 10;
    case Attribute::cluster_launch:
      return std::nullopt;
  }
  throw core::SystemError("an attribute without a number");
}

int64_t infinity_cache_bytes(const std::string& architecture) {
  if (architecture.starts_with("gfx94") || architecture.starts_with("gfx95")) return int64_t{256} << 20;
  const bool rdna2_or_newer =
      architecture.starts_with("gfx103") || architecture.starts_with("gfx11") || architecture.starts_with("gfx12");
  return rdna2_or_newer ? int64_t{128} << 20 : 0;
}

}  // namespace sandbox::hip::driver

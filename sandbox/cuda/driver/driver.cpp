#include "sandbox/cuda/driver/driver.h"

#include "core/dynamic_library.h"

namespace sandbox::cuda::driver {

namespace {
core::DynamicLibrary driver_library() {
  return core::DynamicLibrary({"libcuda.so.1", "/usr/local/nvidia/lib64/libcuda.so.1"});  // the second: containers
}
}  // namespace

bool Driver::is_installed() { return static_cast<bool>(driver_library()); }

Driver Driver::open() {
  const core::DynamicLibrary library = driver_library();
  if (!library) {
    throw NoGpu("the NVIDIA driver is not found (libcuda.so.1): install it, or use --device cpu");
  }
  Driver driver;
  DriverFunctions& f = driver.functions_;
#define KW_TAKE(name, suffix, parameters) library.take(f.name, #name suffix, "this NVIDIA driver");
  KW_DRIVER_FUNCTIONS(KW_TAKE)
#undef KW_TAKE
#define KW_FIND(name, suffix, parameters) library.find(f.name, #name suffix);
  KW_OPTIONAL_DRIVER_FUNCTIONS(KW_FIND)
#undef KW_FIND
  const int result = f.cuInit(0);
  if (result == kNoDevice) throw NoGpu("the NVIDIA driver is there, but finds no GPU: use --device cpu");
  driver.require(result, "cuInit");
  return driver;
}

std::string Driver::explain(int result) const {
  const char* name = nullptr;
  const char* text = nullptr;
  functions_.cuGetErrorName(result, &name);
  functions_.cuGetErrorString(result, &text);
  return std::string(text != nullptr ? text : "unknown error") + " (" +
         (name != nullptr ? name : std::to_string(result)) + ")";
}

void Driver::require(int result, const char* call) const {
  if (result != kSuccess) throw DriverError(result, std::string(call) + ": " + explain(result));
}

int Driver::device_count() const {
  int count = 0;
  require(functions_.cuDeviceGetCount(&count), "cuDeviceGetCount");
  return count;
}

std::string Driver::version() const {
  int version = 0;
  require(functions_.cuDriverGetVersion(&version), "cuDriverGetVersion");
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::string DeviceFacts::architecture() const {
  return "sm_" + std::to_string(compute_major) + std::to_string(compute_minor) + (compute_major >= 9 ? "a" : "");
}

bool runs_on(const std::string& device, const std::string& wanted) {
  if (wanted.empty()) return true;
  const auto number = [](const std::string& architecture) { return std::stoi(architecture.substr(3)); };
  const bool own_features = wanted.back() == 'a';
  return own_features ? device == wanted : number(device) >= number(wanted);
}

DeviceFacts device_facts(const Driver& driver, int index) {
  int device = 0;
  driver.require(driver->cuDeviceGet(&device, index), "cuDeviceGet");
  const auto attribute = [&](Attribute which) {
    int value = 0;
    driver.require(driver->cuDeviceGetAttribute(&value, static_cast<int>(which), device), "cuDeviceGetAttribute");
    return value;
  };
  DeviceFacts facts;
  facts.index = index;
  char text[256] = {};
  driver.require(driver->cuDeviceGetName(text, sizeof text, device), "cuDeviceGetName");
  facts.name = text;
  driver.require(driver->cuDeviceGetPCIBusId(text, sizeof text, device), "cuDeviceGetPCIBusId");
  facts.pci_bus_id = text;
  size_t bytes = 0;
  driver.require(driver->cuDeviceTotalMem(&bytes, device), "cuDeviceTotalMem");
  facts.memory_bytes = static_cast<int64_t>(bytes);
  facts.compute_major = attribute(Attribute::compute_major);
  facts.compute_minor = attribute(Attribute::compute_minor);
  facts.multiprocessors = attribute(Attribute::multiprocessors);
  facts.l2_bytes = attribute(Attribute::l2_bytes);
  facts.shared_bytes_per_block = attribute(Attribute::shared_bytes_opt_in);
  facts.shared_bytes_per_multiprocessor = attribute(Attribute::shared_bytes_per_multiprocessor);
  facts.registers_per_multiprocessor = attribute(Attribute::registers_per_multiprocessor);
  return facts;
}

}  // namespace sandbox::cuda::driver

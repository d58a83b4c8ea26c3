#include "sandbox/gpu/driver/driver.h"

#include <fmt/format.h>

namespace sandbox::gpu::driver {
namespace {
constexpr size_t kUuidBytes = 16;
}

void Driver::require(int result, std::string_view call) const {
  if (result != kSuccess) throw DriverError(result, vendor_->symbol_of(call) + ": " + explain(result));
}

int Driver::device_count() const {
  int count = 0;
  require(functions_.device_count(&count), "device_count");
  return count;
}

int Driver::attribute(Attribute which, int device) const {
  int value = 0;
  if (const auto number = vendor_->number_of(which)) {
    require(functions_.device_attribute(&value, *number, device), "device_attribute");
  }
  return value;
}

bool runs_on(const std::string& device, const std::string& wanted) {
  if (wanted.empty() || !device.starts_with("sm_")) return true;
  const auto number = [](const std::string& architecture) { return std::stoi(architecture.substr(3)); };
  const bool own_features = wanted.back() == 'a';
  return own_features ? device == wanted : number(device) >= number(wanted);
}

DeviceFacts device_facts(const Driver& driver, int index) {
  int device = 0;
  driver.require(driver->device_get(&device, index), "device_get");
  DeviceFacts facts;
  facts.index = index;
  char text[256] = {};
  driver.require(driver->device_name(text, sizeof text, device), "device_name");
  facts.name = text;
  driver.require(driver->device_pci_bus_id(text, sizeof text, device), "device_pci_bus_id");
  facts.pci_bus_id = text;
  driver.require(driver->device_uuid(text, device), "device_uuid");
  for (const char byte : std::string_view(text, kUuidBytes)) facts.uuid += fmt::format("{:02x}", byte & 0xff);
  size_t bytes = 0;
  driver.require(driver->device_memory(&bytes, device), "device_memory");
  facts.memory_bytes = static_cast<int64_t>(bytes);
  facts.multiprocessors = driver.attribute(Attribute::multiprocessors, device);
  facts.warp_lanes = driver.attribute(Attribute::warp_lanes, device);
  facts.l2_bytes = driver.attribute(Attribute::l2_bytes, device);
  facts.shared_bytes_per_block = driver.attribute(Attribute::shared_bytes_per_block, device);
  facts.shared_bytes_per_multiprocessor = driver.attribute(Attribute::shared_bytes_per_multiprocessor, device);
  facts.registers_per_multiprocessor = driver.attribute(Attribute::registers_per_multiprocessor, device);
  driver.vendor().describe(facts);
  return facts;
}

}  // namespace sandbox::gpu::driver

// A launch plan prepared for repeated launches: functions found, arguments bound, limits checked against the device.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "sandbox/gpu/driver/context.h"
#include "sandbox/solution.h"

namespace sandbox::gpu::run {

// A tensor or workspace on the device.
struct DeviceBuffer {
  std::string name;
  driver::DevicePtr address = 0;
  size_t bytes = 0;
};

// The plan does not fit its kernels or this device, which is the candidate's failure.
class InvalidLaunch : public std::runtime_error {
 public:
  InvalidLaunch(std::string kernel, const std::string& message)
      : std::runtime_error(message), kernel_(std::move(kernel)) {}
  const std::string& kernel() const { return kernel_; }

 private:
  std::string kernel_;
};

class PreparedPlan {
 public:
  // The module must outlive it. `parameters`: number per kernel (cubin.h). Throws InvalidLaunch.
  PreparedPlan(const driver::Context& context, const driver::Module& module,
               const std::map<std::string, int64_t>& parameters, const LaunchPlan& plan,
               const std::vector<DeviceBuffer>& buffers);

  // Clears the zeroed workspaces and launches every kernel in order. Does not wait. Throws DriverError.
  void enqueue() const;
  // Local memory per thread; the most of all kernels.
  size_t local_bytes() const { return local_bytes_; }

 private:
  // One argument in the driver's form, padded so that no kernel reads beyond it.
  struct alignas(128) Argument {
    std::array<std::byte, 128> bytes{};
  };
  struct Prepared {
    driver::Function function;
    driver::LaunchConfig config;
    std::vector<driver::LaunchAttribute> attributes;
    std::vector<Argument> arguments;
  };

  Prepared prepare(const driver::Module& module, const std::map<std::string, int64_t>& parameters,
                   const LaunchPlan& plan, const PlannedLaunch& launch, const std::vector<DeviceBuffer>& buffers) const;
  Argument argument(const PlannedLaunch& launch, size_t index, const LaunchPlan& plan,
                    const std::vector<DeviceBuffer>& buffers, const driver::Function& function) const;

  const driver::Context& context_;
  std::vector<DeviceBuffer> zeroed_;
  std::vector<Prepared> launches_;
  size_t local_bytes_ = 0;
};

}  // namespace sandbox::gpu::run

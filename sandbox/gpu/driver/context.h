// A context on one device with one stream, and the objects in it. Everything here throws DriverError.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sandbox/gpu/driver/driver.h"

namespace sandbox::gpu::driver {

// Owns a context and its only stream. One per process, created and used by one thread. Must outlive all objects made
// from it.
class Context {
 public:
  Context(const Driver& driver, int device_index);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  const Driver& driver() const { return driver_; }
  const DriverFunctions* operator->() const { return driver_.operator->(); }
  void require(int result, const char* call) const { driver_.require(result, call); }
  const DeviceFacts& facts() const { return facts_; }
  int device() const { return device_; }  // the driver's handle
  Handle stream() const { return stream_; }
  int attribute(Attribute which) const;

  void limit(Limit which, size_t bytes) const;

  void synchronize() const;  // throws if work on the stream failed
  void copy_to_host(void* to, DevicePtr from, size_t bytes) const;
  void copy_to_device(DevicePtr to, const void* from, size_t bytes) const;
  void set(DevicePtr at, unsigned char value, size_t bytes) const;  // does not wait
  size_t free_bytes() const;

 private:
  const Driver& driver_;
  DeviceFacts facts_;
  int device_ = 0;
  Handle context_ = nullptr, stream_ = nullptr;
};

// Memory that other processes cannot reach.
class PrivateMemory {
 public:
  PrivateMemory() = default;
  PrivateMemory(const Context& context, size_t bytes);
  PrivateMemory(PrivateMemory&& other) noexcept;
  PrivateMemory& operator=(PrivateMemory&& other) noexcept;
  ~PrivateMemory();

  DevicePtr address() const { return address_; }
  size_t bytes() const { return bytes_; }

 private:
  const Context* context_ = nullptr;
  DevicePtr address_ = 0;
  size_t bytes_ = 0;
};

class Event {
 public:
  explicit Event(const Context& context);
  ~Event();
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  void record();
  bool passed() const;                        // the stream has reached it
  double us_since(const Event& begin) const;  // after both have passed

 private:
  const Context& context_;
  Handle event_ = nullptr;
};

class Function {
 public:
  Function() = default;
  Function(const Context& context, Handle function) : context_(&context), function_(function) {}

  int attribute(FunctionAttribute which) const;
  void set_attribute(FunctionAttribute which, int value) const;
  Handle handle() const { return function_; }
  // Launches on the context's stream. `parameters`: one address per parameter. Does not wait.
  void launch(const LaunchConfig& config, void** parameters) const;
  // The common case: a grid of `blocks` blocks of `threads` threads; arguments are passed unchanged.
  template <typename... Args>
  void operator()(unsigned blocks, unsigned threads, Args... args) const {
    LaunchConfig config;
    config.grid[0] = blocks;
    config.block[0] = threads;
    void* parameters[] = {&args..., nullptr};
    launch(config, parameters);
  }

 private:
  const Context* context_ = nullptr;
  Handle function_ = nullptr;
};

// A loaded binary: a cubin or a code object.
class Module {
 public:
  Module(const Context& context, std::string_view cubin);
  Module(Module&& other) noexcept;
  Module& operator=(Module&& other) noexcept;
  ~Module();

  Function function(const std::string& name) const;

 private:
  const Context* context_;
  Handle module_ = nullptr;
};

}  // namespace sandbox::gpu::driver

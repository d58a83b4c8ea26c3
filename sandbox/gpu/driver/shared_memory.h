// Device memory that one process creates and another maps, between unmapped addresses.
#pragma once

#include <cstddef>

#include "core/unique_fd.h"
#include "sandbox/gpu/driver/context.h"

namespace sandbox::gpu::driver {

enum class Access : int { read = 1, read_write = 3 };

// Whole granules of memory (usually 2 MiB), mapped into this process between reserved, unmapped ones: a random number
// on either side, at least one. Throws DriverError.
class SharedMemory {
 public:
  // At least `bytes`; its content is undefined.
  static SharedMemory make(const Context& context, size_t bytes);
  // Maps another process's exported memory; `mapped_bytes` is its mapped_bytes(). A store through a read-only mapping
  // is a fault.
  static SharedMemory import(const Context& context, int fd, size_t mapped_bytes, Access access);
  SharedMemory(SharedMemory&& other) noexcept;
  SharedMemory& operator=(SharedMemory&& other) noexcept;
  ~SharedMemory();

  core::UniqueFd export_descriptor() const;
  DevicePtr begin() const { return begin_; }
  size_t mapped_bytes() const { return mapped_bytes_; }

 private:
  explicit SharedMemory(const Context& context) : context_(&context) {}
  void map(Access access);
  void release();

  const Context* context_;
  MemoryHandle handle_ = 0;
  bool owns_handle_ = false;
  DevicePtr reserved_ = 0;
  size_t reserved_bytes_ = 0;
  DevicePtr begin_ = 0;
  size_t mapped_bytes_ = 0;
};

size_t granularity(const Context& context);

}  // namespace sandbox::gpu::driver

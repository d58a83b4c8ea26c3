#include "sandbox/gpu/driver/shared_memory.h"

#include <random>
#include <utility>

namespace sandbox::gpu::driver {
namespace {
constexpr int kPosixDescriptor = 1;
constexpr size_t kMostGap = 64;  // granules

AllocationProperties properties(const Context& context) {
  AllocationProperties properties;
  properties.location.device = context.device();
  return properties;
}
}  // namespace

size_t granularity(const Context& context) {
  size_t bytes = 0;
  const AllocationProperties wanted = properties(context);
  context.require(context->granularity(&bytes, &wanted, 0), "granularity");
  return bytes;
}

SharedMemory SharedMemory::make(const Context& context, size_t bytes) {
  const size_t granule = granularity(context);
  SharedMemory memory(context);
  memory.mapped_bytes_ = (bytes + granule - 1) / granule * granule;
  const AllocationProperties wanted = properties(context);
  context.require(context->memory_create(&memory.handle_, memory.mapped_bytes_, &wanted, 0), "memory_create");
  memory.owns_handle_ = true;
  memory.map(Access::read_write);
  return memory;
}

SharedMemory SharedMemory::import(const Context& context, int fd, size_t mapped_bytes, Access access) {
  SharedMemory memory(context);
  memory.mapped_bytes_ = mapped_bytes;
  context.require(context.driver().vendor().import_descriptor(&memory.handle_, fd), "memory_import");
  memory.owns_handle_ = true;
  memory.map(access);
  return memory;
}

void SharedMemory::map(Access access) {
  const Context& context = *context_;
  const size_t granule = granularity(context);
  // Random distances, so that device code cannot guess other addresses.
  std::random_device chance;
  const size_t before = 1 + chance() % kMostGap, after = 1 + chance() % kMostGap;
  const size_t wanted = mapped_bytes_ + (before + after) * granule;
  context.require(context->address_reserve(&reserved_, wanted, granule, 0, 0), "address_reserve");
  reserved_bytes_ = wanted;
  const DevicePtr at = reserved_ + before * granule;
  context.require(context->memory_map(at, mapped_bytes_, 0, handle_, 0), "memory_map");
  begin_ = at;
  AccessDescription description;
  description.location.device = context.device();
  description.flags = static_cast<int>(access);
  context.require(context->memory_set_access(at, mapped_bytes_, &description, 1), "memory_set_access");
}

core::UniqueFd SharedMemory::export_descriptor() const {
  int fd = -1;
  context_->require((*context_)->memory_export(&fd, handle_, kPosixDescriptor, 0), "memory_export");
  return core::UniqueFd(fd);
}

void SharedMemory::release() {
  if (begin_ != 0) (*context_)->memory_unmap(begin_, mapped_bytes_);
  if (reserved_ != 0) (*context_)->address_free(reserved_, reserved_bytes_);
  if (owns_handle_) (*context_)->memory_release(handle_);
}

SharedMemory::SharedMemory(SharedMemory&& other) noexcept
    : context_(other.context_),
      handle_(other.handle_),
      owns_handle_(std::exchange(other.owns_handle_, false)),
      reserved_(std::exchange(other.reserved_, 0)),
      reserved_bytes_(other.reserved_bytes_),
      begin_(std::exchange(other.begin_, 0)),
      mapped_bytes_(other.mapped_bytes_) {}

SharedMemory& SharedMemory::operator=(SharedMemory&& other) noexcept {
  std::swap(context_, other.context_);
  std::swap(handle_, other.handle_);
  std::swap(owns_handle_, other.owns_handle_);
  std::swap(reserved_, other.reserved_);
  std::swap(reserved_bytes_, other.reserved_bytes_);
  std::swap(begin_, other.begin_);
  std::swap(mapped_bytes_, other.mapped_bytes_);
  return *this;
}

SharedMemory::~SharedMemory() { release(); }

}  // namespace sandbox::gpu::driver

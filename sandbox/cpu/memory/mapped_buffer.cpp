#include "sandbox/cpu/memory/mapped_buffer.h"

#include <sys/mman.h>

#include <cerrno>
#include <utility>

#include "core/error.h"

namespace sandbox::cpu::memory {
namespace {
constexpr size_t kPage = 4096, kAlign = 16, kLeastSlack = 256;

size_t round_up(size_t value, size_t unit) { return (value + unit - 1) / unit * unit; }
}  // namespace

size_t memory_file_bytes(size_t bytes) { return round_up(round_up(bytes, kAlign) + kLeastSlack, kPage); }

MappedBuffer::MappedBuffer(int fd, size_t bytes, Access access) : file_bytes_(memory_file_bytes(bytes)), bytes_(bytes) {
  map(access == Access::read_only ? PROT_READ : PROT_READ | PROT_WRITE, MAP_SHARED, fd);
}

MappedBuffer::MappedBuffer(size_t bytes) : file_bytes_(memory_file_bytes(bytes)), bytes_(bytes) {
  map(PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
}

void MappedBuffer::map(int protection, int flags, int fd) {
  void* reserved =
      ::mmap(nullptr, file_bytes_ + 2 * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED) throw core::SystemError("cannot reserve memory for a buffer", errno);
  reserved_ = static_cast<std::byte*>(reserved);
  if (::mmap(reserved_ + kPage, file_bytes_, protection, flags | MAP_FIXED | MAP_POPULATE, fd, 0) == MAP_FAILED) {
    const int error = errno;
    unmap();
    throw core::SystemError("cannot map a buffer of " + std::to_string(bytes_) + " bytes", error);
  }
}

MappedBuffer::MappedBuffer(MappedBuffer&& other) noexcept
    : reserved_(std::exchange(other.reserved_, nullptr)), file_bytes_(other.file_bytes_), bytes_(other.bytes_) {}

MappedBuffer& MappedBuffer::operator=(MappedBuffer&& other) noexcept {
  if (this != &other) {
    unmap();
    reserved_ = std::exchange(other.reserved_, nullptr);
    file_bytes_ = other.file_bytes_;
    bytes_ = other.bytes_;
  }
  return *this;
}

MappedBuffer::~MappedBuffer() { unmap(); }

void MappedBuffer::unmap() {
  if (reserved_ != nullptr) ::munmap(reserved_, file_bytes_ + 2 * kPage);
  reserved_ = nullptr;
}

std::span<std::byte> MappedBuffer::content() const {
  return {reserved_ + kPage + file_bytes_ - round_up(bytes_, kAlign), bytes_};
}

std::span<std::byte> MappedBuffer::slack_before() const {
  return {reserved_ + kPage, file_bytes_ - round_up(bytes_, kAlign)};
}

std::span<std::byte> MappedBuffer::slack_after() const {
  const std::span<std::byte> inside = content();
  return {inside.data() + inside.size(), round_up(bytes_, kAlign) - bytes_};
}

}  // namespace sandbox::cpu::memory

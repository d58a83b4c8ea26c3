// Memory for a kernel between two unmapped pages: a shared memory file, or memory of this process alone. The content
// ends (to 16 bytes) at an unmapped page, so that an access one element too far faults; the slack before it holds the
// judge's guard pattern.
#pragma once

#include <cstddef>
#include <span>

namespace sandbox::cpu::memory {

// Size of the memory file that holds `bytes` of content.
size_t memory_file_bytes(size_t bytes);

class MappedBuffer {
 public:
  enum class Access { read_only, read_write };

  // Maps a memory file of memory_file_bytes(bytes). The descriptor may be closed afterwards. Throws core::SystemError.
  MappedBuffer(int fd, size_t bytes, Access access);
  // Zeroed memory that no other process sees. Throws core::SystemError.
  explicit MappedBuffer(size_t bytes);
  MappedBuffer(MappedBuffer&& other) noexcept;
  MappedBuffer& operator=(MappedBuffer&& other) noexcept;
  ~MappedBuffer();

  std::span<std::byte> content() const;       // 16-byte aligned
  std::span<std::byte> slack_before() const;  // from the first mapped byte to the content
  std::span<std::byte> slack_after() const;   // fewer than 16 bytes, up to the unmapped page

 private:
  void map(int protection, int flags, int fd);
  void unmap();

  std::byte* reserved_ = nullptr;  // one page, the file, one page
  size_t file_bytes_ = 0, bytes_ = 0;
};

}  // namespace sandbox::cpu::memory

#include "sandbox/process/sealed_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "core/error.h"

namespace sandbox::process {

core::UniqueFd sealed_memory(const char* name, std::string_view bytes) {
  core::UniqueFd fd(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd) throw core::SystemError("cannot make a memory file for a binary", errno);
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t n = ::write(fd.get(), bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno != EINTR) throw core::SystemError("cannot fill a memory file", errno);
    if (n > 0) done += static_cast<size_t>(n);
  }
  if (::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) != 0) {
    throw core::SystemError("cannot seal a memory file", errno);
  }
  return fd;
}

bool is_sealed(int fd) {
  constexpr int kAll = F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK;
  const int seals = ::fcntl(fd, F_GET_SEALS);
  return seals >= 0 && (seals & kAll) == kAll;
}

std::string read_memory(int fd, int64_t most_bytes) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) throw core::SystemError("cannot read a memory file", errno);
  if (status.st_size > most_bytes) {
    throw core::SystemError("a memory file of " + std::to_string(status.st_size) + " bytes, where at most " +
                            std::to_string(most_bytes) + " are taken");
  }
  std::string bytes(static_cast<size_t>(status.st_size), '\0');
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t n = ::pread(fd, bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
    if (n <= 0) throw core::SystemError("cannot read a memory file", errno);
    done += static_cast<size_t>(n);
  }
  return bytes;
}

}  // namespace sandbox::process

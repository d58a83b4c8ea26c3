#include "sandbox/process/turns.h"

#include <fcntl.h>

#include <cerrno>
#include <system_error>

#include "core/error.h"

namespace sandbox::process {
namespace {
// Bytes of the file, which may be empty: whoever waits to be alone keeps the first, so that others queue behind it.
enum Place : off_t { kQueue, kDevice, kTried };

bool lock(int file, int command, short type, Place place) {
  struct flock range {};
  range.l_type = type;
  range.l_whence = SEEK_SET;
  range.l_start = place;
  range.l_len = 1;
  int result;
  do {
    result = ::fcntl(file, command, &range);
  } while (result != 0 && errno == EINTR);
  return result == 0;
}
}  // namespace

Turns::Turns(core::UniqueFd file) : file_(std::move(file)) {}

Turns::Turn& Turns::Turn::operator=(Turn&& other) noexcept {
  std::swap(file_, other.file_);
  return *this;
}
Turns::Turn::~Turn() {
  if (file_ >= 0) lock(file_, F_OFD_SETLK, F_UNLCK, kDevice);
}

Turns::Turn Turns::beside_others() const { return take(F_RDLCK); }
Turns::Turn Turns::alone() const { return take(F_WRLCK); }

Turns::Turn Turns::take(short type) const {
  if (!file_) return {};
  const bool taken = lock(file_.get(), F_OFD_SETLKW, type, kQueue) && lock(file_.get(), F_OFD_SETLKW, type, kDevice);
  const int error = errno;
  lock(file_.get(), F_OFD_SETLK, F_UNLCK, kQueue);
  if (!taken) throw core::SystemError("cannot wait for a turn at the device", error);
  return Turn(file_.get());
}

core::UniqueFd file_of_turns(const std::filesystem::path& folder, const std::string& device) {
  if (folder.empty() || device.empty()) return {};
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  core::UniqueFd file(::open((folder / ("turns-" + device)).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!file || !lock(file.get(), F_OFD_SETLK, F_RDLCK, kTried)) return {};
  lock(file.get(), F_OFD_SETLK, F_UNLCK, kTried);
  return file;
}

}  // namespace sandbox::process

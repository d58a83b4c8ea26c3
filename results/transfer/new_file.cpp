#include "results/transfer/new_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "core/error.h"
#include "core/unique_fd.h"

namespace results::transfer {
namespace {
[[noreturn]] void is_there(const std::filesystem::path& file) {
  throw core::InputError(file.string(), "already exists", "give the name of a new file, or remove it first");
}

void sync(const std::filesystem::path& path) {
  const core::UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0 || ::fsync(file.get()) != 0) throw core::SystemError("cannot write " + path.string(), errno);
}
}  // namespace

NewFile::NewFile(std::filesystem::path file)
    : file_(std::move(file)), aside_(file_.string() + ".part" + std::to_string(::getpid())) {
  std::error_code none;
  if (std::filesystem::exists(std::filesystem::symlink_status(file_, none))) is_there(file_);
  std::filesystem::remove(aside_, none);
}

NewFile::~NewFile() {
  std::error_code none;
  std::filesystem::remove(aside_, none);
}

void NewFile::keep() {
  sync(aside_);
  if (::link(aside_.c_str(), file_.c_str()) != 0) {
    if (errno == EEXIST) is_there(file_);
    // Some file systems have no links; renaming may then overwrite a file created in this moment.
    if (::rename(aside_.c_str(), file_.c_str()) != 0) throw core::SystemError("cannot name " + file_.string(), errno);
  }
  sync(std::filesystem::absolute(file_).parent_path());
}

}  // namespace results::transfer

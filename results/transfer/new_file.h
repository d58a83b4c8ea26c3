// A file that appears whole or not at all: it is written under another name and renamed.
#pragma once

#include <filesystem>

namespace results::transfer {

class NewFile {
 public:
  // Throws core::InputError when `file` is there already.
  explicit NewFile(std::filesystem::path file);
  ~NewFile();  // removes what was not kept
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  const std::filesystem::path& aside() const { return aside_; }  // write here
  // Makes sure that it is on the disk, and gives it its name. Throws core::InputError when another took that
  // meanwhile, core::SystemError when the disk fails.
  void keep();

 private:
  std::filesystem::path file_, aside_;
};

}  // namespace results::transfer

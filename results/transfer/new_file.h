// A file that appears complete or not at all: written under another name, then renamed.
#pragma once

#include <filesystem>

namespace results::transfer {

class NewFile {
 public:
  // Throws core::InputError if `file` exists.
  explicit NewFile(std::filesystem::path file);
  ~NewFile();  // removes the file unless keep() was called
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  const std::filesystem::path& aside() const { return aside_; }  // write here
  // Syncs the file to disk and gives it its name. Throws core::InputError if the name was taken meanwhile,
  // core::SystemError if the disk fails.
  void keep();

 private:
  std::filesystem::path file_, aside_;
};

}  // namespace results::transfer

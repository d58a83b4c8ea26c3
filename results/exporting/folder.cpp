#include "results/exporting/folder.h"

#include <unistd.h>

#include <fstream>
#include <system_error>

#include "core/error.h"

namespace results::exporting {
namespace fs = std::filesystem;
namespace {
constexpr const char* kMark = "provenance.json";  // present in every export

void write_file(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream file(path, std::ios::binary);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  file.close();
  if (!file) throw core::SystemError("cannot write " + path.string() + ": is the disk full?");
}

class Aside {
 public:
  explicit Aside(const fs::path& folder) : path_(folder.string() + ".new-" + std::to_string(::getpid())) {
    fs::remove_all(path_);
    fs::create_directories(path_);
  }
  ~Aside() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
    fs::remove_all(former(), ignored);
  }
  Aside(const Aside&) = delete;
  Aside& operator=(const Aside&) = delete;

  const fs::path& path() const { return path_; }
  fs::path former() const { return path_.string() + "-former"; }  // the replaced folder, until the new one is in place

 private:
  fs::path path_;
};
}  // namespace

void write_folder(const fs::path& asked, const Files& files, bool force) {
  fs::path folder = fs::absolute(asked).lexically_normal();
  if (folder.filename().empty()) folder = folder.parent_path();
  const bool there = fs::exists(folder);
  if (there && !fs::is_directory(folder)) {
    throw core::InputError(folder.string(), "is a file", "name a folder that does not exist yet");
  }
  const bool replaced = there && !fs::is_empty(folder);
  if (replaced && !force) {
    throw core::InputError(folder.string(), "is not empty", "name another folder, or replace an export with --force");
  }
  if (replaced && !fs::exists(folder / kMark)) {
    throw core::InputError(folder.string(), "holds something other than an export: --force replaces only exports",
                           "name another folder");
  }
  try {
    const Aside aside(folder);
    for (const auto& [path, text] : files) write_file(aside.path() / path, text);
    if (there) fs::rename(folder, aside.former());
    fs::rename(aside.path(), folder);
  } catch (const fs::filesystem_error& error) {
    throw core::SystemError("cannot write " + folder.string() + ": " + error.code().message());
  }
}

}  // namespace results::exporting

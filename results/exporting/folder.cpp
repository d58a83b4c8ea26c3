#include "results/exporting/folder.h"

#include "core/error.h"
#include "core/new_folder.h"

namespace results::exporting {
namespace fs = std::filesystem;
namespace {
constexpr const char* kMark = "provenance.json";  // present in every export
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
  core::NewFolder made = core::NewFolder::in_place_of(folder);
  for (const auto& [path, text] : files) made.write(path, text);
  made.move_to_place();
}

}  // namespace results::exporting

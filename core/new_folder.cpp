#include "core/new_folder.h"

#include <unistd.h>

#include <fstream>
#include <system_error>

#include "core/error.h"

namespace core {
namespace fs = std::filesystem;
namespace {
void make(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw InputError(folder.string(), "cannot be made: " + error.message());
}

fs::path absent(fs::path place, const std::string& remedy) {
  if (fs::exists(place)) throw InputError(place.string(), "already exists", remedy);
  return place;
}
}  // namespace

NewFolder::NewFolder(fs::path place, const std::string& remedy)
    : NewFolder(absent(std::move(place), remedy), Existing::refused) {}

NewFolder::NewFolder(fs::path place, Existing existing) : place_(std::move(place)), existing_(existing) {
  now_ = place_.parent_path() / ("." + place_.filename().string() + "." + std::to_string(::getpid()));
  make(now_);
}

NewFolder::~NewFolder() {
  std::error_code ignored;
  if (!now_.empty()) fs::remove_all(now_, ignored);
}

void NewFolder::write(const fs::path& file, const std::string& text) const {
  make((now_ / file).parent_path());
  std::ofstream out(now_ / file, std::ios::binary);
  if (!(out << text << std::flush)) throw InputError((place_ / file).string(), "cannot be written: is the disk full?");
}

void NewFolder::move_to_place() {
  const fs::path former = now_.string() + ".former";
  std::error_code error, ignored;
  const bool replaced = existing_ == Existing::replaced && fs::exists(place_);
  if (replaced) fs::rename(place_, former, error);
  if (!error) {
    fs::rename(now_, place_, error);
    if (error && replaced) fs::rename(former, place_, ignored);
  }
  if (error) throw InputError(place_.string(), "cannot be made: " + error.message());
  now_.clear();
  fs::remove_all(former, ignored);
}

}  // namespace core

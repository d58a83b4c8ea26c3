// A folder that appears whole or not at all.
#pragma once

#include <filesystem>
#include <string>
#include <utility>

namespace core {

// Is filled beside `place` and removes itself unless it is moved there. Every function throws InputError with the path
// that could not be written.
class NewFolder {
 public:
  // `remedy`: what to do where `place` exists already.
  NewFolder(std::filesystem::path place, const std::string& remedy);
  // Replaces a folder that exists, which stays whole until this one is moved there.
  static NewFolder in_place_of(std::filesystem::path place) { return {std::move(place), Existing::replaced}; }
  ~NewFolder();
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;

  // `file` may stand in a folder of its own.
  void write(const std::filesystem::path& file, const std::string& text) const;
  void move_to_place();

 private:
  enum class Existing { refused, replaced };
  NewFolder(std::filesystem::path place, Existing existing);

  std::filesystem::path place_, now_;
  Existing existing_;
};

}  // namespace core

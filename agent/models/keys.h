// Keys for providers, and their removal from stored texts.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace agent::models {

// The value of a variable of the environment; nullopt: not set, or empty.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;
Environment process_environment();

class Key {
 public:
  Key() = default;
  // Trims spaces. Throws core::InputError, naming `where` but not the key, if the key is not valid in an HTTP header.
  Key(std::string value, const std::string& where);

  const std::string& value() const { return value_; }  // "" if there is none
  // The text with "[key]" in place of the key. A key under 8 characters ("none", "EMPTY") does not count as secret.
  std::string removed_from(std::string text) const;

 private:
  std::string value_;
};

// The first of `names` set in the file (lines NAME=KEY; a line without a name is a key for all), else the first one in
// the environment, else none. Throws core::InputError when the file is unreadable, is readable by anyone but its owner,
// or has no key for any of the names.
Key find_key(const std::vector<std::string>& names, const std::optional<std::filesystem::path>& file,
             const Environment& environment);

}  // namespace agent::models

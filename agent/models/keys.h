// Keys for providers, and their removal from whatever is kept.
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
  // Spaces around it are dropped. Throws core::InputError, which names `where` and not the key, when it cannot stand in
  // a header.
  Key(std::string value, const std::string& where);

  const std::string& value() const { return value_; }  // "" when there is none
  // The text with "[key]" wherever the key stands. A key of less than 8 characters ("none", "EMPTY") is no secret.
  std::string removed_from(std::string text) const;

 private:
  std::string value_;
};

// The first of `names` that the file sets (lines NAME=KEY; a line without a name is a key for all), else the first that
// the environment sets, else none. Throws core::InputError when the file cannot be read, is readable by others than its
// owner, or has no key for any of the names.
Key find_key(const std::vector<std::string>& names, const std::optional<std::filesystem::path>& file,
             const Environment& environment);

}  // namespace agent::models

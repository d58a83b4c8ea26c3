#include "agent/models/keys.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "core/error.h"
#include "core/text.h"
#include "core/unique_fd.h"

namespace agent::models {
namespace {
constexpr size_t kShortestSecret = 8;

std::string trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

// Opens the file before it checks the permissions, so that they are those of the file read.
std::string read_private_file(const std::filesystem::path& path) {
  const core::UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) throw core::InputError(path.string(), std::string("cannot be read: ") + std::strerror(errno));
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
    throw core::InputError(path.string(), "is not a file", "put the key into the first line");
  }
  if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    throw core::InputError(path.string(), "holds a key but is readable by others than its owner",
                           "restrict it: chmod 600");
  }
  std::string text(16 << 10, '\0');
  const ssize_t length = ::read(fd.get(), text.data(), text.size());
  if (length < 0) throw core::InputError(path.string(), std::string("cannot be read: ") + std::strerror(errno));
  text.resize(static_cast<size_t>(length));
  return text;
}

// True for the form of a variable's name: keys may hold '=', but none has this form before it.
bool is_variable(std::string_view name) {
  constexpr std::string_view kEnd = "_API_KEY";
  return name.size() > kEnd.size() && name.substr(name.size() - kEnd.size()) == kEnd &&
         name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == std::string_view::npos;
}
}  // namespace

Environment process_environment() {
  return [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    if (value == nullptr || *value == '\0') return std::nullopt;
    return value;
  };
}

Key::Key(std::string value, const std::string& where) : value_(trimmed(value)) {
  const bool fits = std::all_of(value_.begin(), value_.end(), [](char c) { return c > 0x20 && c < 0x7F; });
  if (!fits) throw core::InputError(where, "is not a key: it holds spaces or non-ASCII characters");
}

std::string Key::removed_from(std::string text) const {
  if (value_.size() < kShortestSecret) return text;
  constexpr std::string_view kInstead = "[key]";
  for (size_t at = text.find(value_); at != std::string::npos; at = text.find(value_, at + kInstead.size())) {
    text.replace(at, value_.size(), kInstead);
  }
  return text;
}

Key find_key(const std::vector<std::string>& names, const std::optional<std::filesystem::path>& file,
             const Environment& environment) {
  if (file) {
    std::string for_all;
    const std::vector<std::string> lines = core::split(read_private_file(*file), '\n');
    for (const std::string& name : names) {
      for (const std::string& line : lines) {
        const std::string text = trimmed(line);
        const size_t equals = text.find('=');
        const bool named = equals != std::string::npos && is_variable(trimmed(text.substr(0, equals)));
        if (named && trimmed(text.substr(0, equals)) == name) return Key(text.substr(equals + 1), file->string());
        if (!named && !text.empty() && text[0] != '#' && for_all.empty()) for_all = text;
      }
    }
    if (for_all.empty()) {
      throw core::InputError(file->string(), "has no key for " + core::join(names, " or "),
                             "write only the key into it, or lines like " + names.front() + "=...");
    }
    return Key(for_all, file->string());
  }
  for (const std::string& name : names) {
    if (const std::optional<std::string> value = environment(name)) return Key(*value, name);
  }
  return {};
}

}  // namespace agent::models

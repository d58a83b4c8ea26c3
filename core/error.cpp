#include "core/error.h"

#include <cstring>
#include <utility>

#include "core/text.h"

namespace core {
namespace {
constexpr size_t kMostBytes = 4000;

std::string message(const std::string& where, const std::string& what, const std::string& remedy) {
  std::string text = clean_line(where.empty() ? what : where + ": " + what, kMostBytes);
  if (!remedy.empty()) text += "\n  " + join(split(remedy, '\n'), "\n  ");
  return text;
}
}  // namespace

InputError::InputError(std::string where, std::string what, std::string remedy)
    : std::runtime_error(message(where, what, remedy)),
      where_(std::move(where)),
      problem_(std::move(what)),
      remedy_(std::move(remedy)) {}

SystemError::SystemError(const std::string& what, int error_number)
    : std::runtime_error(what + ": " + std::strerror(error_number)) {}

}  // namespace core

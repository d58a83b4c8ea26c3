#include "core/error.h"

#include <cstring>
#include <utility>

namespace core {
namespace {
std::string join(const std::string& where, const std::string& what, const std::string& remedy) {
  std::string text = where.empty() ? what : where + ": " + what;
  if (!remedy.empty()) text += "\n  " + remedy;
  return text;
}
}  // namespace

InputError::InputError(std::string where, std::string what, std::string remedy)
    : std::runtime_error(join(where, what, remedy)),
      where_(std::move(where)),
      problem_(std::move(what)),
      remedy_(std::move(remedy)) {}

SystemError::SystemError(const std::string& what, int error_number)
    : std::runtime_error(what + ": " + std::strerror(error_number)) {}

}  // namespace core

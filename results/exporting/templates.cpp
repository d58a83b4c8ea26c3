#include "results/exporting/templates.h"

#include <cctype>

#include "core/error.h"
#include "core/text.h"

namespace results::exporting {
namespace {
// Behind the name of a place that begins at '@'; npos where none does.
size_t end_of_place(const std::string& text, size_t at) {
  size_t end = at + 1;
  while (end < text.size() && (std::islower(static_cast<unsigned char>(text[end])) != 0 || text[end] == '_')) ++end;
  return end > at + 1 && end < text.size() && text[end] == '@' ? end : std::string::npos;
}
}  // namespace

std::string fill(const std::string& text, const TemplateValues& places, const std::string& file) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t begin = text.find('@', at);
    out += text.substr(at, begin == std::string::npos ? begin : begin - at);
    if (begin == std::string::npos) break;
    const size_t end = end_of_place(text, begin);
    if (end == std::string::npos) {
      out += '@';
      at = begin + 1;
      continue;
    }
    const auto found = places.find(text.substr(begin + 1, end - begin - 1));
    if (found == places.end()) {
      throw core::SystemError(file + ": nothing fills " + text.substr(begin, end - begin + 1));
    }
    out += found->second;
    at = end + 1;
  }
  return out;
}

std::string fill_file(const std::filesystem::path& templates, const std::string& file, const TemplateValues& places) {
  return fill(core::read_file(templates / (file + ".in")), places, file);
}

}  // namespace results::exporting

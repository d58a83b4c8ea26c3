#include "agent/prompting/templates.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "core/error.h"
#include "core/suggest.h"
#include "core/text.h"

namespace agent::prompting {
namespace {
constexpr std::string_view kOpen = "{{", kClose = "}}";

bool is_name(std::string_view text) {
  const auto fits = [](unsigned char c) { return std::islower(c) || std::isdigit(c) || c == '_'; };
  return !text.empty() && text.size() <= 40 && std::all_of(text.begin(), text.end(), fits);
}
}  // namespace

Template::Template(std::string_view text, std::string file) : file_(std::move(file)) {
  size_t at = 0;
  for (size_t open; (open = text.find(kOpen, at)) != std::string_view::npos;) {
    const size_t name_begin = open + kOpen.size();
    const size_t close = text.find(kClose, name_begin);
    const std::string_view name =
        close == std::string_view::npos ? std::string_view() : text.substr(name_begin, close - name_begin);
    if (!is_name(name)) {
      const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(open), '\n');
      throw core::InputError(file_ + ":" + std::to_string(line), "\"{{\" begins no placeholder",
                             "write {{name}}, the name in small letters");
    }
    pieces_.push_back({std::string(text.substr(at, open - at)), false});
    pieces_.push_back({std::string(name), true});
    at = close + kClose.size();
  }
  pieces_.push_back({std::string(text.substr(at)), false});
}

Template Template::load(const std::filesystem::path& file) {
  return Template(core::read_file(file, size_t{1} << 20), file.string());
}

std::set<std::string> Template::placeholders() const {
  std::set<std::string> names;
  for (const Piece& piece : pieces_) {
    if (piece.placeholder) names.insert(piece.text);
  }
  return names;
}

std::string Template::fill(const TemplateValues& values) const {
  const std::set<std::string> names = placeholders();
  for (const auto& [name, value] : values) {
    if (names.count(name)) continue;
    throw core::InputError(file_, "has no placeholder {{" + name + "}}, but there is a value for it",
                           core::did_you_mean(name, {names.begin(), names.end()}, "places"));
  }
  std::string text;
  for (const Piece& piece : pieces_) {
    if (!piece.placeholder) {
      text += piece.text;
      continue;
    }
    const auto value = values.find(piece.text);
    if (value == values.end()) {
      throw core::InputError(file_, "the placeholder {{" + piece.text + "}} has no value here",
                             "remove it; prompts/README.md lists the placeholders of each file");
    }
    text += value->second;
  }
  return text;
}

std::string fenced(std::string_view text, std::string_view language) {
  size_t longest = 0, run = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(std::max<size_t>(3, longest + 1), '`');
  std::string block = fence + std::string(language) + "\n" + std::string(text);
  if (block.back() != '\n') block += '\n';
  return block + fence + "\n";
}

}  // namespace agent::prompting

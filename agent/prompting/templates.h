// Prompt templates: text files with named places, "{{name}}".
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace agent::prompting {

// The text for each place, by name. Places within it are not filled.
using TemplateValues = std::map<std::string, std::string, std::less<>>;

class Template {
 public:
  // `file` is for errors. Throws core::InputError with file and line when "{{" does not begin a place.
  Template(std::string_view text, std::string file);
  // Throws core::InputError when the file cannot be read, too.
  static Template load(const std::filesystem::path& file);

  // Throws core::InputError with file and name when a place has no value, or a value no place.
  std::string fill(const TemplateValues& values) const;
  std::set<std::string> places() const;

 private:
  struct Piece {
    std::string text;
    bool place = false;  // then the text is its name
  };
  std::string file_;
  std::vector<Piece> pieces_;
};

// The text in a fenced block, whose fence is longer than any run of backticks in the text. Ends in a newline.
std::string fenced(std::string_view text, std::string_view language = "");

}  // namespace agent::prompting

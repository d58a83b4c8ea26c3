// Prompt templates: text files with placeholders, "{{name}}".
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace agent::prompting {

// The text for each placeholder, by name. Placeholders within it are not filled.
using TemplateValues = std::map<std::string, std::string, std::less<>>;

class Template {
 public:
  // `file` names the text in errors. Throws core::InputError with file and line if "{{" begins no placeholder.
  Template(std::string_view text, std::string file);
  // Throws core::InputError also if the file cannot be read.
  static Template load(const std::filesystem::path& file);

  // Throws core::InputError with file and name if a placeholder has no value, or a value no placeholder.
  std::string fill(const TemplateValues& values) const;
  std::set<std::string> placeholders() const;

 private:
  struct Piece {
    std::string text;
    bool placeholder = false;  // true: the text is a placeholder's name
  };
  std::string file_;
  std::vector<Piece> pieces_;
};

// The text in a fenced block, whose fence is longer than any run of backticks in the text. Ends in a newline.
std::string fenced(std::string_view text, std::string_view language = "");

}  // namespace agent::prompting

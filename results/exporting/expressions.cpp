#include "results/exporting/expressions.h"

#include <cctype>
#include <vector>

namespace results::exporting {
namespace {
bool in_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Splits the text into numbers, names and operators. It was parsed before, so it holds nothing else.
std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  for (size_t at = 0; at < text.size();) {
    size_t end = at + 1;
    if (in_name(text[at])) {
      while (end < text.size() && in_name(text[end])) ++end;
    } else if (end < text.size() && text[end] == '=' && std::string_view("<>=!").find(text[at]) != std::string::npos) {
      ++end;
    }
    if (text[at] != ' ' && text[at] != '\t') words.push_back(text.substr(at, end - at));
    at = end;
  }
  return words;
}

struct Language {
  std::string_view number_before, number_after, least_of, largest_of, divide;
};

std::string translate(const core::Expr& expr, const Naming& naming, const Language& language) {
  const std::vector<std::string> words = words_of(expr.text());
  std::string out;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const bool call = i + 1 < words.size() && words[i + 1] == "(";
    std::string next = word;
    if (std::isdigit(static_cast<unsigned char>(word[0])) != 0) {
      next = std::string(language.number_before) + word + std::string(language.number_after);
    } else if (in_name(word[0])) {
      next = !call ? naming(word) : word == "min" ? language.least_of : word == "max" ? language.largest_of : word;
    } else if (word == "/") {
      next = language.divide;
    }
    // "- -3" must not become "--3"
    const bool tight = out.empty() || out.back() == '(' || next == "(" || next == ")" || next == ",";
    const bool after_operator = next == "(" && !out.empty() && !in_name(out.back()) && out.back() != '(';
    if (!tight || after_operator) out += ' ';
    out += next;
  }
  return out;
}
}  // namespace

std::string cpp_of(const core::Expr& expr, const Naming& naming) {
  return translate(expr, naming, {"Exact(", ")", "least_of", "largest_of", "/"});
}

std::string python_of(const core::Expr& expr, const Naming& naming) {
  return translate(expr, naming, {"", "", "min", "max", "//"});
}

}  // namespace results::exporting

// Replaces parts of a source.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace verifier::audit {

struct Edit {
  size_t begin, end;  // bytes of the source; edits must not overlap
  std::string text;
};

inline std::string rewrite(std::string_view source, std::vector<Edit> edits) {
  std::sort(edits.begin(), edits.end(), [](const Edit& a, const Edit& b) { return a.begin > b.begin; });
  std::string rewritten(source);
  for (const Edit& edit : edits) rewritten.replace(edit.begin, edit.end - edit.begin, edit.text);
  return rewritten;
}

// `text` with every `from` replaced.
inline std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

}  // namespace verifier::audit

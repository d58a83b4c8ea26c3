// Edits of a solution as a model writes them: pieces of text to be found in a parent, and what takes their place.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace agent::prompting {

struct Edit {
  std::string search, replace;  // whole lines
};

struct EditFailed {
  std::string reason;  // one sentence, quoting what was searched for; clean
};

// Applies the edits one after another, each to what the one before it left. The lines of `search` must stand in the
// text exactly once; white space at the ends of lines does not count. Linear in the text for each edit.
std::variant<std::string, EditFailed> apply_edits(std::string_view text, const std::vector<Edit>& edits);

}  // namespace agent::prompting

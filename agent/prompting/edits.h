// Edits of a solution, as a model writes them: text to find in a parent, and its replacement.
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
  std::string reason;  // one clean sentence that quotes the text searched for
};

// Applies the edits in order, each to the result of the previous one. The lines of `search` must occur exactly once;
// trailing white space does not count. Linear in the text for each edit.
std::variant<std::string, EditFailed> apply_edits(std::string_view text, const std::vector<Edit>& edits);

}  // namespace agent::prompting

// Cuts a reply into pieces that may be proposals, without parsing them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "agent/prompting/edits.h"

namespace agent::prompting {

// A whole solution.
struct SourcePiece {
  std::string text;       // from its header on, to its end
  bool fenced = false;    // in a fenced block
  bool closed = true;     // false: the reply ended before the solution did
  std::string preceding;  // code before the header in the same fenced block
};
// Edits of one parent.
struct EditPiece {
  std::string parent;  // empty: not named
  std::vector<Edit> edits;
  bool closed = true;  // false: the reply ended inside an edit
};
// A fenced block with a kernel but without a header.
struct HeaderlessPiece {
  std::string first_line;
};

struct ReplyPieces {
  std::vector<SourcePiece> sources;
  std::vector<EditPiece> edits;
  std::vector<HeaderlessPiece> headerless;
};

// Linear in the text; keeps at most `most` of each kind.
ReplyPieces cut_reply(std::string_view text, size_t most);

}  // namespace agent::prompting

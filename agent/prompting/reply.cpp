#include "agent/prompting/reply.h"

#include <algorithm>
#include <set>

#include "agent/prompting/identity.h"
#include "agent/prompting/reply_pieces.h"
#include "core/error.h"
#include "core/suggest.h"
#include "core/text.h"

namespace agent::prompting {
namespace {
constexpr size_t kReasonBytes = 700;

bool is_blank(std::string_view line) { return line.find_first_not_of(" \t\r") == std::string_view::npos; }

// Removes prose after a solution without a fence: everything after the last line that closes a function, a type or a
// directive, unless it looks like code.
std::string without_prose_behind(const std::string& text) {
  const std::vector<std::string> lines = core::split(text, '\n');
  size_t end = lines.size();
  while (end > 0 && lines[end - 1].rfind('}', 0) != 0 && lines[end - 1].rfind("#", 0) != 0) --end;
  for (size_t i = end; i < lines.size(); ++i) {
    if (lines[i].find_first_of(";{}") != std::string::npos) return text;
  }
  if (end == 0) return text;
  return core::join({lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(end)}, "\n") + "\n";
}

bool holds_code(const std::string& text) {
  const std::vector<std::string> lines = core::split(text, '\n');
  return std::any_of(lines.begin(), lines.end(), [](const std::string& line) {
    return !is_blank(line) && line.compare(line.find_first_not_of(" \t"), 2, "//") != 0;
  });
}

class Reader {
 public:
  Reader(const Asked& asked, const ReplyLimits& limits) : asked_(asked), limits_(limits) {}

  Reply run(std::string_view text) {
    if (text.size() > limits_.reply_bytes) {
      refuse("the reply", "is longer than " + std::to_string(limits_.reply_bytes) + " bytes; the rest was not read");
      text = text.substr(0, limits_.reply_bytes);
    }
    // One more than the limit, to notice an excess.
    const ReplyPieces pieces = cut_reply(text, limits_.proposals + 1);
    for (size_t i = 0; i < pieces.sources.size(); ++i) take(pieces.sources[i], "solution " + std::to_string(i + 1));
    for (const EditPiece& piece : pieces.edits) take(piece);
    for (const HeaderlessPiece& piece : pieces.headerless) {
      refuse("the block that begins with `" + core::clean_line(piece.first_line, 80) + "`",
             "has a kernel but no header; begin it with \"/* kernelwright\" and the launch plan");
    }
    if (reply_.proposals.empty() && reply_.reasons.empty()) {
      refuse("the reply", asked_.complete
                              ? "holds no solution; write one in a fenced block that begins with \"/* kernelwright\""
                              : "ran into the limit of tokens before a solution began; write the solution first");
    }
    return std::move(reply_);
  }

 private:
  void refuse(const std::string& what, const std::string& why) {
    if (reply_.reasons.size() < limits_.reasons)
      reply_.reasons.push_back(core::clean_line(what + " " + why, kReasonBytes));
  }

  void take(const SourcePiece& piece, const std::string& name) {
    // An open block at the end of a complete reply merely lacks its last fence.
    if (!piece.closed && !asked_.complete) return refuse(name, "was cut off by the limit of tokens; write it shorter");
    if (holds_code(piece.preceding)) {
      return refuse(name, "has code before its header; the header \"/* kernelwright\" must come first");
    }
    propose(piece.fenced ? piece.text : without_prose_behind(piece.text), name, std::nullopt, 0);
  }

  void take(const EditPiece& piece) {
    std::string parent = piece.parent;
    if (parent.empty() && asked_.parents.size() == 1) parent = asked_.parents.begin()->first;
    const std::string name =
        "the edit of " + (parent.empty() ? "a solution" : "\"" + core::clean_line(parent, 100) + "\"");
    if (!piece.closed) return refuse(name, "has a block that does not end in \">>>>>>> REPLACE\"");
    if (parent.empty()) return refuse(name, "does not name its parent: write \"EDIT <name>\" on a line before it");
    const auto of = asked_.parents.find(parent);
    if (of == asked_.parents.end()) {
      std::vector<std::string> known;
      for (const auto& [each, source] : asked_.parents) known.push_back(each);
      return refuse(name, known.empty()
                              ? "is not possible: no solution may be edited here"
                              : "names no solution of the prompt; " + core::did_you_mean(parent, known, "names"));
    }
    if (piece.edits.size() > limits_.edits) {
      return refuse(name, "has more than " + std::to_string(limits_.edits) + " blocks; write the whole solution");
    }
    const auto edited = apply_edits(of->second, piece.edits);
    if (const auto* failed = std::get_if<EditFailed>(&edited)) return refuse(name, "fails: " + failed->reason);
    propose(std::get<std::string>(edited), name, parent, piece.edits.size());
  }

  void propose(const std::string& source, const std::string& name, std::optional<std::string> parent, size_t edits) {
    if (source.size() > limits_.source_bytes) {
      return refuse(name, "is larger than " + std::to_string(limits_.source_bytes) + " bytes");
    }
    if (reply_.proposals.size() >= limits_.proposals) {
      return refuse(name, "is one more than the " + std::to_string(limits_.proposals) + " that a reply may hold");
    }
    try {
      sandbox::Solution solution = sandbox::parse_solution(source, name);
      if (solution.problem != asked_.problem->name) {
        return refuse(name,
                      "is for the problem \"" + solution.problem + "\"; it must be \"" + asked_.problem->name + "\"");
      }
      const auto& backends = solution.backends;
      if (!asked_.backend.empty() && std::find(backends.begin(), backends.end(), asked_.backend) == backends.end()) {
        return refuse(name, "does not have \"" + asked_.backend + "\" among its backends, where it has to run");
      }
      sandbox::validate_solution(solution, *asked_.problem);
      if (!seen_.insert(identity_of(source)).second) return;  // a duplicate
      reply_.proposals.push_back({std::move(solution), std::move(parent), edits});
    } catch (const core::InputError& error) {
      refuse(error.where() + ":", error.problem() + (error.remedy().empty() ? "" : "; " + error.remedy()));
    }
  }

  const Asked& asked_;
  const ReplyLimits& limits_;
  Reply reply_;
  std::set<std::string> seen_;
};
}  // namespace

Reply read_reply(std::string_view text, const Asked& asked, const ReplyLimits& limits) {
  return Reader(asked, limits).run(text);
}

}  // namespace agent::prompting

#include "agent/prompting/reply_pieces.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/text.h"

namespace agent::prompting {
namespace {
constexpr std::string_view kHeader = "/* kernelwright";
constexpr std::string_view kSearch = "<<<<<<< SEARCH", kDivider = "=======", kReplace = ">>>>>>> REPLACE";

// The number of backticks or tildes with which a line opens a fence; 0 if it opens none.
size_t fence_of(std::string_view line) {
  const std::string_view text = core::trimmed(line);
  if (text.empty() || (text[0] != '`' && text[0] != '~')) return 0;
  const size_t end = std::min(text.find_first_not_of(text[0]), text.size());
  const bool inline_code = text[0] == '`' && text.find('`', end) != std::string_view::npos;
  return end >= 3 && !inline_code ? end : 0;
}
bool closes(std::string_view line, size_t fence) {
  const std::string_view text = core::trimmed(line);
  return text.size() >= fence && fence > 0 && (text[0] == '`' || text[0] == '~') &&
         text.find_first_not_of(text[0]) == std::string_view::npos;
}

// Parses "EDIT name", plain, as a heading or in bold.
std::optional<std::string> edited_parent(std::string_view line) {
  std::string_view text = core::trimmed(line);
  const size_t begin = text.find_first_not_of("#*` ");
  if (begin == std::string_view::npos) return std::nullopt;
  text = text.substr(begin);
  text = text.substr(0, text.find_last_not_of("*`: ") + 1);
  if (!text.starts_with("EDIT ")) return std::nullopt;
  const std::string_view name = core::trimmed(text.substr(5));
  const size_t first = name.find_first_not_of('`');
  if (first == std::string_view::npos || name.find(' ') != std::string_view::npos || name.size() > 200) {
    return std::nullopt;
  }
  return std::string(name.substr(first));
}

class Cutter {
 public:
  explicit Cutter(size_t most) : most_(most) {}

  ReplyPieces run(std::string_view text) {
    for (const std::string& line : core::split(text, '\n')) take(line);
    end_source(false);
    end_fence();
    if (edit_) {
      edits().closed = false;
      edit_.reset();
    }
    end_edits();
    return std::move(pieces_);
  }

 private:
  enum class Side { search, replace };

  void take(const std::string& line) {
    if (edit_) return take_edit_line(line);
    if (core::trimmed(line) == kSearch) {
      end_source(true);
      edit_.emplace();
      side_ = Side::search;
      edits();
      return;
    }
    if (fence_ > 0 ? closes(line, fence_) : fence_of(line) > 0) return take_fence(line);
    const bool at_header = core::trimmed(line).starts_with(kHeader);
    if (source_ && !at_header && (fence_ > 0 || !edited_parent(line))) {
      source_->text += line + "\n";
      return;
    }
    if (at_header) return begin_source(line);
    if (const auto parent = edited_parent(line)) {
      end_source(true);
      end_edits();
      named_parent_ = *parent;
      return;
    }
    if (fence_ > 0) block_ += line + "\n";
  }

  void take_edit_line(const std::string& line) {
    const std::string_view text = core::trimmed(line);
    if (side_ == Side::search && text == kDivider) {
      side_ = Side::replace;
    } else if (side_ == Side::replace && text == kReplace) {
      edits().edits.push_back(std::move(*edit_));
      edit_.reset();
    } else {
      (side_ == Side::search ? edit_->search : edit_->replace) += line + "\n";
    }
  }

  void take_fence(const std::string& line) {
    if (fence_ > 0) {
      end_source(true);
      end_fence();
      return;
    }
    end_source(true);
    fence_ = fence_of(line);
  }

  void begin_source(const std::string& line) {
    end_source(true);
    end_edits();
    source_.emplace();
    source_->fenced = fence_ > 0;
    source_->text = line.substr(line.find(kHeader)) + "\n";
    source_->preceding = std::exchange(block_, "");
  }

  void end_source(bool closed) {
    if (!source_) return;
    source_->closed = closed;
    if (pieces_.sources.size() < most_) pieces_.sources.push_back(std::move(*source_));
    source_.reset();
    block_.clear();
    had_source_ = true;
  }

  void end_fence() {
    if (fence_ > 0 && !had_source_ && block_.find("__global__") != std::string::npos &&
        pieces_.headerless.size() < most_) {
      pieces_.headerless.push_back({block_.substr(0, block_.find('\n'))});
    }
    fence_ = 0;
    block_.clear();
    had_source_ = false;
  }

  // The current edits; creates them on first use.
  EditPiece& edits() {
    if (!open_edits_) open_edits_ = EditPiece{named_parent_, {}, true};
    had_source_ = true;  // edits need no header
    return *open_edits_;
  }
  void end_edits() {
    if (open_edits_ && pieces_.edits.size() < most_) pieces_.edits.push_back(std::move(*open_edits_));
    open_edits_.reset();
  }

  size_t most_;
  ReplyPieces pieces_;
  size_t fence_ = 0;  // of the open block
  bool had_source_ = false;
  std::string block_;  // text of the open fenced block, outside a solution
  std::optional<SourcePiece> source_;
  std::optional<Edit> edit_;
  Side side_ = Side::search;
  std::string named_parent_;
  std::optional<EditPiece> open_edits_;
};
}  // namespace

ReplyPieces cut_reply(std::string_view text, size_t most) { return Cutter(most).run(text); }

}  // namespace agent::prompting

#include "sandbox/cpu/compiler/places.h"

#include <algorithm>
#include <array>

#include "sandbox/tokens.h"

namespace sandbox::cpu::compiler {
namespace {
class Spread {
 public:
  explicit Spread(std::string_view source) : source_(source), tokens_(tokenize(source)) {}

  std::string run() {
    for (size_t i = 0; i < tokens_.size(); ++i) {
      copy_until(tokens_[i].begin,
                 i > 0 && tokens_[i].directive >= 0 && tokens_[i].directive == tokens_[i - 1].directive);
      copy_until(tokens_[i].end, true);
      if (tokens_[i].directive >= 0) continue;
      settle();
      if (ends_a_part(i) && used_ + 1 < kPlacesOfALine) {
        text_ += '\n';
        ++used_;
      }
    }
    copy_until(source_.size(), false);
    return std::move(text_);
  }

 private:
  // `whole`: no line may begin there, so that those owed come later.
  void copy_until(size_t end, bool whole) {
    for (; done_ < end; ++done_) {
      text_ += source_[done_];
      if (source_[done_] != '\n') continue;
      owed_ += kPlacesOfALine - 1 - used_;
      used_ = 0;
      const bool continues = done_ > 0 && source_[done_ - 1] == '\\';  // a directive's, or a comment's
      if (!whole && !continues) settle();
    }
  }
  void settle() {
    text_.append(static_cast<size_t>(owed_), '\n');
    owed_ = 0;
  }

  bool ends_a_part(size_t i) const {
    constexpr std::array<std::string_view, 6> kEnds{";", "{", "}", ")", "?", ":"};
    const Token& token = tokens_[i];
    if (std::ranges::any_of(kEnds, [&](std::string_view end) { return token.is(end); })) return true;
    if (i == 0 || tokens_[i - 1].end != token.begin) return false;
    return (token.is("&") && tokens_[i - 1].is("&")) || (token.is("|") && tokens_[i - 1].is("|"));
  }

  std::string_view source_;
  std::vector<Token> tokens_;
  std::string text_;
  size_t done_ = 0;              // bytes of the source
  int64_t used_ = 0, owed_ = 0;  // lines: begun within the line here, and missing behind the lines so far
};
}  // namespace

std::string spread_lines(std::string_view source) { return Spread(source).run(); }

}  // namespace sandbox::cpu::compiler

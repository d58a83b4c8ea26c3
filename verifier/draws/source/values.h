// The whole numbers that a source's tokens stand for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sandbox/solution.h"
#include "sandbox/tokens.h"

namespace verifier::draws::source {

inline constexpr int64_t kLeastSourceNumber = 3, kMostSourceNumber = int64_t{1} << 30;

// 4096, 0x1000, 010000, 0b1, with quotes between digits and a suffix; none for what is no whole number.
std::optional<int64_t> whole_number(const std::string& text);

// Does a comparison, a remainder or a mask stand there, or an assignment? Not where a shift or && does.
bool decides(const std::vector<sandbox::Token>& tokens, size_t at);

// Literals, tunables, and names that are constants. The tokens must outlive it.
class SourceValues {
 public:
  SourceValues(const std::vector<sandbox::Token>& tokens, const sandbox::TunableBinding& binding);

  const std::optional<int64_t>& operator[](size_t i) const { return of_[i]; }
  // Of "4 * 128 * 5" from its first token: 4, 512, 2560; of "3 << 13": 3, 24576. None where no number stands.
  std::vector<int64_t> products_from(size_t i) const;

 private:
  void name(const sandbox::TunableBinding& values);
  // Of "(48 * 1024 - 256) / sizeof(float);" from its first token: 12224.
  std::optional<int64_t> constant_from(size_t begin) const;

  const std::vector<sandbox::Token>& tokens_;
  std::vector<std::optional<int64_t>> of_;
};

}  // namespace verifier::draws::source

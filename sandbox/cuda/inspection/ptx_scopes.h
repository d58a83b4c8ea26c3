// What a name in the code of PTX stands for.
#pragma once

#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "sandbox/cuda/inspection/ptx_text.h"

namespace sandbox::cuda::inspection {

// A register or a .param, by the scope of its declaration.
using PtxPlace = std::pair<int, std::string_view>;

// Declarations as far as the text was gone through: a name means the innermost one before it.
class PtxScopes {
 public:
  explicit PtxScopes(const PtxText& ptx) : ptx_(ptx) {}  // kept by reference

  void begin() {
    declared_.clear();
    families_.clear();
  }
  void declare(const PtxStatement& statement);  // takes notice of .reg and .param only

  // ".reg .b32 b<4>" declares b0 to b3, too, of which this knows nothing: they count as the function's own.
  std::optional<PtxPlace> declared(const PtxStatement& statement, std::string_view name) const;
  // Whether the name is a register or a .param here, and not what it means everywhere else.
  bool is_declared(const PtxStatement& statement, std::string_view name) const;
  // What is not declared is taken for the function's own.
  PtxPlace place(const PtxStatement& statement, std::string_view name) const;

 private:
  const PtxText& ptx_;
  std::set<PtxPlace> declared_, families_;  // of ".reg .b32 b<4>" the b
};

}  // namespace sandbox::cuda::inspection

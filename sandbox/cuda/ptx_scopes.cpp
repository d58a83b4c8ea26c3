#include "sandbox/cuda/ptx_scopes.h"

namespace sandbox::cuda {

// ".reg .b64 a, b<4>;" declares a; b0 to b3 are left to be taken for the function's own.
void PtxScopes::declare(const PtxStatement& statement) {
  if (statement.opcode() != ".reg" && statement.opcode() != ".param") return;
  for (size_t i = 1; i < statement.tokens.size(); ++i) {
    const bool many = i + 1 < statement.tokens.size() && statement.tokens[i + 1] == "<";
    if (is_ptx_name(statement.tokens[i]) && !many) declared_.insert({statement.scope, statement.tokens[i]});
  }
}

std::optional<PtxPlace> PtxScopes::declared(const PtxStatement& statement, std::string_view name) const {
  for (int scope = statement.scope; scope >= 0; scope = ptx_.scopes[static_cast<size_t>(scope)]) {
    if (declared_.count({scope, name}) > 0) return PtxPlace{scope, name};
  }
  return std::nullopt;
}

PtxPlace PtxScopes::place(const PtxStatement& statement, std::string_view name) const {
  const int own = ptx_.functions[static_cast<size_t>(statement.function)].scope;
  return declared(statement, name).value_or(PtxPlace{own, name});
}

}  // namespace sandbox::cuda

#include "sandbox/cuda/inspection/ptx_scopes.h"

namespace sandbox::cuda::inspection {

// ".reg .b64 a, b<4>;"
void PtxScopes::declare(const PtxStatement& statement) {
  if (statement.opcode() != ".reg" && statement.opcode() != ".param") return;
  for (size_t i = 1; i < statement.tokens.size(); ++i) {
    const bool many = i + 1 < statement.tokens.size() && statement.tokens[i + 1] == "<";
    if (is_ptx_name(statement.tokens[i])) (many ? families_ : declared_).insert({statement.scope, statement.tokens[i]});
  }
}

std::optional<PtxPlace> PtxScopes::declared(const PtxStatement& statement, std::string_view name) const {
  for (int scope = statement.scope; scope >= 0; scope = ptx_.scopes[static_cast<size_t>(scope)]) {
    if (declared_.count({scope, name}) > 0) return PtxPlace{scope, name};
  }
  return std::nullopt;
}

bool PtxScopes::is_declared(const PtxStatement& statement, std::string_view name) const {
  if (declared(statement, name)) return true;
  const std::string_view family = name.substr(0, name.find_last_not_of("0123456789") + 1);
  for (int scope = statement.scope; scope >= 0 && family != name; scope = ptx_.scopes[static_cast<size_t>(scope)]) {
    if (families_.count({scope, family}) > 0) return true;
  }
  return false;
}

PtxPlace PtxScopes::place(const PtxStatement& statement, std::string_view name) const {
  const int own = ptx_.functions[static_cast<size_t>(statement.function)].scope;
  return declared(statement, name).value_or(PtxPlace{own, name});
}

}  // namespace sandbox::cuda::inspection

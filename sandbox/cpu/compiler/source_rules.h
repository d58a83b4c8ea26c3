// What solutions may say. The walls behind these rules are the inspection of the binary and the jail.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sandbox/compilation.h"
#include "sandbox/tokens.h"

namespace sandbox::cpu::compiler {

enum class HeaderRule {
  ours,      // in sandbox/cpu/shim
  built_in,  // all of it is predefined: the line is dropped
};

// The rule for an #include of this name, or why it is refused.
std::variant<HeaderRule, Rejected> header_rule(const std::string& name, int line);

// Applies all other rules to `source`, cut into `tokens`: characters, words, also those that its macros could paste
// together, attributes, directives.
std::optional<Rejected> check_source(std::string_view source, const std::vector<Token>& tokens);

}  // namespace sandbox::cpu::compiler

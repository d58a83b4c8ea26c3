// Evaluates expressions of a launch plan. Errors name the position in the header.
#pragma once

#include <cstdint>
#include <string>

#include "core/expr.h"

namespace sandbox {

// Throws core::InputError at `where` if the expression has no value.
int64_t eval_plan(const core::Expr& expr, const core::Bindings& bindings, const std::string& where);

// Throws core::InputError at `where` unless least <= value <= most. `what` names the value.
void check_range(int64_t value, int64_t least, int64_t most, const std::string& what, const std::string& where);

}  // namespace sandbox

// Translates expressions over axes and tunables (core/expr.h) to C++ and Python.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "core/expr.h"

namespace results::exporting {

// Spells a name of the expression in the other language.
using Naming = std::function<std::string(const std::string&)>;

// C++ over the type Exact of templates/common/plan.h, which like core::Expr computes exactly and reports errors.
// Literals become Exact(n); the functions become least_of, largest_of and ceil_div.
std::string cpp_of(const core::Expr& expr, const Naming& naming);

// Python over integers or PyTorch's symbolic ones. Operands of a division must not be negative (sizes are not): `//`
// then agrees with core::Expr. Comparisons become 1 or 0.
std::string python_of(const core::Expr& expr, const Naming& naming);

}  // namespace results::exporting

// Expressions over axes and tunables (core/expr.h) in the languages of what is exported.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "core/expr.h"

namespace results::exporting {

// Spells a name of the expression in the other language.
using Naming = std::function<std::string(const std::string&)>;

// C++ over the type Exact of templates/common/plan.h, which counts as core::Expr does: exactly, with errors. Literals
// become Exact(n), the functions least_of, largest_of and ceil_div.
std::string cpp_of(const core::Expr& expr, const Naming& naming);

// Python over integers, or the symbolic ones of PyTorch. Division is of numbers that are not negative, as sizes are:
// there `//` is what core::Expr means. Comparisons become 1 or 0.
std::string python_of(const core::Expr& expr, const Naming& naming);

}  // namespace results::exporting

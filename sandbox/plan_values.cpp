#include "sandbox/plan_values.h"

#include "core/error.h"

namespace sandbox {

int64_t eval_plan(const core::Expr& expr, const core::Bindings& bindings, const std::string& where) {
  try {
    return expr.eval(bindings);
  } catch (const core::ExprError& error) {
    throw core::InputError(where, error.what());
  }
}

void check_range(int64_t value, int64_t least, int64_t most, const std::string& what, const std::string& where) {
  if (value >= least && value <= most) return;
  throw core::InputError(where, what + " is " + std::to_string(value) + "; it must be between " +
                                    std::to_string(least) + " and " + std::to_string(most));
}

}  // namespace sandbox

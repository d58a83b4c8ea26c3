#include "benchsuite/problem.h"

#include <algorithm>

namespace benchsuite {

int64_t Tensor::elements(const core::Bindings& axes) const {
  int64_t count = 1;
  for (const core::Expr& extent : shape) {
    const int64_t value = extent.eval(axes);
    if (value < 1)
      throw core::ExprError("\"" + extent.text() + "\" is " + std::to_string(value) + "; at least 1 is needed");
    if (__builtin_mul_overflow(count, value, &count)) throw core::ExprError("the number of elements overflows 64 bits");
  }
  return count;
}

int64_t Tensor::bytes(const core::Bindings& axes) const {
  int64_t total = 0;
  if (__builtin_mul_overflow(elements(axes), static_cast<int64_t>(core::size_bytes(dtype)), &total)) {
    throw core::ExprError("the size in bytes overflows 64 bits");
  }
  return total;
}

bool Workload::runs_on(std::string_view backend) const {
  return devices.empty() || std::find(devices.begin(), devices.end(), backend) != devices.end();
}

const Tensor* Problem::find_tensor(std::string_view tensor) const {
  for (const std::vector<Tensor>* list : {&inputs, &outputs}) {
    for (const Tensor& candidate : *list) {
      if (candidate.name == tensor) return &candidate;
    }
  }
  return nullptr;
}

std::filesystem::path Problem::place_of(std::string_view file) const {
  return (folder.empty() ? std::filesystem::path(name) : folder) / file;
}

std::vector<std::string> Problem::axis_names() const {
  std::vector<std::string> names;
  for (const Axis& axis : axes) names.push_back(axis.name);
  return names;
}

}  // namespace benchsuite

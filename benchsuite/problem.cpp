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

bool Axis::contains(int64_t size) const {
  if (!values.empty()) return std::ranges::binary_search(values, size);
  return size >= min && size <= max && size % multiple_of == 0;
}

int64_t Axis::at_most(int64_t size) const {
  if (values.empty()) return std::clamp(size, min, max) / multiple_of * multiple_of;
  const auto above = std::ranges::upper_bound(values, size);
  return above == values.begin() ? values.front() : *(above - 1);
}

std::string Axis::domain() const {
  if (values.empty()) {
    return std::to_string(min) + " to " + std::to_string(max) +
           (multiple_of > 1 ? ", a multiple of " + std::to_string(multiple_of) : "");
  }
  std::string text = std::to_string(values.front());
  for (size_t i = 1; i < values.size(); ++i)
    text += (i + 1 < values.size() ? ", " : " or ") + std::to_string(values[i]);
  return text;
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

const core::Scalar* Problem::find_scalar(std::string_view scalar) const {
  const auto found = std::ranges::find(scalars, scalar, &NamedScalar::name);
  return found == scalars.end() ? nullptr : &found->value;
}

bool Problem::has_given_inputs() const {
  return std::ranges::any_of(inputs, [](const Tensor& input) { return input.init.kind == Init::given; }) ||
         std::ranges::any_of(workloads, [](const Workload& workload) { return !workload.inputs.empty(); });
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

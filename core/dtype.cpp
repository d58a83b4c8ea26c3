#include "core/dtype.h"

#include <array>

namespace core {
namespace {
struct Row {
  DType dtype;
  std::string_view name;
  size_t bytes;
  bool floating;
};
constexpr std::array<Row, 9> kRows{{{DType::f16, "f16", 2, true},
                                    {DType::bf16, "bf16", 2, true},
                                    {DType::f32, "f32", 4, true},
                                    {DType::f64, "f64", 8, true},
                                    {DType::i8, "i8", 1, false},
                                    {DType::u8, "u8", 1, false},
                                    {DType::i32, "i32", 4, false},
                                    {DType::u32, "u32", 4, false},
                                    {DType::i64, "i64", 8, false}}};
const Row& row(DType dtype) { return kRows.at(static_cast<size_t>(dtype)); }
}  // namespace

size_t size_bytes(DType dtype) { return row(dtype).bytes; }
bool is_floating(DType dtype) { return row(dtype).floating; }
std::string_view name_of(DType dtype) { return row(dtype).name; }

std::optional<DType> dtype_from_name(std::string_view name) {
  for (const Row& r : kRows) {
    if (r.name == name) return r.dtype;
  }
  return std::nullopt;
}

std::vector<std::string> dtype_names() {
  std::vector<std::string> names;
  for (const Row& r : kRows) names.emplace_back(r.name);
  return names;
}

}  // namespace core

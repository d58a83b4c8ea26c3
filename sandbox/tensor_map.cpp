#include "sandbox/tensor_map.h"

#include <algorithm>
#include <string_view>

#include "core/error.h"
#include "sandbox/plan_values.h"

namespace sandbox {
namespace {
using core::Expr;
using core::InputError;
using core::JsonView;

// Limits of cuTensorMapEncodeTiled.
constexpr size_t kMostDimensions = 5;
constexpr int64_t kMostElements = int64_t{1} << 32;      // of one dimension
constexpr int64_t kMostStride = (int64_t{1} << 40) - 1;  // bytes
constexpr int64_t kMostBox = 256;                        // elements of one dimension
constexpr int64_t kGrain = 16;                           // bytes: of strides and of the box's innermost dimension
constexpr int64_t kMostBoxBytes = 232448;                // the shared memory of a block

std::vector<Expr> parse_dimensions(const JsonView& view) {
  std::vector<Expr> dimensions;
  for (const JsonView& item : view.items()) dimensions.push_back(item.expr());
  if (dimensions.empty() || dimensions.size() > kMostDimensions) {
    view.fail("has " + std::to_string(dimensions.size()) + " dimensions", "a tensor map has 1 to 5, innermost first");
  }
  return dimensions;
}

int parse_bytes(const JsonView& view, const std::vector<int64_t>& allowed) {
  const int64_t bytes = view.integer();
  if (std::ranges::find(allowed, bytes) != allowed.end()) return static_cast<int>(bytes);
  std::string list;
  for (const int64_t one : allowed) list += (list.empty() ? "" : ", ") + std::to_string(one);
  view.fail("is " + std::to_string(bytes), "bytes, one of " + list);
}

void require_grain(int64_t bytes, const std::string& what, const std::string& remedy, const std::string& where) {
  if (bytes % kGrain == 0) return;
  throw InputError(where, what + " takes " + std::to_string(bytes) + " bytes, which is not a multiple of 16", remedy);
}

std::vector<int64_t> bind_shape(const TensorMap& map, const MappedTensor& tensor, const core::Bindings& bindings,
                                const std::string& where) {
  std::vector<Expr> shape = map.shape;
  if (shape.empty()) shape.assign(tensor.shape.rbegin(), tensor.shape.rend());
  if (shape.empty()) throw InputError(where, "a map of a workspace needs its \"shape\"", "give it, innermost first");
  if (shape.size() > kMostDimensions) {
    throw InputError(where, map.buffer + " has " + std::to_string(shape.size()) + " dimensions; a map has at most 5",
                     "give a \"shape\" that merges some of them");
  }
  if (map.box.size() != shape.size()) {
    throw InputError(where + "/box", "has " + std::to_string(map.box.size()) + " dimensions, the shape has " +
                                         std::to_string(shape.size()));
  }
  std::vector<int64_t> bound;
  for (const Expr& extent : shape) {
    bound.push_back(eval_plan(extent, bindings, where + "/shape"));
    check_range(bound.back(), 1, kMostElements, "dimension " + std::to_string(bound.size() - 1), where + "/shape");
  }
  return bound;
}

void bind_strides(PlannedTensorMap& planned, const MappedTensor& tensor, const std::string& where) {
  auto stride = static_cast<int64_t>(core::size_bytes(planned.dtype));
  for (size_t d = 0; d < planned.shape.size(); ++d) {
    if (d > 0) {
      const std::string what = "a step along dimension " + std::to_string(d);
      require_grain(stride, what, "use \"when\" to name the shapes that use the map, and do without it elsewhere",
                    where + "/shape");
      check_range(stride, 1, kMostStride, what + ", in bytes,", where + "/shape");
      planned.strides_bytes.push_back(stride);
    }
    if (__builtin_mul_overflow(stride, planned.shape[d], &stride) || stride > tensor.bytes) {
      throw InputError(where + "/shape",
                       "covers more than the " + std::to_string(tensor.bytes) + " bytes of \"" + planned.buffer + "\"");
    }
  }
}

void bind_box(PlannedTensorMap& planned, const TensorMap& map, const core::Bindings& bindings,
              const std::string& where) {
  auto bytes = static_cast<int64_t>(core::size_bytes(planned.dtype));
  const int64_t element = bytes;
  for (const Expr& extent : map.box) {
    planned.box.push_back(eval_plan(extent, bindings, where));
    check_range(planned.box.back(), 1, kMostBox, "dimension " + std::to_string(planned.box.size() - 1), where);
    bytes *= planned.box.back();
  }
  const int64_t inner = planned.box[0] * element;
  require_grain(inner, "the innermost dimension", "make it longer or shorter", where);
  if (planned.swizzle > 0 && inner > planned.swizzle) {
    throw InputError(where,
                     "the innermost dimension takes " + std::to_string(inner) + " bytes; swizzled by " +
                         std::to_string(planned.swizzle) + " it may take no more than that",
                     "split the box");
  }
  check_range(bytes, 1, kMostBoxBytes, "the box, in bytes,", where);
}
}  // namespace

std::vector<const Expr*> TensorMap::expressions() const {
  std::vector<const Expr*> all{&when};
  for (const Expr& extent : shape) all.push_back(&extent);
  for (const Expr& extent : box) all.push_back(&extent);
  return all;
}

TensorMap parse_tensor_map(const std::string& name, const JsonView& view) {
  view.expect_object({"tensor", "box"}, {"dtype", "shape", "when", "swizzle", "l2_promotion", "fill"});
  TensorMap map;
  map.name = name;
  map.buffer = view.at("tensor").identifier();
  map.box = parse_dimensions(view.at("box"));
  if (view.has("shape")) map.shape = parse_dimensions(view.at("shape"));
  if (view.has("dtype")) {
    map.dtype = view.at("dtype").one_of<core::DType>("dtypes");
  }
  if (view.has("when")) map.when = view.at("when").expr();
  if (view.has("swizzle")) map.swizzle = parse_bytes(view.at("swizzle"), {0, 32, 64, 128});
  if (view.has("l2_promotion")) map.l2_promotion = parse_bytes(view.at("l2_promotion"), {0, 64, 128, 256});
  if (view.has("fill")) map.nan_fill = view.at("fill").one_of({"zeros", "nan"}, "fills") == "nan";
  return map;
}

PlannedTensorMap bind_tensor_map(const TensorMap& map, const MappedTensor& tensor, const core::Bindings& bindings,
                                 const std::string& where) {
  if (eval_plan(map.when, bindings, where + "/when") == 0) {
    return {map.name, map.buffer, core::DType::u8, {kGrain}, {}, {kGrain}, 0, 0, false};
  }
  const std::optional<core::DType> dtype = map.dtype ? map.dtype : tensor.dtype;
  if (!dtype) throw InputError(where, "a map of a workspace needs its \"dtype\"", "give it");
  if (map.nan_fill && core::is_f8(*dtype)) {
    throw InputError(where + "/fill",
                     "a map sees " + std::string(core::name_of(*dtype)) + " as bytes, which have no NaN",
                     "fill with zeros");
  }
  if (map.nan_fill && !core::is_floating(*dtype)) {
    throw InputError(where + "/fill", std::string(core::name_of(*dtype)) + " has no NaN", "fill with zeros");
  }
  PlannedTensorMap planned{map.name, map.buffer, *dtype, {}, {}, {}, map.swizzle, map.l2_promotion, map.nan_fill};
  planned.shape = bind_shape(map, tensor, bindings, where);
  bind_strides(planned, tensor, where);
  bind_box(planned, map, bindings, where + "/box");
  return planned;
}

int tensor_map_type(core::DType dtype) {
  switch (dtype) {
    case core::DType::i8:
    case core::DType::u8:
    case core::DType::boolean:
    case core::DType::f8e4m3:  // the driver knows them as bytes
    case core::DType::f8e5m2:
      return 0;
    case core::DType::u32:
      return 2;
    case core::DType::i32:
      return 3;
    case core::DType::i64:
      return 5;
    case core::DType::f16:
      return 6;
    case core::DType::f32:
      return 7;
    case core::DType::f64:
      return 8;
    case core::DType::bf16:
      return 9;
  }
  return 0;
}

}  // namespace sandbox

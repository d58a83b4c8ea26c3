#include "sandbox/tensor_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"

namespace sandbox {
namespace {
using core::Expr;
using testing::ElementsAre;
using testing::HasSubstr;

const MappedTensor kMatrix{4 * 100 * 64, core::DType::f32, {Expr::parse("M"), Expr::parse("N")}};
const core::Bindings kAxes{{"M", 100}, {"N", 64}, {"TILE", 32}};

PlannedTensorMap bind(const std::string& json, const MappedTensor& tensor = kMatrix) {
  const core::Json parsed = core::parse_json(json, "s.cu");
  return bind_tensor_map(parse_tensor_map("map", core::JsonView(parsed, "s.cu", "/tensor_maps/map")), tensor, kAxes,
                         "s.cu#/tensor_maps/map");
}

std::string refusal(const std::string& json, const MappedTensor& tensor = kMatrix) {
  try {
    bind(json, tensor);
  } catch (const core::InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(TensorMap, TakesDtypeAndShapeFromItsTensor) {
  const PlannedTensorMap map = bind(R"({"tensor": "x", "box": ["TILE", 8], "swizzle": 128, "l2_promotion": 256})");
  EXPECT_EQ(map.dtype, core::DType::f32);
  EXPECT_THAT(map.shape, ElementsAre(64, 100)) << "innermost first";
  EXPECT_THAT(map.strides_bytes, ElementsAre(256));
  EXPECT_THAT(map.box, ElementsAre(32, 8));
  EXPECT_EQ(map.swizzle, 128);
  EXPECT_EQ(map.l2_promotion, 256);
  EXPECT_FALSE(map.nan_fill);
}

TEST(TensorMap, MaySeeItsTensorInAnotherShape) {
  const PlannedTensorMap map =
      bind(R"({"tensor": "x", "dtype": "f16", "shape": [64, 2, "M"], "box": [64, 1, 4], "fill": "nan"})");
  EXPECT_THAT(map.shape, ElementsAre(64, 2, 100));
  EXPECT_THAT(map.strides_bytes, ElementsAre(128, 256));
  EXPECT_TRUE(map.nan_fill);
}

TEST(TensorMap, WhereItIsNotUsedAnyShapeWillDo) {
  const MappedTensor odd{4 * 100 * 63, core::DType::f32, {Expr::parse("M"), Expr::constant(63)}};
  EXPECT_THAT(refusal(R"({"tensor": "x", "box": [32, 8]})", odd),
              HasSubstr("252 bytes, which is not a multiple of 16"));
  const PlannedTensorMap map = bind(R"({"tensor": "x", "box": [32, 8], "when": "M % 8 == 0"})", odd);
  EXPECT_THAT(map.shape, ElementsAre(16));
  EXPECT_THAT(map.box, ElementsAre(16));
  EXPECT_EQ(map.dtype, core::DType::u8);
}

TEST(TensorMap, RefusalsNameTheLimit) {
  const MappedTensor workspace{4096, {}, {}};
  EXPECT_EQ(refusal(R"({"tensor": "w", "dtype": "f32", "shape": [1024], "box": [256]})", workspace), "accepted");
  EXPECT_THAT(refusal(R"({"tensor": "w", "shape": [1024], "box": [256]})", workspace),
              HasSubstr("needs its \"dtype\""));
  EXPECT_THAT(refusal(R"({"tensor": "w", "dtype": "f32", "box": [256]})", workspace), HasSubstr("needs its \"shape\""));
  EXPECT_THAT(refusal(R"({"tensor": "w", "dtype": "f32", "shape": [1025], "box": [256]})", workspace),
              HasSubstr("more than the 4096 bytes of \"w\""));
  EXPECT_THAT(refusal(R"({"tensor": "x", "box": [257, 1]})"),
              HasSubstr("dimension 0 is 257; it must be between 1 and 256"));
  EXPECT_THAT(refusal(R"({"tensor": "x", "box": [3, 1]})"), HasSubstr("takes 12 bytes, which is not a multiple of 16"));
  EXPECT_THAT(refusal(R"({"tensor": "x", "box": [64, 1], "swizzle": 128})"),
              HasSubstr("takes 256 bytes; swizzled by 128"));
  EXPECT_THAT(refusal(R"({"tensor": "x", "box": [256, 256]})"), HasSubstr("the box, in bytes, is 262144"));
  EXPECT_THAT(refusal(R"({"tensor": "x", "box": [64]})"), HasSubstr("has 1 dimensions, the shape has 2"));
  EXPECT_THAT(refusal(R"({"tensor": "x", "box": [1, 1, 1, 1, 1, 1]})"), HasSubstr("1 to 5, innermost first"));
  EXPECT_THAT(refusal(R"({"tensor": "x", "box": [64, 1], "swizzle": 48})"),
              HasSubstr("s.cu#/tensor_maps/map/swizzle: is 48"));
  EXPECT_THAT(refusal(R"({"tensor": "x", "box": [64, 1], "dtype": "i32", "fill": "nan"})"), HasSubstr("has no NaN"));
  EXPECT_THAT(refusal(R"({"tensor": "x", "box": [64, 1], "swizle": 32})"), HasSubstr("did you mean \"swizzle\""));
}

}  // namespace
}  // namespace sandbox

#include "core/scalar.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "core/error.h"

namespace core {
namespace {

Scalar read(const Json& number, DType dtype) { return scalar_at(JsonView(number, "p.json", "/eps"), dtype); }

std::string refusal(const Json& number, DType dtype) {
  try {
    read(number, dtype);
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Scalar, IsTheNumberRoundedToItsDtype) {
  EXPECT_EQ(read(1e-5, DType::f32), Scalar(1e-5f));
  EXPECT_EQ(read(1e-5, DType::f64), Scalar(1e-5));
  EXPECT_EQ(read(7, DType::i32), Scalar(int32_t{7}));
  EXPECT_EQ(read(int64_t{1} << 40, DType::i64), Scalar(int64_t{1} << 40));
  EXPECT_EQ(read(2, DType::f32), Scalar(2.0f));  // a whole number will do
  EXPECT_EQ(json_of(Scalar(1e-5f)).get<double>(), static_cast<double>(1e-5f));
  for (const DType dtype : {DType::i32, DType::i64, DType::f32, DType::f64}) EXPECT_EQ(dtype_of(read(3, dtype)), dtype);
}

TEST(Scalar, HasTheBytesOfAParameter) {
  const std::vector<std::byte> bytes = bytes_of(Scalar(1.5));
  double value = 0;
  ASSERT_EQ(bytes.size(), sizeof value);
  std::memcpy(&value, bytes.data(), sizeof value);
  EXPECT_EQ(value, 1.5);
  EXPECT_EQ(bytes_of(Scalar(1.5f)).size(), 4u);
  EXPECT_EQ(bytes_of(Scalar(int64_t{1})).size(), 8u);
}

TEST(Scalar, IsWrittenShort) {
  EXPECT_EQ(text_of(Scalar(1e-5f)), "1e-05");
  EXPECT_EQ(text_of(Scalar(0.1f)), "0.1");
  EXPECT_EQ(text_of(Scalar(1.0f / 3)), "0.33333334");
  EXPECT_EQ(text_of(Scalar(0.1)), "0.1");
  EXPECT_EQ(text_of(Scalar(int32_t{-7})), "-7");
}

TEST(Scalar, RefusesWhatItsDtypeCannotHold) {
  EXPECT_THAT(refusal(1.5, DType::i32), testing::HasSubstr("p.json#/eps: must be an integer"));
  EXPECT_THAT(refusal(int64_t{1} << 40, DType::i32), testing::HasSubstr("must be between -2147483648"));
  EXPECT_THAT(refusal(1e300, DType::f32), testing::HasSubstr("beyond f32"));
  EXPECT_THAT(refusal("1e-5", DType::f32), testing::HasSubstr("must be a number"));
  EXPECT_EQ(refusal(1, DType::f16), "p.json#/eps: cannot be f16\n  a scalar is i32, i64, f32 or f64");
}

}  // namespace
}  // namespace core

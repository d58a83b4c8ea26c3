// Files of tensors: read, and damaged headers refused.
#include "benchsuite/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "benchsuite/safetensors_fixture.h"
#include "core/error.h"

namespace benchsuite {
namespace {
using test::safetensors_of;
using testing::HasSubstr;

std::string refusal_of_file(const std::string& file) {
  try {
    const Safetensors read(file, "a.safetensors");
    return "accepted";
  } catch (const core::InputError& error) {
    return error.what();
  }
}
std::string refusal_of_entry(const std::string& entry, const std::string& data = std::string(16, '\0')) {
  return refusal_of_file(safetensors_of(R"({"t":)" + entry + "}", data));
}

TEST(Safetensors, GiveTheirTensors) {
  const Safetensors file(
      safetensors_of(
          R"({"__metadata__":{"format":"pt"},"b":{"dtype":"F32","shape":[],"data_offsets":[8,12]},)"
          R"("a":{"dtype":"I64","shape":[1,1],"data_offsets":[0,8]},"e":{"dtype":"F8_E8M0","shape":[2],"data_offsets":[12,14]},)"
          R"("f":{"dtype":"F8_E4M3","shape":[2],"data_offsets":[12,14]},"g":{"dtype":"F8_E5M2","shape":[1],"data_offsets":[13,14]},)"
          R"("n":{"dtype":"I32","shape":[0],"data_offsets":[14,14]}}   )",
          test::bytes_of<int64_t>({-7}) + test::bytes_of<float>({2.5F}) + "\1\2"),
      "a.safetensors");
  EXPECT_THAT(file.names(), testing::ElementsAre("a", "b", "e", "f", "g", "n"));
  const Safetensors::Entry& a = *file.find("a");
  EXPECT_EQ(a.dtype, core::DType::i64);
  EXPECT_THAT(a.shape, testing::ElementsAre(1, 1));
  EXPECT_EQ(*reinterpret_cast<const int64_t*>(std::string(reinterpret_cast<const char*>(a.bytes.data()), 8).data()),
            -7);
  EXPECT_EQ(file.find("b")->bytes.size(), 4u);
  EXPECT_EQ(file.find("e")->dtype, std::nullopt);
  EXPECT_EQ(file.find("f")->dtype, core::DType::f8e4m3);
  EXPECT_EQ(file.find("g")->dtype, core::DType::f8e5m2);
  EXPECT_EQ(file.find("c"), nullptr);
}

TEST(Safetensors, RefuseDamagedHeaders) {
  EXPECT_THAT(refusal_of_file(""), HasSubstr("a.safetensors: is too short for a safetensors file"));
  EXPECT_THAT(refusal_of_file("1234567"), HasSubstr("is too short"));
  EXPECT_THAT(refusal_of_file(std::string(8, '\xFF')), HasSubstr("has a header of 18446744073709551615 bytes"));
  EXPECT_THAT(refusal_of_file(safetensors_of("{}", "").substr(0, 9)), HasSubstr("has a header of 2 bytes"));
  EXPECT_THAT(refusal_of_file(safetensors_of(std::string((1 << 20) + 1, ' '), "")),
              HasSubstr("has a header of 1048577 bytes"));
  EXPECT_THAT(refusal_of_file(safetensors_of("[1]", "")), HasSubstr("a.safetensors"));
  EXPECT_THAT(refusal_of_file(safetensors_of("{", "")), HasSubstr("a.safetensors"));
  EXPECT_THAT(refusal_of_file(safetensors_of(R"({"t":{},"t":{}})", "")), HasSubstr("a.safetensors"));
}

TEST(Safetensors, RefuseTensorsThatTheFileDoesNotHold) {
  EXPECT_EQ(refusal_of_entry(R"({"dtype":"F32","shape":[4],"data_offsets":[0,16]})"), "accepted");
  EXPECT_THAT(refusal_of_entry(R"({"dtype":"F32","shape":[4],"data_offsets":[4,20]})"), HasSubstr("data_offsets/1"));
  EXPECT_THAT(refusal_of_entry(R"({"dtype":"F32","shape":[4],"data_offsets":[16,0]})"), HasSubstr("data_offsets/0"));
  EXPECT_THAT(refusal_of_entry(R"({"dtype":"F32","shape":[4],"data_offsets":[-1,15]})"), HasSubstr("data_offsets/0"));
  EXPECT_THAT(refusal_of_entry(R"({"dtype":"F32","shape":[4],"data_offsets":[0]})"),
              HasSubstr("not a begin and an end"));
  EXPECT_THAT(refusal_of_entry(R"({"dtype":"F32","shape":[3],"data_offsets":[0,16]})"),
              HasSubstr("hold 16 bytes, and the shape needs another number"));
  EXPECT_THAT(refusal_of_entry(R"({"dtype":"F32","shape":[-4],"data_offsets":[0,16]})"), HasSubstr("shape/0"));
  EXPECT_THAT(refusal_of_entry(R"({"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,16]})"),
              HasSubstr("overflow 64 bits"));
  EXPECT_THAT(refusal_of_entry(R"({"dtype":"F64","shape":[2305843009213693952],"data_offsets":[0,0]})"),
              HasSubstr("hold 0 bytes"));
  EXPECT_THAT(refusal_of_entry(R"({"dtype":"F32","shape":[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1],"data_offsets":[0,4]})"),
              HasSubstr("more than 16 dimensions"));
  EXPECT_THAT(refusal_of_entry(R"({"dtype":"F32","shape":4,"data_offsets":[0,16]})"), HasSubstr("/t/shape"));
  EXPECT_THAT(refusal_of_entry(R"({"dtype":"F32","shape":[4]})"), HasSubstr("data_offsets"));
}

TEST(Safetensors, NoDamagedByteCrashes) {
  const std::string whole = test::one_tensor<int32_t>("I32", {1, 2, 3});
  for (size_t at = 0; at < whole.size(); ++at) {
    for (const char byte : {'\0', '\xFF', '9', '"', '}'}) {
      std::string damaged = whole;
      damaged[at] = byte;
      refusal_of_file(damaged);
      refusal_of_file(whole.substr(0, at));
    }
  }
}

}  // namespace
}  // namespace benchsuite

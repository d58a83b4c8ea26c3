// Inputs whose content is that of a file.
#include "benchsuite/data_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "benchsuite/problem_fixture.h"
#include "benchsuite/safetensors_fixture.h"

namespace benchsuite {
namespace {
namespace fs = std::filesystem;
using test::Json;
using testing::HasSubstr;

// The problem "scale" of the fixture, whose workload "small" (M=3, N=8) takes i and w from a file.
class DataFiles : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "kw_data_XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
    fs::create_directories(folder());
    for (const char* file : {"reference.cu", "naive.cu"}) std::ofstream(folder() / file) << "// " << file << "\n";
    json_["workloads"][0]["inputs"] = {{"i", {{"file", "rows.safetensors"}, {"tensor", "t"}}}};
    write("rows.safetensors", test::one_tensor<int32_t>("I32", {0, 7, 3}));
  }
  void TearDown() override { fs::remove_all(root_); }

  fs::path folder() const { return root_ / "scale"; }
  void write(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder() / name, std::ios::binary) << bytes;
  }
  Problem load() const {
    write("problem.json", json_.dump());
    return load_problem(folder());
  }
  std::string refusal() const {
    try {
      load();
      return "accepted";
    } catch (const core::InputError& error) {
      return error.what();
    }
  }

  fs::path root_;
  Json json_ = Json::parse(test::kProblem);
};

TEST_F(DataFiles, AreReadAndPartOfTheHash) {
  const Problem problem = load();
  const auto bytes = data_of(problem, problem.workloads[0], "i");
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()), test::bytes_of<int32_t>({0, 7, 3}));
  EXPECT_TRUE(problem.has_given_inputs());
  EXPECT_THAT(problem.files.at(std::string(kDataFile)), HasSubstr("  rows.safetensors\n"));
  EXPECT_EQ(content_hash(problem.json_text, problem.files), content_hash(problem));
  write("rows.safetensors", test::one_tensor<int32_t>("I32", {0, 6, 3}));
  EXPECT_NE(content_hash(load()), content_hash(problem));
  Problem archived = parse_problem(problem.json_text, "problem.json");
  EXPECT_THROW(require_data(archived), core::InputError);
}

TEST_F(DataFiles, MustHoldWhatTheInputIs) {
  write("rows.safetensors", test::one_tensor<int64_t>("I64", {0, 7, 3}));
  EXPECT_THAT(refusal(), HasSubstr("\"t\", for input \"i\" of workload small: is I64 [3], and the input is i32 [3]"));
  write("rows.safetensors", test::one_tensor<int32_t>("I32", {0, 7}));
  EXPECT_THAT(refusal(), HasSubstr("is I32 [2], and the input is i32 [3]"));
  write("rows.safetensors", test::one_tensor<int32_t>("I32", {0, 8, 3}));
  EXPECT_THAT(refusal(), HasSubstr("holds 8 at element 1, and the init of \"i\" promises 0 to 7"));
  json_["workloads"][0]["inputs"]["i"]["tensor"] = "T";
  EXPECT_THAT(refusal(), HasSubstr("there is no such tensor\n  did you mean \"t\"?"));
  write("rows.safetensors", "x");
  EXPECT_THAT(refusal(), HasSubstr("rows.safetensors: is too short"));
  fs::remove(folder() / "rows.safetensors");
  EXPECT_THAT(refusal(), HasSubstr("rows.safetensors: is missing"));
}

TEST_F(DataFiles, MustBeFiniteUnlessTheContractSaysOtherwise) {
  json_["workloads"][0]["inputs"] = {{"w", {{"file", "rows.safetensors"}, {"tensor", "t"}}}};
  write("rows.safetensors", test::one_tensor<uint16_t>("F16", {0, 0x3C00, 0x7BFF, 0, 0, 0, 0xFC00, 0}));
  EXPECT_EQ(refusal(), "accepted");
  json_["contract"]["nan"] = false;
  EXPECT_THAT(refusal(), HasSubstr("holds NaN or infinity, at element 6"));
  json_["inputs"]["w"]["dtype"] = "f8e4m3";
  write("rows.safetensors", test::one_tensor<uint8_t>("F8_E4M3", {0, 0x7E, 0xFE, 0x7C, 0x78, 0, 0, 0}));
  EXPECT_EQ(refusal(), "accepted");  // it has no infinity
  write("rows.safetensors", test::one_tensor<uint8_t>("F8_E4M3", {0, 0, 0xFF, 0, 0, 0, 0, 0}));
  EXPECT_THAT(refusal(), HasSubstr("holds NaN or infinity, at element 2"));
  json_["inputs"]["w"]["dtype"] = "f8e5m2";
  write("rows.safetensors", test::one_tensor<uint8_t>("F8_E5M2", {0, 0x7B, 0xFB, 0x7C, 0, 0, 0, 0}));
  EXPECT_THAT(refusal(), HasSubstr("holds NaN or infinity, at element 3"));
}

TEST_F(DataFiles, HaveNamesWithoutPathsAndALimitedSize) {
  for (const char* name : {"../a.safetensors", "a/b.safetensors", ".safetensors", "a.bin", ""}) {
    json_["workloads"][0]["inputs"]["i"]["file"] = name;
    EXPECT_THAT(refusal(), HasSubstr("is not the name of a data file")) << name;
  }
  json_["workloads"][0]["inputs"]["i"]["file"] = "large.safetensors";
  write("large.safetensors", "");
  fs::resize_file(folder() / "large.safetensors", kMostDataFileBytes + 1);
  EXPECT_THAT(refusal(), HasSubstr("is too large: a file has at most 64 MiB"));
  json_["workloads"][0]["inputs"] = {{"j", {{"file", "rows.safetensors"}}}};
  EXPECT_THAT(refusal(), HasSubstr("#/workloads/0/inputs/j: \"j\" is no input"));
}

TEST_F(DataFiles, AGivenInputIsGivenSomewhere) {
  json_["inputs"]["i"]["init"] = {{"kind", "given"}};
  EXPECT_THAT(refusal(), HasSubstr("#/inputs/i/init: is \"given\", and nothing gives it at workload gpu"));
  fs::remove(folder() / "reference.cu");
  fs::remove(folder() / "naive.cu");
  std::ofstream(folder() / "reference.py") << "def forward(x, w, i):\n    pass\n";
  EXPECT_EQ(refusal(), "accepted");  // its inputs() may give it
  json_["inputs"]["i"]["init"]["low"] = 0;
  EXPECT_THAT(refusal(), HasSubstr("#/inputs/i/init"));
  json_["inputs"]["i"]["init"]["high"] = "N - 1";
  EXPECT_EQ(refusal(), "accepted");
  json_["inputs"]["w"]["init"] = {{"kind", "given"}, {"low", 0}, {"high", 1}};
  EXPECT_THAT(refusal(), HasSubstr("#/inputs/w/init: has bounds, which only integers can have"));
}

}  // namespace
}  // namespace benchsuite

#include "agent/torch/flashinfer_bench.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "core/error.h"
#include "core/strict_json.h"
#include "sandbox/cpu/test_device_fixture.h"

namespace agent::torch {
namespace {
using testing::HasSubstr;

core::Json definition() {
  return core::parse_json(R"({
    "name": "scaled_rows_d64", "op_type": "norm", "reference": "def run(x, eps):\n    return x * eps",
    "axes": {"M": {"type": "var"}, "D": {"type": "const", "value": 64}},
    "inputs": {"x": {"shape": ["M", "D"], "dtype": "float16"}, "eps": {"shape": null, "dtype": "float32"}},
    "outputs": {"y": {"shape": ["M", "D"], "dtype": "float16"}}})",
                          "test");
}
constexpr const char* kWorkloads =
    R"({"definition": "scaled_rows_d64", "workload": {"axes": {"M": 7}, "inputs": {"x": {"type": "random"}, "eps": {"type": "scalar", "value": 0.5}}}}
{"definition": "scaled_rows_d64", "workload": {"axes": {"M": 300}, "inputs": {"x": {"type": "random"}, "eps": {"type": "scalar", "value": 0.25}}}}
)";

std::string refusal_of(const core::Json& json, const std::string& workloads) {
  try {
    source_of_definition(json.dump(), workloads, "file.json");
  } catch (const core::InputError& error) {
    return error.what();
  }
  return "";
}

TEST(FlashInferBench, ADefinitionIsAFileOfPyTorchAtItsLargestWorkload) {
  const std::string source = source_of_definition(definition().dump(), kWorkloads, "file.json");
  EXPECT_THAT(source, HasSubstr("def run(x, eps):"));
  EXPECT_THAT(source, HasSubstr("\nM = 300\n"));
  EXPECT_THAT(source, HasSubstr("return [torch.randn(M, int(\"64\"), dtype=torch.float16)]"));
  EXPECT_THAT(source, HasSubstr("def forward(x):\n    return run(eps=0.25, x=x)"));
  core::Json json = definition();
  json["inputs"]["x"]["dtype"] = "float8_e4m3fn";
  EXPECT_THAT(source_of_definition(json.dump(), kWorkloads, "file.json"),
              HasSubstr("return [torch.randn(M, int(\"64\")).to(torch.float8_e4m3fn)]"));
}

TEST(FlashInferBench, WhatItCannotSayIsRefusedByName) {
  EXPECT_THAT(refusal_of(definition(), ""), HasSubstr("no Workload gives its value"));
  core::Json json = definition();
  json["inputs"]["x"]["dtype"] = "int32";
  EXPECT_THAT(refusal_of(json, kWorkloads), HasSubstr("does not say their range"));
  json["inputs"]["x"]["dtype"] = "float4_e2m1";
  EXPECT_THAT(refusal_of(json, kWorkloads), HasSubstr("no problem holds float4_e2m1"));
  json = definition();
  json["inputs"]["x"]["shape"] = {"M", "H"};
  EXPECT_THAT(refusal_of(json, kWorkloads), HasSubstr("there is no such axis"));
  json = definition();
  json["reference"] = "def go(x):\n    return x";
  EXPECT_THAT(refusal_of(json, kWorkloads), HasSubstr("defines no function run"));
  json = definition();
  json["axes"]["M; import os"] = {{"type", "const"}, {"value", 1}};
  EXPECT_THAT(refusal_of(json, kWorkloads), HasSubstr("/axes/M; import os"));
  json = definition();
  json["axes"]["B"] = {{"type", "var"}};
  EXPECT_THAT(refusal_of(json, kWorkloads), HasSubstr("/axes/B"));
}

TEST(FlashInferBench, WorkloadsAreFoundBesideDefinitions) {
  const sandbox::cpu::test::TemporaryFolder folder;
  const std::filesystem::path root = folder.path();
  for (const char* below : {"definitions/norm", "workloads/norm"}) std::filesystem::create_directories(root / below);
  std::ofstream(root / "definitions/norm/a.json") << "{}";
  std::ofstream(root / "definitions/norm/b.json") << "{}";
  std::ofstream(root / "workloads/norm/b.jsonl") << "";
  const auto found = definitions_at(root);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].definition, root / "definitions/norm/a.json");
  EXPECT_TRUE(found[0].workloads.empty());
  EXPECT_EQ(found[1].workloads, root / "workloads/norm/b.jsonl");
  EXPECT_EQ(definitions_at(root / "definitions/norm/b.json").at(0).workloads, root / "workloads/norm/b.jsonl");
  EXPECT_THROW(definitions_at(root / "workloads"), core::InputError);
}

}  // namespace
}  // namespace agent::torch

// Definitions whose Workloads give data.
#include "agent/torch/definition_problem.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "benchsuite/safetensors_fixture.h"
#include "core/error.h"
#include "core/strict_json.h"
#include "sandbox/cpu/test_device_fixture.h"

namespace agent::torch {
namespace {
namespace fs = std::filesystem;
using benchsuite::test::bytes_of;
using benchsuite::test::safetensors_of;
using core::Json;
using testing::HasSubstr;

// A small paged decode: pages of 2 tokens of 4 numbers, rows that indptr and indices say.
constexpr const char* kDefinition = R"({
  "name": "paged_d4", "op_type": "paged", "description": "sums over pages",
  "axes": {"batch": {"type": "var", "description": "rows"}, "ends": {"type": "expr", "expression": "batch + 1"},
           "entries": {"type": "var"}, "pages": {"type": "var"}, "width": {"type": "const", "value": 4}},
  "inputs": {"cache": {"shape": ["pages", "width"], "dtype": "float32"}, "indptr": {"shape": ["ends"], "dtype": "int32"},
             "indices": {"shape": ["entries"], "dtype": "int32"}, "scale": {"shape": null, "dtype": "float32"}},
  "outputs": {"sums": {"shape": ["batch", "width"], "dtype": "float32"}, "counts": {"shape": ["batch"], "dtype": "int32"}},
  "reference": "def run(cache, indptr, indices, scale):\n    return scale * cache, indptr"})";

class Definitions : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* below : {"definitions/paged", "workloads/paged", "blob"}) fs::create_directories(root() / below);
    std::ofstream(root() / "definitions/paged/paged_d4.json") << kDefinition;
    write_data("a.safetensors", {0, 1, 2}, {1, 0});
    write_data("b.safetensors", {0, 1, 3}, {2, 1, 0});
    add("a.safetensors", 2, 5, 0.5);
    add("b.safetensors", 3, 70, 0.5);
  }

  fs::path root() const { return folder_.path(); }
  void write_data(const std::string& name, const std::vector<int32_t>& indptr, const std::vector<int32_t>& indices) {
    const std::string split = std::to_string(indptr.size() * 4),
                      end = std::to_string((indptr.size() + indices.size()) * 4);
    std::ofstream(root() / "blob" / name)
        << safetensors_of(R"({"indptr":{"dtype":"I32","shape":[)" + std::to_string(indptr.size()) +
                              R"(],"data_offsets":[0,)" + split + R"(]},"indices":{"dtype":"I32","shape":[)" +
                              std::to_string(indices.size()) + R"(],"data_offsets":[)" + split + "," + end + "]}}",
                          bytes_of(indptr) + bytes_of(indices));
  }
  void add(const std::string& file, int entries, int pages, double scale) {
    const auto data = [&](const char* key) {
      return Json{{"type", "safetensors"}, {"path", "./blob/" + file}, {"tensor_key", key}};
    };
    lines_ += Json{{"definition", "paged_d4"},
                   {"workload",
                    {{"uuid", "u"},
                     {"axes", {{"batch", 2}, {"entries", entries}, {"pages", pages}}},
                     {"inputs",
                      {{"cache", {{"type", "random"}}},
                       {"indptr", data("indptr")},
                       {"indices", data("indices")},
                       {"scale", {{"type", "scalar"}, {"value", scale}}}}}}}}
                  .dump() +
              "\n";
  }
  DefinitionProblem make(uint64_t fit = 1 << 30) {
    std::ofstream(root() / "workloads/paged/paged_d4.jsonl") << lines_;
    return problem_of_definition(definitions_at(root()).at(0), "paged_d4", true, fit);
  }
  std::string refusal() {
    try {
      make();
      return "accepted";
    } catch (const core::InputError& error) {
      return error.what();
    }
  }

  sandbox::cpu::test::TemporaryFolder folder_;
  std::string lines_;
};

TEST_F(Definitions, BecomeProblemsWithTheDataOfTheirWorkloads) {
  EXPECT_TRUE(gives_data(kDefinition, lines_, "file"));
  const DefinitionProblem made = make();
  const benchsuite::Problem problem = benchsuite::parse_problem(made.json, "problem.json");
  EXPECT_EQ(problem.name, "paged_d4_f32");  // of the first output in the file's order
  EXPECT_THAT(problem.axes[2].values, testing::ElementsAre(5, 70));
  EXPECT_EQ(problem.find_tensor("indptr")->shape[0].text(), "(batch + 1)");
  EXPECT_EQ(problem.find_tensor("cache")->init.kind, benchsuite::Init::normal);
  EXPECT_EQ(problem.find_tensor("indices")->init.kind, benchsuite::Init::given);
  EXPECT_EQ(core::json_of(*problem.find_scalar("scale")), Json(0.5));
  EXPECT_EQ(problem.workloads.size(), 5u);  // two tests, one for the cpu device, two for GPUs
  EXPECT_EQ(problem.workloads[0].inputs.at("indices").tensor, "indices");
  EXPECT_EQ(made.data.size(), 2u);
  EXPECT_THAT(made.reference, HasSubstr("results = run(cache=cache, indices=indices, indptr=indptr, scale=scale)"));
  EXPECT_THAT(made.reference, HasSubstr(R"(zip(("sums", "counts", ))"));
  EXPECT_THAT(made.reference, HasSubstr(R"(for name in ("counts", "sums", ))"));
}

TEST_F(Definitions, LeaveOutWorkloadsThatTheyCannotUse) {
  add("absent.safetensors", 2, 5, 0.5);
  add("../../outside.safetensors", 2, 5, 0.5);
  add("a.safetensors", 2, 5, 0.25);
  add("a.safetensors", 2, 1 << 20, 0.5);
  std::ofstream(root().parent_path() / "outside.safetensors") << "x";
  const DefinitionProblem made = make(1 << 20);
  EXPECT_THAT(made.remarks,
              testing::UnorderedElementsAre(HasSubstr("its axes take"), HasSubstr("absent.safetensors is missing"),
                                            HasSubstr("outside.safetensors lies outside"),
                                            HasSubstr("left out: other scalars"), HasSubstr("larger than --fit")));
  fs::remove(root().parent_path() / "outside.safetensors");
  lines_.clear();
  add("absent.safetensors", 2, 5, 0.5);
  EXPECT_THAT(refusal(), HasSubstr("has no Workload that can be used: its file ./blob/absent.safetensors is missing"));
  lines_.clear();
  add("b.safetensors", 2, 5, 0.5);
  EXPECT_THAT(refusal(), HasSubstr("is I32 [3], and the input is i32 [2]"));
}

TEST_F(Definitions, CallTheirOwnFunctionForCustomInputs) {
  Json json = core::parse_json(kDefinition, "test");
  json["custom_inputs_entrypoint"] = "make_inputs";
  std::ofstream(root() / "definitions/paged/paged_d4.json") << json.dump();
  lines_ = R"({"axes": {"batch": 2, "entries": 3, "pages": 5}, "inputs": {"cache": {"type": "custom"},
    "indptr": {"type": "custom"}, "indices": {"type": "custom"}, "scale": {"type": "scalar", "value": 1.5}}})";
  std::erase(lines_, '\n');
  EXPECT_TRUE(gives_data(json.dump(), lines_, "file"));
  const DefinitionProblem made = make();
  EXPECT_THAT(made.reference, HasSubstr(R"(numbers = {**axes, "scale": 1.5, "width": 4})"));
  EXPECT_THAT(made.reference, HasSubstr(R"(numbers["ends"] = eval("batch + 1", {}, numbers))"));
  EXPECT_THAT(made.reference, HasSubstr(R"(drawn = make_inputs(numbers, torch.device("cpu")))"));
  EXPECT_EQ(benchsuite::parse_problem(made.json, "p").find_tensor("cache")->init.kind, benchsuite::Init::given);
}

}  // namespace
}  // namespace agent::torch

#include "agent/nodes/messages.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "agent/prompting/prompting_fixture.h"
#include "benchsuite/problem_fixture.h"
#include "benchsuite/safetensors_fixture.h"
#include "core/error.h"
#include "results/archive/archive_fixture.h"

namespace agent::nodes {
namespace {

TEST(NodeMessages, AProblemSurvivesTheWay) {
  const benchsuite::Problem& problem = prompting::test::shipped_problem("softmax_f32");
  const core::Json message = message_of(line_of(to_json(problem)));
  const benchsuite::Problem there = problem_from_json(core::JsonView(message, "a test"));
  EXPECT_EQ(benchsuite::content_hash(there), benchsuite::content_hash(problem));
  EXPECT_EQ(there.axes.size(), problem.axes.size());
}

TEST(NodeMessages, DataFilesAreReadFromASharedFolder) {
  namespace fs = std::filesystem;
  std::string pattern = (fs::temp_directory_path() / "kw_nodes_XXXXXX").string();
  const fs::path root = ::mkdtemp(pattern.data()), folder = root / "scale";
  fs::create_directories(folder);
  core::Json json = core::Json::parse(benchsuite::test::kProblem);
  json["workloads"][0]["inputs"] = {{"i", {{"file", "rows.safetensors"}, {"tensor", "t"}}}};
  std::ofstream(folder / "problem.json") << json;
  for (const char* file : {"reference.cu", "naive.cu"}) std::ofstream(folder / file) << "// " << file << "\n";
  const auto write = [&](const std::vector<int32_t>& rows) {
    std::ofstream(folder / "rows.safetensors", std::ios::binary) << benchsuite::test::one_tensor<int32_t>("I32", rows);
  };
  write({0, 7, 3});
  const benchsuite::Problem problem = benchsuite::load_problem(folder);
  const core::Json message = message_of(line_of(to_json(problem)));
  const benchsuite::Problem there = problem_from_json(core::JsonView(message, "a test"));
  EXPECT_EQ(benchsuite::content_hash(there), benchsuite::content_hash(problem));
  EXPECT_EQ(there.data.size(), 1u);
  write({0, 7, 2});
  EXPECT_THROW(problem_from_json(core::JsonView(message, "a test")), core::InputError);
  fs::remove(folder / "rows.safetensors");
  EXPECT_THROW(problem_from_json(core::JsonView(message, "a test")), core::InputError);
  fs::remove_all(root);
}

TEST(NodeMessages, AnAttemptSurvivesTheWay) {
  results::archive::NewAttempt attempt;
  attempt.judgement = results::archive::test::correct_judgement(1.5);
  attempt.artefact = "hash";
  attempt.compile_log = "a warning\n\ton two lines";
  attempt.compile_ms = 12.5;
  attempt.registers = 40;
  const core::Json message = message_of(line_of(to_json(attempt)));
  const results::archive::NewAttempt there = attempt_from_json(core::JsonView(message, "a test"));
  EXPECT_EQ(to_json(there), to_json(attempt));
  EXPECT_EQ(there.judgement.seed, attempt.judgement.seed);
  EXPECT_FALSE(there.spill_bytes);
}

TEST(NodeMessages, OtherLinesAreRefused) {
  for (const char* line : {"", "hello", "3", "[]", "{\"a\": 1, \"a\": 2}"}) {
    EXPECT_THROW(message_of(line), core::InputError) << line;
  }
}

}  // namespace
}  // namespace agent::nodes

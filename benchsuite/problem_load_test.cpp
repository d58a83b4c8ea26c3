#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <functional>

#include "benchsuite/catalogue.h"
#include "core/error.h"
#include "core/paths.h"
#include "core/strict_json.h"
#include "core/text.h"

namespace benchsuite {
namespace {
namespace fs = std::filesystem;
using testing::EndsWith;
using testing::HasSubstr;

std::string refusal(const std::function<void()>& action) {
  try {
    action();
  } catch (const core::InputError& error) {
    return error.what();
  }
  return "accepted";
}

// A copy of a shipped problem and a folder for suites, which tests may damage.
class ProblemFolder : public testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::path(testing::TempDir()) / ("kw_problems_" + std::to_string(::getpid()));
    fs::create_directories(root_ / "suites");
    fs::create_directories(root_ / "problems");
    fs::copy(core::installed_paths().problems() / "vector_add_f32", root_ / "problems" / "vector_add_f32",
             fs::copy_options::recursive);
  }
  void TearDown() override { fs::remove_all(root_); }

  fs::path folder() const { return root_ / "problems" / "vector_add_f32"; }
  void write_suite(const std::string& name, const std::string& json) const {
    std::ofstream(root_ / "suites" / (name + ".json")) << json;
  }
  std::string suite_refusal(const std::string& name) const {
    return refusal([&] { load_suite(root_ / "suites", name, load_catalogue({root_ / "problems"})); });
  }

  fs::path root_;
};

TEST_F(ProblemFolder, LoadsByName) {
  const auto problems = load_problems(root_ / "problems");
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems.at("vector_add_f32").folder, folder());
  EXPECT_EQ(problems.at("vector_add_f32").json_text, core::read_file(folder() / "problem.json"));
}

TEST_F(ProblemFolder, TheKindIsNotPartOfTheHash) {
  const auto hash_with = [&](const std::string& text) {
    std::ofstream(folder() / "problem.json") << text;
    return content_hash(load_problem(folder()));
  };
  const std::string now = core::read_file(folder() / "problem.json"), line = "  \"kind\": \"elementwise\",\n";
  const size_t at = now.find(line);
  ASSERT_NE(at, std::string::npos);
  std::string without = now, last = now;
  without.erase(at, line.size());
  last = without;
  last.insert(last.rfind("\n}"), ",\n \"kind\" : \"scan\"");
  EXPECT_EQ(hash_with(without), hash_with(now));
  EXPECT_EQ(hash_with(last), hash_with(now));
  EXPECT_NE(hash_with(without + " "), hash_with(now));
}

TEST_F(ProblemFolder, RefusesAMissingFile) {
  fs::remove(folder() / "naive.cu");
  EXPECT_THAT(refusal([&] { load_problem(folder()); }),
              testing::AllOf(HasSubstr("naive.cu: is missing"),
                             HasSubstr("either reference.py, or reference.cu and naive.cu")));
}

TEST_F(ProblemFolder, KeepsTheTextThatItsHashStandsFor) {
  const Problem problem = load_problem(folder());
  EXPECT_EQ(problem.files.at("naive.cu"), core::read_file(folder() / "naive.cu"));
  EXPECT_EQ(content_hash(problem.json_text, problem.files), content_hash(problem));
  std::ofstream(folder() / "naive.cu", std::ios::app) << "// changed\n";
  EXPECT_NE(content_hash(load_problem(folder())), content_hash(problem));
  EXPECT_EQ(problem.files.at("naive.cu").find("// changed"), std::string::npos);
}

TEST_F(ProblemFolder, RefusesASourceThatIsNotUtf8) {
  std::ofstream(folder() / "naive.cu", std::ios::app) << "// caf\xE9\n";
  EXPECT_THAT(refusal([&] { load_problem(folder()); }), HasSubstr("naive.cu: is not UTF-8"));
}

TEST_F(ProblemFolder, TakesReferencePyInsteadOfBothKernels) {
  std::ofstream(folder() / "reference.py") << "def forward(a, b):\n    return a + b\n";
  EXPECT_THAT(refusal([&] { load_problem(folder()); }), HasSubstr("has reference.py and reference.cu"));
  fs::remove(folder() / "reference.cu");
  fs::remove(folder() / "naive.cu");
  const Problem problem = load_problem(folder());
  EXPECT_TRUE(problem.pytorch());
  const std::string hash = content_hash(problem);
  std::ofstream(folder() / "reference.py", std::ios::app) << "# changed\n";
  EXPECT_NE(content_hash(load_problem(folder())), hash);
}

// Their references give something else than a candidate does.
TEST_F(ProblemFolder, ReferencePyGivesNeitherRangesNorUnroundedNumbers) {
  fs::remove(folder() / "reference.cu");
  fs::remove(folder() / "naive.cu");
  std::ofstream(folder() / "reference.py") << "def forward(a, b):\n    return a + b\n";
  core::Json json = core::Json::parse(core::read_file(folder() / "problem.json"));
  for (const std::string rule : {"between", "quanta"}) {
    json["outputs"]["y"] = {{"dtype", "i64"}, {"shape", {"N"}}, {"compare", rule}};
    std::ofstream(folder() / "problem.json") << json.dump();
    EXPECT_THAT(refusal([&] { load_problem(folder()); }), HasSubstr(rule + "\", which reference.py cannot give"));
  }
}

TEST_F(ProblemFolder, RefusesANameOtherThanTheFolders) {
  fs::rename(folder(), root_ / "problems" / "add");
  EXPECT_THAT(refusal([&] { load_problems(root_ / "problems"); }),
              EndsWith("add/problem.json#/name: is \"vector_add_f32\" in a folder called \"add\"\n"
                       "  give both the same name"));
}

TEST_F(ProblemFolder, NamesTheNearestSuite) {
  write_suite("quick", R"({"name": "quick", "description": "d", "problems": ["vector_add_f32"]})");
  EXPECT_EQ(suite_refusal("quick"), "accepted");
  EXPECT_EQ(suite_refusal("quik"), "there is no suite \"quik\"\n  did you mean \"quick\"?");
}

TEST_F(ProblemFolder, RefusesSuitesThatNameNoProblem) {
  write_suite("one", R"({"name": "one", "description": "d", "problems": ["vector_ad_f32"]})");
  EXPECT_THAT(suite_refusal("one"), EndsWith("one.json#/problems/0: \"vector_ad_f32\" is not one of the problems\n"
                                             "  did you mean \"vector_add_f32\"?"));
  write_suite("two", R"({"name": "two", "description": "d", "problems": ["vector_add_f32", "vector_add_f32"]})");
  EXPECT_THAT(suite_refusal("two"),
              EndsWith("two.json#/problems/1: \"vector_add_f32\" occurs twice\n  keep one of them"));
  write_suite("none", R"({"name": "none", "description": "d", "problems": []})");
  EXPECT_THAT(suite_refusal("none"), EndsWith("none.json#/problems: is empty\n  name at least one problem"));
  write_suite("other", R"({"name": "another", "description": "d", "problems": ["vector_add_f32"]})");
  EXPECT_THAT(suite_refusal("other"),
              EndsWith("other.json#/name: is \"another\" in other.json\n  give it the name of its file"));
}

TEST_F(ProblemFolder, SuitesMarkUncleanProblemsWithTheirFlaw) {
  const auto with = [](const std::string& unclean) {
    return R"({"name": "one", "description": "d", "problems": ["vector_add_f32"], "unclean": )" + unclean + "}";
  };
  write_suite("one", with(R"({"vector_add_f32": "its output is constant"})"));
  write_suite("broken", "{}");
  const std::vector<Suite> suites = usable_suites(root_ / "suites", load_catalogue({root_ / "problems"}));
  ASSERT_EQ(suites.size(), 1u);
  EXPECT_EQ(suites[0].name, "one");
  EXPECT_EQ(suites[0].unclean, (std::map<std::string, std::string>{{"vector_add_f32", "its output is constant"}}));
  write_suite("one", with(R"({"vector_add": "its output is constant"})"));
  EXPECT_THAT(suite_refusal("one"), EndsWith("one.json#/unclean/vector_add: \"vector_add\" is no problem of the suite\n"
                                             "  did you mean \"vector_add_f32\"?"));
  write_suite("one", with(R"({"vector_add_f32": ""})"));
  EXPECT_THAT(suite_refusal("one"), EndsWith("is empty\n  say which flaw the problem has"));
}

TEST(ShippedProblems, LoadAndFillTheirSuites) {
  const core::Paths paths = core::installed_paths();
  const Catalogue shipped = load_catalogue({paths.problems()});
  EXPECT_TRUE(shipped.unusable.empty());
  EXPECT_GE(shipped.problems.size(), 13u);
  EXPECT_EQ(load_suite(paths.suites(), "core", shipped).problems.size(), 12u);
  EXPECT_GE(load_suite(paths.suites(), "quick", shipped).problems.size(), 3u);
  EXPECT_GE(load_suite(paths.suites(), "transformer", shipped).problems.size(), 20u);
  std::vector<std::string> every;
  for (const auto& [name, problem] : shipped.problems) every.push_back(name);
  EXPECT_EQ(load_suite(paths.suites(), "shipped", shipped).problems, every);
}

// The judge runs some thirty launches of every test workload: they must stay small. A page of a cache may be larger
// than that alone.
TEST(ShippedProblems, TestWorkloadsAreSmall) {
  for (const auto& [name, problem] : load_problems(core::installed_paths().problems())) {
    core::Bindings least;
    for (const Axis& axis : problem.axes) least[axis.name] = axis.min;
    for (const Workload& workload : problem.workloads) {
      if (workload.role != Role::test) continue;
      for (const auto* tensors : {&problem.inputs, &problem.outputs}) {
        for (const Tensor& tensor : *tensors) {
          EXPECT_LE(tensor.elements(workload.axes), std::max<int64_t>(16384, 4 * tensor.elements(least))) << name;
        }
      }
    }
  }
}

}  // namespace
}  // namespace benchsuite

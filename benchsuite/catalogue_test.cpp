#include "benchsuite/catalogue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <functional>

#include "core/paths.h"

namespace benchsuite {
namespace {
namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

std::string reason(const std::function<void()>& action) {
  try {
    action();
  } catch (const core::InputError& error) {
    return error.what();
  }
  return "accepted";
}

// Two folders of problems: a/ has vector_add_f32 and gelu_f32, b/ is empty.
class Folders : public testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::path(testing::TempDir()) / ("kw_catalogue_" + std::to_string(::getpid()));
    fs::remove_all(root_);
    for (const char* folder : {"a", "b"}) fs::create_directories(root_ / folder);
    copy("vector_add_f32", "a");
    copy("gelu_f32", "a");
  }
  void TearDown() override { fs::remove_all(root_); }

  void copy(const std::string& problem, const std::string& to) const {
    fs::copy(core::installed_paths().problems() / problem, root_ / to / problem, fs::copy_options::recursive);
  }

  fs::path root_;
};

TEST_F(Folders, AreSearchedTogether) {
  copy("sum_f32", "b");
  Catalogue catalogue = load_catalogue({root_ / "a", root_ / "b"});
  EXPECT_EQ(catalogue.problems.size(), 3u);
  EXPECT_EQ(catalogue.find("sum_f32", "here").folder, root_ / "b" / "sum_f32");
  EXPECT_EQ(reason([&] { catalogue.find("sum_f3", "here"); }),
            "here: there is no problem \"sum_f3\"\n  did you mean \"sum_f32\"?\n  or name the folder that holds "
            "it: --problems FOLDER");
}

TEST_F(Folders, MayBeAProblemThemselves) {
  const Catalogue catalogue = load_catalogue({root_ / "a" / "gelu_f32"});
  EXPECT_EQ(catalogue.problems.size(), 1u);
  EXPECT_EQ(catalogue.problems.count("gelu_f32"), 1u);
}

TEST_F(Folders, WithoutProblemsFilesAreIgnored) {
  fs::create_directories(root_ / "a" / ".git");
  std::ofstream(root_ / "a" / "notes.txt") << "notes";
  const Catalogue catalogue = load_catalogue({root_ / "a"});
  EXPECT_EQ(catalogue.problems.size(), 2u);
  EXPECT_TRUE(catalogue.unusable.empty());
}

TEST_F(Folders, OneBrokenProblemDoesNotStopTheOthers) {
  std::ofstream(root_ / "a" / "gelu_f32" / "problem.json") << "{";
  const Catalogue catalogue = load_catalogue({root_ / "a"});
  EXPECT_EQ(catalogue.problems.size(), 1u);
  EXPECT_THAT(catalogue.unusable.at("gelu_f32").what(), HasSubstr("gelu_f32/problem.json"));
  EXPECT_EQ(reason([&] { catalogue.find("gelu_f32", "here"); }), catalogue.unusable.at("gelu_f32").what());
  EXPECT_EQ(reason([&] { load_problems(root_ / "a"); }), catalogue.unusable.at("gelu_f32").what());
}

TEST_F(Folders, ANameInTwoPlacesNamesBoth) {
  copy("gelu_f32", "b");
  Catalogue catalogue = load_catalogue({root_ / "a", root_ / "b"});
  const std::string first = (root_ / "a" / "gelu_f32").string(), second = (root_ / "b" / "gelu_f32").string();
  EXPECT_THAT(reason([&] { catalogue.find("gelu_f32", "here"); }),
              AllOf(HasSubstr("in several places"), HasSubstr(first), HasSubstr(second)));
  EXPECT_EQ(catalogue.problems.size(), 1u);
  EXPECT_EQ(catalogue.find_or_load(second, "here").folder, second);  // the path of one settles it
  EXPECT_EQ(catalogue.find("gelu_f32", "here").folder, second);
}

TEST_F(Folders, ReachedTwiceAreOnePlace) {
  fs::create_directory_symlink(root_ / "a", root_ / "link");
  const Catalogue catalogue = load_catalogue({root_ / "a", root_ / "link", root_ / "a" / "gelu_f32"});
  EXPECT_EQ(catalogue.problems.size(), 2u);
  EXPECT_TRUE(catalogue.unusable.empty());
}

TEST_F(Folders, MustExist) {
  EXPECT_THAT(reason([&] { load_catalogue({root_ / "absent"}); }), HasSubstr("absent: cannot be listed"));
}

TEST_F(Folders, APathWinsOverAName) {
  copy("sum_f32", "b");
  std::ofstream(root_ / "b" / "sum_f32" / "naive.cu", std::ios::app) << "// another\n";
  Catalogue catalogue = load_catalogue({core::installed_paths().problems()});
  const std::string shipped = content_hash(catalogue.find("sum_f32", ""));
  EXPECT_NE(content_hash(catalogue.find_or_load((root_ / "b" / "sum_f32").string() + "/", "")), shipped);
  EXPECT_NE(content_hash(catalogue.find("sum_f32", "")), shipped);
  EXPECT_THAT(reason([&] { catalogue.find_or_load((root_ / "b" / "none").string(), ""); }),
              HasSubstr("b/none/problem.json"));
}

TEST_F(Folders, ASuiteSaysWhyItsProblemCannotBeUsed) {
  fs::create_directories(root_ / "suites");
  std::ofstream(root_ / "suites" / "mine.json") << R"({"name": "mine", "description": "d", "problems": ["gelu_f32"]})";
  fs::remove(root_ / "a" / "gelu_f32" / "naive.cu");
  EXPECT_THAT(reason([&] { load_suite(root_ / "suites", "mine", load_catalogue({root_ / "a"})); }),
              HasSubstr("naive.cu: is missing"));
}

}  // namespace
}  // namespace benchsuite

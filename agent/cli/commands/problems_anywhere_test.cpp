// Problems outside the installation, with the real program: where they are found, and what an archive keeps of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "agent/campaign/program_fixture.h"
#include "core/strict_json.h"

namespace agent::cli::commands {
namespace {
namespace fs = std::filesystem;
using campaign::test::Ended;
using campaign::test::Home;
using core::Json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string renamed(std::string text) {
  const std::string was = "row_sum_f32";
  for (size_t at = text.find(was); at != std::string::npos; at = text.find(was)) text.replace(at, was.size(), "my_sum");
  return text;
}

// A copy of row_sum_f32 called my_sum in `folder`.
void write_problem(const fs::path& folder) {
  fs::create_directories(folder / "my_sum");
  for (const auto& entry : fs::directory_iterator(core::installed_paths().problems() / "row_sum_f32")) {
    std::ofstream(folder / "my_sum" / entry.path().filename()) << renamed(core::read_file(entry.path()));
  }
}

class ProblemsAnywhere : public testing::Test {
 protected:
  fs::path mine() const { return home_.folder() / "mine"; }
  fs::path of_user() const { return home_.folder() / "kernelwright/problems"; }
  std::string folder_in_use(const std::vector<std::string>& options) const {
    std::vector<std::string> args{"--json", "problems"};
    args.insert(args.end(), options.begin(), options.end());
    const Ended ended = home_.run(args);
    if (ended.exit_code != 0) return ended.err;
    for (const Json& problem : Json::parse(ended.out)) {
      if (problem.at("name") == "my_sum") return problem.at("folder");
    }
    return "none";
  }

  Home home_;
};

TEST_F(ProblemsAnywhere, AreFoundByOptionVariableUserFolderAndPath) {
  write_problem(mine());
  const std::string folder = (mine() / "my_sum").string();
  EXPECT_EQ(folder_in_use({}), "none");
  EXPECT_EQ(folder_in_use({"--problems", mine().string()}), folder);
  EXPECT_EQ(folder_in_use({"--problems", "/tmp", "--problems", folder}), folder);
  home_.variables["KERNELWRIGHT_PROBLEMS"] = "/nowhere:" + mine().string();
  EXPECT_EQ(folder_in_use({}), folder);
  EXPECT_THAT(home_.run({"problems"}).err, HasSubstr("KERNELWRIGHT_PROBLEMS: there is no folder /nowhere"));
  home_.variables["KERNELWRIGHT_PROBLEMS"] = "";
  EXPECT_THAT(home_.run({"problems", folder + "/"}).out, HasSubstr("my_sum: Sum of each row"));
  fs::create_directories(of_user());
  fs::rename(mine() / "my_sum", of_user() / "my_sum");
  EXPECT_EQ(folder_in_use({}), (of_user() / "my_sum").string());
}

TEST_F(ProblemsAnywhere, ANameInTwoPlacesIsAnErrorThatNamesBoth) {
  write_problem(mine());
  write_problem(of_user());
  const Ended ended = home_.run({"--problems", mine().string(), "problems", "my_sum"});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err, AllOf(HasSubstr((mine() / "my_sum").string()), HasSubstr((of_user() / "my_sum").string())));
  EXPECT_EQ(home_.run({"--problems", mine().string(), "problems", "gelu_f32"}).exit_code, 0);
}

TEST_F(ProblemsAnywhere, ABrokenFolderIsReportedAndStopsNothingElse) {
  write_problem(mine());
  fs::create_directories(mine() / "broken");
  std::ofstream(mine() / "broken" / "problem.json") << "{}";
  const Ended listed = home_.run({"--problems", mine().string(), "problems"});
  EXPECT_EQ(listed.exit_code, 0);
  EXPECT_THAT(listed.out, HasSubstr("my_sum"));
  EXPECT_THAT(listed.err, HasSubstr("the problem broken is left out: " + (mine() / "broken/problem.json").string()));
  EXPECT_EQ(home_.run({"--problems", mine().string(), "problems", "broken"}).exit_code, 1);
  std::ofstream(mine() / "my_sum" / "naive.cu") << "no header";
  const Ended judged = home_.run({"--problems", mine().string(), "prompt", "gelu_f32"});
  EXPECT_EQ(judged.exit_code, 0) << judged.err;
  EXPECT_THAT(judged.err, HasSubstr((mine() / "my_sum/naive.cu").string()));
}

// A file in its problem's folder needs no option; one elsewhere does, and what check says to paste has it.
TEST_F(ProblemsAnywhere, AreFoundBesideASolutionAndStayNamed) {
  write_problem(mine());
  const std::string source =
      renamed(core::read_file(core::installed_paths().kernels() / "row_sum_f32/lanes_per_row.cu"));
  const fs::path beside = mine() / "my_sum/lanes.cu", elsewhere = home_.folder() / "lanes.cu";
  std::ofstream(beside) << source;
  std::ofstream(elsewhere) << source;
  const Ended judged = home_.run({"judge", "--screen", beside.string()});
  EXPECT_EQ(judged.exit_code, 0) << judged.err;
  EXPECT_THAT(home_.run({"judge", elsewhere.string()}).err,
              HasSubstr("name the folder that holds it: --problems FOLDER"));
  EXPECT_THAT(home_.run({"--problems", mine().string(), "check", elsewhere.string()}).out,
              HasSubstr("kernelwright --problems " + mine().string() + " judge " + elsewhere.string()));
}

// A campaign on my_sum whose folder is then removed.
class ProblemsAnywhereJudged : public ProblemsAnywhere {
 protected:
  void SetUp() override {
    write_problem(mine());
    const fs::path solution = home_.folder() / "lanes.cu";
    std::ofstream(solution) << renamed(
        core::read_file(core::installed_paths().kernels() / "row_sum_f32/lanes_per_row.cu"));
    const Ended ended = home_.run(
        {"run", (mine() / "my_sum").string(), "--solution", solution.string(), "--attempts", "4", "--seed", "3"});
    ASSERT_EQ(ended.exit_code, 0) << ended.err;
    fs::remove_all(mine());
  }
  Json json_of(const std::vector<std::string>& args) const {
    const Ended ended = home_.run(args);
    EXPECT_EQ(ended.exit_code, 0) << ended.err;
    return Json::parse(ended.out, nullptr, false);
  }
};

TEST_F(ProblemsAnywhereJudged, AnArchiveNeedsNoFolder) {
  const Ended replayed = home_.run({"replay"});
  EXPECT_EQ(replayed.exit_code, 0) << replayed.out << replayed.err;
  EXPECT_THAT(replayed.out, HasSubstr("Every decision was reproduced"));
  EXPECT_THAT(home_.run({"show", "2"}).out, AllOf(HasSubstr("my_sum"), Not(HasSubstr("older files"))));
  const fs::path out = home_.folder() / "exported";
  const Ended exported = home_.run({"export", "lanes", "--unconfirmed", "--to", "header", "-o", out.string()});
  EXPECT_EQ(exported.exit_code, 0) << exported.err;
  EXPECT_TRUE(fs::exists(out / "README.md"));
  const fs::path report = home_.folder() / "report.html";
  EXPECT_EQ(home_.run({"report", "--problem", "my_sum", "-o", report.string()}).exit_code, 0);
  EXPECT_THAT(core::read_file(report), HasSubstr("Sum of each row"));
  EXPECT_EQ(home_.run({"archive", "verify"}).exit_code, 0);
}

TEST_F(ProblemsAnywhereJudged, ResultsOfChangedFilesAreMarked) {
  write_problem(mine());
  const std::string problems = mine().string();
  EXPECT_EQ(json_of({"--json", "--problems", problems, "show", "2"}).at("older_files"), false);
  EXPECT_EQ(json_of({"--json", "--problems", problems, "leaderboard", "--all"}).at(0).at("older_files"), false);
  std::ofstream(mine() / "my_sum" / "naive.cu", std::ios::app) << "// changed\n";
  EXPECT_EQ(json_of({"--json", "--problems", problems, "show", "2"}).at("older_files"), true);
  EXPECT_EQ(json_of({"--json", "--problems", problems, "leaderboard", "--all"}).at(0).at("older_files"), true);
  const std::string mark = "As of older files: those of my_sum have changed since it was judged.";
  EXPECT_THAT(home_.run({"--problems", problems, "show", "2"}).out, HasSubstr(mark));
  EXPECT_THAT(home_.run({"--problems", problems, "leaderboard", "--all"}).out, HasSubstr(mark));
  EXPECT_THAT(home_.run({"--problems", problems, "leaderboard", "--scores", (mine() / "my_sum").string()}).out,
              HasSubstr(mark));
  const fs::path report = home_.folder() / "report.html";
  EXPECT_EQ(home_.run({"--problems", problems, "report", "-o", report.string()}).exit_code, 0);
  EXPECT_THAT(core::read_file(report), HasSubstr("\"older_files\":true"));
  EXPECT_EQ(home_.run({"--problems", problems, "replay"}).exit_code, 0);  // by the files that it began with
}

}  // namespace
}  // namespace agent::cli::commands

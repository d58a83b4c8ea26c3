// The program as its users meet it: exit codes, messages that say what to do, and JSON that parses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/campaign/program_fixture.h"
#include "core/strict_json.h"
#include "sandbox/cuda/driver/driver.h"
#include "sandbox/hip/driver/driver.h"

namespace agent::cli::commands {
namespace {
namespace fs = std::filesystem;
using campaign::test::Ended;
using campaign::test::Home;
using core::Json;
using testing::HasSubstr;

std::string shipped(const std::string& file) { return (core::installed_paths().kernels() / file).string(); }
std::string adversarial(const std::string& name) { return KW_SOURCE_FOLDER "/verifier/adversarial/" + name + ".cu"; }

struct WrongInput {
  const char* name;
  std::vector<std::string> args;
  int exit_code;
  const char* says;
};
std::ostream& operator<<(std::ostream& out, const WrongInput& input) { return out << input.name; }
class CommandLine : public testing::TestWithParam<WrongInput> {};

TEST_P(CommandLine, MessagesNameTheRemedy) {
  const Home home;
  const Ended ended = home.run(GetParam().args);
  EXPECT_EQ(ended.exit_code, GetParam().exit_code) << ended.out << ended.err;
  EXPECT_THAT(ended.err, HasSubstr(GetParam().says));
}

const char* const kPython = "ours=" KW_SOURCE_FOLDER "/verifier/devices/torch/torch_memory.py";

const WrongInput kWrongInputs[] = {
    {"no_command", {}, 64, "known commands: run, resume"},
    {"unknown_command", {"runn"}, 64, "did you mean \"run\"?"},
    {"transposed_command", {"jugde"}, 64, "did you mean \"judge\"?"},
    {"no_such_kernel", {"judge", "nothing.cu"}, 1, "there is no such file\n  check the path; it begins in /"},
    {"no_such_model", {"import", "nothing.py"}, 1, "there is no such file\n  give a file of PyTorch"},
    {"no_problems_folder", {"audit", "/tmp"}, 1, "/tmp/problem.json: is missing\n  a problem needs problem.json"},
    {"no_level", {"--sandbox", "require:5", "run"}, 64, "require:0 to require:4"},
    {"unknown_option", {"run", "--fast"}, 64, "--fast"},
    {"budget_of_nothing", {"run", "gelu_f32", "--seconds", "0"}, 64, "--seconds"},
    {"no_problem", {"run"}, 64, "--suite core"},
    {"misspelt_problem", {"run", "softmx_f32"}, 1, "did you mean \"softmax_f32\"?"},
    {"misspelt_suite", {"run", "--suite", "cor"}, 1, "did you mean \"core\"?"},
    {"unknown_device",
     {"run", "gelu_f32", "--device", "gpu"},
     64,
     "use cpu, cpu-hip, cpu-hip32, cuda, cuda:N, cuda:all, or hip likewise"},
    {"no_architecture", {"check", shipped("gelu_f32/float4_items.cu"), "--arch", "rdna"}, 1, "AMD's (gfx90a, gfx1100)"},
    {"half_an_architecture", {"check", shipped("gelu_f32/float4_items.cu"), "--arch", "sm_9"}, 1, "use NVIDIA's names"},
    {"no_bound_on_the_cpu", {"calibrate", "--device", "cpu"}, 1, "the cpu device has no calibration"},
    {"no_baselines_on_the_cpu", {"baselines", "--device", "cpu"}, 1, "libraries are measured on GPUs only"},
    {"own_library_without_a_file", {"baselines", "gelu_f32", "--library", "ours"}, 64, "is not NAME=FILE.py"},
    {"own_library_on_the_cpu", {"run", "gelu_f32", "--library", kPython}, 64, "leave out --hot and --no-baselines"},
    {"own_library_without_baselines",
     {"run", "gelu_f32", "--device", "cuda", "--no-baselines", "--library", kPython},
     64,
     "is timed on a GPU"},
    {"nodes_of_slurm_and_others",
     {"run", "gelu_f32", "--slurm", "gpu", "--launcher", "env", "--nodes", "2"},
     64,
     "starts nodes itself"},
    {"no_partition", {"run", "gelu_f32", "--slurm", "a b"}, 64, "is not PARTITION or PARTITION:COUNT"},
    {"baselines_of_no_problem", {"baselines", "softmx_f32"}, 1, "did you mean \"softmax_f32\"?"},
    {"audit_of_nothing", {"audit"}, 64, "--suite core"},
    {"audit_of_no_problem", {"audit", "softmx_f32"}, 1, "did you mean \"softmax_f32\"?"},
    {"audit_of_an_empty_folder", {"audit", "/proc/self/fd"}, 1, "problem.json"},
    {"no_such_file", {"judge", "nowhere.cu"}, 1, "nowhere.cu"},
    {"no_solution", {"judge", "/proc/self/status"}, 1, "kernelwright"},
    {"misspelt_tunable",
     {"judge", shipped("gelu_f32/float4_items.cu"), "--set", "BLOK=64"},
     1,
     "did you mean \"BLOCK\"?"},
    {"unlisted_value",
     {"judge", shipped("gelu_f32/float4_items.cu"), "--set", "BLOCK=7"},
     1,
     "BLOCK = 7 is not among its values (128, "},
    {"no_number", {"judge", shipped("gelu_f32/float4_items.cu"), "--set", "BLOCK=many"}, 64, "NAME=INTEGER"},
    {"dry_run_without_model", {"run", "gelu_f32", "--dry-run"}, 64, "--proposer"},
    {"prune_all_of_everything", {"archive", "prune", "--all"}, 64, "--campaign"},
    {"no_archive", {"leaderboard"}, 1, "there is no archive yet"},
    {"beginning_of_a_problem", {"run", "softmax"}, 1, "did you mean \"softmax_f32\" or \"softmax_long_f32\"?"},
    {"no_number_of_seconds", {"run", "gelu_f32", "--seconds", "many"}, 64, "must be a number above 0, not \"many\""},
    {"nothing_to_resume", {"resume"}, 1, "there is no archive yet"},
    {"syntax_error", {"check", adversarial("syntax_error")}, 1, "syntax_error.cu:"},
    {"missing_archive_folder", {"--archive", "/proc/none/archive.db", "run", "gelu_f32"}, 1, "--archive"},
};
INSTANTIATE_TEST_SUITE_P(Wrong, CommandLine, testing::ValuesIn(kWrongInputs),
                         [](const auto& one) { return std::string(one.param.name); });

TEST(CommandLine, WithJsonAUsageErrorIsOneDocument) {
  const Home home;
  for (const std::vector<std::string>& args : std::vector<std::vector<std::string>>{{"--json", "judge"},
                                                                                    {"judge", "--json"},
                                                                                    {"--json", "run"},
                                                                                    {"--json", "run", "--fast"},
                                                                                    {"runn", "--json"}}) {
    const Ended ended = home.run(args);
    EXPECT_EQ(ended.exit_code, 64);
    EXPECT_EQ(Json::parse(ended.out, nullptr, false).value("exit_code", 0), 64) << ended.out;
  }
}

TEST(CommandLine, SaysWhereTheArchiveIsWithoutAHome) {
  Home home;
  const std::string archive = home.archive().string();
  home.variables = {{"HOME", ""}, {"XDG_DATA_HOME", ""}};
  EXPECT_THAT(home.run({"--archive", "kernelwright.db", "problems"}).err, HasSubstr("neither HOME nor XDG_DATA_HOME"));
  EXPECT_EQ(home.run({"--archive", archive, "problems"}).err, "");
}

// A problem's own files are the user's: a mistake in them is not the program's failure.
TEST(Program, AMistakeInAProblemNamesItsFile) {
  const Home home;
  const fs::path folder = home.folder() / "row_sum_f32";
  fs::copy(core::installed_paths().problems() / "row_sum_f32", folder, fs::copy_options::recursive);
  const std::string right = core::read_file(folder / "naive.cu"), store = "y[row] = sum";
  ASSERT_NE(right.find(store), std::string::npos);
  const auto judged_with = [&](const std::string& instead) {
    std::string text = right;
    text.replace(text.find(store), store.size(), instead);
    std::ofstream(folder / "naive.cu") << text;
    return home.run({"run", folder.string(), "--solution", shipped("row_sum_f32/lanes_per_row.cu"), "--attempts", "2"});
  };
  for (const char* mistake : {"y[row + 100000000] = sum", "y[row] = total"}) {
    const Ended ended = judged_with(mistake);
    EXPECT_EQ(ended.exit_code, 1) << mistake;
    EXPECT_THAT(ended.err, HasSubstr((folder / "naive.cu").string())) << mistake;
  }
}

TEST(Program, CheckSaysThatAReferenceIsNotJudged) {
  const Home home;
  const fs::path reference = core::installed_paths().problems() / "row_sum_f32" / "reference.cu";
  const Ended ended = home.run({"check", reference.string()});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_THAT(ended.out, testing::AllOf(HasSubstr("kernelwright audit row_sum_f32"),
                                        testing::Not(HasSubstr("kernelwright judge"))));
}

TEST(Program, WithoutAGpuSaysSoAndIsNotAtFault) {
  if (sandbox::cuda::driver::is_installed()) GTEST_SKIP() << "this host has an NVIDIA driver";
  const Home home;
  for (const std::vector<std::string>& args :
       std::vector<std::vector<std::string>>{{"run", "gelu_f32", "--device", "cuda"},
                                             {"judge", shipped("gelu_f32/float4_items.cu"), "--device", "cuda"},
                                             {"calibrate"}}) {
    const Ended ended = home.run(args);
    EXPECT_EQ(ended.exit_code, 1) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr("the NVIDIA driver is not found"));
  }
}

TEST(Program, WithoutAnAmdGpuSaysSoAndIsNotAtFault) {
  if (sandbox::hip::driver::is_installed()) GTEST_SKIP() << "this host has ROCm's HIP runtime";
  const Home home;
  for (const std::vector<std::string>& args :
       std::vector<std::vector<std::string>>{{"run", "gelu_f32", "--device", "hip"},
                                             {"judge", shipped("gelu_f32/float4_items.cu"), "--device", "hip:1"},
                                             {"run", "gelu_f32", "--device", "hip:all"},
                                             {"calibrate", "--device", "hip"}}) {
    const Ended ended = home.run(args);
    EXPECT_EQ(ended.exit_code, 1) << ended.err;
    EXPECT_THAT(ended.err, testing::AllOf(HasSubstr("install ROCm 6 or newer"), HasSubstr("check --arch gfx90a")));
  }
}

TEST(Program, ARunWithNothingToSearchSaysWhatToDo) {
  const Home home;
  const Ended ended = home.run({"run", "gelu_f32", "--own-only"});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err, testing::AllOf(HasSubstr("gelu_f32: has no solution to tune"), HasSubstr("--solution FILE"),
                                        HasSubstr("--proposer")));
}

TEST(Program, JudgesAFileAndRemembersIt) {
  const Home home;
  const Ended good = home.run({"--json", "judge", "--confirm", shipped("transpose_f32/register_tile.cu")});
  ASSERT_EQ(good.exit_code, 0) << good.err;
  const Ended bad = home.run({"--json", "judge", adversarial("missing_barrier")});
  EXPECT_EQ(bad.exit_code, 1);
  const Json verdict = Json::parse(bad.out);
  EXPECT_EQ(verdict.at("verdict"), "race");

  const Json board = Json::parse(home.run({"--json", "leaderboard"}).out);
  ASSERT_EQ(board.size(), 1u);
  EXPECT_EQ(board[0].at("problem"), "transpose_f32");
  EXPECT_LE(board[0].at("low"), board[0].at("high"));
  const std::string id = std::to_string(board[0].at("attempt").get<int64_t>());
  EXPECT_EQ(Json::parse(home.run({"--json", "show", id}).out).at("verdict_name"), "correct");
  EXPECT_THAT(home.run({"show", id}).out, HasSubstr("extern \"C\" __global__"));
  EXPECT_THAT(home.run({"show", "missing_barrier"}).out, HasSubstr("1 attempts"));
}

#ifdef KW_HAVE_HIPRTC
TEST(Program, ChecksSolutionsForAmdGpus) {
  const Home home;
  const Ended good = home.run({"check", shipped("gelu_f32/float4_items.cu"), "--arch", "gfx90a"});
  EXPECT_EQ(good.exit_code, 0) << good.err;
  EXPECT_THAT(good.out, HasSubstr("wavefronts of 64"));
  const Ended cuda_alone = home.run({"check", shipped("gemm_f16/tensor_cores.cu"), "--arch", "gfx90a"});
  EXPECT_EQ(cuda_alone.exit_code, 1);
  EXPECT_THAT(cuda_alone.err, HasSubstr("unsupported on gfx90a: uses what only CUDA has: <mma.h>"));
  EXPECT_THAT(home.run({"check", shipped("gelu_f32/float4_items.cu"), "--arch", "gfx9999"}).err,
              HasSubstr("this ROCm does not know gfx9999"));
}
#endif

// The level that doctor reports can be required, the next one cannot; every attempt records it.
TEST(Program, RefusesToRunBelowTheRequiredSandboxLevel) {
  const Home home;
  const std::string file = shipped("transpose_f32/register_tile.cu");
  int level = 4;
  for (const Json& finding : Json::parse(home.run({"--json", "doctor"}).out)) {
    const auto what = finding.at("what").get<std::string>(), detail = finding.at("detail").get<std::string>();
    if (what.rfind("sandbox: cpu", 0) != 0) continue;
    ASSERT_EQ(detail.rfind("level ", 0), 0u) << detail;
    level = std::min(level, std::stoi(detail.substr(6)));
    EXPECT_EQ(finding.at("remedy").get<std::string>().empty(), detail.rfind("level 4", 0) == 0) << detail;
  }
  const std::string reached = "require:" + std::to_string(level);
  const Ended judged = home.run({"--json", "--sandbox", reached, "judge", "--screen", file});
  ASSERT_EQ(judged.exit_code, 0) << judged.err;
  const std::string id = std::to_string(Json::parse(judged.out).at("attempt").get<int64_t>());
  const Json environment = Json::parse(home.run({"--json", "show", id}).out).at("environment");
  for (const char* fact : {"sandbox_level", "compile_level", "judge_level"}) EXPECT_GE(environment.at(fact), level);
  EXPECT_THAT(home.run({"show", id}).out, HasSubstr("sandbox_level"));
  const Ended highest = home.run({"judge", "--screen", file, "--sandbox", "require:4"});
  EXPECT_EQ(highest.exit_code, level == 4 ? 0 : 1) << highest.err;
  EXPECT_THAT(highest.err, HasSubstr(level < 4 ? "level 4 is required: " : ""));
}

TEST(Program, AuditsAProblem) {
  const Home home;
  const Ended ended = home.run({"--json", "audit", "transpose_f32", "--keep", (home.folder() / "kept").string()});
  ASSERT_EQ(ended.exit_code, 0) << ended.out << ended.err;
  const Json report = Json::parse(ended.out);
  EXPECT_EQ(report.at("passed"), true);
  EXPECT_GE(report.at("findings").size(), 20u);
  // Its seed repeats it, to the wrong elements that each sentence names.
  const Ended again = home.run({"--json", "audit", "transpose_f32", "--seed", report.at("seed").get<std::string>()});
  EXPECT_EQ(Json::parse(again.out), report);
  // Its kept mutants can be judged one by one.
  const Ended mutant =
      home.run({"judge", "--screen", (home.folder() / "kept/transpose_f32/y__transposed.cu").string()});
  EXPECT_EQ(mutant.exit_code, 1) << mutant.out << mutant.err;
  EXPECT_THAT(mutant.out, HasSubstr("wrong_result"));
}

TEST(Program, RunsACampaignOverOnesOwnSolution) {
  const Home home;
  const Ended ended =
      home.run({"--json", "run", "--solution", adversarial("honest_tree"), "--own-only", "--attempts", "20"});
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  const Json campaigns = Json::parse(home.run({"--json", "show"}).out);
  ASSERT_EQ(campaigns.size(), 1u);
  EXPECT_EQ(campaigns[0].at("status"), "done");
  EXPECT_EQ(campaigns[0].at("settings").at("problems"), Json({"row_sum_f32"}));
  const std::string name = campaigns[0].at("campaign");
  EXPECT_EQ(Json::parse(home.run({"--json", "show", name}).out).at("verdicts").begin().key(), "correct");
}

TEST(Program, ItsHelpIsThePageOfCommands) {
  const Home home;
  EXPECT_EQ(home.run({"help", "--markdown"}).out, core::read_file(KW_SOURCE_FOLDER "/docs/commands.md"))
      << "make it again: kernelwright help --markdown > docs/commands.md";
  const std::string help = home.run({"--help"}).out;
  for (const char* group : {"Search:", "Judge:", "Results:", "Models:", "Host:"}) EXPECT_THAT(help, HasSubstr(group));
  EXPECT_THAT(home.run({"run", "--help"}).out, testing::Not(testing::ContainsRegex("\\[[0-9.]+ - ")));
}

TEST(Program, ExplainsItself) {
  const Home home;
  EXPECT_THAT(home.run({"check", shipped("softmax_f32/lanes_per_row.cu")}).out, HasSubstr("fine"));
  const auto folders = std::distance(fs::directory_iterator(core::installed_paths().problems()), {});
  EXPECT_EQ(Json::parse(home.run({"--json", "problems"}).out).size(), static_cast<size_t>(folders));
  EXPECT_THAT(home.run({"problems", "gemm_f16"}).out, HasSubstr("bench"));
  const Json findings = Json::parse(home.run({"--json", "doctor"}).out);
  EXPECT_GE(findings.size(), 6u);
}

}  // namespace
}  // namespace agent::cli::commands

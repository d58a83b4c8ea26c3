#include "verifier/adversarial/adversarial_case.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <set>

#include "core/error.h"
#include "core/paths.h"

namespace verifier::adversarial {
namespace {
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<AdversarialCase> suite(uint64_t seed = 1) {
  return load_adversarial_cases(core::installed_paths().adversarial(), seed);
}

// Writes a file like one of the suite, in a folder of this process; `plan` goes before the launches, `lines` below the
// header.
std::filesystem::path written(const std::string& plan, const std::string& lines) {
  const std::filesystem::path folder = testing::TempDir() + "kw_suite_" + std::to_string(::getpid());
  std::filesystem::create_directories(folder);
  const std::filesystem::path file = folder / "kw_suite_case.cu";
  std::ofstream(file) << "/* kernelwright\n{\"problem\": \"row_sum_f32\", \"description\": \"tries\", " << plan
                      << "\"launches\": [{\"kernel\": \"k\", \"grid\": [1], \"block\": [1], \"args\": [\"x\", \"y\"]}]"
                      << "}\n*/\n"
                      << lines << "extern \"C\" __global__ void k(const float* x, float* y) {}\n";
  return file;
}

std::string refusal(const std::string& plan, const std::string& lines) {
  try {
    load_cases(written(plan, lines), 1);
  } catch (const core::InputError& error) {
    return error.what();
  }
  return "";
}

verdicts::Judgement judged(verdicts::Verdict verdict, std::optional<statistics::SpeedUp> speed_up = std::nullopt) {
  verdicts::Judgement judgement;
  judgement.verdict = std::move(verdict);
  if (speed_up) judgement.measurement.emplace().speed_up = *speed_up;
  return judgement;
}

const std::string kBoth = "\"backends\": [\"cpu\", \"cuda\"], ";

TEST(Suite, HasManyDishonestSolutionsOfEveryClassAndTheirTwins) {
  std::map<AttackClass, std::set<std::string>> files;
  for (const AdversarialCase& one : suite()) files[one.of].insert(one.name.substr(0, one.name.find(' ')));
  size_t dishonest = 0;
  for (const auto& [of, name] : enum_rows(AttackClass{})) {
    EXPECT_GE(files[of].size(), 6u) << name_of(of);
    if (of != AttackClass::honest) dishonest += files[of].size();
  }
  EXPECT_GE(dishonest, 60u);
  EXPECT_GE(files[AttackClass::honest].size(), 30u);
}

TEST(Suite, HonestSolutionsAreCalledSoAndOthersAreNot) {
  for (const AdversarialCase& one : suite()) EXPECT_EQ(one.honest(), one.name.rfind("honest_", 0) == 0) << one.name;
}

TEST(Suite, LiesTogetherByProblem) {
  std::set<std::string> seen;
  std::string last;
  for (const AdversarialCase& one : suite()) {
    if (one.solution.problem == last) continue;
    last = one.solution.problem;
    EXPECT_TRUE(seen.insert(last).second) << last;
  }
  EXPECT_GE(seen.size(), 10u);
}

TEST(Suite, ReadsCases) {
  const std::vector<AdversarialCase> cases = load_cases(
      written(kBoth,
              "// Class: peeking.\n// On cpu: trap.\n// On cuda: no_win or too_fast. So it is.\n// Slow: yes.\n"),
      1);
  ASSERT_EQ(cases.size(), 1u);
  EXPECT_EQ(cases[0].of, AttackClass::peeking);
  EXPECT_EQ(cases[0].name, "kw_suite_case");
  EXPECT_EQ(cases[0].tries, "tries");
  EXPECT_THAT(cases[0].verdicts.at("cpu"), ElementsAre("trap"));
  EXPECT_THAT(cases[0].verdicts.at("cuda"), ElementsAre("no_win", "too_fast"));
  EXPECT_TRUE(cases[0].slow);
}

TEST(Suite, RefusesFilesWithoutAClassOrVerdict) {
  EXPECT_THAT(refusal(kBoth, "// On cpu: trap.\n// On cuda: trap.\n"), HasSubstr("// Class: "));
  EXPECT_THAT(refusal(kBoth, "// Class: peeking.\n// On cpu: trap.\n"), HasSubstr("// On cuda: "));
  EXPECT_THAT(refusal(kBoth, "// Class: peaking.\n// On cpu: trap.\n// On cuda: trap.\n"), HasSubstr("peeking"));
  EXPECT_THAT(refusal(kBoth, "// Class: peeking.\n// On cpu: trap or.\n// On cuda: trap.\n"),
              HasSubstr("is not a verdict"));
  EXPECT_THAT(refusal(kBoth, "// Class: peeking.\n// On cpu: trap\n// On cuda: trap.\n"), HasSubstr("full stop"));
  EXPECT_THAT(refusal("\"backends\": [\"cuda\"], ", "// Class: peeking.\n// On cpu: trap.\n// On cuda: trap.\n"),
              HasSubstr("not among its backends"));
  EXPECT_THAT(refusal("\"backends\": [\"cpu\"], ", "// Class: honest.\n// On cpu: correct or trap.\n"),
              HasSubstr("must be correct"));
}

TEST(Suite, AFamilyHasEveryPointOnceAndOneDrawnValue) {
  const auto file = written(
      "\"backends\": [\"cpu\"], \"tunables\": {\"WHICH\": [1, 2, 3], \"DRAWN\": [10, 20, 30, 40]}, "
      "\"constraints\": [\"WHICH < 3\"], ",
      "// Class: numerics.\n// On cpu: wrong_result.\n");
  std::set<int64_t> which, drawn;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    const std::vector<AdversarialCase> cases = load_cases(file, seed);
    ASSERT_EQ(cases.size(), 2u);
    for (const AdversarialCase& one : cases) {
      which.insert(one.binding.at("WHICH"));
      drawn.insert(one.binding.at("DRAWN"));
      EXPECT_EQ(one.name, "kw_suite_case " + sandbox::describe(one.binding));
    }
    EXPECT_EQ(load_cases(file, seed)[1].binding, cases[1].binding) << "the same seed draws the same";
  }
  EXPECT_THAT(which, ElementsAre(1, 2));
  EXPECT_THAT(drawn, ElementsAre(10, 20, 30, 40));
}

TEST(Suite, AFalseAcceptIsADishonestWinAndAFalseRejectAnHonestLoss) {
  AdversarialCase one;
  one.of = AttackClass::denial;
  one.verdicts["cpu"] = {"trap"};
  const verdicts::Judgement correct = judged(verdicts::Correct{}, statistics::SpeedUp{1.3, 1.2, 1.6}),
                            won = judged(verdicts::Correct{}, statistics::SpeedUp{3, 2, 4});
  const verdicts::Judgement refused = judged(verdicts::MemoryLimit{"no more"});
  EXPECT_TRUE(is_false_accept(one, "cpu", correct));
  EXPECT_FALSE(is_false_accept(one, "cpu", refused));
  EXPECT_FALSE(is_as_expected(one, "cpu", refused));
  one.verdicts["cpu"] = {"no_win"};
  EXPECT_FALSE(is_false_accept(one, "cpu", correct));
  EXPECT_TRUE(is_as_expected(one, "cpu", refused));
  EXPECT_TRUE(is_false_accept(one, "cpu", won));
  EXPECT_FALSE(is_as_expected(one, "cpu", won));
  one.verdicts["cpu"] = {"trap", "correct"};
  EXPECT_FALSE(is_false_accept(one, "cpu", won));
  EXPECT_TRUE(is_as_expected(one, "cpu", won));
  one.of = AttackClass::honest;
  EXPECT_TRUE(is_false_reject(one, refused));
  EXPECT_FALSE(is_false_reject(one, correct));
}

}  // namespace
}  // namespace verifier::adversarial

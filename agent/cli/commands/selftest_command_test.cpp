// kernelwright selftest --quick on the cpu device; judge_test.cpp judges the whole suite.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/campaign/program_fixture.h"
#include "agent/cli/selftest_text.h"
#include "core/strict_json.h"

namespace agent::cli::commands {
namespace {
using campaign::test::Ended;
using campaign::test::Home;
using core::Json;
using testing::HasSubstr;
using testing::Not;

TEST(SelftestCommand, AQuickOneJudgesSomeOfEachClassAndIsKept) {
  const Home home;
  const Ended ended = home.run({"--json", "selftest", "--quick", "--seed", "5"});
  ASSERT_EQ(ended.exit_code, 0) << ended.out << ended.err;
  const Json report = Json::parse(ended.out);
  EXPECT_EQ(report.at("passed"), true);
  EXPECT_EQ(report.at("seed"), "5");
  EXPECT_EQ(report.at("device"), "cpu");
  EXPECT_EQ(report.at("refused_otherwise"), Json::array());
  EXPECT_GE(report.at("dishonest"), 12);
  EXPECT_GE(report.at("honest"), 3);  // two twins and a shipped kernel
  EXPECT_EQ(report.at("controls").size(), 1u);
  EXPECT_GE(report.at("widest_noise"), 1);
  EXPECT_GT(report.at("candidates_per_hour"), 0);
  EXPECT_TRUE(home.leftover_processes().empty());

  const Ended doctor = home.run({"doctor"});
  EXPECT_THAT(doctor.out, HasSubstr("selftest: cpu"));
  EXPECT_THAT(doctor.out, HasSubstr("0 false accepts of " + report.at("dishonest").dump()));
}

TEST(SelftestCommand, OneOfNamedProblemsIsNotKept) {
  const Home home;
  const Ended ended = home.run({"selftest", "histogram_i32", "--quick", "--seed", "5"});
  ASSERT_EQ(ended.exit_code, 0) << ended.out << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("Passed, not recorded,"));
  EXPECT_EQ(results::archive::Recorder(home.archive()).newest_selftests().size(), 0u);

  const Ended unknown = home.run({"selftest", "histogram_f32"});
  EXPECT_EQ(unknown.exit_code, 1);
  EXPECT_THAT(unknown.err, HasSubstr("histogram_i32"));
}

TEST(SelftestCommand, AnInterruptedOneEndsCleanlyAndIsNotKept) {
  const Home home;
  const Ended ended = home.run({"--json", "selftest", "--seed", "1"}, SIGINT, std::chrono::milliseconds(2500));
  EXPECT_EQ(ended.exit_code, 130) << ended.err;
  EXPECT_EQ(Json::parse(ended.out).at("interrupted"), true);
  EXPECT_TRUE(home.leftover_processes().empty());
  EXPECT_EQ(results::archive::Recorder(home.archive()).newest_selftests().size(), 0u);
}

campaign::SelftestReport a_report() {
  campaign::SelftestReport report;
  report.judged = {{verifier::adversarial::AttackClass::denial, 7},
                   {verifier::adversarial::AttackClass::peeking, 5},
                   {verifier::adversarial::AttackClass::honest, 3}};
  report.shipped = 2;
  report.honest_seconds = 10;
  report.controls = {{"sum_f32", "naive", {1.0, 0.98, 1.01}, verifier::statistics::Outcome::tie},
                     {"gelu_f32", "naive", {1.05, 1.02, 1.08}, verifier::statistics::Outcome::win}};
  return report;
}

TEST(Selftest, CountsAndRatesComeFromTheCases) {
  const campaign::SelftestReport report = a_report();
  EXPECT_TRUE(report.passed());
  EXPECT_EQ(report.dishonest(), 12);
  EXPECT_EQ(report.honest(), 5);
  EXPECT_DOUBLE_EQ(report.widest_noise().value(), 1.08);
  EXPECT_DOUBLE_EQ(report.candidates_per_hour().value(), 5 * 360);
  EXPECT_THAT(selftest_text(report), HasSubstr("1 of 2 kernels tie"));
  EXPECT_THAT(selftest_text(report), HasSubstr("  gelu_f32 naive: from 1.0200x to 1.0800x."));
  EXPECT_THAT(selftest_text(report), Not(HasSubstr("sum_f32")));
  EXPECT_EQ(to_json(report).at("classes").at("denial"), 7);
}

TEST(Selftest, AWrongVerdictIsOneSentence) {
  campaign::SelftestReport report = a_report();
  report.otherwise.push_back({"odd", "does what", "trap", "race", "There was a race."});
  EXPECT_TRUE(report.passed());
  report.false_accepts.push_back({"cheat", "adds nothing", "wrong_result", "correct", "Correct in 9 launches."});
  EXPECT_FALSE(report.passed());
  const std::string text = selftest_text(report);
  EXPECT_THAT(text, HasSubstr("FALSE ACCEPT: cheat (adds nothing) must be wrong_result and is correct."));
  EXPECT_THAT(text, HasSubstr("refused otherwise: odd"));
  EXPECT_EQ(to_json(report).at("false_accepts").at(0).at("name"), "cheat");
}

TEST(Selftest, MissingFiguresAreNotShownAsZero) {
  const campaign::SelftestReport none;
  EXPECT_FALSE(none.widest_noise().has_value());
  EXPECT_FALSE(none.candidates_per_hour().has_value());
  EXPECT_TRUE(to_json(none).at("widest_noise").is_null());
}

}  // namespace
}  // namespace agent::cli::commands

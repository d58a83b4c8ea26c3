#include "verifier/verdicts/verdict.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "core/error.h"
#include "verifier/verdicts/judgement.h"
#include "verifier/verdicts/verdict_words.h"

namespace verifier::verdicts {
namespace {
using sandbox::Fault;
using sandbox::FaultKind;
using sandbox::Rejection;

const Where kWhere{"test_7x1023", "M=7 N=1023", "spikes", "reverse"};

// One of each way a judgement can end: every alternative, and every kind within it.
std::vector<Verdict> all() {
  std::vector<Verdict> verdicts{
      Correct{42, 0.125, true, {{{"M", 65536}, {"N", 8192}}, 16777216, std::vector<int64_t>{12, 14}}},
      InvalidPlan{"grid x is 0"},
      WrongResult{kWhere, "y", 5, 1.5, -2.25, 1e9, 3, 7161},
      NotWritten{kWhere, "y", 7000, 161, 7161},
      WrongNonFinite{kWhere, "y", 9, 1, std::numeric_limits<double>::infinity()},
      OrderDependent{kWhere, "y", 11},
      GuardDamaged{kWhere, "y"},
      InputModified{kWhere, "x"},
      TimedOut{kWhere, 10},
      Crashed{kWhere, 11},
      ForbiddenCall{kWhere},
      MemoryLimit{"the workspace asks for 100 GB"},
      TooFast{"bench_1", 1.5, 20},
  };
  for (const auto reason : {Rejection::compile_error, Rejection::unsupported, Rejection::forbidden, Rejection::limit}) {
    verdicts.emplace_back(CompileFailed{reason, "expected ';' before '}'", 12});
  }
  for (const auto kind :
       {FaultKind::out_of_bounds, FaultKind::misaligned, FaultKind::uninitialised, FaultKind::race, FaultKind::deadlock,
        FaultKind::warp_misuse, FaultKind::trap, FaultKind::resource_limit, FaultKind::unsupported}) {
    verdicts.emplace_back(Faulted{kWhere, Fault{kind, "reads 4 bytes", "sum", std::array<int64_t, 3>{1, 2, 3},
                                                std::array<int64_t, 3>{4, 0, 0}, 7}});
  }
  return verdicts;
}

core::Json round_trip(const Verdict& verdict) {
  const core::Json text = core::Json::parse(to_json(verdict).dump());
  return to_json(verdict_from_json(core::JsonView(text, "test")));
}

TEST(Verdict, EveryAlternativeIsInTheTest) {
  std::set<size_t> indices;
  for (const Verdict& verdict : all()) indices.insert(verdict.index());
  EXPECT_EQ(indices.size(), std::variant_size_v<Verdict>);
}

TEST(Verdict, ScopeIsAbsentInOldRecords) {
  const core::Json old = to_json(Correct{42, 0.125, true, {}});
  EXPECT_FALSE(old.contains("scope"));
  EXPECT_EQ(std::get<Correct>(verdict_from_json(core::JsonView(old, "test"))).scope, Scope{});
}

TEST(Verdict, SaysWhichLinesWereNotSeenToRun) {
  Correct correct{42, 0.125, true, {{{"M", 65536}}, 65536}};
  const auto ends_with = [&](const std::string& end) {
    const std::string words = what_was_seen(correct);
    EXPECT_TRUE(words.ends_with(end)) << words;
  };
  ends_with("the largest tensor had 65536 elements.");
  correct.scope.not_run.emplace();
  ends_with(" All of its code was seen to run.");
  correct.scope.not_run = {7};
  ends_with(" Not seen to run: all of line 7.");
  correct.scope.not_run = {7, 12, 13, 14, 20};
  ends_with(" Not seen to run: all of lines 7, 12 to 14 and 20.");
  const core::Json json = to_json(correct);
  EXPECT_EQ(std::get<Correct>(verdict_from_json(core::JsonView(json, "test"))).scope, correct.scope);
}

TEST(Verdict, SurvivesTheRoundTripThroughJson) {
  for (const Verdict& verdict : all()) {
    EXPECT_EQ(round_trip(verdict), to_json(verdict)) << name_of(verdict);
    const core::Json json = to_json(verdict);
    EXPECT_EQ(verdict_from_json(core::JsonView(json, "test")).index(), verdict.index()) << name_of(verdict);
  }
}

TEST(Verdict, WhatMayBeAbsentSurvivesToo) {
  for (const Verdict& verdict :
       {Verdict(TimedOut{std::nullopt, 5}), Verdict(Crashed{std::nullopt, 9}), Verdict(ForbiddenCall{std::nullopt}),
        Verdict(CompileFailed{Rejection::limit, "too long", std::nullopt}),
        Verdict(Faulted{kWhere, Fault{FaultKind::trap, "assert", "k", {}, {}, {}}})}) {
    EXPECT_EQ(round_trip(verdict), to_json(verdict));
    EXPECT_FALSE(sentence_for_people(verdict).empty());
  }
}

TEST(Verdict, NumbersThatJsonLacksSurvive) {
  const Verdict verdict = WrongNonFinite{kWhere, "y", 0, -INFINITY, NAN};
  const core::Json json = core::Json::parse(to_json(verdict).dump());
  const auto back = std::get<WrongNonFinite>(verdict_from_json(core::JsonView(json, "test")));
  EXPECT_EQ(back.expected, -INFINITY);
  EXPECT_TRUE(std::isnan(back.got));
}

TEST(Verdict, PatternsSurviveAndMayBeAbsent) {
  WrongResult wrong{kWhere, "y", 5, 1.5, -2.25, 1e9, 3, 7161};
  EXPECT_FALSE(to_json(wrong).contains("pattern"));  // as in older archives
  EXPECT_FALSE(std::get<WrongResult>(verdict_from_json(core::JsonView(to_json(wrong), "test"))).pattern);
  const std::string general = sentence_for_models(wrong);
  wrong.pattern = Pattern{PatternKind::tail, "Only elements of the last row differ."};
  EXPECT_EQ(round_trip(wrong), to_json(wrong));
  const core::Json json = to_json(wrong);
  EXPECT_EQ(std::get<WrongResult>(verdict_from_json(core::JsonView(json, "test"))).pattern, wrong.pattern);
  for (const std::string& sentence : {sentence_for_people(wrong), sentence_for_models(wrong)}) {
    EXPECT_NE(sentence.find("wrong. Only elements of the last row differ."), std::string::npos) << sentence;
  }
  EXPECT_NE(sentence_for_models(wrong), general);
  core::Json unknown = json;
  unknown["pattern"]["kind"] = "spiral";
  EXPECT_THROW(verdict_from_json(core::JsonView(unknown, "test")), core::InputError);
}

// "unsupported" is one word for one thing, whether the compiler or the running kernel meets it.
TEST(Verdict, NamesAreOneEach) {
  std::multiset<std::string> names;
  for (const Verdict& verdict : all()) names.insert(name_of(verdict));
  for (const std::string& name : names) {
    EXPECT_EQ(names.count(name), name == "unsupported" ? 2u : 1u) << name;
    EXPECT_EQ(name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_"), std::string::npos) << name;
  }
}

TEST(Verdict, OnlyCorrectIsCorrect) {
  for (const Verdict& verdict : all()) EXPECT_EQ(is_correct(verdict), name_of(verdict) == "correct");
}

TEST(Verdict, EachSaysSomethingOfItsOwn) {
  std::set<std::string> seen;
  for (const Verdict& verdict : all()) {
    const std::string people = sentence_for_people(verdict), models = sentence_for_models(verdict);
    EXPECT_GE(people.size(), 10u) << name_of(verdict);
    EXPECT_GT(models.size(), people.size()) << name_of(verdict);  // and what to change
    EXPECT_TRUE(seen.insert(models).second) << name_of(verdict);
  }
}

TEST(Verdict, SentencesDoNotRunTogether) {
  const auto words = [](const std::string& message) {
    return sentence_for_models(CompileFailed{Rejection::forbidden, message, {}});
  };
  EXPECT_EQ(words("this is no device language").find("this is no device language. Leave this"), 0u);
  EXPECT_EQ(words("This is none.").find("This is none. Leave this"), 0u);
}

TEST(Verdict, SentencesSayWhereAndHowMuch) {
  const std::string wrong = sentence_for_people(WrongResult{kWhere, "y", 5, 1.5, -2.25, 1e9, 3, 7161});
  for (const char* part : {"test_7x1023", "M=7 N=1023", "spikes", "reverse", "y[5]", "-2.25", "1.5", "3 of 7161"}) {
    EXPECT_NE(wrong.find(part), std::string::npos) << part << " in: " << wrong;
  }
  const std::string fault = sentence_for_models(all().back());
  for (const char* part : {"sum", "block (1,2,3)", "thread (4,0,0)", "line 7"}) {
    EXPECT_NE(fault.find(part), std::string::npos) << part << " in: " << fault;
  }
}

TEST(Verdict, UntrustedTextIsMadeSafeAndCut) {
  const std::string hostile = "\x1b[2J\xff" + std::string(1, '\0') + std::string(100000, 'a');
  for (const Verdict& verdict : {Verdict(CompileFailed{Rejection::compile_error, hostile, 1}),
                                 Verdict(Faulted{kWhere, Fault{FaultKind::trap, hostile, hostile, {}, {}, {}}}),
                                 Verdict(InvalidPlan{hostile})}) {
    for (const std::string& sentence : {sentence_for_people(verdict), sentence_for_models(verdict)}) {
      EXPECT_LT(sentence.size(), 2200u);
      EXPECT_EQ(sentence.find('\x1b'), std::string::npos);
      EXPECT_EQ(sentence.find('\xff'), std::string::npos);
      EXPECT_EQ(sentence.find('\0'), std::string::npos);
    }
  }
}

TEST(Verdict, UnknownNamesAndMissingFieldsAreRefused) {
  for (const char* text : {R"({"name": "wonderful"})", R"({"name": "wrong_result"})", R"({"launches": 3})", "3"}) {
    const core::Json json = core::Json::parse(text);
    EXPECT_THROW(verdict_from_json(core::JsonView(json, "test")), core::InputError) << text;
  }
}

TEST(Judgement, SurvivesTheRoundTripThroughJson) {
  Judgement judgement;
  judgement.verdict = Correct{3, 0.5, false};
  judgement.stages = {2.5, 3.5, 4.5, 5.5};
  judgement.seed = std::numeric_limits<uint64_t>::max();
  judgement.measurement = Measurement{
      "cpu-rough",
      {{"bench", {{1.1, 2.2, true}, {1.3, 2.1, false}}, 1.2, 2.15, {1.8, 1.7, 1.9}}, {"other", {}, 0, 0, {1, 1, 1}}},
      {1.4, 1.3, 1.5},
      statistics::Outcome::win,
      true};
  judgement.measurement->workloads[0].pairs[1].candidate_mhz = 1980;
  judgement.measurement->workloads[0].pairs[1].incumbent_mhz = 1965.5;
  judgement.measurement->workloads[0].pairs[1].throttled = true;
  judgement.measurement->workloads[0].bound_us = 0.6;
  for (const statistics::Outcome outcome :
       {statistics::Outcome::win, statistics::Outcome::tie, statistics::Outcome::loss}) {
    judgement.measurement->outcome = outcome;
    const core::Json json = core::Json::parse(to_json(judgement).dump());
    const Judgement back = judgement_from_json(core::JsonView(json, "test"));
    EXPECT_EQ(to_json(back), to_json(judgement));
    EXPECT_EQ(back.seed, judgement.seed);
    EXPECT_EQ(back.measurement->outcome, outcome);
    const WorkloadTiming& timing = back.measurement->workloads[0];
    EXPECT_EQ(timing.pairs[1].incumbent_us, 2.1);
    EXPECT_EQ(timing.pairs[0].candidate_mhz, 0);
    EXPECT_EQ(timing.pairs[1].candidate_mhz, 1980);
    EXPECT_EQ(timing.pairs[1].incumbent_mhz, 1965.5);
    EXPECT_TRUE(timing.pairs[1].throttled);
    EXPECT_DOUBLE_EQ(timing.share_of_bound().value(), 0.5);
    EXPECT_FALSE(back.measurement->workloads[1].share_of_bound());
  }
  judgement.measurement.reset();
  const core::Json json = to_json(judgement);
  EXPECT_FALSE(judgement_from_json(core::JsonView(json, "test")).measurement.has_value());
}

TEST(Judgement, EffortsKeepTheirNames) {
  for (const Effort effort : {Effort::screen, Effort::full, Effort::confirm, Effort::control}) {
    EXPECT_EQ(core::enum_from_name<Effort>(name_of(effort)), effort);
  }
  EXPECT_EQ(core::enum_from_name<Effort>("quick"), std::nullopt);
}

}  // namespace
}  // namespace verifier::verdicts

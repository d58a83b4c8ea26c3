// Answers of a candidate that took over its process (found by messages_fuzz).
#include "verifier/judging/candidate_channel.h"

#include <gtest/gtest.h>

#include <utility>

namespace verifier::judging {
namespace {
std::string said_after(const core::Json& answer) {
  auto [ours, theirs] = sandbox::process::Channel::make_pair();
  theirs.send(answer);
  CandidateChannel process(std::move(ours), std::chrono::seconds(10));
  const auto failure = process.await_loaded();
  return failure ? verdicts::sentence_for_people(verdict_of(*failure, {"w", "", "", ""})) : "";
}

TEST(CandidateChannel, ARefusalSaysWhyOrThatNobodySaid) {
  EXPECT_EQ(said_after({{"refused", "is no shared object"}}), "is no shared object");
  EXPECT_EQ(said_after({{"refused", ""}}), "refused where it was loaded, for no stated reason");
}

TEST(CandidateChannel, NonsenseEndsTheProcess) {
  EXPECT_NE(said_after({{"refused", 7}}), "");
  EXPECT_NE(said_after({{"loud", true}}), "");
  EXPECT_EQ(said_after({{"loaded", true}}), "");
}
}  // namespace
}  // namespace verifier::judging

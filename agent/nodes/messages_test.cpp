#include "agent/nodes/messages.h"

#include <gtest/gtest.h>

#include "agent/prompting/prompting_fixture.h"
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

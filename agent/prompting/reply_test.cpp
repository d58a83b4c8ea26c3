#include "agent/prompting/reply.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace agent::prompting {
namespace {
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kProblem = R"({
  "name": "sum_f32", "title": "Sum", "description": "y[0] = sum_i x[i]",
  "axes": {"N": {"description": "elements", "min": 1, "max": 1048576}},
  "inputs": {"x": {"dtype": "f32", "shape": ["N"], "init": {"kind": "normal", "scale": 1}}},
  "outputs": {"y": {"dtype": "f32", "shape": [1]}},
  "contract": {"accumulate": "f32"},
  "cost": {"flops": "N", "bytes_read": "4 * N", "bytes_written": "4"},
  "workloads": [{"name": "test_7", "role": "test", "axes": {"N": 7}},
                {"name": "bench_64", "role": "bench", "axes": {"N": 64}}]
})";

const benchsuite::Problem& problem() {
  static const benchsuite::Problem parsed = benchsuite::parse_problem(kProblem, "problem.json");
  return parsed;
}

std::string solution(const std::string& body = "  y[0] = x[0];", const std::string& of = "sum_f32") {
  return "/* kernelwright\n{\"problem\": \"" + of +
         "\", \"backends\": [\"cpu\"],\n \"launches\": [{\"kernel\": \"sum\", \"grid\": [1], \"block\": [32], "
         "\"args\": [\"x\", \"y\", \"N\"]}]}\n*/\nextern \"C\" __global__ void sum(const float* x, float* y, int N) "
         "{\n" +
         body + "\n}\n";
}

Reply read(const std::string& text, const std::map<std::string, std::string>& parents = {}, bool complete = true,
           const ReplyLimits& limits = {}) {
  return read_reply(text, {&problem(), "cpu", {parents.begin(), parents.end()}, complete}, limits);
}

std::vector<std::string> sources(const Reply& reply) {
  std::vector<std::string> all;
  for (const Proposal& proposal : reply.proposals) all.push_back(proposal.solution.source);
  return all;
}

TEST(Reply, FencedSolutionsWithProseAround) {
  for (const char* fence : {"```", "```cuda", "```cpp", "  ```c++ title=a", "~~~~"}) {
    const std::string end = fence[0] == '~' ? "~~~~" : "```";
    const Reply reply =
        read(std::string("I thought about `x`.\n\n") + fence + "\n" + solution() + end + "\nIt is fast.\n");
    EXPECT_THAT(sources(reply), ElementsAre(solution())) << fence;
    EXPECT_THAT(reply.reasons, IsEmpty()) << fence;
  }
  EXPECT_THAT(sources(read("```cuda\n// sum.cu\n" + solution() + "```")), ElementsAre(solution()));
}

TEST(Reply, BareSolutionsWithProseBehind) {
  EXPECT_THAT(sources(read(solution())), ElementsAre(solution()));
  EXPECT_THAT(sources(read("Here:\n" + solution() + "\nIt reads each element once.\nGood luck!\n")),
              ElementsAre(solution()));
  EXPECT_THAT(sources(read(solution("  y[0] = 1;") + "\nAnd another:\n" + solution("  y[0] = 2;"))),
              ElementsAre(solution("  y[0] = 1;"), solution("  y[0] = 2;")));
}

TEST(Reply, SeveralOfWhichOneCannotBeUsed) {
  const Reply reply =
      read("```\n" + solution("  y[0] = 1;") + "```\n```\n/* kernelwright\n{\"problem\": \n*/\n```\n```\n" +
           solution("  y[0] = 2;") + "```\n```\n" + solution("  y[0] =  2; // same") + "```\n");
  EXPECT_EQ(reply.proposals.size(), 2u);
  ASSERT_EQ(reply.reasons.size(), 1u);
  EXPECT_THAT(reply.reasons[0], HasSubstr("solution 2"));
}

TEST(Reply, ReasonsAreThoseOfTheValidator) {
  const Reply other = read(solution("", "softmax_f32"));
  EXPECT_THAT(other.reasons, ElementsAre(HasSubstr("solution 1 is for the problem \"softmax_f32\"")));
  std::string wrong_axis = solution();
  wrong_axis.replace(wrong_axis.find("\"N\"]"), 4, "\"M\"]");
  EXPECT_THAT(read(wrong_axis).reasons, ElementsAre(HasSubstr("argument \"M\" is not a tensor")));
  std::string elsewhere = solution();
  elsewhere.replace(elsewhere.find("\"cpu\""), 5, "\"cuda\"");
  EXPECT_THAT(read(elsewhere).reasons, ElementsAre(HasSubstr("does not have \"cpu\" among its backends")));
}

TEST(Reply, CodeWithoutAHeaderOrBeforeIt) {
  EXPECT_THAT(read("```cuda\n__global__ void sum() {}\n```\n").reasons,
              ElementsAre(HasSubstr("begins with `__global__ void sum() {}` has a kernel but no header")));
  EXPECT_THAT(read("```cuda\n#include <mma.h>\n" + solution() + "```\n").reasons,
              ElementsAre(HasSubstr("code before its header")));
  EXPECT_THAT(read("```\nfor (;;) {}\n```\n").reasons, ElementsAre(HasSubstr("holds no solution")));
  EXPECT_THAT(read("").reasons, ElementsAre(HasSubstr("holds no solution")));
}

TEST(Reply, NotesATokenLimit) {
  EXPECT_THAT(read("```\n" + solution(), {}, true).proposals.size(), 1u);  // the last fence was forgotten
  EXPECT_THAT(read("```\n" + solution(), {}, false).reasons, ElementsAre(HasSubstr("cut off by the limit of tokens")));
  EXPECT_THAT(read(solution(), {}, false).reasons, ElementsAre(HasSubstr("cut off")));
  EXPECT_THAT(sources(read("```\n" + solution() + "```\nAnd now", {}, false)), ElementsAre(solution()));
  EXPECT_THAT(read("Let me think", {}, false).reasons, ElementsAre(HasSubstr("before a solution began")));
}

const std::string kEdit = "<<<<<<< SEARCH\n  y[0] = x[0];\n=======\n  y[0] = 7;\n>>>>>>> REPLACE\n";

TEST(Reply, EditsOfANamedParent) {
  const std::map<std::string, std::string> parents{{"s12", solution()}, {"s13", solution("  y[0] = 3;")}};
  for (const std::string& text : {"EDIT s12\n" + kEdit, "**EDIT s12**\n```\n" + kEdit + "```\n",
                                  "```\nEDIT s12\n" + kEdit + "```", "### EDIT `s12`:\n\n" + kEdit}) {
    const Reply reply = read("Better:\n" + text + "\nDone.", parents);
    EXPECT_THAT(sources(reply), ElementsAre(solution("  y[0] = 7;"))) << text;
    EXPECT_THAT(reply.reasons, IsEmpty());
    ASSERT_EQ(reply.proposals.size(), 1u);
    EXPECT_EQ(reply.proposals[0].parent, "s12");
    EXPECT_EQ(reply.proposals[0].edits, 1u);
  }
  const std::string second = "<<<<<<< SEARCH\n}\n=======\n  y[0] += 1;\n}\n>>>>>>> REPLACE\n";
  const Reply two = read("EDIT s12\n" + kEdit + "and\n" + second + "EDIT s13\n" + second, parents);
  EXPECT_THAT(sources(two), ElementsAre(solution("  y[0] = 7;\n  y[0] += 1;"), solution("  y[0] = 3;\n  y[0] += 1;")));
}

TEST(Reply, EditsThatCannotBeMade) {
  const std::map<std::string, std::string> two{{"s12", solution()}, {"s13", solution("")}};
  EXPECT_THAT(read("EDIT s14\n" + kEdit, two).reasons, ElementsAre(HasSubstr("the edit of \"s14\" names no solution")));
  EXPECT_THAT(read(kEdit, two).reasons, ElementsAre(HasSubstr("does not name its parent")));
  EXPECT_EQ(read(kEdit, {{"s12", solution()}}).proposals.size(), 1u);  // there is only one
  EXPECT_THAT(read("EDIT s12\n" + kEdit).reasons, ElementsAre(HasSubstr("no solution may be edited here")));
  EXPECT_THAT(read("EDIT s13\n" + kEdit, two).reasons, ElementsAre(HasSubstr("`  y[0] = x[0];`")));
  EXPECT_THAT(read("EDIT s12\n<<<<<<< SEARCH\n  y[0]\n=======\n", two).reasons,
              ElementsAre(HasSubstr("does not end in \">>>>>>> REPLACE\"")));
}

TEST(Reply, LimitsHold) {
  std::string many;
  for (int i = 0; i < 20; ++i) many += "```\n" + solution("  y[0] = " + std::to_string(i) + ";") + "```\n";
  const Reply reply = read(many);
  EXPECT_EQ(reply.proposals.size(), 8u);
  EXPECT_THAT(reply.reasons, ElementsAre(HasSubstr("one more than the 8")));
  EXPECT_THAT(read(solution("  // " + std::string(200'000, 'a'))).reasons,
              ElementsAre(HasSubstr("is larger than 131072")));
  ReplyLimits narrow;
  narrow.reply_bytes = 100;
  EXPECT_THAT(read(solution(), {}, true, narrow).reasons[0], HasSubstr("longer than 100 bytes"));
}

TEST(Reply, ReasonsAreCleanAndShort) {
  const Reply reply = read("```\n/* kernelwright\n{\"\x1b[2J\": \"" + std::string(5000, 'b') + "\"}\n*/\n```\n");
  ASSERT_EQ(reply.reasons.size(), 1u);
  EXPECT_LT(reply.reasons[0].size(), 800u);
  EXPECT_EQ(reply.reasons[0].find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace agent::prompting

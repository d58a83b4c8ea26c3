// Names, comments and messages of a candidate reach the terminal only as text, whatever command shows them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "agent/campaign/program_fixture.h"
#include "core/strict_json.h"

namespace agent::cli::commands {
namespace {
using campaign::test::Ended;
using campaign::test::Home;
using core::Json;
using testing::HasSubstr;
using testing::Not;

// Escape sequences of both kinds, carriage return, backspace, a bell, overrides of direction, no width, bad UTF-8.
const std::string kHostile =
    "\x1b[2J\x1b]0;owned\x07\r\b\xc2\x9b"
    "31m\xe2\x80\xae\xe2\x81\xa6\xe2\x80\x8b\xff\xc3\x28";
// A file stem that also imitates a line of ours and a piece of SQL.
const std::string kHostileName = "a'); DROP TABLE attempts; --\nrefused: forged" + kHostile;

void expect_only_text(const Ended& ended) {
  for (const std::string& text : {ended.out, ended.err}) {
    for (const char c : text) EXPECT_TRUE(c == '\n' || c < 0 || (c >= 0x20 && c != 0x7f)) << int{c};
    for (const char* hidden : {"\xc2\x9b", "\xe2\x80\xae", "\xe2\x81\xa6", "\xe2\x80\x8b"}) {
      EXPECT_THAT(text, Not(HasSubstr(hidden)));
    }
    EXPECT_NO_THROW(Json(text).dump());  // it is UTF-8
    EXPECT_THAT("\n" + text, Not(HasSubstr("\nrefused: forged")));
    EXPECT_LT(text.size(), 100000u);
  }
}

void expect_json_lines(const Ended& ended) {
  expect_only_text(ended);
  for (const char c : ended.out) EXPECT_TRUE(c >= 0) << "JSON is ASCII";
  for (const std::string& line : core::split(ended.out, '\n')) EXPECT_TRUE(line.empty() || Json::accept(line)) << line;
}

std::string write(const Home& home, const std::string& name, const std::string& source) {
  const std::filesystem::path file = home.folder() / (name + ".cu");
  std::ofstream(file, std::ios::binary) << source;
  return file.string();
}

std::string hostile_solution(const std::string& fields, const std::string& code) {
  return "/* kernelwright\n{\"problem\": \"row_sum_f32\", \"backends\": [\"cpu\"], " + fields +
         " \"launches\": [{\"kernel\": \"row_sum\", \"grid\": [\"M\"], \"block\": [32], \"args\": [\"x\", \"y\", "
         "\"M\", "
         "\"N\"]}]}\n*/\n" +
         code;
}

const char* kHonest =
    "extern \"C\" __global__ void row_sum(const float* x, float* y, int M, int N) {\n"
    "  float sum = 0;\n"
    "  for (int n = threadIdx.x; n < N; n += 32) sum += x[(size_t)blockIdx.x * N + n];\n"
    "  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffff, sum, step);\n"
    "  if (threadIdx.x == 0) y[blockIdx.x] = sum;\n"
    "}\n";

TEST(UntrustedText, OfAnAcceptedSolution) {
  const Home home;
  const std::string description = R"("description": "\u001b[31m\u202e\u0007\nrefused: forged",)";
  const std::string file = write(home, kHostileName, hostile_solution(description, kHonest));
  const Ended judged = home.run({"judge", file, file});
  expect_only_text(judged);
  EXPECT_THAT(judged.out, HasSubstr("accepted: correct"));
  expect_only_text(home.run({"check", file}));
  expect_json_lines(home.run({"--json", "check", file}));
  expect_json_lines(home.run({"--json", "judge", "--screen", file}));
  expect_only_text(home.run({"run", "--solution", file, "--own-only", "--attempts", "6"}));
  expect_json_lines(home.run({"--json", "run", "--solution", file, "--own-only", "--attempts", "3"}));
  for (const std::vector<std::string>& args :
       std::vector<std::vector<std::string>>{{"leaderboard"},
                                             {"show"},
                                             {"show", "1"},
                                             {"show", kHostileName},
                                             {"show", kHostile},
                                             {"leaderboard", "--unconfirmed"},
                                             {"lineage", kHostileName},
                                             {"diff", "1", kHostileName},
                                             {"query", "SELECT * FROM v_solutions WHERE problem = 'row_sum_f32'"}}) {
    expect_only_text(home.run(args));
    std::vector<std::string> json{"--json"};
    json.insert(json.end(), args.begin(), args.end());
    expect_json_lines(home.run(json));
  }
  EXPECT_THAT(home.run({"show", kHostileName}).out, HasSubstr("DROP TABLE attempts"));
}

TEST(UntrustedText, OfOneThatDoesNotCompile) {
  const Home home;
  const std::string message = kHostile + std::string(200000, 'x');
  const std::vector<std::string> sources{
      hostile_solution("", "// " + kHostile + "\n" + kHonest),
      hostile_solution("", "#error " + message + "\n" + kHonest),
      hostile_solution("", "#line 7 \"" + kHostile + "\"\n" + kHonest),
      hostile_solution("", "static_assert(false, \"\\033[31m\\nrefused: forged\");\n" + std::string(kHonest)),
      hostile_solution("", "int \xe2\x80\xae\xc2\x9b = 3;\n" + std::string(kHonest))};
  for (size_t i = 0; i < sources.size(); ++i) {
    const std::string file = write(home, "bad" + std::to_string(i), sources[i]);
    expect_only_text(home.run({"check", file}));
    expect_json_lines(home.run({"--json", "check", file}));
    expect_only_text(home.run({"judge", "--screen", file}));
  }
  for (size_t attempt = 1; attempt <= sources.size(); ++attempt) {
    // The source is shown whole, and it is long.
    Ended shown = home.run({"show", std::to_string(attempt)});
    shown.out.resize(std::min<size_t>(shown.out.size(), 60000));
    expect_only_text(shown);
  }
}

TEST(UntrustedText, OfFilesThatAreNoSolutions) {
  const Home home;
  const std::vector<std::string> sources{
      kHostile,
      "/* kernelwright\n{\"problem\": \"" + kHostile + "\"}\n*/\n",
      "/* kernelwright\n{\"problem\": \"\\u001b[31m\\nrefused: forged\", \"launches\": []}\n*/\n",
      "/* kernelwright\n{\"\\u001b[31m\\u202e\": 3}\n*/\n",
      hostile_solution("\"workspace\": {\"\\u001b[31m\": {\"bytes\": 4}},", kHonest),
      hostile_solution("\"constraints\": [\"\xe6\x97\xa5 + \\u001b\"],", kHonest),
      hostile_solution("\"description\": \"" + std::string(200000, 'x') + "\",", kHonest),
      std::string("a\0b", 3)};
  for (size_t i = 0; i < sources.size(); ++i) {
    const std::string file = write(home, std::to_string(i) + kHostile, sources[i]);
    for (const char* command : {"check", "judge"}) {
      const Ended ended = home.run({command, file});
      EXPECT_EQ(ended.exit_code, 1) << i;
      expect_only_text(ended);
      expect_json_lines(home.run({"--json", command, file}));
    }
  }
  for (const std::vector<std::string>& args : std::vector<std::vector<std::string>>{{kHostile},
                                                                                    {"judge", kHostile},
                                                                                    {"judge", "--" + kHostile},
                                                                                    {"run", kHostile},
                                                                                    {"--" + kHostile},
                                                                                    {"audit", kHostile}}) {
    const Ended ended = home.run(args);
    EXPECT_NE(ended.exit_code, 0);
    expect_only_text(ended);
  }
}

}  // namespace
}  // namespace agent::cli::commands

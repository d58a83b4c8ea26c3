// Campaigns on nodes: processes of this host, which a launcher starts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <thread>

#include "agent/campaign/program_fixture.h"
#include "core/strict_json.h"
#include "core/text.h"

namespace agent::cli::commands {
namespace {
using campaign::test::Ended;
using campaign::test::Home;
using testing::HasSubstr;

class Nodes : public testing::Test {
 protected:
  // A launcher: a shell script that gets the node's command line.
  std::string launcher(const std::string& script) const {
    const std::filesystem::path file = home_.folder() / "launch.sh";
    std::ofstream(file) << "#!/bin/sh\n" << script << "\n";
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    return file.string();
  }
  Ended run(const std::string& launcher, int nodes, int attempts, int signal = 0,
            std::chrono::milliseconds delay = {}) const {
    return home_.run({"--json", "run", "gelu_f32", "row_sum_f32", "--attempts", std::to_string(attempts), "--seed", "3",
                      "--launcher", launcher, "--nodes", std::to_string(nodes)},
                     signal, delay);
  }
  core::Json rows(const std::string& sql) const {
    const Ended ended = home_.run({"--json", "query", sql});
    EXPECT_EQ(ended.exit_code, 0) << ended.err;
    return core::Json::parse(ended.out);
  }

  // Processes that have this test's environment. The jailed workers below them have none.
  std::vector<std::string> running() const {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      std::ifstream file(entry.path() / "environ", std::ios::binary);
      const std::string variables((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
      if (variables.find(home_.temporary().string()) != std::string::npos) found.push_back(entry.path().string());
    }
    return found;
  }

  const Home home_;
};

TEST_F(Nodes, TwoSearchTwoProblemsSideBySide) {
  const Ended ended = run("env", 2, 16);
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_EQ(rows("SELECT count(*) AS n FROM attempts WHERE verdict = 'correct'")["rows"][0][0], 16);
  EXPECT_EQ(rows("SELECT count(DISTINCT environment) AS n FROM attempts")["rows"][0][0], 2) << "one for each node";
  EXPECT_THAT(ended.out, HasSubstr("\"problem\":\"gelu_f32\",\"why\":\""));
  EXPECT_THAT(running(), testing::IsEmpty());
}

// Its attempts in flight are judged again, and none is scored as wrong.
TEST_F(Nodes, ANodeThatDiesCostsNothingElse) {
  const std::string dies_once = launcher("if mkdir '" + (home_.folder() / "first").string() +
                                         "' 2>/dev/null; then exec timeout -s KILL 2 \"$@\"; fi\nexec \"$@\"");
  const Ended ended = run(dies_once, 1, 14);
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("is lost: it was ended by signal 9"));
  EXPECT_EQ(rows("SELECT count(*) AS n FROM attempts WHERE verdict = 'correct'")["rows"][0][0], 14);
  EXPECT_THAT(running(), testing::IsEmpty());
}

// The node that was started first dies, and cannot be started again.
TEST_F(Nodes, ASearchMovesToAnotherNode) {
  const std::string folder = (home_.folder() / "start").string();
  const std::string one_stays =
      launcher("if mkdir '" + folder + "1' 2>/dev/null; then exec timeout -s KILL 2 \"$@\"; fi\n" + "if mkdir '" +
               folder + "2' 2>/dev/null; then exec \"$@\"; fi\nexit 7");
  const Ended ended = run(one_stays, 2, 16);
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("is lost: it was ended by signal 9"));
  EXPECT_THAT(ended.out, HasSubstr("is lost: it ended with exit code 7"));
  EXPECT_EQ(rows("SELECT count(*) AS n FROM attempts WHERE verdict = 'correct'")["rows"][0][0], 16);
}

TEST_F(Nodes, EndWithTheirCampaign) {
  run("env", 2, 4000, SIGKILL, std::chrono::seconds(4));
  for (int i = 0; i < 100 && !running().empty(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  EXPECT_THAT(running(), testing::IsEmpty());
}

TEST_F(Nodes, ALauncherThatStartsNoneIsNamed) {
  const Ended none = run("false", 2, 4);
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.out + none.err, HasSubstr("no node could be started; node 1: "));
  EXPECT_THAT(none.out + none.err, HasSubstr("it ended with exit code 1. Try the launcher by hand: false hostname"));
  const Ended nonsense = run(launcher("echo Welcome to the cluster; exec \"$@\""), 1, 4);
  EXPECT_THAT(nonsense.out + nonsense.err, HasSubstr("it said what is no message: Welcome to the cluster"));
}

// Its first start greets and then says nonsense; the second is a node.
TEST_F(Nodes, ANodeThatSaysNonsenseIsStartedAgain) {
  const std::string nonsense =
      launcher("if mkdir '" + (home_.folder() / "first").string() +
               "' 2>/dev/null; then echo '{\"result\":1,\"attempt\":{}}'; cat > /dev/null; fi\n" + "exec \"$@\"");
  const Ended ended = run(nonsense, 1, 4);
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("it said what is no message"));
  EXPECT_EQ(rows("SELECT count(*) AS n FROM attempts WHERE verdict = 'correct'")["rows"][0][0], 4);
}

TEST_F(Nodes, OfAnotherVersionAreRefused) {
  const Ended ended = run(
      launcher("echo '{\"protocol\":2,\"version\":\"9.9\",\"device\":\"cpu\",\"slots\":1}'; cat > /dev/null"), 1, 4);
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_EQ(rows("SELECT status FROM campaigns")["rows"][0][0], "failed");
  EXPECT_THAT(ended.out + ended.err, HasSubstr("node 0 runs kernelwright 9.9 and this is"));
}

// A problem's attempts are of the node that searches it, and its confirmations of the other one, if that is there by
// then: on a busy host it may come late.
TEST_F(Nodes, AWinIsConfirmedOnAnotherNode) {
  constexpr int kTries = 3;
  for (int i = 0; i < kTries; ++i) {
    const std::string archive = (home_.folder() / ("archive" + std::to_string(i) + ".db")).string();
    const Ended ended = home_.run({"--archive", archive, "run", "gelu_f32", "row_sum_f32", "--attempts", "16", "--seed",
                                   "3", "--launcher", "env", "--nodes", "2"});
    ASSERT_EQ(ended.exit_code, 0) << ended.err;
    const Ended asked = home_.run(
        {"--archive", archive, "--json", "query",
         "SELECT p.name, (a.effort = 'confirm') AS confirms, min(a.environment), max(a.environment), count(*) FROM "
         "attempts a JOIN problems p ON p.id = a.problem GROUP BY p.name, confirms ORDER BY p.name, confirms"});
    const core::Json judged = core::Json::parse(asked.out)["rows"];
    ASSERT_GE(judged.size(), 3u) << judged << ": searches of two problems, and confirmations of gelu_f32's wins";
    EXPECT_EQ(judged[1][1], 1) << judged;
    EXPECT_NE(judged[0][2], judged[2][2]) << "one node searched both problems: " << judged;
    for (const size_t search : {0u, 2u}) EXPECT_EQ(judged[search][2], judged[search][3]) << judged;
    if (judged[1][2] == judged[2][2] && judged[1][3] == judged[2][2]) return;
    std::cout << "confirmed where it was found: " << judged << "\n";
  }
  FAIL() << "none of " << kTries << " campaigns confirmed a win on the other node alone";
}

// Node 0 says twice that its hardware slows it down.
TEST_F(Nodes, AnUnfitOneIsSetAside) {
  const Ended ended = run(launcher("[ $KERNELWRIGHT_NODE != 0 ] && exec \"$@\"\nsleep 1\n"
                                   "\"$@\" | sed -u 's/\"health\":{}/\"health\":{\"slowed\":\"it is too hot\"}/'"),
                          2, 12);
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("node 0: its clock is held back: it is too hot; it is looked at again"));
  EXPECT_THAT(ended.out, HasSubstr("node 0 is set aside: its clock is held back: it is too hot, twice in a row"));
  EXPECT_EQ(rows("SELECT count(*) FROM attempts WHERE verdict = 'correct'")["rows"][0][0], 12);
  EXPECT_EQ(rows("SELECT count(DISTINCT environment) FROM attempts")["rows"][0][0], 1) << "none of node 0 counts";
  const Ended shown = home_.run({"show", rows("SELECT name FROM campaigns")["rows"][0][0].get<std::string>()});
  EXPECT_THAT(shown.out, HasSubstr("set_aside: ")) << shown.out;
}

TEST_F(Nodes, TheOnlyOneGoesOnThoughItIsUnfit) {
  const Ended ended = run(launcher("\"$@\" | sed -u 's/\"health\":{}/\"health\":{\"memory_errors\":2}/'"), 1, 4);
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("its memory had 2 errors that could not be corrected, again; it goes on"));
}

TEST_F(Nodes, TwoWithOneGpuAreRefused) {
  const Ended ended = run(launcher("\"$@\" | sed -u 's/\"gpu\":\"\"/\"gpu\":\"7a\"/'"), 2, 8);
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_THAT(ended.out + ended.err, HasSubstr("have the same GPU, and would disturb each other's times"));
  EXPECT_THAT(running(), testing::IsEmpty());
}

// Two problems keep two of four nodes busy.
TEST_F(Nodes, ThatNobodyNeedsEnd) {
  const Ended ended = run("env", 4, 8);
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_EQ(rows("SELECT count(*) FROM events WHERE kind = 'given_back'")["rows"][0][0], 2);
  EXPECT_EQ(rows("SELECT count(*) FROM attempts WHERE verdict = 'correct'")["rows"][0][0], 8);
  EXPECT_THAT(ended.out, Not(HasSubstr("is lost")));
}

TEST_F(Nodes, GetNoKeysOfModels) {
  const std::string file = (home_.folder() / "environment").string();
  ::setenv("ANTHROPIC_API_KEY", "sk-secret-of-a-test", 1);
  const Ended ended = run(launcher("env > '" + file + "'; exec \"$@\""), 1, 2);
  ::unsetenv("ANTHROPIC_API_KEY");
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(core::read_file(file), HasSubstr("KERNELWRIGHT_NODE=0\n"));
  EXPECT_THAT(core::read_file(file), testing::Not(HasSubstr("sk-secret-of-a-test")));
}

TEST_F(Nodes, LauncherAndNodesGoTogether) {
  EXPECT_EQ(home_.run({"run", "gelu_f32", "--nodes", "2"}).exit_code, 64);
  EXPECT_EQ(home_.run({"run", "gelu_f32", "--launcher", "env"}).exit_code, 64);
}

}  // namespace
}  // namespace agent::cli::commands

// The archive's commands, and the program with a damaged, full, shared or read-only archive: real campaigns in real
// processes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <fstream>
#include <future>

#include "agent/campaign/program_fixture.h"
#include "core/strict_json.h"
#include "results/archive/recorder.h"

namespace agent::cli::commands {
namespace {
using campaign::test::Ended;
using campaign::test::Home;
using core::Json;
using testing::AllOf;
using testing::HasSubstr;

const std::vector<std::string> kShortRun{"run",        "transpose_f32", "--attempts", "8",
                                         "--patience", "1000",          "--seed",     "3"};

// Limits the size of files that this process and its children write, like a full disk.
class SmallDisk {
 public:
  explicit SmallDisk(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{bytes, before_.rlim_max};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) throw std::runtime_error("no limit");
  }
  ~SmallDisk() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

 private:
  rlimit before_{};
  sighandler_t handler_ = SIG_DFL;
};

void expect_sound(const Home& home) {
  const Ended verified = home.run({"archive", "verify"});
  EXPECT_EQ(verified.exit_code, 0) << verified.out << verified.err;
  EXPECT_THAT(verified.out, HasSubstr("is sound"));
}

Json json_of(const Ended& ended) {
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  return Json::parse(ended.out, nullptr, false);
}

TEST(ArchiveCommand, ACampaignTravelsAndIsReplayedThere) {
  const Home home, elsewhere;
  ASSERT_EQ(home.run(kShortRun).exit_code, 0);
  const std::string lines = (home.folder() / "all.jsonl").string(), copy = (home.folder() / "copy.db").string();
  EXPECT_THAT(home.run({"archive", "export", "-o", lines}).out, HasSubstr("records in "));
  const Json first = json_of(elsewhere.run({"--json", "archive", "import", lines}));
  EXPECT_EQ(first["tables"]["attempts"]["added"], 8);
  const Json again = json_of(elsewhere.run({"--json", "archive", "import", lines}));
  EXPECT_EQ(again["tables"]["attempts"]["added"], 0);
  EXPECT_EQ(again["tables"]["attempts"]["known"], 8);
  expect_sound(elsewhere);
  EXPECT_EQ(elsewhere.run({"archive", "export"}).out, home.run({"archive", "export"}).out);
  EXPECT_EQ(elsewhere.run({"leaderboard"}).out, home.run({"leaderboard"}).out);
  const Json merged = json_of(elsewhere.run({"--json", "archive", "merge", home.archive().string()}));
  EXPECT_EQ(merged["tables"]["attempts"]["added"], 0);
  // A replay does not need the data that pruning removes by default.
  EXPECT_THAT(elsewhere.run({"archive", "prune"}).out, HasSubstr("Nothing is changed"));
  EXPECT_GT(json_of(elsewhere.run({"--json", "archive", "prune", "--apply"}))["parts"]["samples"]["rows"], 0);
  const Ended replayed = elsewhere.run({"replay"});
  EXPECT_EQ(replayed.exit_code, 0) << replayed.out << replayed.err;
  expect_sound(elsewhere);
  EXPECT_EQ(home.run({"archive", "backup", copy}).exit_code, 0);
  const Ended refused = home.run({"archive", "backup", copy});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err, HasSubstr("already exists"));
  const Json info = json_of(home.run({"--json", "archive"}));
  EXPECT_EQ(info["newest_campaign"], results::archive::Recorder(home.archive()).campaigns()[0].name);
  EXPECT_GT(info["file_bytes"], 100'000);
  EXPECT_THAT(home.run({"archive"}).out, AllOf(HasSubstr("schema "), HasSubstr("timings")));
}

TEST(ArchiveCommand, AFullDiskInterruptsACampaignThatIsResumedLater) {
  const Home home;
  ASSERT_EQ(home.run({"run", "transpose_f32", "--attempts", "2"}).exit_code, 0);
  std::vector<std::string> run = kShortRun;
  run[3] = "16";
  Ended ended;
  {
    const SmallDisk disk(400'000);  // of the log of what is written: some six attempts
    ended = home.run(run);
  }
  ASSERT_EQ(ended.exit_code, 2) << ended.out << ended.err;
  EXPECT_THAT(ended.err,
              AllOf(HasSubstr("cannot be written"), HasSubstr("make room"), HasSubstr("kernelwright resume ")));
  expect_sound(home);
  const auto before = results::archive::Recorder(home.archive()).campaigns()[0];
  EXPECT_THAT(before.status, testing::AnyOf("interrupted", "killed"));
  EXPECT_GT(before.attempts, 0);
  EXPECT_LT(before.attempts, 16);
  const Ended resumed = home.run({"resume"});
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  const auto after = results::archive::Recorder(home.archive()).campaigns()[0];
  EXPECT_EQ(after.name, before.name);
  EXPECT_EQ(after.status, "done");
  EXPECT_EQ(after.attempts, 16);
  expect_sound(home);
}

TEST(ArchiveCommand, TwoCampaignsWriteAtOnce) {
  const Home home;
  const auto campaign = [&](const std::string& problem) {
    return std::async(std::launch::async, [&home, problem] {
      const Home its;  // only for its output
      return its.run({"--archive", home.archive().string(), "run", problem, "--attempts", "8", "--patience", "1000"});
    });
  };
  auto first = campaign("transpose_f32"), second = campaign("gelu_f32");
  const Ended one = first.get(), two = second.get();
  EXPECT_EQ(one.exit_code, 0) << one.err;
  EXPECT_EQ(two.exit_code, 0) << two.err;
  const results::archive::Reader archive(home.archive());
  ASSERT_EQ(archive.campaigns().size(), 2u);
  for (const auto& each : archive.campaigns()) {
    EXPECT_EQ(each.status, "done");
    EXPECT_EQ(each.attempts, 8);
  }
  expect_sound(home);
}

TEST(ArchiveCommand, ADamagedArchiveIsRefusedWithARemedy) {
  const Home home;
  ASSERT_EQ(home.run(kShortRun).exit_code, 0);
  const std::filesystem::path archive = home.archive(), kept = home.folder() / "kept.db";
  std::filesystem::copy_file(archive, kept);
  const auto refused = [&](const std::vector<std::string>& command, const std::string& what) {
    const Ended ended = home.run(command);
    EXPECT_EQ(ended.exit_code, 1) << ended.out << ended.err;
    EXPECT_THAT(ended.out + ended.err, HasSubstr(what));
  };
  std::filesystem::resize_file(archive, std::filesystem::file_size(archive) / 2);
  refused({"archive", "verify"}, "");
  refused({"leaderboard"}, "archive backup");
  refused(kShortRun, "archive backup");
  std::filesystem::resize_file(archive, 0);
  refused({"leaderboard"}, "is empty: it was truncated");
  std::ofstream(archive) << "no archive at all, " << std::string(3000, 'x');
  refused({"leaderboard"}, "is not an archive");
  refused(kShortRun, "is not an archive");
  std::filesystem::remove(archive);
  refused({"archive", "verify"}, "there is no archive yet");
  refused({"archive", "import", kept.string()}, "kernelwright archive merge adds its records");
  refused({"archive", "merge", home.folder().string()}, "is not a file");
  refused({"--archive", home.folder().string(), "leaderboard"}, "cannot be opened");
  EXPECT_FALSE(std::filesystem::exists(archive));
  std::filesystem::copy_file(kept, archive);
  expect_sound(home);
}

}  // namespace
}  // namespace agent::cli::commands

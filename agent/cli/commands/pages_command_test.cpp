// kernelwright report and serve, as the real program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/campaign/program_fixture.h"
#include "agent/cli/invocation.h"
#include "results/archive/recorder.h"

namespace agent::cli::commands {
namespace {
using testing::HasSubstr;

TEST(PagesCommands, AReportOfAnEmptyArchiveIsAPage) {
  const campaign::test::Home home;
  { const results::archive::Reader made(home.archive()); }
  const std::string file = (home.folder() / "report.html").string();
  const campaign::test::Ended ended = home.run({"report", "-o", file, "--json"});
  EXPECT_EQ(ended.exit_code, kDone) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("\"bytes\":"));
  EXPECT_THAT(core::read_file(file), HasSubstr("<!doctype html>"));
  EXPECT_FALSE(std::filesystem::exists(file + ".new"));
}

TEST(PagesCommands, AReportOfMissingDataIsRefused) {
  const campaign::test::Home home;
  EXPECT_EQ(home.run({"report", "-o", "/dev/null"}).exit_code, kRefused);  // no archive
  { const results::archive::Reader made(home.archive()); }
  const std::string file = (home.folder() / "report.html").string();
  const campaign::test::Ended problem = home.run({"report", "-o", file, "--problem", "no_such_problem"});
  EXPECT_EQ(problem.exit_code, kRefused);
  EXPECT_THAT(problem.err, HasSubstr("no_such_problem"));
  EXPECT_EQ(home.run({"report", "-o", file, "--campaign", "none"}).exit_code, kRefused);
  const campaign::test::Ended place = home.run({"report", "-o", "/no/such/folder/report.html"});
  EXPECT_EQ(place.exit_code, kRefused);
  EXPECT_THAT(place.err, HasSubstr("/no/such/folder/report.html: cannot be written"));
}

TEST(PagesCommands, AServerNeedsAPlaceAndAToken) {
  const campaign::test::Home home;
  { const results::archive::Reader made(home.archive()); }
  const campaign::test::Ended place =
      home.run({"serve", "--host", "192.0.2.1"});  // a documentation address, not this machine's
  EXPECT_EQ(place.exit_code, kRefused);
  EXPECT_THAT(place.err, HasSubstr("cannot listen at 192.0.2.1"));
  const std::filesystem::path token = home.folder() / "token";
  std::ofstream(token) << "short\n";
  const campaign::test::Ended weak = home.run({"serve", "--token-file", token.string()});
  EXPECT_EQ(weak.exit_code, kRefused);
  EXPECT_THAT(weak.err, HasSubstr("16 letters"));
}

}  // namespace
}  // namespace agent::cli::commands

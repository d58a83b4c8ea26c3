#include <gtest/gtest.h>

#include "results/archive/archive_fixture.h"

namespace results::archive::test {
namespace {

NewSelftest selftest(const Started& s, const std::string& device, bool quick, double seconds) {
  return {device, s.environment, 0xFEDCBA9876543210u, quick, seconds, 70, 1, 30, 2, 1.02, std::nullopt, {{"a", 1}}};
}

TEST(Selftests, TheNewestOfEachDeviceIsFoundAsItWasAdded) {
  const TemporaryArchive temporary;
  Started s(temporary.file());
  s.archive.add_selftest(selftest(s, "cuda GPU", false, 1));
  const int64_t cuda = s.archive.add_selftest(selftest(s, "cuda GPU", false, 2));
  s.archive.add_selftest(selftest(s, "cuda GPU", true, 3));
  const int64_t cpu = s.archive.add_selftest(selftest(s, "cpu", true, 4));
  const std::vector<SelftestRecord> found = s.archive.newest_selftests();
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].id, cpu);
  EXPECT_EQ(found[1].id, cuda) << "a quick one does not hide a whole one";
  const NewSelftest& of = found[1].of;
  EXPECT_EQ(of.seed, 0xFEDCBA9876543210u);
  EXPECT_EQ(of.seconds, 2);
  EXPECT_EQ(of.dishonest + of.false_accepts + of.honest + of.false_rejects, 70 + 1 + 30 + 2);
  EXPECT_EQ(of.widest_noise, 1.02);
  EXPECT_EQ(of.candidates_per_hour, std::nullopt);
  EXPECT_EQ(of.details, core::Json({{"a", 1}}));
}

}  // namespace
}  // namespace results::archive::test

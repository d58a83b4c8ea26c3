#include "agent/campaign/calibrations.h"

#include <gtest/gtest.h>

#include "results/archive/archive_fixture.h"

namespace agent::campaign {
namespace {

TEST(Calibrations, AKnownOneIsNotMeasuredAgain) {
  const results::archive::test::TemporaryArchive temporary;
  results::archive::Recorder archive(temporary.file());
  archive.add_calibration("cuda GPU A", results::archive::test::calibration_of("GPU A", 4000));
  core::Paths nowhere;
  nowhere.program_folder = nowhere.data = "/nonexistent";  // a worker could not be started
  const DeviceChoice choice{benchsuite::Backend::cuda, 0, false};
  EXPECT_EQ(newest_or_new_calibration(archive, nowhere, choice, "cuda GPU A")->dram_read_gb_s, 4000);
  EXPECT_THROW(newest_or_new_calibration(archive, nowhere, choice, "cuda GPU B"), core::SystemError);
}

TEST(Calibrations, TheCpuDeviceHasNone) {
  const results::archive::test::TemporaryArchive temporary;
  results::archive::Recorder archive(temporary.file());
  EXPECT_FALSE(
      newest_or_new_calibration(archive, core::installed_paths(), {benchsuite::Backend::cpu, 0, false}, "cpu"));
  EXPECT_THROW(calibrate(archive, core::installed_paths(), {benchsuite::Backend::cpu, 0, false}), core::InputError);
}

}  // namespace
}  // namespace agent::campaign

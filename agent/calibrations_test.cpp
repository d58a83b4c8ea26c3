#include "agent/calibrations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "results/archive/archive_fixture.h"

namespace agent {
namespace {

TEST(Calibrations, AKnownOneIsNotMeasuredAgain) {
  const results::archive::test::TemporaryArchive temporary;
  results::archive::Recorder archive(temporary.file());
  archive.add_calibration("cuda GPU A", results::archive::test::calibration_of("GPU A", 4000));
  const core::Paths nowhere{"/nonexistent", "/nonexistent"};  // a worker could not be started
  const DeviceChoice choice{"cuda", 0, false};
  EXPECT_EQ(newest_or_new_calibration(archive, nowhere, choice, "cuda GPU A")->dram_read_gb_s, 4000);
  EXPECT_THROW(newest_or_new_calibration(archive, nowhere, choice, "cuda GPU B"), core::SystemError);
}

TEST(Calibrations, TheCpuDeviceHasNone) {
  const results::archive::test::TemporaryArchive temporary;
  results::archive::Recorder archive(temporary.file());
  EXPECT_FALSE(newest_or_new_calibration(archive, core::installed_paths(), {"cpu", 0, false}, "cpu"));
  EXPECT_THROW(calibrate(archive, core::installed_paths(), {"cpu", 0, false}), core::InputError);
}

TEST(Calibrations, TheTextHasEveryFigureInItsUnit) {
  verifier::verdicts::Calibration c = results::archive::test::calibration_of("GPU A", 4280);
  c.dram_write_gb_s = 3100;
  c.dram_copy_gb_s = 4100;
  c.fp64_flop_s = 25e12;
  c.tensor_f16_flop_s = 800e12;
  c.tensor_bf16_flop_s = 810e12;
  c.tensor_tf32_flop_s = 400e12;
  const std::string text = calibration_text(c);
  EXPECT_THAT(text, testing::StartsWith("GPU A: sm_90a, 132 multiprocessors, 60 MiB of L2, driver for CUDA 13.0, "));
  for (const char* line :
       {"memory, read +4.28 TB/s ", "memory, written +3.10 TB/s ", "memory, copied +4.10 TB/s ", "L2, read +8.56 TB/s ",
        "f32 +50.00 TFLOP/s ", "f64 +25.00 TFLOP/s ", "tensor f16 +800.00 TFLOP/s  wgmma",
        "tensor bf16 +810.00 TFLOP/s ", "tensor tf32 +400.00 TFLOP/s ", "empty launch +2.5 us "}) {
    EXPECT_THAT(text, testing::ContainsRegex(line));
  }
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("does not reach")));
  c.tensor_instruction = "mma.sync";
  EXPECT_THAT(calibration_text(c), testing::HasSubstr("mma.sync does not reach this GPU's tensor peaks"));
  c.architecture = "sm_89";
  EXPECT_THAT(calibration_text(c), testing::Not(testing::HasSubstr("does not reach")));
}

}  // namespace
}  // namespace agent

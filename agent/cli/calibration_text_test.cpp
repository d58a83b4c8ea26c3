#include "agent/cli/calibration_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "results/archive/archive_fixture.h"

namespace agent::cli {
namespace {

TEST(CalibrationText, HasEveryFigureInItsUnit) {
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

TEST(Baselines, AreReportedAsMeasured) {
  verifier::verdicts::Judgement judgement;
  judgement.verdict = verifier::verdicts::Correct{};
  judgement.measurement = verifier::verdicts::Measurement{"cuda-events-cold",
                                                          {{"bench", {}, 278.6, 1058, {3.8, 3.79, 3.81}}},
                                                          {3.8, 3.79, 3.81},
                                                          verifier::statistics::Outcome::win};
  EXPECT_EQ(baseline_text("softmax_f32", "PyTorch 2.11 eager", judgement),
            "softmax_f32, PyTorch 2.11 eager: 3.80x [3.79, 3.81] over naive, 278.6 us");
  judgement.verdict = verifier::verdicts::Crashed{std::nullopt, 11};
  EXPECT_THAT(baseline_text("softmax_f32", "PyTorch 2.11 eager", judgement),
              testing::HasSubstr("softmax_f32, PyTorch 2.11 eager: crash"));
}

}  // namespace
}  // namespace agent::cli

#include "verifier/devices/cuda/sanitizers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"

namespace verifier::devices::cuda {
namespace {
using sandbox::FaultKind;

// As compute-sanitizer 2025.3 (CUDA 13.0) writes them.
constexpr const char* kInvalidRead = R"(========= COMPUTE-SANITIZER
========= Invalid __global__ read of size 4 bytes
=========     at row_sum+0x1b0
=========     by thread (31,0,0) in block (6,0,0)
=========     Access at 0x7f2a1a800a00 is out of bounds
=========     and is 1 bytes after the nearest allocation at 0x7f2a1a800000 of size 2560 bytes
=========     Saved host backtrace up to driver entry point at kernel launch time
=========         Host Frame: sandbox::cuda::driver::Function::launch [0x12345] in kernelwright-cuda
=========
========= ERROR SUMMARY: 32 errors
)";
constexpr const char* kRace = R"(========= COMPUTE-SANITIZER
========= Error: Race reported between Write access at row_sum+0x2d0 and Read access at row_sum+0x320 [448 hazards]
=========
========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)
)";
constexpr const char* kRaceWithLines = R"(========= COMPUTE-SANITIZER
========= Error: Race reported between Write access at conv+0xb2f0 in solution.cu:521
=========     and Read access at conv+0x4a0 in solution.cu:433 [2048 hazards]
=========
========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)
)";
constexpr const char* kNothing = "========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n";
constexpr const char* kWarning =
    "========= COMPUTE-SANITIZER\n========= Warning: Race reported between Write access at k+0x10 and Write access at "
    "k+0x10 [8 "
    "hazards]\n=========\n========= RACECHECK SUMMARY: 1 hazard displayed (0 errors, 1 warning)\n";

TEST(SanitizerReport, TellsTheFirstErrorAndItsPlace) {
  const auto fault = fault_in_report("memcheck", kInvalidRead);
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, FaultKind::out_of_bounds);
  EXPECT_EQ(fault->message, "memcheck: Invalid __global__ read of size 4 bytes");
  EXPECT_EQ(fault->kernel, "row_sum");
  EXPECT_EQ(fault->thread, (std::array<int64_t, 3>{31, 0, 0}));
  EXPECT_EQ(fault->block, (std::array<int64_t, 3>{6, 0, 0}));
}

TEST(SanitizerReport, ARaceIsNamedAfterItsKernel) {
  const auto fault = fault_in_report("racecheck", kRace);
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, FaultKind::race);
  EXPECT_EQ(fault->kernel, "row_sum");
}

TEST(SanitizerReport, ARaceHasBothItsLines) {
  const auto fault = fault_in_report("racecheck", kRaceWithLines);
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->line, 521);
  EXPECT_EQ(fault->message,
            "racecheck: Error: Race reported between Write access at conv+0xb2f0 in solution.cu:521 and Read access at "
            "conv+0x4a0 in solution.cu:433 [2048 hazards]");
}

TEST(SanitizerReport, WarningsAndCleanRunsAreNoFaults) {
  EXPECT_EQ(fault_in_report("memcheck", kNothing), std::nullopt);
  EXPECT_EQ(fault_in_report("racecheck", kWarning), std::nullopt);
}

TEST(SanitizerReport, IsUntrustedText) {
  const auto fault = fault_in_report(
      "memcheck", "========= COMPUTE-SANITIZER\n========= \x1b[2Jevil\n=========\n========= ERROR SUMMARY: 1 error\n");
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->message.find('\x1b'), std::string::npos);
}

TEST(SanitizerReport, HalfAReportIsOurFailure) {
  EXPECT_THROW(fault_in_report("memcheck", "========= COMPUTE-SANITIZER\n"), core::SystemError);
  EXPECT_THROW(fault_in_report("memcheck", ""), core::SystemError);
}

TEST(Sanitizers, ARaceBesideMbarriersIsDoubtful) {
  const verdicts::Verdict race = verdicts::Faulted{{}, *fault_in_report("racecheck", kRace)},
                          read = verdicts::Faulted{{}, *fault_in_report("memcheck", kInvalidRead)};
  sandbox::Solution with, without;
  with.source = "asm volatile(\"mbarrier.arrive.shared::cta.b64 _, [%0];\" ::\"r\"(b));";
  without.source = "__syncthreads();";
  EXPECT_TRUE(is_doubtful(race, with));
  EXPECT_FALSE(is_doubtful(race, without));
  EXPECT_FALSE(is_doubtful(read, with));
}

}  // namespace
}  // namespace verifier::devices::cuda

#include "verifier/verdicts/bound.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "core/paths.h"

namespace verifier::verdicts {
namespace {
using benchsuite::Problem;

// Round figures, so that what is expected can be worked out by hand.
Calibration round_figures() {
  Calibration c;
  c.device = "round GPU";
  c.architecture = "sm_90a";
  c.driver = "13.0";
  c.made = "2026-11-21T10:00:00Z";
  c.tensor_instruction = "wgmma";
  c.multiprocessors = 100;
  c.l2_bytes = 50'000'000;
  c.dram_read_gb_s = 5000;
  c.dram_write_gb_s = 3000;
  c.dram_copy_gb_s = 4000;
  c.l2_read_gb_s = 10'000;
  c.fp32_flop_s = 50e12;
  c.fp64_flop_s = 25e12;
  c.tensor_f16_flop_s = 800e12;
  c.tensor_bf16_flop_s = 1000e12;
  c.tensor_tf32_flop_s = 400e12;
  c.launch_floor_us = 2;
  return c;
}

Problem shipped(const std::string& name) { return benchsuite::load_problem(core::installed_paths().problems() / name); }
Bound of(const std::string& problem, const core::Bindings& axes, const Conditions& conditions = {}) {
  return bound_of(shipped(problem), axes, round_figures(), conditions);
}

TEST(Calibration, SurvivesTheRoundTripThroughJson) {
  const core::Json json = core::Json::parse(to_json(round_figures()).dump());
  const Calibration back = calibration_from_json(core::JsonView(json, "test"));
  EXPECT_EQ(to_json(back), json);
  EXPECT_EQ(back.device, "round GPU");
  EXPECT_EQ(back.l2_bytes, 50'000'000);
  EXPECT_EQ(back.tensor_tf32_flop_s, 400e12);
  EXPECT_EQ(back.fastest_gb_s(), 5000);
}

TEST(Calibration, IsReadStrictly) {
  const core::Json good = to_json(round_figures());
  for (const auto& [name, value] : good.items()) {
    core::Json missing = good, wrong = good;
    missing.erase(name);
    EXPECT_THROW(calibration_from_json(core::JsonView(missing, "test")), core::InputError) << name;
    wrong[name] = value.is_string() ? core::Json("") : core::Json(0);
    EXPECT_THROW(calibration_from_json(core::JsonView(wrong, "test")), core::InputError) << name;
  }
  core::Json more = good;
  more["mood"] = 1;
  EXPECT_THROW(calibration_from_json(core::JsonView(more, "test")), core::InputError);
}

TEST(Bound, MemoryGoesAtTheFastestRateSeen) {
  // 100 M elements of four bytes, read twice over and written once: 1.2 GB at 5000 GB/s; 100 MFLOP take 2 us.
  const Bound bound = of("vector_add_f32", {{"N", 100'000'000}});
  EXPECT_DOUBLE_EQ(bound.nominal_us, 240);
  EXPECT_FALSE(bound.by_compute);
  // 800 MB must be read, and of 400 MB written 50 stay in L2: 1150 MB at 5000 GB/s.
  EXPECT_DOUBLE_EQ(bound.floor_us, 230);
}

TEST(Bound, ReadingAloneGoesAtItsOwnRate) {
  const Bound bound = of("sum_f32", {{"N", 100'000'000}});  // 400 MB at 5000 GB/s, and four bytes
  EXPECT_NEAR(bound.nominal_us, 80, 1e-6);
  EXPECT_NEAR(bound.floor_us, 80, 1e-6);
}

TEST(Bound, PeaksFollowTheContract) {
  // 2 * 4000^3 = 128 GFLOP: 2560 us at 50 TFLOP/s, 160 us at 800, and 768 us at a sixth of 1000.
  const core::Bindings axes{{"M", 4000}, {"N", 4000}, {"K", 4000}};
  EXPECT_DOUBLE_EQ(of("gemm_f32", axes).nominal_us, 768);
  EXPECT_TRUE(of("gemm_f32", axes).by_compute);
  EXPECT_DOUBLE_EQ(of("gemm_f16", axes).nominal_us, 160);
  Problem problem = shipped("gemm_f32");
  problem.kind = benchsuite::ProblemKind::reduction;  // no product of matrices
  EXPECT_DOUBLE_EQ(bound_of(problem, axes, round_figures()).nominal_us, 2560);
  problem.contract.tf32 = true;
  EXPECT_DOUBLE_EQ(bound_of(problem, axes, round_figures()).nominal_us, 320);
  problem.contract.accumulate = core::DType::f64;
  EXPECT_DOUBLE_EQ(bound_of(problem, axes, round_figures()).nominal_us, 5120);
  for (benchsuite::Tensor& input : problem.inputs) input.dtype = core::DType::bf16;
  problem.contract.accumulate = core::DType::f32;
  EXPECT_DOUBLE_EQ(bound_of(problem, axes, round_figures()).nominal_us, 128);
  problem.inputs[1].dtype = core::DType::f16;  // as large, and slower
  EXPECT_DOUBLE_EQ(bound_of(problem, axes, round_figures()).nominal_us, 160);
}

TEST(Bound, TensorCoresMultiply8BitsTwiceAsFastWhereTheyCan) {
  const core::Bindings axes{{"M", 4000}, {"N", 4000}, {"K", 4000}};
  Problem problem = shipped("gemm_f16");
  for (benchsuite::Tensor& input : problem.inputs) input.dtype = core::DType::f8e4m3;
  Calibration figures = round_figures();
  for (const auto& [architecture, us] :
       {std::pair("sm_80", 160.0), std::pair("sm_90", 80.0), std::pair("sm_100", 80.0)}) {
    figures.architecture = architecture;
    EXPECT_DOUBLE_EQ(bound_of(problem, axes, figures).nominal_us, us) << architecture;
  }
}

TEST(Bound, TheLargestFloatingInputNamesThePeak) {
  const core::Bindings axes{{"M", 4000}, {"N", 4000}, {"K", 4000}};
  Problem problem = shipped("gemm_f16");
  benchsuite::Tensor bias = problem.inputs[0];
  bias.dtype = core::DType::f32;
  bias.shape = {core::Expr::parse("N")};
  problem.inputs.push_back(bias);
  EXPECT_DOUBLE_EQ(bound_of(problem, axes, round_figures()).nominal_us, 160);
}

TEST(Bound, IntegersAreBoundByMemory) {
  const Bound bound = of("histogram_i32", {{"N", 100'000'000}});
  EXPECT_NEAR(bound.nominal_us, 80, 1e-3);
  EXPECT_FALSE(bound.by_compute);
}

TEST(Bound, ProductsOfWholeNumbersOf8BitsHaveAPeak) {
  const Bound bound = of("gemm_i8_bf16", {{"M", 8192}, {"N", 8192}, {"K", 8192}});
  EXPECT_TRUE(bound.by_compute);
  EXPECT_NEAR(bound.nominal_us, 2e6 * 8192 * 8192 * 8192 / 1600e12, 0.1);
}

TEST(Bound, WhatStaysInL2IsNoPartOfTheFloor) {
  const core::Bindings axes{{"M", 4000}, {"N", 4000}, {"K", 4000}};
  EXPECT_DOUBLE_EQ(of("gemm_f16", axes).floor_us, 12.8);                 // 64 MB read; the 32 MB written fit
  EXPECT_DOUBLE_EQ(of("gemm_f16", axes, {false, false}).floor_us, 2.8);  // 50 MB of them are in L2 already
}

TEST(Bound, ACostOfSeveralPassesIsNoPartOfTheFloor) {
  Problem problem = shipped("sum_f32");
  problem.cost.bytes_read = core::Expr::parse("12 * N");
  EXPECT_NEAR(bound_of(problem, {{"N", 100'000'000}}, round_figures()).floor_us, 80, 1e-6);
}

TEST(Bound, OnlyAbsoluteTimesKnowTheLaunchFloor) {
  EXPECT_LT(of("sum_f32", {{"N", 1000}}).floor_us, 0.01);
  EXPECT_DOUBLE_EQ(of("sum_f32", {{"N", 1000}}, {true, true}).floor_us, 2);
  EXPECT_NEAR(of("sum_f32", {{"N", 100'000'000}}, {true, true}).floor_us, 80, 1e-6);
}

TEST(Bound, TooFastAndSuspicious) {
  const Bound bound{120, 100, false};
  EXPECT_TRUE(too_fast(94.9, bound));
  EXPECT_FALSE(too_fast(95.1, bound));
  EXPECT_TRUE(too_fast(__builtin_nan(""), bound));
  EXPECT_TRUE(suspicious(109, 2, bound));
  EXPECT_FALSE(suspicious(111, 2, bound));
  EXPECT_TRUE(suspicious(111, 10.1, bound));
}

// A correct judgement of vector_add_f32 at its bench shape, whose floor is 537 MB + 218 MB (what L2 does not hold) at
// 5000 GB/s: 151 us.
Judgement timed(double candidate_us, double speed_up = 2) {
  Judgement judgement;
  judgement.verdict = Correct{10, 0.5, true};
  judgement.measurement.emplace();
  judgement.measurement->workloads.push_back(
      {"bench_67108864", {}, candidate_us, candidate_us * speed_up, {speed_up, speed_up, speed_up}});
  return judgement;
}

TEST(HoldAgainstFloor, GivesEachTimingItsBound) {
  Judgement judgement = timed(322.1225472);  // twice what 805 MB need at 5000 GB/s
  EXPECT_EQ(hold_against_floor(judgement, shipped("vector_add_f32"), round_figures()), Plausibility::plausible);
  ASSERT_TRUE(judgement.measurement);
  EXPECT_DOUBLE_EQ(judgement.measurement->workloads[0].bound_us.value(), 161.0612736);
  EXPECT_DOUBLE_EQ(judgement.measurement->workloads[0].share_of_bound().value(), 0.5);
}

TEST(HoldAgainstFloor, RefusesWhatIsTooFast) {
  Judgement judgement = timed(140);
  EXPECT_EQ(hold_against_floor(judgement, shipped("vector_add_f32"), round_figures()), Plausibility::too_fast);
  EXPECT_FALSE(judgement.measurement);
  ASSERT_EQ(name_of(judgement.verdict), "too_fast");
  const auto& verdict = std::get<TooFast>(judgement.verdict);
  EXPECT_EQ(verdict.workload, "bench_67108864");
  EXPECT_EQ(verdict.time_us, 140);
  EXPECT_NEAR(verdict.floor_us, 151.06, 0.01);
}

TEST(HoldAgainstFloor, PointsAtWhatWantsConfirmation) {
  Judgement near_the_floor = timed(160), far_ahead = timed(400, 11);
  EXPECT_EQ(hold_against_floor(near_the_floor, shipped("vector_add_f32"), round_figures()), Plausibility::suspicious);
  EXPECT_EQ(hold_against_floor(far_ahead, shipped("vector_add_f32"), round_figures()), Plausibility::suspicious);
  EXPECT_TRUE(near_the_floor.measurement && far_ahead.measurement);
}

TEST(HoldAgainstFloor, LeavesOtherVerdictsAlone) {
  Judgement refused;
  refused.verdict = MemoryLimit{"too much"};
  EXPECT_EQ(hold_against_floor(refused, shipped("vector_add_f32"), round_figures()), Plausibility::plausible);
  EXPECT_EQ(name_of(refused.verdict), "memory_limit");
  Judgement strange = timed(400);
  strange.measurement->workloads[0].workload = "elsewhere";
  EXPECT_THROW(hold_against_floor(strange, shipped("vector_add_f32"), round_figures()), core::SystemError);
}

}  // namespace
}  // namespace verifier::verdicts

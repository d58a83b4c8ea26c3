// For tests of the archive: a temporary file, and made-up attempts.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "core/error.h"
#include "results/archive/database.h"
#include "results/archive/recorder.h"
#include "verifier/statistics/statistics.h"

namespace results::archive::test {

// An archive's path in a folder of its own, removed afterwards.
class TemporaryArchive {
 public:
  TemporaryArchive() {
    std::string folder = testing::TempDir() + "kernelwright-archive-XXXXXX";
    if (::mkdtemp(folder.data()) == nullptr) throw core::SystemError("no folder for the test's archive");
    folder_ = folder;
  }
  ~TemporaryArchive() { std::filesystem::remove_all(folder_); }
  TemporaryArchive(const TemporaryArchive&) = delete;
  TemporaryArchive& operator=(const TemporaryArchive&) = delete;

  std::filesystem::path file() const { return folder_ / "archive.db"; }

 private:
  std::filesystem::path folder_;
};

// Brings the archive into the state that migration from schema 4 leaves.
inline void forget_order(const std::filesystem::path& file) {
  Database database(file);
  database.execute(
      "DROP TRIGGER attempts_stay; DROP TRIGGER requests_stay; DROP TRIGGER replies_stay; DROP TRIGGER events_stay;"
      " UPDATE attempts SET step = NULL; UPDATE requests SET step = NULL; UPDATE replies SET step = NULL;"
      " UPDATE events SET step = NULL");
}

// Brings the archive of one campaign with a model into the state that a kill after its first request leaves.
inline void forget_after_first_request(const std::filesystem::path& file) {
  Database database(file);
  database.execute(
      "DROP TRIGGER attempts_remain; DROP TRIGGER measurements_remain; DROP TRIGGER timings_remain;"
      " DROP TRIGGER requests_remain; DROP TRIGGER replies_remain; DROP TRIGGER events_remain;"
      " CREATE TEMP TABLE kept AS SELECT min(step) AS step FROM requests;"
      " DELETE FROM proposed; DELETE FROM replies; DELETE FROM standings;"
      " DELETE FROM requests WHERE step > (SELECT step FROM kept);"
      " DELETE FROM attempts WHERE step > (SELECT step FROM kept);"
      " DELETE FROM events WHERE step > (SELECT step FROM kept);"
      " DELETE FROM measurements WHERE attempt NOT IN (SELECT id FROM attempts);"
      " DELETE FROM timings WHERE measurement NOT IN (SELECT id FROM measurements);"
      " UPDATE campaigns SET status = 'interrupted', steps = (SELECT step FROM kept)");
}

// Brings requests into the state in which versions before schema 10 recorded them.
inline void forget_advice(const std::filesystem::path& file) {
  Database database(file);
  database.execute(
      "DROP TRIGGER requests_stay; UPDATE requests SET proposal = json_remove(proposal, '$.limit', '$.advice', "
      "'$.cards')");
}

inline sandbox::Solution solution_named(const std::string& name, const std::string& problem = "sum_f32") {
  sandbox::Solution solution;
  solution.problem = problem;
  solution.source = "// " + problem + " " + name;
  return solution;
}

// A judgement whose figures fit its samples (`pairs`: an odd number).
inline verifier::verdicts::Judgement correct_judgement(double speed_up, size_t pairs = 31) {
  verifier::verdicts::Judgement judgement;
  judgement.verdict = verifier::verdicts::Correct{12, 0.25, true};
  judgement.stages = {2, 3, 4};
  judgement.seed = 0xFEDCBA9876543210u;
  verifier::verdicts::WorkloadTiming timing{
      "bench", {}, 100 / speed_up, 100, {speed_up, speed_up * 0.98, speed_up * 1.02}};
  for (size_t i = 0; i < pairs; ++i) {
    const double off = static_cast<double>(i) - static_cast<double>(pairs / 2);
    timing.pairs.push_back({100 / speed_up * (1 + off / 300), 100 * (1 - off / 700), i % 3 == 0});
  }
  judgement.measurement = verifier::verdicts::Measurement{
      "cpu-rough", {timing}, timing.speed_up, verifier::statistics::decide(timing.speed_up), pairs < 15};
  return judgement;
}

inline verifier::verdicts::Calibration calibration_of(const std::string& gpu, double gb_s) {
  verifier::verdicts::Calibration c;
  c.device = gpu;
  c.architecture = "sm_90a";
  c.driver = "13.0";
  c.made = "2026-11-21T10:00:00Z";
  c.tensor_instruction = "wgmma";
  c.multiprocessors = 132;
  c.l2_bytes = 60 << 20;
  c.dram_read_gb_s = c.dram_write_gb_s = c.dram_copy_gb_s = gb_s;
  c.l2_read_gb_s = 2 * gb_s;
  c.fp32_flop_s = c.fp64_flop_s = c.tensor_f16_flop_s = c.tensor_bf16_flop_s = c.tensor_tf32_flop_s = 5e13;
  c.launch_floor_us = 2.5;
  return c;
}

// An archive with a problem, its naive solution and a campaign.
struct Started {
  explicit Started(const std::filesystem::path& file, const std::string& problem_name = "sum_f32") : archive(file) {
    benchsuite::Problem of;
    of.name = problem_name;
    of.json_text = "{}";
    environment = archive.add_environment({{"host", "test"}});
    problem = archive.add_problem(of, "hash of " + problem_name);
    naive = add_candidate("naive", "naive");
    campaign = archive.start_campaign({{"problems", {problem_name}}}, environment).id;
  }

  int64_t add_candidate(const std::string& name, const std::string& origin,
                        const sandbox::TunableBinding& binding = {}) {
    const sandbox::Solution solution = solution_named(name);
    return archive.add_candidate(archive.add_solution({&solution, name, origin, {}}), binding);
  }
  NewAttempt attempt_at(int64_t candidate, verifier::verdicts::Effort effort,
                        verifier::verdicts::Judgement judgement) const {
    NewAttempt attempt;
    attempt.campaign = campaign;
    attempt.problem = problem;
    attempt.environment = environment;
    attempt.candidate = candidate;
    attempt.device = "cpu";
    attempt.effort = effort;
    attempt.artefact = "artefact " + std::to_string(candidate);
    attempt.compile_log = "one warning";
    attempt.compile_ms = 85;
    attempt.judgement = std::move(judgement);
    if (attempt.judgement.measurement) attempt.against = naive;
    return attempt;
  }

  Recorder archive;
  int64_t environment = 0, problem = 0, naive = 0, campaign = 0;
};

}  // namespace results::archive::test

// Measures how long a campaign takes to write to an archive and to read from it: bench_archive FILE [ATTEMPTS]. Leaves
// the campaign and its attempts in the file.
#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "agent/cli/output.h"
#include "results/archive/recorder.h"

namespace {
using Clock = std::chrono::steady_clock;

template <typename Act>
double microseconds(Act act) {
  const Clock::time_point begin = Clock::now();
  act();
  return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
}

void report(const char* what, std::vector<double> us) {
  std::sort(us.begin(), us.end());
  double sum = 0;
  for (const double one : us) sum += one;
  agent::cli::print("{:<13} mean {:7.1f} us, median {:7.1f} us, 99 % below {:8.1f} us\n", what,
                    sum / static_cast<double>(us.size()), us[us.size() / 2], us[us.size() * 99 / 100]);
}

results::archive::NewAttempt timed_attempt(int64_t campaign, int64_t problem, int64_t environment, int64_t naive) {
  results::archive::NewAttempt attempt;
  attempt.campaign = campaign;
  attempt.problem = problem;
  attempt.environment = environment;
  attempt.device = "cpu";
  attempt.compile_ms = 100;
  attempt.seconds = 1;
  attempt.against = naive;
  verifier::verdicts::WorkloadTiming timing{"bench", {}, 50, 100, {2, 1.98, 2.02}};
  for (int i = 0; i < 31; ++i) timing.pairs.push_back({50.0 + i / 31.0, 100.0 - i / 31.0, i % 2 == 0});
  attempt.judgement.verdict = verifier::verdicts::Correct{12, 0.25, true};
  attempt.judgement.measurement = verifier::verdicts::Measurement{
      "cpu-rough", {timing, timing}, timing.speed_up, verifier::statistics::Outcome::win, false};
  return attempt;
}
}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    agent::cli::print_error("usage: bench_archive FILE [ATTEMPTS]\n");
    return 64;
  }
  const int count = argc > 2 ? std::atoi(argv[2]) : 3000;
  results::archive::Recorder archive(argv[1]);
  const int64_t before = archive.count_attempts();
  benchsuite::Problem problem;
  problem.name = "bench_archive";
  problem.json_text = "{}";
  sandbox::Solution source;
  source.problem = problem.name;
  const int64_t environment = archive.add_environment({{"host", "bench_archive"}});
  const int64_t problem_id = archive.add_problem(problem, "of bench_archive");
  const int64_t naive = archive.add_candidate(archive.add_solution({&source, "naive", "naive", {}}), {});
  const int64_t campaign = archive.start_campaign({{"problems", {problem.name}}}, environment).id;
  results::archive::NewAttempt attempt = timed_attempt(campaign, problem_id, environment, naive);
  std::vector<double> adding, finding, stepping;
  for (int i = 0; i < count; ++i) {
    if (i % 40 == 0) source.source = "// of campaign " + std::to_string(campaign) + ", solution " + std::to_string(i);
    const int64_t solution = archive.add_solution({&source, "s" + std::to_string(i), "bench", {}});
    attempt.candidate = archive.add_candidate(solution, {{"X", i}});
    attempt.artefact = std::to_string(campaign) + "-" + std::to_string(i);
    attempt.effort = i % 100 == 0 ? verifier::verdicts::Effort::confirm : verifier::verdicts::Effort::full;
    finding.push_back(microseconds([&] { archive.find_attempt(campaign, attempt.candidate, attempt.effort, naive); }));
    adding.push_back(microseconds([&] { archive.add_attempt(attempt); }));
    stepping.push_back(microseconds([&] { archive.add_event(campaign, "step", {}); }));
  }
  agent::cli::print("{} attempts before, {} added\n", before, count);
  report("add_attempt", adding);
  report("find_attempt", finding);
  report("add_event", stepping);
  return 0;
}

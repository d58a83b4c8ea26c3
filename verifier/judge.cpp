#include "verifier/judge.h"

#include <sys/random.h>

#include <cerrno>
#include <csignal>
#include <utility>

#include "core/error.h"
#include "core/text.h"

namespace verifier {
namespace {
using core::Json;
using sandbox::Build;
using sandbox::Worker;
constexpr auto kShortDeadline = std::chrono::seconds(20);

uint64_t secret_seed() {
  uint64_t seed = 0;
  if (::getrandom(&seed, sizeof seed, 0) != static_cast<ssize_t>(sizeof seed)) {
    throw core::SystemError("no random seed from the kernel", errno);
  }
  return seed;
}

sandbox::CompileRequest compile_request(const sandbox::Solution& solution, const sandbox::TunableBinding& binding,
                                        Build build) {
  return {solution.file, solution.source, sandbox::Macros(binding.begin(), binding.end()), build};
}

Json plan_json(const sandbox::Solution& solution, const sandbox::TunableBinding& binding) {
  return {{"header", solution.header}, {"binding", binding}};
}

Json to_json(const CheckSettings& s) {
  return {{"ordinary_draws", s.ordinary_draws},
          {"adversarial_draws", s.adversarial_draws},
          {"unseen_shapes", s.unseen_shapes},
          {"launch_deadline_s", s.launch_deadline_s}};
}

Json to_json(const TimingSettings& s) {
  return {{"screen_pairs", s.screen_pairs}, {"least_pairs", s.least_pairs},
          {"most_pairs", s.most_pairs},     {"most_s", s.most_s},
          {"half_width", s.half_width},     {"audit_share", s.audit_share}};
}

// How a cell ended turns "it died" into a finding.
void explain_crash(Judgement& judgement, const Json& ended) {
  auto* crashed = std::get_if<Crashed>(&judgement.verdict);
  if (crashed == nullptr) return;
  if (ended.contains("failed")) throw core::SystemError("a cell failed on our side");
  if (!ended.contains("signal")) return;
  crashed->signal = ended["signal"].get<int>();
  if (crashed->signal == SIGSYS) judgement.verdict = ForbiddenCall{crashed->where};
  if (crashed->signal == SIGXCPU) judgement.verdict = TimedOut{crashed->where, 0};
  if (crashed->signal == SIGKILL) {
    judgement.verdict = MemoryLimit{"the kernel ended the candidate's process, which it does when memory runs out"};
  }
}

sandbox::Solution load_trusted(const std::filesystem::path& file, const benchsuite::Problem& problem) {
  sandbox::Solution solution = sandbox::load_solution(file);
  if (solution.problem != problem.name) {
    throw core::InputError(file.string(), "names the problem \"" + solution.problem + "\"",
                           "write \"" + problem.name + "\", the name of its folder");
  }
  sandbox::validate_solution(solution, problem);
  return solution;
}

// What was built, or an exception that says why a trusted solution was not.
template <typename Result, typename Compilation>
Result require_built(Compilation compilation, const sandbox::Solution& solution) {
  if (const auto* rejected = std::get_if<sandbox::Rejected>(&compilation)) {
    throw core::InputError(solution.file + (rejected->line ? ":" + std::to_string(*rejected->line) : ""),
                           rejected->message + (rejected->log.empty() ? "" : "\n" + rejected->log));
  }
  return std::move(std::get<Result>(compilation));
}
}  // namespace

PendingCompilation::PendingCompilation(sandbox::CompilePool& pool, const sandbox::Solution& solution,
                                       const sandbox::TunableBinding& binding)
    : fast_(pool.submit(compile_request(solution, binding, Build::fast))),
      check_(pool.submit(compile_request(solution, binding, Build::check))) {}

CandidateCompilation PendingCompilation::get() {
  sandbox::Compilation fast = fast_.get(), check = check_.get();
  for (sandbox::Compilation* compilation : {&fast, &check}) {
    if (auto* rejected = std::get_if<sandbox::Rejected>(compilation)) return std::move(*rejected);
  }
  return Binaries{std::move(std::get<sandbox::Built>(fast)), std::move(std::get<sandbox::Built>(check))};
}

Judge::Judge(sandbox::WorkerCommand worker, JudgeSettings settings) : command_(std::move(worker)), settings_(settings) {
  start_workers();
}

void Judge::start_workers() {
  const auto with_role = [&](const char* role) {
    sandbox::WorkerCommand command = command_;
    command.args.insert(command.args.end(), {"--role", role});
    return command;
  };
  run_ = Worker::start(with_role("run"));
  judge_ = Worker::start(with_role("judge"));
}

void Judge::use_problem(const benchsuite::Problem& problem, sandbox::CompilePool& pool) {
  problem_ = problem;
  reference_ = load_trusted(problem.reference_file(), problem);
  naive_ = load_trusted(problem.naive_file(), problem);
  auto reference = pool.submit(compile_request(reference_, sandbox::default_binding(reference_), Build::fast));
  PendingCompilation naive(pool, naive_, sandbox::default_binding(naive_));
  reference_built_ = require_built<sandbox::Built>(reference.get(), reference_);
  naive_binaries_ = std::make_unique<Binaries>(require_built<Binaries>(naive.get(), naive_));
  naive_contender_ = Contender{&naive_, sandbox::default_binding(naive_), naive_binaries_.get()};
  teach_problem();
}

void Judge::teach_problem() {
  judge_->request({{"op", "problem"},
                   {"problem", problem_->json_text},
                   {"folder", problem_->folder.string()},
                   {"reference", plan_json(reference_, sandbox::default_binding(reference_))},
                   {"naive", plan_json(naive_, sandbox::default_binding(naive_))}},
                  {reference_built_.binary.get(), naive_binaries_->fast.binary.get()}, kShortDeadline);
}

const Contender& Judge::naive() const { return naive_contender_.value(); }

Judge::Cell Judge::open_cell(const sandbox::Built& built, Build build) {
  sandbox::Message answer =
      run_->request({{"op", "open"}, {"build", sandbox::name_of(build)}}, {built.binary.get()}, kShortDeadline);
  if (answer.fds.size() != 1) throw core::SystemError("the run worker opened no cell");
  return {answer.json.at("cell").get<int>(), std::move(answer.fds[0])};
}

Json Judge::close_cell(const Cell& cell) {
  return run_->request({{"op", "close"}, {"cell", cell.pid}}, {}, kShortDeadline).json;
}

Judgement Judge::judge_in_cells(const Contender& candidate, const Contender& incumbent, Effort effort,
                                const std::array<Cell, 3>& cells) {
  const uint64_t seed = secret_seed();
  try {
    const sandbox::Message answer =
        judge_->request({{"op", "judge"},
                         {"candidate", plan_json(*candidate.solution, candidate.binding)},
                         {"incumbent", plan_json(*incumbent.solution, incumbent.binding)},
                         {"effort", name_of(effort)},
                         {"seed", seed},
                         {"check", to_json(settings_.check)},
                         {"timing", to_json(settings_.timing)}},
                        {cells[0].judge_end.get(), cells[1].judge_end.get(), cells[2].judge_end.get()},
                        std::chrono::milliseconds(static_cast<int64_t>(settings_.deadline_s * 1e3)));
    return judgement_from_json(core::JsonView(answer.json, "judge worker's answer"));
  } catch (const sandbox::WorkerLost& lost) {
    start_workers();
    teach_problem();
    if (lost.cause() == sandbox::WorkerLost::Cause::deadline) {
      return {TimedOut{std::nullopt, settings_.deadline_s}, {}, {}, seed};
    }
    throw core::SystemError(std::string("the judge died and was replaced: ") + lost.what());
  }
}

Judgement Judge::judge(const Contender& candidate, const Contender& incumbent, Effort effort) {
  try {
    const std::array<Cell, 3> cells{open_cell(candidate.binaries->check, Build::check),
                                    open_cell(candidate.binaries->fast, Build::fast),
                                    open_cell(incumbent.binaries->fast, Build::fast)};
    const int run_before = run_->pid();
    Judgement judgement = judge_in_cells(candidate, incumbent, effort, cells);
    if (run_->pid() != run_before) return judgement;  // the cells went with their run worker
    const Json check_end = close_cell(cells[0]), fast_end = close_cell(cells[1]);
    close_cell(cells[2]);
    explain_crash(judgement, check_end);
    explain_crash(judgement, fast_end);
    return judgement;
  } catch (const sandbox::WorkerLost& lost) {
    start_workers();
    teach_problem();
    throw core::SystemError(std::string("the run worker was lost and replaced: ") + lost.what());
  }
}

}  // namespace verifier

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

Json plan_json(const Builds& builds) { return {{"header", builds.solution().header}, {"binding", builds.binding()}}; }

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

void require_built(const sandbox::Rejected* rejected, const sandbox::Solution& solution) {
  if (rejected == nullptr) return;
  throw core::InputError(solution.file + (rejected->line ? ":" + std::to_string(*rejected->line) : ""),
                         rejected->message + (rejected->log.empty() ? "" : "\n" + rejected->log));
}
}  // namespace

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
  reference_builds_.emplace(reference_, sandbox::default_binding(reference_));
  naive_builds_.emplace(naive_, sandbox::default_binding(naive_));
  reference_builds_->start(pool, Effort::screen);
  naive_builds_->start(pool, Effort::full);
  require_built(reference_builds_->wait(pool, Effort::screen), reference_);
  require_built(naive_builds_->wait(pool, Effort::full), naive_);
  teach_problem();
}

void Judge::teach_problem() {
  judge_->request({{"op", "problem"},
                   {"problem", problem_->json_text},
                   {"folder", problem_->folder.string()},
                   {"reference", plan_json(*reference_builds_)},
                   {"naive", plan_json(*naive_builds_)}},
                  {reference_builds_->fast().binary.get(), naive_builds_->fast().binary.get()}, kShortDeadline);
}

const Builds& Judge::naive() const { return naive_builds_.value(); }

Judge::Cell Judge::open_cell(const sandbox::Built& built, Build build) {
  sandbox::Message answer =
      run_->request({{"op", "open"}, {"build", sandbox::name_of(build)}}, {built.binary.get()}, kShortDeadline);
  if (answer.fds.size() != 1) throw core::SystemError("the run worker opened no cell");
  return {answer.json.at("cell").get<int>(), std::move(answer.fds[0])};
}

Json Judge::close_cell(const Cell& cell) {
  return run_->request({{"op", "close"}, {"cell", cell.pid}}, {}, kShortDeadline).json;
}

Judgement Judge::judge_in_cells(const Builds& candidate, const Builds& incumbent, Effort effort,
                                const std::vector<Cell>& cells) {
  const uint64_t seed = secret_seed();
  std::vector<int> ends;
  for (const Cell& cell : cells) ends.push_back(cell.judge_end.get());
  try {
    const sandbox::Message answer =
        judge_->request({{"op", "judge"},
                         {"candidate", plan_json(candidate)},
                         {"incumbent", plan_json(incumbent)},
                         {"effort", name_of(effort)},
                         {"seed", seed},
                         {"check", to_json(settings_.check)},
                         {"timing", to_json(settings_.timing)}},
                        ends, std::chrono::milliseconds(static_cast<int64_t>(settings_.deadline_s * 1e3)));
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

Judgement Judge::judge(const Builds& candidate, const Builds& incumbent, Effort effort) {
  try {
    std::vector<Cell> cells;  // the incumbent's, the candidate's, and its checking build's where that is due
    cells.push_back(open_cell(incumbent.fast(), Build::fast));
    cells.push_back(open_cell(candidate.fast(), Build::fast));
    if (effort != Effort::screen) cells.push_back(open_cell(candidate.check(), Build::check));
    const int run_before = run_->pid();
    Judgement judgement = judge_in_cells(candidate, incumbent, effort, cells);
    if (run_->pid() != run_before) return judgement;  // the cells went with their run worker
    std::vector<Json> ends;
    for (const Cell& cell : cells) ends.push_back(close_cell(cell));
    for (size_t i = ends.size() - 1; i > 0; --i) explain_crash(judgement, ends[i]);
    return judgement;
  } catch (const sandbox::WorkerLost& lost) {
    start_workers();
    teach_problem();
    throw core::SystemError(std::string("the run worker was lost and replaced: ") + lost.what());
  }
}

}  // namespace verifier

#include "verifier/judging/judge.h"

#include <sys/random.h>

#include <cerrno>
#include <csignal>
#include <utility>

#include "benchsuite/data_files.h"
#include "core/error.h"
#include "core/text.h"
#include "sandbox/naive_solution.h"
#include "sandbox/process/sealed_memory.h"
#include "sandbox/process/turns.h"
#include "verifier/judging/given_inputs.h"
#include "verifier/judging/messages.h"

namespace verifier::judging {
namespace {
using core::Json;
using sandbox::Build;
using sandbox::process::Worker;
constexpr auto kShortDeadline = std::chrono::seconds(20);
constexpr auto kPytorchLooks = std::chrono::seconds(180);  // at inputs and outputs that do not matter
// For a library: it is ours to trust, but imports, tunes and compiles for a while.
constexpr auto kLibraryOpens = std::chrono::seconds(180);
constexpr size_t kMostKept = 256;  // problems
constexpr double kLibraryPrepares_s = 240, kLibraryLaunches_s = 30, kLibraryJudged_s = 1500;

Json plan_of(const Builds& builds) { return plan_json(builds.solution(), builds.binding()); }

sandbox::process::WorkerCommand with_role(sandbox::process::WorkerCommand command, const char* role) {
  command.args.insert(command.args.end(), {"--role", role});
  return command;
}

// How a candidate process ended turns "it died" into a finding.
void explain_crash(verdicts::Judgement& judgement, const Json& ended) {
  auto* crashed = std::get_if<verdicts::Crashed>(&judgement.verdict);
  if (crashed == nullptr) return;
  if (ended.contains("failed")) throw core::SystemError("a candidate process failed on our side");
  if (!ended.contains("signal")) return;
  crashed->signal = ended["signal"].get<int>();
  if (crashed->signal == SIGSYS) judgement.verdict = verdicts::ForbiddenCall{crashed->where};
  if (crashed->signal == SIGXCPU) judgement.verdict = verdicts::TimedOut{crashed->where, 0};
  if (crashed->signal == SIGKILL) {
    judgement.verdict =
        verdicts::MemoryLimit{"the kernel ended the candidate's process, which it does when memory runs out"};
  }
}

sandbox::Solution load_trusted(std::string_view file, const benchsuite::Problem& problem) {
  sandbox::Solution solution = sandbox::own_solution(problem, file);
  if (solution.problem != problem.name) {
    throw core::InputError(solution.file, "names the problem \"" + solution.problem + "\"",
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

// Did the candidate end the run worker, or leave its context in a state that nobody should be in?
bool worker_is_spent(const verdicts::Verdict& verdict) {
  return std::holds_alternative<verdicts::Faulted>(verdict) || std::holds_alternative<verdicts::TimedOut>(verdict) ||
         std::holds_alternative<verdicts::Crashed>(verdict) || std::holds_alternative<verdicts::GuardDamaged>(verdict);
}
}  // namespace

uint64_t secret_seed() {
  uint64_t seed = 0;
  if (::getrandom(&seed, sizeof seed, 0) != static_cast<ssize_t>(sizeof seed)) {
    throw core::SystemError("no random seed from the kernel", errno);
  }
  return seed;
}

void share_device(Worker& judge, const std::filesystem::path& folder) {
  const core::UniqueFd file = sandbox::process::file_of_turns(folder, judge.greeting().value("uuid", ""));
  if (file) judge.request({{"op", "share"}}, {file.get()}, kShortDeadline);
}

Judge::Judge(JudgedDevice device, JudgeSettings settings)
    : device_(std::move(device)),
      settings_(settings),
      judge_(Worker::launch(with_role(device_.worker, "judge"))),
      run_(with_role(device_.worker, "run"),
           device_.gpu() ? RunWorkers::Kind::one_per_side : RunWorkers::Kind::forking) {
  judge_->await_greeting();
}

Json Judge::health() {
  return device_.gpu() ? judge_->request({{"op", "health"}}, {}, kShortDeadline).json : Json::object();
}

void Judge::use_kernels(const benchsuite::Problem& problem, sandbox::CompilePool& pool) {
  if (now_->looked_at) return;
  now_->reference = load_trusted(benchsuite::kReferenceFile, problem);
  now_->naive = load_trusted(benchsuite::kNaiveFile, problem);
  now_->reference_builds.emplace(now_->reference, sandbox::default_binding(now_->reference));
  now_->naive_builds.emplace(now_->naive, sandbox::default_binding(now_->naive));
  now_->reference_builds->start(pool, verdicts::Effort::screen);
  now_->naive_builds->start(pool, verdicts::Effort::full);
  require_built(now_->reference_builds->wait(pool, verdicts::Effort::screen), now_->reference);
  require_built(now_->naive_builds->wait(pool, verdicts::Effort::full), now_->naive);
}

void Judge::use_pytorch(const benchsuite::Problem& problem) {
  if (!device_.pytorch) throw core::InputError(problem.pytorch_file().string(), "this device has no PyTorch worker");
  now_->naive = sandbox::naive_solution(problem);
  now_->naive_builds.emplace(Builds::in_pytorch(now_->naive));
  if (!reference_worker_) reference_worker_.emplace(device_.pytorch());
  reference_worker_->use_problem(problem);
  require_given_inputs(*reference_worker_, problem, backend());
}

Judge::Trusted& Judge::trusted_of(const benchsuite::Problem& problem) {
  if (trusted_.size() >= kMostKept) trusted_.clear();
  return trusted_[benchsuite::content_hash(problem)];
}

void Judge::use_problem(const benchsuite::Problem& problem, sandbox::CompilePool& pool) {
  benchsuite::require_data(problem);
  problem_ = problem;
  now_ = &trusted_of(problem);
  std::vector<sandbox::OwnKernel> own;  // compiled while the problem is made ready
  if (device_.gpu() && !judge_kernels_) {
    own.emplace_back("judge_kernels.cu", device_.own_kernels.judge, device_.own_kernels, pool);
    own.emplace_back("run_kernels.cu", device_.own_kernels.run, device_.own_kernels, pool);
  }
  if (problem.pytorch()) {
    use_pytorch(problem);
  } else {
    use_kernels(problem, pool);
  }
  if (!own.empty()) {
    judge_kernels_ = own[0].wait();
    run_.set_known_good(own[1].wait());
  }
  const sandbox::process::Message answer = teach(!now_->looked_at);
  now_->looked_at = !answer.json.contains("refused");
  if (now_->looked_at) return;
  throw core::InputError(problem.place_of(answer.json.at("file").get<std::string>()).string(),
                         answer.json.at("refused").get<std::string>(), answer.json.at("remedy").get<std::string>());
}

sandbox::process::Message Judge::teach(bool look) {
  if (device_.gpu()) {
    share_device(*judge_, device_.turns_in);
    judge_->request({{"op", "kernels"}}, {judge_kernels_.get()}, kShortDeadline);
  }
  Json request{{"op", "problem"},
               {"problem", problem_->json_text},
               {"folder", problem_->folder.string()},
               {"pytorch", problem_->pytorch()},
               {"data", Json::array()},
               {"look", look}};
  std::vector<core::UniqueFd> owned;
  std::vector<int> fds;
  if (problem_->pytorch()) {
    owned.push_back(reference_worker_->open_truth());
    fds.push_back(owned.back().get());
    request["draws_inputs"] = reference_worker_->draws_inputs();
  } else {
    fds = {now_->reference_builds->fast().binary.get(), now_->naive_builds->fast().binary.get()};
    request["reference"] = plan_of(*now_->reference_builds);
    request["naive"] = plan_of(*now_->naive_builds);
  }
  for (const auto& [name, file] : problem_->data) {
    request["data"].push_back(name);
    owned.push_back(sandbox::process::sealed_memory("data", file->bytes()));
    fds.push_back(owned.back().get());
  }
  return judge_->request(request, fds, problem_->pytorch() ? kPytorchLooks : kShortDeadline);
}

std::unique_ptr<reference::ReferenceChannel> Judge::open_inputs() {
  if (!problem_->pytorch() || !reference_worker_->draws_inputs()) return nullptr;
  return std::make_unique<reference::ReferenceChannel>(reference_worker_->open_truth());
}

const Builds& Judge::naive() const { return now_->naive_builds.value(); }

OpenProcess Judge::open_fast(Side side, const Builds& builds) {
  if (!builds.in_pytorch()) return run_.open(side, builds.fast(), Build::fast);
  return {side, 0, reference_worker_->open_eager()};
}

// PyTorch's processes end with their channel.
Json Judge::close(OpenProcess& process) {
  if (process.id > 0) return run_.close(process);
  process.judge_end.reset();
  return {{"killed", true}};
}

std::vector<OpenProcess> Judge::open_processes(const Builds& candidate, const Builds& incumbent,
                                               verdicts::Effort effort) {
  std::vector<OpenProcess> processes;  // the incumbent's, the candidate's, and its other builds' where they are due
  processes.push_back(open_fast(Side::incumbent, incumbent));
  processes.push_back(open_fast(Side::candidate, candidate));
  if (effort != verdicts::Effort::screen && !device_.gpu() && !candidate.in_pytorch()) {
    processes.push_back(run_.open(Side::candidate, candidate.check(), Build::check));
    if (const sandbox::Built* cover = effort == verdicts::Effort::confirm ? candidate.cover() : nullptr) {
      processes.push_back(run_.open(Side::candidate, *cover, Build::cover));
    }
  }
  return processes;
}

// A GPU's worker that the candidate may have broken is replaced; the cpu device's candidate processes tell how they
// ended.
void Judge::close_processes(std::vector<OpenProcess>& processes, verdicts::Judgement& judgement) {
  if (device_.gpu() && worker_is_spent(judgement.verdict)) {
    run_.replace(Side::candidate);
    close(processes[0]);
    return;
  }
  std::vector<Json> ends;
  try {
    for (OpenProcess& process : processes) ends.push_back(close(process));
  } catch (const sandbox::process::WorkerLost& lost) {
    // A GPU's worker may have fallen at a later shape than the one that the verdict names. The cpu device's is no
    // candidate process's to end.
    if (!device_.gpu()) throw;
    if (verdicts::is_correct(judgement.verdict))
      judgement = {verdicts::Crashed{std::nullopt, lost.signal()}, {}, {}, judgement.seed};
    return run_.replace_all();
  }
  for (size_t i = ends.size() - 1; i > 0; --i) explain_crash(judgement, ends[i]);
}

verdicts::Judgement Judge::judge_in_processes(const Builds& candidate, const Builds& incumbent, verdicts::Effort effort,
                                              const std::vector<OpenProcess>& processes, bool library) {
  verdicts::CheckSettings check = settings_.check;
  // On two busy cores the checks of a confirmation take up to 104 s on the cpu device.
  double deadline_s = settings_.deadline_s * (effort == verdicts::Effort::confirm ? 2 : 1);
  if (library) {
    check.launch_deadline_s = kLibraryLaunches_s;
    check.prepare_deadline_s = kLibraryPrepares_s;
    deadline_s = kLibraryJudged_s;
  }
  // A win over another incumbent counts only once it is confirmed against the naive solution, with every check.
  const bool confirms_later =
      effort == verdicts::Effort::confirm && incumbent.solution().hash() != naive().solution().hash();
  return ask_judge({{"op", "judge"},
                    {"candidate", plan_of(candidate)},
                    {"incumbent", plan_of(incumbent)},
                    {"effort", name_of(effort)},
                    {"checks", name_of(confirms_later ? verdicts::Effort::full : effort)},
                    {"library", library},
                    {"pytorch", candidate.in_pytorch()},
                    {"check", to_json(check)},
                    {"timing", to_json(settings_.timing)}},
                   seeds_ ? seeds_->next() : secret_seed(), processes, deadline_s);
}

verdicts::Judgement Judge::ask_judge(Json request, uint64_t seed, const std::vector<OpenProcess>& processes,
                                     double deadline_s) {
  request["seed"] = seed;
  std::vector<int> ends;
  for (const OpenProcess& process : processes) ends.push_back(process.judge_end.get());
  try {
    const sandbox::process::Message answer =
        judge_->request(request, ends, std::chrono::milliseconds(static_cast<int64_t>(deadline_s * 1e3)));
    return verdicts::judgement_from_json(core::JsonView(answer.json, "judge worker's answer"));
  } catch (const sandbox::process::WorkerLost& lost) {
    start_over();
    if (lost.cause() == sandbox::process::WorkerLost::Cause::deadline) {
      return {verdicts::TimedOut{std::nullopt, deadline_s}, {}, {}, seed};
    }
    throw core::SystemError(std::string("the judge died and was replaced: ") + lost.what());
  }
}

verdicts::Judgement Judge::run_checking_build(const Builds& candidate, const Share& share, uint64_t seed) {
  if (problem_->pytorch() && reference_worker_->revive()) teach(false);
  try {
    const int judge_before = judge_->pid();
    std::vector<OpenProcess> processes;
    processes.push_back(run_.open(Side::candidate, candidate.check(), Build::check));
    const sandbox::Built* cover = candidate.cover();
    if (cover != nullptr && share.part == 0) processes.push_back(run_.open(Side::candidate, *cover, Build::cover));
    verdicts::Judgement judgement = ask_judge({{"op", "run_checking_build"},
                                               {"candidate", plan_of(candidate)},
                                               {"check", to_json(settings_.check)},
                                               {"part", share.part},
                                               {"parts", share.parts}},
                                              seed, processes, settings_.deadline_s);
    if (judge_->pid() != judge_before) return judgement;
    explain_crash(judgement, close(processes[0]));
    if (processes.size() > 1) close(processes[1]);
    return judgement;
  } catch (const sandbox::process::WorkerLost& lost) {
    start_over();
    throw core::SystemError(std::string("a run worker was lost and replaced: ") + lost.what());
  }
}

verdicts::Judgement Judge::judge(const Builds& candidate, const Builds& incumbent, verdicts::Effort effort) {
  if (problem_->pytorch() && reference_worker_->revive()) teach(false);
  try {
    if (device_.gpu() && effort == verdicts::Effort::confirm) run_.replace_all();  // fresh processes
    const int judge_before = judge_->pid();
    std::vector<OpenProcess> processes = open_processes(candidate, incumbent, effort);
    verdicts::Judgement judgement = judge_in_processes(candidate, incumbent, effort, processes, false);
    if (judge_->pid() == judge_before) close_processes(processes, judgement);  // else they went with their run workers
    return judgement;
  } catch (const sandbox::process::WorkerLost& lost) {
    start_over();
    throw core::SystemError(std::string("a run worker was lost and replaced: ") + lost.what());
  }
}

void Judge::start_over() {
  run_.replace_all();
  if (reference_worker_) reference_worker_->revive();
  judge_ = Worker::start(with_role(device_.worker, "judge"));
  teach(false);
}

verdicts::Judgement Judge::judge_library(Worker& library, const Json& open) {
  sandbox::process::Message opened;
  try {
    opened = library.request(open, {}, kLibraryOpens);
  } catch (const sandbox::process::WorkerLost& lost) {
    throw core::SystemError(std::string("the library's worker was lost: ") + lost.what());
  }
  if (opened.fds.size() != 1) {
    throw core::SystemError("the library's worker opened no candidate process: " + opened.json.value("refused", ""));
  }
  const int id = opened.json.at("process").get<int>();
  verdicts::Judgement judgement;
  try {
    const int judge_before = judge_->pid();
    std::vector<OpenProcess> processes;
    processes.push_back(open_fast(Side::incumbent, naive()));
    processes.push_back({Side::candidate, id, std::move(opened.fds[0])});
    // The candidate's plan serves for its workspaces alone, which a library leaves alone.
    judgement = judge_in_processes(naive(), naive(), verdicts::Effort::full, processes, true);
    processes[1].judge_end.reset();
    if (judge_->pid() == judge_before) close(processes[0]);
  } catch (const sandbox::process::WorkerLost& lost) {
    start_over();
    throw core::SystemError(std::string("a run worker was lost and replaced: ") + lost.what());
  }
  try {
    library.request({{"op", "close"}, {"process", id}}, {}, kShortDeadline);
  } catch (const sandbox::process::WorkerLost&) {  // it ended with its context; the judgement says so
  }
  return judgement;
}

std::variant<verdicts::Judgement, std::string> Judge::judge_equivalent() {
  using reference::ReferenceWorker;
  if (device_.gpu()) return "it is checked on the cpu device, and wherever kernelwright baselines times it";
  if (!device_.pytorch) return "this device has no PyTorch worker";
  std::optional<ReferenceWorker> worker;  // not reference_worker_: what is wrong may also hang
  try {
    worker.emplace(device_.pytorch());
  } catch (const core::InputError& missing) {
    return missing.problem() + "; " + missing.remedy();
  }
  auto opened = worker->open_equivalent(*problem_);
  if (const auto* lacking = std::get_if<ReferenceWorker::LackingPytorch>(&opened)) return lacking->why;
  if (const auto* wrong = std::get_if<ReferenceWorker::WrongEquivalent>(&opened)) {
    const sandbox::Fault fault{sandbox::FaultKind::unsupported, "PyTorch: " + wrong->why, "", {}, {}, {}};
    return verdicts::Judgement{verdicts::Faulted{{wrong->workload, "", "", ""}, fault}, {}, {}, 0};
  }
  std::vector<OpenProcess> processes;
  processes.push_back(open_fast(Side::incumbent, naive()));
  processes.push_back({Side::candidate, 0, std::move(std::get<core::UniqueFd>(opened))});
  const int judge_before = judge_->pid();
  verdicts::Judgement judgement = judge_in_processes(naive(), naive(), verdicts::Effort::full, processes, true);
  if (judge_->pid() == judge_before) close(processes[0]);
  return judgement;
}

}  // namespace verifier::judging

// The judge as the agent sees it: a device's run and judge workers, and what it takes to judge one candidate with them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "benchsuite/backend.h"
#include "benchsuite/problem.h"
#include "sandbox/compile_pool.h"
#include "sandbox/own_kernels.h"
#include "sandbox/process/worker.h"
#include "sandbox/solution.h"
#include "verifier/judging/builds.h"
#include "verifier/judging/policy.h"
#include "verifier/judging/run_workers.h"
#include "verifier/reference/reference_channel.h"
#include "verifier/reference/reference_worker.h"
#include "verifier/statistics/keys.h"
#include "verifier/verdicts/judgement.h"

namespace verifier::judging {

struct JudgeSettings {
  verdicts::CheckSettings check;
  verdicts::TimingSettings timing;
  double deadline_s = 120;  // for one judgement, and twice that to confirm; past it the judge itself is replaced
};

// Where candidates are judged.
struct JudgedDevice {
  sandbox::process::WorkerCommand worker;
  benchsuite::Backend backend = benchsuite::Backend::cpu;
  sandbox::OwnKernels own_kernels = {};  // on a GPU
  std::filesystem::path turns_in = {};   // on a GPU: the folder of share_device(); empty: judges take no turns
  // The worker that computes a problem's reference.py. Throws core::InputError where there is no PyTorch.
  std::function<sandbox::process::WorkerCommand()> pytorch = {};

  bool gpu() const { return benchsuite::is_gpu(backend); }  // then there is no checking build
};

// From the kernel's random source. Throws core::SystemError.
uint64_t secret_seed();

// Has the judge worker of a GPU take turns with those of other processes that judge there and keep their files in this
// folder.
void share_device(sandbox::process::Worker& judge, const std::filesystem::path& folder);

// Owns the run workers and the judge worker of one device. Not for use by two threads at once.
class Judge {
 public:
  Judge(JudgedDevice device, JudgeSettings settings);

  // Compiles the problem's reference and naive solution, or starts a worker with its reference.py, and hands them to
  // the judge worker. Throws core::InputError when either does not compile or work, there is no PyTorch, or an output
  // or input does not matter (dependence.h): such a problem cannot be used.
  void use_problem(const benchsuite::Problem& problem, sandbox::CompilePool& pool);

  std::string backend() const { return std::string(name_of(device_.backend)); }
  // A channel that asks inputs() of the problem's reference.py; null where it has none.
  std::unique_ptr<reference::ReferenceChannel> open_inputs();

  // Judges against the incumbent, each in candidate processes of its own. Both are built for this effort. A
  // confirmation against another incumbent than naive checks as a full judgement does: one against naive decides.
  // Throws core::SystemError for our own failures, DeviceSetAside when the device is one that cannot be used any more.
  verdicts::Judgement judge(const Builds& candidate, const Builds& incumbent, verdicts::Effort effort);

  // Launches the checking build alone, as a confirmation does: on a device that has one. Never times. The first share
  // also tells what of the code was seen to run, where the covering build is there and finds nothing wrong.
  // Judges that take a share each need one seed. Throws as judge() does.
  verdicts::Judgement run_checking_build(const Builds& candidate, const Share& share, uint64_t seed);

  // Judges a library with full effort against naive, on a GPU. `library`: a worker that opens candidate processes when
  // asked `open`, which answer as sandbox/cuda/run/roles.h says. It is lost where it died (its pid is then 0 or less).
  // Throws core::SystemError for our own failures and for what the library's worker reports as such.
  verdicts::Judgement judge_library(sandbox::process::Worker& library, const core::Json& open);

  // Judges the problem's equivalents.pytorch likewise on the cpu device, in a jailed worker of its own. A sentence says
  // why it cannot be judged here. Throws core::SystemError for our own failures.
  std::variant<verdicts::Judgement, std::string> judge_equivalent();

  // From now on the seeds of judgements follow from this one, so that all of them can be repeated. For selftests and
  // audits alone: otherwise every seed is secret until its judgement is over.
  void draw_seeds_from(uint64_t seed) { seeds_.emplace(seed); }

  // The naive solution of the current problem: the first incumbent, and what scores are relative to.
  const Builds& naive() const;

  // "sandbox_level", "sandbox": how the run workers are locked.
  const core::Json& run_greeting() const { return run_.greeting(); }
  // On a GPU also "gpu", "architecture", "driver" and other facts.
  const core::Json& greeting() const { return judge_->greeting(); }
  // A GPU's health: "memory_errors", how many could not be corrected, and "slowed", why the hardware holds its clock
  // back
  // ("" if it does not). An empty object on the cpu device. Throws core::SystemError.
  core::Json health();

 private:
  void use_kernels(const benchsuite::Problem& problem, sandbox::CompilePool& pool);
  void use_pytorch(const benchsuite::Problem& problem);
  // `look`: whether the problem asks for anything (dependence.h), which the answer then says.
  sandbox::process::Message teach(bool look);
  OpenProcess open_fast(Side side, const Builds& builds);
  core::Json close(OpenProcess& process);
  std::vector<OpenProcess> open_processes(const Builds& candidate, const Builds& incumbent, verdicts::Effort effort);
  void close_processes(std::vector<OpenProcess>& processes, verdicts::Judgement& judgement);
  verdicts::Judgement judge_in_processes(const Builds& candidate, const Builds& incumbent, verdicts::Effort effort,
                                         const std::vector<OpenProcess>& processes, bool library);
  verdicts::Judgement ask_judge(core::Json request, uint64_t seed, const std::vector<OpenProcess>& processes,
                                double deadline_s);
  void start_over();

  JudgedDevice device_;
  JudgeSettings settings_;
  std::optional<sandbox::process::Worker> judge_;  // launched first: all workers of a GPU start side by side
  RunWorkers run_;
  core::UniqueFd judge_kernels_;  // on a GPU, once they are compiled

  std::optional<statistics::Keys> seeds_;

  // The compiled reference and naive solution of a problem. They are kept, since a judge may come back to the problem.
  struct Trusted {
    sandbox::Solution reference, naive;
    std::optional<Builds> reference_builds, naive_builds;
    bool looked_at = false;  // the problem asks for something
  };
  Trusted& trusted_of(const benchsuite::Problem& problem);

  std::optional<benchsuite::Problem> problem_;
  std::map<std::string, Trusted> trusted_;                      // by the hash of the problem
  Trusted* now_ = nullptr;                                      // of the current problem
  std::optional<reference::ReferenceWorker> reference_worker_;  // once a problem with reference.py was in use
};

}  // namespace verifier::judging

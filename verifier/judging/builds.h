// The builds of one candidate: each compiled once, when it is first wanted.
#pragma once

#include <future>
#include <memory>
#include <optional>

#include "sandbox/compile_pool.h"
#include "sandbox/solution.h"
#include "verifier/verdicts/judgement.h"

namespace verifier::judging {

// The solution must outlive it. Not for two threads at once.
class Builds {
 public:
  Builds(const sandbox::Solution& solution, sandbox::TunableBinding binding)
      : solution_(&solution), binding_(std::move(binding)), slots_(std::make_shared<Slots>()) {}
  // For a solution whose code and binding are the other's and whose plan alone is its own: nothing is compiled twice.
  Builds(const sandbox::Solution& solution, const Builds& same_code)
      : solution_(&solution), binding_(same_code.binding_), slots_(same_code.slots_) {}

  // Computed by the problem's reference.py in PyTorch: nothing is compiled.
  static Builds in_pytorch(const sandbox::Solution& solution);
  bool in_pytorch() const { return in_pytorch_; }

  // Begins to compile what judging with this effort needs: a screening does without the checking build, and GPUs have
  // none.
  void start(sandbox::CompilePool& pool, verdicts::Effort effort);
  // Has what was started ended? Then wait() does not wait.
  bool ready(const sandbox::CompilePool& pool, verdicts::Effort effort) const;
  // Compiles the checking build, and the covering one, alone. Null when the former is there, otherwise why not. Throws
  // core::SystemError when our side fails.
  const sandbox::Rejected* wait_for_check(sandbox::CompilePool& pool);
  // Waits for it. Null when it is there, otherwise why not. Throws core::SystemError when our side fails.
  const sandbox::Rejected* wait(sandbox::CompilePool& pool, verdicts::Effort effort);

  const sandbox::Solution& solution() const { return *solution_; }
  const sandbox::TunableBinding& binding() const { return binding_; }
  // The builds that wait() has made available. The judge lends them to candidate processes; they stay here.
  const sandbox::Built& fast() const { return std::get<sandbox::Built>(slots_->fast.done.value()); }
  const sandbox::Built& check() const { return std::get<sandbox::Built>(slots_->check.done.value()); }
  // Null where its compiler made none.
  const sandbox::Built* cover() const {
    return slots_->cover.done ? std::get_if<sandbox::Built>(&*slots_->cover.done) : nullptr;
  }
  double compile_ms() const;  // of all that was built

 private:
  struct Slot {
    std::future<sandbox::Compilation> pending;
    std::optional<sandbox::Compilation> done;
  };
  struct Slots {
    Slot fast, check, cover;
  };
  void start(Slot& slot, sandbox::CompilePool& pool, sandbox::Build build);
  static const sandbox::Rejected* wait(Slot& slot);
  static bool ready(const Slot& slot);

  const sandbox::Solution* solution_;
  bool in_pytorch_ = false;
  sandbox::TunableBinding binding_;
  std::shared_ptr<Slots> slots_;
};

}  // namespace verifier::judging

// The builds of one candidate: each compiled once, when it is first wanted.
#pragma once

#include <future>
#include <optional>

#include "sandbox/compile_pool.h"
#include "sandbox/solution.h"
#include "verifier/judgement.h"

namespace verifier {

// The solution must outlive it. Not for two threads at once.
class Builds {
 public:
  Builds(const sandbox::Solution& solution, sandbox::TunableBinding binding)
      : solution_(&solution), binding_(std::move(binding)) {}

  // Begins to compile what judging with this effort needs: a screening does without the checking build, and GPUs have
  // none.
  void start(sandbox::CompilePool& pool, Effort effort);
  // Waits for it. Null when it is there, otherwise why not. Throws core::SystemError when our side fails.
  const sandbox::Rejected* wait(sandbox::CompilePool& pool, Effort effort);

  const sandbox::Solution& solution() const { return *solution_; }
  const sandbox::TunableBinding& binding() const { return binding_; }
  // What wait() has made available. The judge lends them to cells; they stay here.
  const sandbox::Built& fast() const { return std::get<sandbox::Built>(fast_.done.value()); }
  const sandbox::Built& check() const { return std::get<sandbox::Built>(check_.done.value()); }
  double compile_ms() const;  // of all that was built

 private:
  struct Slot {
    std::future<sandbox::Compilation> pending;
    std::optional<sandbox::Compilation> done;
  };
  void start(Slot& slot, sandbox::CompilePool& pool, sandbox::Build build);
  static const sandbox::Rejected* wait(Slot& slot);

  const sandbox::Solution* solution_;
  sandbox::TunableBinding binding_;
  Slot fast_, check_;
};

}  // namespace verifier

#include "verifier/judging/builds.h"

namespace verifier::judging {

void Builds::start(Slot& slot, sandbox::CompilePool& pool, sandbox::Build build) {
  if (slot.done || slot.pending.valid()) return;
  slot.pending =
      pool.submit({solution_->file, solution_->source, sandbox::Macros(binding_.begin(), binding_.end()), build});
}

Builds Builds::in_pytorch(const sandbox::Solution& solution) {
  Builds builds(solution, {});
  builds.in_pytorch_ = true;
  return builds;
}

void Builds::start(sandbox::CompilePool& pool, verdicts::Effort effort) {
  if (in_pytorch_) return;
  start(slots_->fast, pool, sandbox::Build::fast);
  if (effort != verdicts::Effort::screen && pool.has_check_build()) start(slots_->check, pool, sandbox::Build::check);
  if (effort == verdicts::Effort::confirm && pool.has_check_build()) start(slots_->cover, pool, sandbox::Build::cover);
}

bool Builds::ready(const Slot& slot) {
  return slot.done ||
         (slot.pending.valid() && slot.pending.wait_for(std::chrono::seconds(0)) == std::future_status::ready);
}

bool Builds::ready(const sandbox::CompilePool& pool, verdicts::Effort effort) const {
  if (in_pytorch_) return true;
  if (!ready(slots_->fast)) return false;
  if (effort == verdicts::Effort::screen || !pool.has_check_build()) return true;
  return ready(slots_->check) && (effort != verdicts::Effort::confirm || ready(slots_->cover));
}

const sandbox::Rejected* Builds::wait(Slot& slot) {
  if (!slot.done) slot.done = slot.pending.get();
  return std::get_if<sandbox::Rejected>(&*slot.done);
}

const sandbox::Rejected* Builds::wait(sandbox::CompilePool& pool, verdicts::Effort effort) {
  if (in_pytorch_) return nullptr;
  start(pool, effort);
  const sandbox::Rejected* rejected = wait(slots_->fast);
  if (rejected != nullptr || effort == verdicts::Effort::screen || !pool.has_check_build()) return rejected;
  if (effort == verdicts::Effort::confirm) wait(slots_->cover);  // where there is none, its lines are not looked at
  return wait(slots_->check);
}

const sandbox::Rejected* Builds::wait_for_check(sandbox::CompilePool& pool) {
  start(slots_->check, pool, sandbox::Build::check);
  start(slots_->cover, pool, sandbox::Build::cover);
  const sandbox::Rejected* rejected = wait(slots_->check);
  wait(slots_->cover);
  return rejected;
}

double Builds::compile_ms() const {
  double total = 0;
  for (const Slot* slot : {&slots_->fast, &slots_->check, &slots_->cover}) {
    const auto* built = slot->done ? std::get_if<sandbox::Built>(&*slot->done) : nullptr;
    if (built != nullptr) total += built->compile_ms;
  }
  return total;
}

}  // namespace verifier::judging

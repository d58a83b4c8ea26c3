// The order of a campaign's outside events: attempts finished, replies arrived, time up, devices lost. All decisions
// follow from these events. The archive numbers them as it records them; a resumed or replayed campaign takes them in
// the same order, and so decides the same, until none is left.
#pragma once

#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "results/archive/recorder.h"

namespace agent::search {

// A decision that differs from the recorded one.
class Divergence : public std::runtime_error {
 public:
  Divergence(int64_t at, const std::string& was, const std::string& is)
      : std::runtime_error("step " + std::to_string(at) + ": recorded: " + was + "; now: " + is),
        step(at),
        recorded(was),
        now(is) {}
  int64_t step;
  std::string recorded, now;
};
// The record ends before the campaign does.
class RecordEnded : public std::runtime_error {
 public:
  RecordEnded() : std::runtime_error("the record ends here") {}
};

class Journal {
 public:
  enum class Purpose {
    resume,  // continues where the record ends; after a divergence (in a newer version, say), uses the recorded events
             // that still fit
    replay   // throws Divergence instead, and starts no new work
  };
  using Step = results::archive::StepRecord;

  Journal(results::archive::Recorder& archive, int64_t campaign, Purpose purpose = Purpose::resume);

  bool replays() const { return purpose_ == Purpose::replay; }
  // Are recorded steps left?
  bool recalls() const { return !over_ && next_ < steps_.size(); }
  const Step* next() const { return recalls() ? &steps_[next_] : nullptr; }
  void take() { ++next_; }
  // Steps of problems whose search ended before the interruption: they are not taken again.
  const std::vector<Step>& before() const { return before_; }
  int64_t attempts_before() const;
  int64_t taken() const { return static_cast<int64_t>(next_); }

  // If the next step is an event of this kind and problem, takes it and returns its details. Earlier versions searched
  // one problem at a time, and did not name it in each event.
  std::optional<core::Json> take_event(const std::string& kind, const std::string& problem);
  // Records an event on which decisions depend.
  void note(const std::string& kind, const core::Json& details);
  // Returns why the time of a problem's search is up; nullopt: it is not. A live campaign calls `now` and records a
  // reason; otherwise the record decides.
  std::optional<std::string> time_up(const std::string& problem,
                                     const std::function<std::optional<std::string>()>& now);

  // Hands a recorded event to the search. Listeners have already seen its consequences.
  void recall(const std::function<void()>& event);
  bool is_recalling() const { return recalling_; }

  // Ends taking steps in order. take_left gives access to the steps that are left.
  void finish();
  bool is_finished() const { return over_; }
  void diverge(const std::string& recorded, const std::string& now);
  std::optional<Step> take_left(const std::function<bool(const Step&)>& fits);
  int64_t attempts_left() const;  // recorded

  // Sets a listener. `finished`: called once, when no more steps will come.
  void on_finish(std::function<void()> finished) { finished_.push_back(std::move(finished)); }
  void on_divergence(std::function<void(const Divergence&)> diverged) { diverged_ = std::move(diverged); }
  void on_model_step(std::function<void(const Step&)> taken) { model_step_ = std::move(taken); }
  // `again`: sends one lost request again; false when there is none.
  void on_unanswered(std::function<bool()> again) { again_ = std::move(again); }
  void model_step(const Step& step) { model_step_(step); }
  bool ask_again() { return again_ && again_(); }

 private:
  results::archive::Recorder& archive_;
  int64_t campaign_;
  Purpose purpose_;
  std::vector<Step> before_, steps_;
  size_t next_ = 0;
  bool over_ = false, recalling_ = false;
  std::vector<std::function<void()>> finished_;
  std::function<void(const Divergence&)> diverged_;
  std::function<void(const Step&)> model_step_;
  std::function<bool()> again_;
};

// The step as text for messages.
std::string describe(const Journal::Step& step);

}  // namespace agent::search

// The order in which a campaign takes what comes from outside: attempts told, replies arrived, time that is up, devices
// lost. Its decisions follow from nothing else. The archive numbers them as it writes them down; a campaign that is led
// again takes them from there, in the same order, and so decides the same, until none is left.
#pragma once

#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "results/archive/recorder.h"

namespace agent::search {

// What a campaign that is led again does otherwise than it did.
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
// There is nothing more to replay, and the campaign was not at its end.
class RecordEnded : public std::runtime_error {
 public:
  RecordEnded() : std::runtime_error("the record ends here") {}
};

class Journal {
 public:
  enum class Purpose {
    resume,  // goes on where the record ends; where the program decides otherwise than it did (it is a newer one, say),
             // what is recorded is used where it still fits
    replay   // throws Divergence there, and begins nothing of its own
  };
  using Step = results::archive::StepRecord;

  Journal(results::archive::Recorder& archive, int64_t campaign, Purpose purpose = Purpose::resume);

  bool replays() const { return purpose_ == Purpose::replay; }
  // Is there a step that has not been taken yet?
  bool recalls() const { return !over_ && next_ < steps_.size(); }
  const Step* next() const { return recalls() ? &steps_[next_] : nullptr; }
  void take() { ++next_; }
  // What came before the first step: of problems that had ended when the campaign was interrupted.
  const std::vector<Step>& before() const { return before_; }
  int64_t attempts_before() const;
  int64_t taken() const { return static_cast<int64_t>(next_); }

  // The next step's details when it is such an event of this problem's; it is taken then.
  std::optional<core::Json> take_event(const std::string& kind, const std::string& problem);
  // Writes an event down that decisions follow from.
  void note(const std::string& kind, const core::Json& details);
  // Is time up? Of a live campaign, what `now` says, and it is written down when it is; else what was recorded.
  std::optional<std::string> time_up(const std::function<std::optional<std::string>()>& now);

  // Hands a recorded event to the search. Watchers have seen what follows from it.
  void recall(const std::function<void()>& event);
  bool is_recalling() const { return recalling_; }

  // From here on nothing is taken in order. What is left of the record may be had with take_left.
  void finish();
  void diverge(const std::string& recorded, const std::string& now);
  std::optional<Step> take_left(const std::function<bool(const Step&)>& fits);
  int64_t attempts_left() const;  // in the record

  // Whoever waits for steps. `finished`: called once, when no more will come.
  void on_finish(std::function<void()> finished) { finished_.push_back(std::move(finished)); }
  void on_divergence(std::function<void(const Divergence&)> diverged) { diverged_ = std::move(diverged); }
  void on_exchange(std::function<void(const Step&)> taken) { exchange_ = std::move(taken); }
  // `again`: asks one request again that nobody will answer any more; false when there is none.
  void on_unanswered(std::function<bool()> again) { again_ = std::move(again); }
  void exchange(const Step& step) { exchange_(step); }
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
  std::function<void(const Step&)> exchange_;
  std::function<bool()> again_;
};

// For people.
std::string describe(const Journal::Step& step);

}  // namespace agent::search

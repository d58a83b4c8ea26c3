#include "agent/search/journal.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

namespace agent::search {
namespace {
using core::Json;
using Kind = results::archive::StepRecord::Kind;
constexpr std::array kDeciding{"problem_started", "problem_ended", "time_up", "places"};

bool decides(const Journal::Step& step) {
  return step.kind != Kind::event || std::find(kDeciding.begin(), kDeciding.end(), step.event) != kDeciding.end();
}

int64_t attempts_in(const std::vector<Journal::Step>& steps, size_t from) {
  return std::count_if(steps.begin() + static_cast<std::ptrdiff_t>(from), steps.end(),
                       [](const Journal::Step& step) { return step.kind == Kind::attempt; });
}

// The problem that each step belongs to. An event that names none is of the search begun last.
std::vector<std::string> problems_of(const std::vector<Journal::Step>& steps) {
  std::vector<std::string> problems;
  std::string begun;
  for (const Journal::Step& step : steps) {
    if (step.event == "problem_started") begun = step.details.at("problem");
    problems.push_back(step.kind == Kind::event ? step.details.value("problem", begun) : step.problem);
  }
  return problems;
}
}  // namespace

Journal::Journal(results::archive::Recorder& archive, int64_t campaign, Purpose purpose)
    : archive_(archive), campaign_(campaign), purpose_(purpose), steps_(archive.steps_of_campaign(campaign)) {
  std::erase_if(steps_, [](const Step& step) { return !decides(step); });
  // Earlier versions recorded no order.
  over_ = std::any_of(steps_.begin(), steps_.end(), [](const Step& step) { return step.number == 0; });
  if (over_ || purpose == Purpose::replay) return;
  const std::vector<std::string> problems = problems_of(steps_);
  std::set<std::string> ended;
  for (const Step& step : steps_) {
    if (step.event == "problem_ended") ended.insert(step.details.at("problem").get<std::string>());
  }
  std::vector<Step> all = std::exchange(steps_, {});
  for (size_t i = 0; i < all.size(); ++i) {
    (ended.contains(problems[i]) ? before_ : steps_).push_back(std::move(all[i]));
  }
}

int64_t Journal::attempts_before() const { return attempts_in(before_, 0); }
int64_t Journal::attempts_left() const { return attempts_in(steps_, std::min(next_, steps_.size())); }

std::optional<Json> Journal::take_event(const std::string& kind, const std::string& problem) {
  const Step* const step = next();
  if (step == nullptr || step->kind != Kind::event || step->event != kind) return std::nullopt;
  if (step->details.value("problem", problem) != problem) return std::nullopt;
  take();
  return step->details;
}

void Journal::note(const std::string& kind, const Json& details) {
  if (!replays()) archive_.add_event(campaign_, kind, details);
}

std::optional<std::string> Journal::time_up(const std::string& problem,
                                            const std::function<std::optional<std::string>()>& now) {
  if (recalls() || replays()) {
    const std::optional<Json> recorded = take_event("time_up", problem);
    return recorded ? std::optional(recorded->at("why").get<std::string>()) : std::nullopt;
  }
  std::optional<std::string> why = now();
  if (why) note("time_up", {{"problem", problem}, {"why", *why}});
  return why;
}

void Journal::recall(const std::function<void()>& event) {
  const bool before = std::exchange(recalling_, true);
  event();
  recalling_ = before;
}

void Journal::finish() {
  over_ = true;
  for (const auto& finished : std::exchange(finished_, {})) finished();
}

void Journal::diverge(const std::string& recorded, const std::string& now) {
  const Divergence divergence(next() != nullptr ? next()->number : 0, recorded, now);
  if (replays()) throw divergence;
  if (diverged_) diverged_(divergence);
  finish();
}

std::optional<Journal::Step> Journal::take_left(const std::function<bool(const Step&)>& fits) {
  const auto first = steps_.begin() + static_cast<std::ptrdiff_t>(std::min(next_, steps_.size()));
  const auto found = std::find_if(first, steps_.end(), fits);
  if (found == steps_.end()) return std::nullopt;
  Step step = std::move(*found);
  steps_.erase(found);
  return step;
}

std::string describe(const Journal::Step& step) {
  const std::string id = std::to_string(step.id);
  switch (step.kind) {
    case Kind::attempt:
      return "attempt " + id + " (" + step.effort + ", " + step.problem + ")";
    case Kind::request:
      return "request " + id + " (" + step.problem + ")";
    case Kind::reply:
      return "the reply to request " + id + " (" + step.problem + ")";
    case Kind::event:
      break;
  }
  return step.event + " " + step.details.dump();
}

}  // namespace agent::search

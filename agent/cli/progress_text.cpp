#include "agent/cli/progress_text.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <map>

#include "agent/cli/live_view.h"
#include "agent/cli/output.h"
#include "agent/cli/table.h"
#include "core/strict_json.h"
#include "core/text.h"

namespace agent::cli {
namespace {
using core::Json;

// Plain lines for a file: every event.
class TextProgress : public search::Progress {
 public:
  void campaign_started(const std::string& campaign, size_t problems, const search::BudgetLeft& budget) override {
    keep(fmt::format("campaign {}: {} problem{}, budget {}", campaign, problems, problems == 1 ? "" : "s",
                     describe(budget)));
  }
  void problem_started(const std::string& problem, size_t index, size_t count) override {
    begin(problem, where_[problem] = fmt::format("[{}/{}] {}", index + 1, count, problem));
  }
  void attempted(const search::AttemptReport& r) override {
    keep(fmt::format("  #{} {}{}", r.number, where_.size() > 1 ? r.problem + " " : "", describe(r)));
  }
  void answered(const search::ReplyReport& r) override {
    keep(fmt::format("  {} ({}): {}; {}", r.model, r.task, r.failed.empty() ? "replied" : r.failed, describe(r)));
  }
  void problem_ended(const std::string& problem, double best, const std::string& why) override {
    keep(fmt::format("{}: best {} over naive; {}", where_[problem], format_speed_up(best), why));
    where_.erase(problem);
  }
  void noted(const std::string& what) override { keep("  " + what); }
  void warned(const std::string& what) override { keep("warning: " + what); }

 protected:
  virtual void begin(const std::string&, const std::string& where) { keep(where); }
  virtual void keep(const std::string& line) {
    print("{}\n", core::clean_line(line));
    std::fflush(stdout);
  }
  std::map<std::string, std::string> where_;  // of problems that are searched: "[1/3] softmax_f32"
};

// On a terminal: important events scroll by, the rest is a status view that is redrawn in place.
class LiveProgress : public TextProgress {
 public:
  void attempted(const search::AttemptReport& report) override {
    view_.attempted(report);
    lines_.show(view_.lines());
  }
  void answered(const search::ReplyReport& report) override {
    view_.answered(report);
    lines_.show(view_.lines());
  }

  void problem_ended(const std::string& problem, double best, const std::string& why) override {
    view_.problem_ended(problem);
    TextProgress::problem_ended(problem, best, why);
  }

 private:
  void begin(const std::string& problem, const std::string& where) override {
    view_.problem_started(problem, where);
    lines_.show(view_.lines());
  }
  void keep(const std::string& line) override {
    lines_.clear();
    TextProgress::keep(line);
  }

  LiveView view_;
  LiveLines lines_;
};

class JsonProgress : public search::Progress {
 public:
  void campaign_started(const std::string& campaign, size_t problems, const search::BudgetLeft& budget) override {
    put({{"event", "campaign_started"}, {"campaign", campaign}, {"problems", problems}, {"left", json(budget)}});
  }
  void problem_started(const std::string& problem, size_t index, size_t count) override {
    put({{"event", "problem_started"}, {"problem", problem}, {"index", index}, {"count", count}});
  }
  void attempted(const search::AttemptReport& r) override {
    put({{"event", "attempted"},
         {"attempt", r.attempt},
         {"number", r.number},
         {"problem", r.problem},
         {"solution", r.solution},
         {"tunables", r.tunables},
         {"effort", name_of(r.effort)},
         {"verdict", name_of(*r.verdict)},
         {"speed_up", r.speed_up ? Json(*r.speed_up) : Json()},
         {"reused", r.reused},
         {"new_best", r.new_best},
         {"best", r.best},
         {"left", json(r.left)}});
  }
  void answered(const search::ReplyReport& r) override {
    put({{"event", "answered"},
         {"problem", r.problem},
         {"model", r.model},
         {"operator", r.task},
         {"failed", r.failed.empty() ? Json() : Json(r.failed)},
         {"requests", r.requests},
         {"in_flight", r.in_flight},
         {"tokens",
          {{"input", r.usage.input},
           {"cache_read", r.usage.cache_read},
           {"cache_written", r.usage.cache_written},
           {"output", r.usage.output}}},
         {"dollars", r.dollars}});
  }
  void problem_ended(const std::string& problem, double best, const std::string& why) override {
    put({{"event", "problem_ended"}, {"problem", problem}, {"best", best}, {"why", why}});
  }
  void noted(const std::string& what) override { put({{"event", "noted"}, {"what", what}}); }
  void warned(const std::string& what) override { put({{"event", "warned"}, {"what", what}}); }

 private:
  static Json json(const search::BudgetLeft& left) {
    return {{"attempts", left.attempts ? Json(*left.attempts) : Json()},
            {"seconds", left.seconds ? Json(*left.seconds) : Json()}};
  }
  void put(Json line) {
    line["elapsed_s"] = std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
    print_json(line);
    std::fflush(stdout);
  }

  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};
}  // namespace

std::string describe(const search::BudgetLeft& left) {
  std::string text;
  if (left.attempts) text += fmt::format("{} attempts", *left.attempts);
  if (left.seconds) text += fmt::format("{}{:.0f} s", text.empty() ? "" : ", ", *left.seconds);
  return text.empty() ? "no limit" : text;
}

std::string describe(const search::AttemptReport& r) {
  const std::string what = r.tunables.empty() ? r.solution : r.solution + " " + r.tunables;
  std::string text = fmt::format("{:<7} {}  {}", name_of(r.effort), what, name_of(*r.verdict));
  if (r.speed_up) text += "  " + format_speed_up(*r.speed_up);
  if (r.reused) text += "  (same binary as before)";
  if (r.new_best) text += "  NEW BEST";
  return text;
}

std::string describe(const search::ReplyReport& r) {
  const int64_t in = r.usage.input + r.usage.cache_read + r.usage.cache_written;
  std::string text = fmt::format(
      "{} request{}, {} tokens in ({:.0f} % from caches), {} out", r.requests, r.requests == 1 ? "" : "s", in,
      in > 0 ? 100.0 * static_cast<double>(r.usage.cache_read) / static_cast<double>(in) : 0.0, r.usage.output);
  if (r.dollars > 0) text += fmt::format(", ${:.4f}", r.dollars);
  if (r.in_flight > 0) text += fmt::format(", {} in flight", r.in_flight);
  return text;
}

std::unique_ptr<search::Progress> make_progress(bool json) {
  if (json) return std::make_unique<JsonProgress>();
  if (::isatty(STDOUT_FILENO) != 0) return std::make_unique<LiveProgress>();
  return std::make_unique<TextProgress>();
}

}  // namespace agent::cli

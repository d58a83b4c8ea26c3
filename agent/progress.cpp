#include "agent/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "agent/output.h"
#include "agent/table.h"
#include "core/strict_json.h"
#include "core/text.h"

namespace agent {
namespace {
using core::Json;

std::string describe(const BudgetLeft& left) {
  std::string text;
  if (left.attempts) text += fmt::format("{} attempts", *left.attempts);
  if (left.seconds) text += fmt::format("{}{:.0f} s", text.empty() ? "" : ", ", *left.seconds);
  return text.empty() ? "no limit" : text;
}

std::string describe(const AttemptReport& r) {
  const std::string what = r.tunables.empty() ? r.solution : r.solution + " " + r.tunables;
  std::string text = fmt::format("{:<7} {}  {}", verifier::name_of(r.effort), what, verifier::name_of(*r.verdict));
  if (r.speed_up) text += "  " + format_speed_up(*r.speed_up);
  if (r.reused) text += "  (same binary as before)";
  return text;
}

std::string describe_spend(const ExchangeReport& r) {
  const int64_t in = r.usage.input + r.usage.cache_read + r.usage.cache_written;
  std::string text = fmt::format(
      "{} request{}, {} tokens in ({:.0f} % from caches), {} out", r.requests, r.requests == 1 ? "" : "s", in,
      in > 0 ? 100.0 * static_cast<double>(r.usage.cache_read) / static_cast<double>(in) : 0.0, r.usage.output);
  if (r.dollars > 0) text += fmt::format(", ${:.4f}", r.dollars);
  if (r.in_flight > 0) text += fmt::format(", {} in flight", r.in_flight);
  return text;
}

// One line per thing worth keeping: starts, new bests, ends. Attempts only in the live line or, on a file, as plain
// lines.
class TextProgress : public Progress {
 public:
  explicit TextProgress(bool live) : live_(live) {}

  void campaign_started(const std::string& campaign, size_t problems, const BudgetLeft& budget) override {
    keep(fmt::format("campaign {}: {} problem{}, budget {}", campaign, problems, problems == 1 ? "" : "s",
                     describe(budget)));
  }
  void problem_started(const std::string& problem, size_t index, size_t count) override {
    where_ = fmt::format("[{}/{}] {}", index + 1, count, problem);
    if (live_) {
      print_live(where_);
    } else {
      keep(where_);
    }
  }
  void attempted(const AttemptReport& r) override {
    if (!live_) {
      keep(fmt::format("  #{} {}{}", r.number, describe(r), r.new_best ? "  NEW BEST" : ""));
      return;
    }
    print_live(fmt::format("{}  #{}  best {}  left {}  | {}", where_, r.number, format_speed_up(r.best),
                           describe(r.left), describe(r)));
  }
  void answered(const ExchangeReport& r) override {
    std::string text = fmt::format("  {} ({}): ", r.model, r.task) + (r.failed.empty() ? "replied" : r.failed);
    text += "; " + describe_spend(r);
    if (live_) {
      print_live(where_ + text);
    } else {
      keep(text);
    }
  }
  void problem_ended(const std::string&, double best, const std::string& why) override {
    keep(fmt::format("{}: best {} over naive; {}", where_, format_speed_up(best), why));
  }
  void warned(const std::string& what) override { keep("warning: " + what); }

 private:
  void keep(const std::string& line) {
    if (live_) print_live("");
    print("{}\n", core::clean_line(line));
    std::fflush(stdout);
  }

  bool live_;
  std::string where_;
};

class JsonProgress : public Progress {
 public:
  void campaign_started(const std::string& campaign, size_t problems, const BudgetLeft& budget) override {
    put({{"event", "campaign_started"}, {"campaign", campaign}, {"problems", problems}, {"left", json(budget)}});
  }
  void problem_started(const std::string& problem, size_t index, size_t count) override {
    put({{"event", "problem_started"}, {"problem", problem}, {"index", index}, {"count", count}});
  }
  void attempted(const AttemptReport& r) override {
    put({{"event", "attempted"},
         {"attempt", r.attempt},
         {"number", r.number},
         {"problem", r.problem},
         {"solution", r.solution},
         {"tunables", r.tunables},
         {"effort", verifier::name_of(r.effort)},
         {"verdict", verifier::name_of(*r.verdict)},
         {"speed_up", r.speed_up ? Json(*r.speed_up) : Json()},
         {"reused", r.reused},
         {"new_best", r.new_best},
         {"best", r.best},
         {"left", json(r.left)}});
  }
  void answered(const ExchangeReport& r) override {
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
  void warned(const std::string& what) override { put({{"event", "warned"}, {"what", what}}); }

 private:
  static Json json(const BudgetLeft& left) {
    return {{"attempts", left.attempts ? Json(*left.attempts) : Json()},
            {"seconds", left.seconds ? Json(*left.seconds) : Json()}};
  }
  static void put(const Json& line) {
    print_json(line);
    std::fflush(stdout);
  }
};
}  // namespace

std::unique_ptr<Progress> make_progress(bool json) {
  if (json) return std::make_unique<JsonProgress>();
  return std::make_unique<TextProgress>(::isatty(STDOUT_FILENO) != 0);
}

}  // namespace agent

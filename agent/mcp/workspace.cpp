#include "agent/mcp/workspace.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "agent/actions/points.h"
#include "agent/campaign/calibrations.h"
#include "agent/campaign/device_text.h"
#include "agent/mcp/schema.h"
#include "core/error.h"
#include "core/suggest.h"
#include "core/text.h"

namespace agent::mcp {
namespace {
using core::Json;
using verifier::verdicts::Effort;
constexpr size_t kMostSourceBytes = size_t{256} << 10;
constexpr size_t kNameBytes = 60;
constexpr size_t kKept = 8;  // candidates
constexpr std::chrono::milliseconds kPoll{50};
constexpr double kTold_s = 0.5;  // between two notifications of progress

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

std::string name_of_solution(const std::string& name, const sandbox::Solution& solution) {
  const std::string clean = core::clean_line(core::trimmed(name), kNameBytes);
  if (!clean.empty()) return clean;
  return solution.launches.empty() ? "kernel" : core::clean_line(solution.launches.front().kernel, kNameBytes);
}

// Tells how far one judgement is: half of it is compiling. Time alone moves it within a half, towards its end.
class Teller {
 public:
  Teller(Call& call, Effort effort, int step, int steps)
      : call_(call), effort_(name_of(effort)), step_(step), steps_(steps) {}

  void tell(bool is_compiled) {
    if (is_compiled && !is_compiled_) {
      is_compiled_ = true;
      begin_ = std::chrono::steady_clock::now();
      told_s_ = -kTold_s;
    }
    const double elapsed_s = seconds_since(begin_);
    if (elapsed_s - told_s_ < kTold_s) return;
    told_s_ = elapsed_s;
    const double part = (is_compiled ? 0.5 : 0.0) + 0.45 * (1 - std::exp(-elapsed_s / 4));
    call_.progress(step_ + part, steps_,
                   effort_ + ": " + (is_compiled ? "checking and timing on secret inputs" : "compiling"));
  }

 private:
  Call& call_;
  std::string effort_;
  int step_, steps_;
  bool is_compiled_ = false;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  double told_s_ = -kTold_s;
};
}  // namespace

std::map<std::string, Json> source_arguments() {
  return {{"source", text_schema("The whole .cu file: its launch plan in the header comment, then device code. "
                                 "kernelwright://format/solution describes it.",
                                 kMostSourceBytes)},
          {"set", integers_schema("Values of tunables by name (default: each one's first value)")}};
}

Workspace::Workspace(campaign::LoadedData data, WorkspaceSettings settings, Log log)
    : data_(std::move(data)),
      settings_(std::move(settings)),
      log_(std::move(log)),
      archive_(campaign::open_seeded_archive(settings_.archive, data_)),
      budget_(settings_.budget, 0, 0, nullptr, [this] { return spent_s_; }) {}

const benchsuite::Problem& Workspace::problem(const std::string& name, const std::string& where) const {
  const benchsuite::Catalogue& known = data_.catalogue;
  if (known.problems.count(name) > 0 || known.unusable.count(name) > 0) return known.find(name, where);
  std::vector<std::string> names;
  for (const auto& [each, problem] : known.problems) names.push_back(each);
  const std::string near = core::nearest(name, names);
  throw core::InputError(where, "there is no problem \"" + core::clean_line(name, 200) + "\"",
                         (near.empty() ? "" : "did you mean \"" + near + "\"? ") + "the tool problems lists them");
}

campaign::DeviceSession& Workspace::session() {
  if (!session_) {
    session_.emplace(data_.paths, settings_.device, settings_.hot, campaign::background_compile_workers() + 1);
  }
  return *session_;
}

campaign::LiveRunner& Workspace::runner() {
  if (!runner_) {
    campaign::DeviceSession& device = session();
    runner_.emplace(archive_, device, std::nullopt,
                    campaign::newest_or_new_calibration(archive_, data_.paths, settings_.device, device.device()));
    runner_->on_trouble(log_);
    runner_->look_closer(
        campaign::LiveRunner::Profiled::nothing);  // the tool profile counts events, which takes seconds
  }
  return *runner_;
}

prompting::DeviceText Workspace::device_text() {
  return campaign::device_text(session(), archive_.newest_calibration(session().device()));
}

Workspace::Parsed Workspace::parse(const Json& arguments, bool any_device) {
  Parsed parsed;
  parsed.solution = sandbox::parse_solution(arguments.at("source").get<std::string>(), "source");
  parsed.problem = &problem(parsed.solution.problem, "source#/problem");
  sandbox::validate_solution(parsed.solution, *parsed.problem);
  parsed.binding = actions::point_of(parsed.solution, arguments.value("set", std::map<std::string, int64_t>()), "set");
  parsed.why_not = session().why_not(parsed.solution);
  if (parsed.why_not && !any_device) throw core::InputError("source", *parsed.why_not);
  return parsed;
}

const Workspace::Prepared& Workspace::prepare(const Json& arguments, const std::string& name,
                                              const std::string& client) {
  Parsed parsed = parse(arguments);
  use_problem(*parsed.problem);
  const auto same = [&](const Prepared& one) {
    return one.solution.source == parsed.solution.source && one.candidate->builds.binding() == parsed.binding;
  };
  if (const auto kept = std::find_if(prepared_.begin(), prepared_.end(), same); kept != prepared_.end()) return *kept;
  while (prepared_.size() >= kKept) prepared_.pop_back();
  Prepared& made = prepared_.emplace_front(Prepared{std::move(parsed.solution), parsed.problem, nullptr});
  made.candidate = runner().add(made.solution, name_of_solution(name, made.solution), "mcp:" + client, parsed.binding);
  return made;
}

void Workspace::use_problem(const benchsuite::Problem& problem) {
  const std::string hash = benchsuite::content_hash(problem);
  if (hash == problem_hash_) return;
  prepared_.clear();
  problem_hash_.clear();  // in case it fails
  runner().use_problem(problem);
  problem_hash_ = hash;
}

const benchsuite::Problem& Workspace::add_problem(const std::filesystem::path& folder) {
  prepared_.clear();  // they refer to problems
  return data_.catalogue.find_or_load(folder.string(), "import_problem");
}

void Workspace::require_budget(int64_t judgements) const {
  const int64_t left = budget_.left().attempts.value_or(judgements);
  std::optional<std::string> why = budget_.used_up();
  if (!why && left < judgements) {
    why = "this takes " + std::to_string(judgements) + " judgements, and " + std::to_string(left) + " is left";
  }
  if (!why) return;
  throw core::InputError("", "this session's budget is spent: " + *why,
                         "finish with what you have; the user can restart the server with more (--attempts, "
                         "--seconds)");
}

search::Attempt Workspace::judge(const Prepared& prepared, Effort effort, Call& call, int step, int steps) {
  require_budget();
  const auto begin = std::chrono::steady_clock::now();
  Teller teller(call, effort, step, steps);
  std::optional<search::Attempt> made;
  campaign::LiveRunner& runner = this->runner();
  budget_.charge_attempts();
  try {
    runner.begin(prepared.candidate, runner.naive(), effort,
                 [&](search::Attempt attempt) { made = std::move(attempt); });
    while (true) {
      teller.tell(prepared.candidate->builds.ready(session().pool(), effort));
      runner.wait(kPoll);
      runner.serve();
      if (made) break;
      call.poll();
    }
  } catch (const core::SystemError&) {
    charge_seconds(seconds_since(begin));
    stop_device();
    throw;
  } catch (...) {
    charge_seconds(seconds_since(begin));
    runner.abandon();
    throw;
  }
  charge_seconds(seconds_since(begin));
  // A solution keeps its first author; this says who had it judged.
  archive_.add_event(std::nullopt, "mcp_judgement",
                     {{"client", call.client()},
                      {"attempt", made->id},
                      {"solution", prepared.solution.hash()},
                      {"effort", name_of(effort)}});
  return std::move(*made);
}

// The next call starts its workers anew.
void Workspace::stop_device() {
  prepared_.clear();
  problem_hash_.clear();
  runner_.reset();
  session_.reset();
}

Json Workspace::budget_left() const {
  const search::BudgetLeft left = budget_.left();
  Json json = Json::object();
  if (left.attempts) json["judgements_left"] = *left.attempts;
  if (left.seconds) json["seconds_left"] = std::floor(*left.seconds);
  return json;
}

}  // namespace agent::mcp

// Everything that tools work with: problems, the archive, one device with its judges, and the session's budget.
#pragma once

#include <deque>
#include <filesystem>
#include <optional>
#include <string>

#include "agent/campaign/live_runner.h"
#include "agent/campaign/startup.h"
#include "agent/mcp/tool.h"
#include "agent/prompting/facts.h"
#include "agent/search/budget.h"

namespace agent::mcp {

struct WorkspaceSettings {
  std::filesystem::path archive;
  campaign::DeviceChoice device;
  bool hot = false;  // time GPUs with a warm L2 cache
  // Judgements, and seconds that they and imports take, of the whole session.
  search::BudgetLeft budget;
  std::filesystem::path imports;  // the folder in which import_problem makes problems
};

class Workspace {
 public:
  using Log = std::function<void(const std::string& line)>;
  Workspace(campaign::LoadedData data, WorkspaceSettings settings, Log log);

  const WorkspaceSettings& settings() const { return settings_; }
  const core::Paths& paths() const { return data_.paths; }
  const benchsuite::Catalogue& catalogue() const { return data_.catalogue; }
  results::archive::Recorder& archive() { return archive_; }
  // The name that leaderboards keep apart: "cpu", "cuda".
  std::string device_kind() const { return settings_.device.kind(); }
  // Throws core::InputError at `where` with the nearest name.
  const benchsuite::Problem& problem(const std::string& name, const std::string& where) const;

  // Starts the device's workers on first use; they stay for later calls. Throws core::SystemError, NoGpu,
  // LevelNotReached.
  campaign::DeviceSession& session();
  prompting::DeviceText device_text();

  // Reads the arguments of source_arguments(). Throws core::InputError when they give no solution of a problem here, or
  // one that cannot run on this device, unless `any_device`.
  struct Parsed {
    sandbox::Solution solution;
    const benchsuite::Problem* problem = nullptr;
    sandbox::TunableBinding binding;
    std::optional<std::string> why_not;  // on this device
  };
  Parsed parse(const core::Json& arguments, bool any_device = false);
  // The same as a candidate, recorded and compiled at most once while it is among the last few. Makes its problem the
  // judges'. `name`: empty for the name of its first kernel. `client`: its author.
  struct Prepared {
    sandbox::Solution solution;
    const benchsuite::Problem* problem = nullptr;
    search::CandidatePtr candidate;
  };
  const Prepared& prepare(const core::Json& arguments, const std::string& name, const std::string& client);
  // Adds the problem of a folder, which takes its name from any other.
  const benchsuite::Problem& add_problem(const std::filesystem::path& folder);

  // Makes one attempt against the naive solution and charges the budget. `step` of `steps`: its part of the call, for
  // progress. Throws core::InputError when the budget is used up, core::SystemError, Cancelled.
  search::Attempt judge(const Prepared& prepared, verifier::verdicts::Effort effort, Call& call, int step, int steps);
  // {judgements_left, seconds_left}
  core::Json budget_left() const;
  // Throws core::InputError when the budget is used up, or has fewer judgements left.
  void require_budget(int64_t judgements = 1) const;
  // For other work that takes long.
  void charge_seconds(double seconds) { spent_s_ += seconds; }

 private:
  campaign::LiveRunner& runner();
  void use_problem(const benchsuite::Problem& problem);
  void stop_device();

  campaign::LoadedData data_;
  WorkspaceSettings settings_;
  Log log_;
  results::archive::Recorder archive_;
  double spent_s_ = 0;
  search::Budget budget_;
  std::optional<campaign::DeviceSession> session_;
  std::optional<campaign::LiveRunner> runner_;
  std::string problem_hash_;       // of the runner's problem
  std::deque<Prepared> prepared_;  // the last few, the newest first; in place, since candidates refer to solutions
};

// The arguments that parse() takes, for the schemas of tools.
std::map<std::string, core::Json> source_arguments();

}  // namespace agent::mcp

#include "agent/cli/running/campaign_run.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <iterator>
#include <memory>
#include <random>
#include <set>
#include <utility>

#include "agent/campaign/baselines.h"
#include "agent/campaign/campaign.h"
#include "agent/campaign/devices.h"
#include "agent/campaign/startup.h"
#include "agent/cli/calibration_text.h"
#include "agent/cli/leaderboard_text.h"
#include "agent/cli/loading.h"
#include "agent/cli/output.h"
#include "agent/cli/progress_text.h"
#include "agent/cli/running/context_options.h"
#include "agent/cli/running/dry_run.h"
#include "agent/cli/running/prompt_device.h"
#include "agent/models/providers.h"
#include "agent/models/server_context.h"
#include "agent/nodes/node_lanes.h"
#include "agent/nodes/slurm.h"
#include "core/error.h"
#include "core/running.h"
#include "core/text.h"
#include "results/archive/exchanges.h"
#include "results/view/json.h"

namespace agent::cli::running {
namespace {
constexpr double kSecondsPerProblem = 20;  // without a given budget

// The models of a campaign, created for each run: the archive holds no keys.
std::vector<std::unique_ptr<models::Model>> make_models(const campaign::CampaignSettings& settings,
                                                        const models::ModelOptions& options) {
  std::vector<std::unique_ptr<models::Model>> models;
  for (const std::string& name : models_of(settings)) models.push_back(models::make_model(name, options));
  return models;
}

// The least that a server of one's own says it takes, where the user did not say it.
void take_context_of_servers(campaign::CampaignSettings& settings, const models::ModelOptions& options) {
  if (settings.sampling.context_tokens > 0) return;
  for (const std::string& name : models_of(settings)) {
    const std::optional<int64_t> context = models::context_of_server(name, options);
    if (!context) continue;
    int64_t& least = settings.sampling.context_tokens;
    least = least == 0 ? *context : std::min(least, *context);
  }
  const int64_t asked = settings.sampling.max_output_tokens;
  if (settings.sampling.context_tokens > 0 && asked >= settings.sampling.context_tokens) fit_reply(settings.sampling);
}

// Adds the user's own files to the archive, so that the campaign can be resumed without them. Adds their problems to
// `names` if none was named.
std::vector<std::string> add_own_solutions(const RunOptions& options, const campaign::LoadedData& data,
                                           results::archive::Recorder& archive, std::vector<std::string>& names) {
  const bool none_named = names.empty();
  std::vector<std::string> hashes;
  for (const std::string& file : options.files) {
    const sandbox::Solution solution = sandbox::load_solution(file);
    sandbox::validate_solution(solution, data.catalogue.find(solution.problem, file + "#/problem"));
    const bool named = std::find(names.begin(), names.end(), solution.problem) != names.end();
    if (!named && !none_named) {
      throw core::InputError(file, "solves " + solution.problem + ", which is not among the problems of this run",
                             "name " + solution.problem + ", too");
    }
    if (!named) names.push_back(solution.problem);
    archive.add_solution({&solution, std::filesystem::path(file).stem().string(), "user", {}});
    hashes.push_back(solution.hash());
  }
  return hashes;
}

// Without a solution and without a model there is nothing to search.
void require_work(const campaign::CampaignSettings& settings, const campaign::LoadedData& data,
                  const results::archive::Reader& archive) {
  if (!settings.proposers.empty()) return;
  if (!settings.planner.empty()) {
    throw core::UsageError("--planner", "plans solutions, and nobody is named to write them", "add --proposer MODEL");
  }
  std::set<std::string> own;
  for (const std::string& hash : settings.solutions) own.insert(archive.find_solutions(hash).at(0).problem);
  for (const std::string& name : settings.problems) {
    const bool shipped =
        settings.shipped && !campaign::shipped_solutions(data.paths, data.catalogue.problems.at(name), "").empty();
    if (shipped || own.count(name) > 0) continue;
    const std::string what = "has no solution to tune";
    const std::string remedy =
        "write one (docs/solution-format.md) and add --solution FILE, or let a model write some with --proposer";
    if (settings.problems.size() == 1) throw core::InputError(name, what, remedy);
    print_error("kernelwright: " + name + ": " + what + "\n  " + remedy + "\n");
  }
}

// The best that other campaigns have, where it is ahead of this one's.
std::string faster_elsewhere(const results::archive::Reader& archive, const std::string& problem,
                             const std::string& device, const std::vector<results::archive::LeaderboardRow>& here) {
  const auto is_best = [](const auto& row) { return !row.library && row.rank == 1; };
  const auto all = results::archive::leaderboard(archive, {.problem = problem, .device = device, .limit = 1});
  const auto best = std::ranges::find_if(all, is_best), mine = std::ranges::find_if(here, is_best);
  if (best == all.end() || (mine != here.end() && mine->speed_up.low >= best->speed_up.low)) return "";
  return fmt::format("{}: an earlier campaign has {:.2f}x, #{}\n", problem, best->speed_up.value, best->attempt);
}

// Prints the best solutions of this campaign.
void show_end(const results::archive::Reader& archive, int64_t campaign, const campaign::CampaignSettings& settings,
              const Invocation& invocation) {
  core::Json rows = core::Json::array();
  std::vector<results::archive::LeaderboardRow> board;
  std::string without, elsewhere;
  const std::string device = campaign::parse_device(settings.device).kind();
  for (const std::string& name : settings.problems) {
    const auto of_problem =
        results::archive::leaderboard(archive, {.problem = name, .device = device, .campaign = campaign});
    elsewhere += faster_elsewhere(archive, name, device, of_problem);
    if (std::all_of(of_problem.begin(), of_problem.end(), [](const auto& row) { return row.library; }))
      without += (without.empty() ? "" : ", ") + name;
    for (const results::archive::LeaderboardRow& row : of_problem) {
      rows.push_back(results::view::json_of(row));
      board.push_back(row);
    }
  }
  if (invocation.json) {
    print_json(core::Json{{"event", "leaderboard"}, {"rows", rows}});
    return;
  }
  print("\n{}", best_text(board));
  if (!without.empty()) print("no verified solution faster than naive: {}\n", without);
  print("{}", elsewhere);
  print("\nAll of them: kernelwright leaderboard. One in full: kernelwright show ATTEMPT.\n");
}

// Resources used by this program without its workers.
core::Json own_usage(int64_t attempts) {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  const std::filesystem::directory_iterator open_files("/proc/self/fd");
  return {{"event", "campaign_ended"},
          {"attempts", attempts},
          {"processor_seconds", seconds(usage.ru_utime) + seconds(usage.ru_stime)},
          {"peak_memory_bytes", usage.ru_maxrss * 1024},
          {"open_descriptors", std::distance(begin(open_files), end(open_files))}};
}

// Measures missing baselines, which the results are compared with.
void add_baselines(results::archive::Recorder& archive, const campaign::LoadedData& data,
                   const campaign::CampaignSettings& settings, const std::vector<campaign::OwnLibrary>& own,
                   bool json) {
  std::vector<const benchsuite::Problem*> problems;
  for (const std::string& name : settings.problems) problems.push_back(&data.catalogue.problems.at(name));
  campaign::measure_baselines(archive, data.paths, campaign::parse_device(settings.device), problems, own,
                              campaign::WhichBaselines::missing, print_baselines(json));
}

std::vector<campaign::OwnLibrary> own_libraries(const RunOptions& options, bool cold_gpu) {
  std::vector<campaign::OwnLibrary> own;
  for (const std::string& text : options.libraries) own.push_back(campaign::parse_own_library(text));
  if (own.empty() || (cold_gpu && !options.no_baselines)) return own;
  throw core::UsageError("--library", "is timed on a GPU with a cold L2 cache",
                         "add --device cuda, and leave out --hot and --no-baselines");
}

void say_where_replies_are(const results::archive::Reader& archive, const results::archive::CampaignRecord& campaign,
                           const Invocation& invocation) {
  if (invocation.json || archive.model_spend(campaign.id).requests == 0) return;
  print("What became of each reply: kernelwright show {}, or its page: kernelwright serve.\n", campaign.name);
}

// A campaign whose models never answered has failed, whatever the tuner found meanwhile.
void say_if_none_answered(const results::archive::Reader& archive, const results::archive::CampaignRecord& campaign,
                          Invocation& invocation) {
  const std::optional<std::string> why = results::archive::why_none_answered(archive, campaign.id);
  if (!why) return;
  const int64_t requests = archive.model_spend(campaign.id).requests;
  print_error(fmt::format("kernelwright: none of {} request{} to models was answered: {}\n", requests,
                          requests == 1 ? "" : "s", core::clean_line(*why)));
  invocation.exit_code = kRefused;
}

// On this host, or on nodes.
campaign::CampaignEnd lead(results::archive::Recorder& archive, const results::archive::CampaignRecord& campaign,
                           const campaign::CampaignSettings& settings, const core::Paths& paths,
                           const std::map<std::string, benchsuite::Problem>& problems, search::Progress& progress,
                           const std::vector<models::Model*>& models) {
  if (settings.nodes == 0) return campaign::run_campaign(archive, campaign, paths, problems, progress, models);
  std::signal(SIGPIPE, SIG_IGN);  // a node that is gone is noticed by the write
  return campaign::run_campaign(archive, campaign, paths, problems, progress, models, [&] {
    return std::make_unique<nodes::NodeLanes>(archive, campaign.id, settings,
                                              (paths.program_folder / "kernelwright").string(),
                                              [&](const std::string& what) { progress.warned(what); });
  });
}

void finish(results::archive::Recorder& archive, const results::archive::CampaignRecord& campaign,
            const campaign::LoadedData& data, const std::vector<std::unique_ptr<models::Model>>& models,
            Invocation& invocation) {
  const auto settings =
      campaign::campaign_settings_from_json(core::JsonView(campaign.settings, "campaign " + campaign.name));
  const std::unique_ptr<search::Progress> progress = make_progress(invocation.json);
  std::vector<models::Model*> asked;
  for (const auto& model : models) asked.push_back(model.get());
  const auto problems = campaign::problems_of_campaign(archive, campaign, data.catalogue);
  const campaign::CampaignEnd end = lead(archive, campaign, settings, data.paths, problems, *progress, asked);
  if (invocation.json) print_json(own_usage(end.attempts));
  if (!invocation.json || !end.interrupted) show_end(archive, campaign.id, settings, invocation);
  say_where_replies_are(archive, campaign, invocation);
  if (!end.interrupted) return say_if_none_answered(archive, campaign, invocation);
  invocation.exit_code = kInterrupted;
  const std::string command = "kernelwright resume " + campaign.name;
  if (invocation.json) {
    print_json(core::Json{{"event", "interrupted"}, {"campaign", campaign.name}, {"resume", command}});
  } else {
    print("Interrupted; all results so far are kept. Continue with: {}\n", command);
  }
}

// The device to run on; of an estimate for a GPU that is not here, its kind.
std::string device_of(const RunOptions& options) {
  const std::string& device = options.settings.device;
  if (options.dry_run) {
    const auto known = known_device_of(core::installed_paths(), device, options.architecture);
    return known ? known->backend : device;
  }
  if (options.architecture.empty()) return device;
  throw core::UsageError("--arch", "is for --dry-run: a campaign runs on a device of this host",
                         "leave it out, or add --dry-run");
}

void require_launcher(const RunOptions& options) {
  const campaign::CampaignSettings& settings = options.settings;
  if (!options.slurm.empty() && !(settings.launcher.empty() && settings.nodes == 0)) {
    throw core::UsageError("--slurm", "starts nodes itself",
                           "leave out --launcher and --nodes; --slurm PARTITION:COUNT");
  }
  if (settings.launcher.empty() == (settings.nodes == 0)) return;
  throw core::UsageError(settings.nodes == 0 ? "--launcher" : "--nodes", "the two go together",
                         "for two nodes on this host: --launcher env --nodes 2");
}

}  // namespace

std::vector<std::string> chosen_problems(const RunOptions& options, campaign::LoadedData& data) {
  std::vector<std::string> names;
  for (const std::string& word : options.problems) names.push_back(data.catalogue.find_or_load(word, "run").name);
  if (!options.suite.empty()) {
    const benchsuite::Suite suite = benchsuite::load_suite(data.paths.suites(), options.suite, data.catalogue);
    names.insert(names.end(), suite.problems.begin(), suite.problems.end());
  }
  std::vector<std::string> once;
  for (const std::string& name : names) {
    if (std::find(once.begin(), once.end(), name) == once.end()) once.push_back(name);
  }
  return once;
}

void run_campaign(RunOptions& options, Invocation& invocation) {
  campaign::CampaignSettings& settings = options.settings;
  const std::string device = std::exchange(settings.device, device_of(options));
  settings.device = campaign::device_in_dialect(settings.device, options.dialect);
  require_launcher(options);
  const bool cold_gpu =
      benchsuite::is_gpu(campaign::parse_device(settings.device).backend) && !settings.hot;  // baselines are timed cold
  const std::vector<campaign::OwnLibrary> own = own_libraries(options, cold_gpu);
  campaign::LoadedData data = load_data(invocation);
  std::vector<std::unique_ptr<models::Model>> models;
  if (!options.dry_run) {
    models = make_models(settings, options.models);
    take_context_of_servers(settings, options.models);
  }
  settings.problems = chosen_problems(options, data);
  if (settings.problems.empty() && options.files.empty()) {
    throw core::UsageError("run", "names no problem",
                           "name some (kernelwright problems lists them), or give --suite core or --solution FILE");
  }
  results::archive::Recorder archive = campaign::open_seeded_archive(invocation.archive, data);
  settings.solutions = add_own_solutions(options, data, archive, settings.problems);
  settings.shipped = !options.own_only;
  settings.learns = settings.learns && !settings.held_out;
  if (!settings.budget.attempts && !settings.budget.seconds) {
    settings.budget.seconds = kSecondsPerProblem * static_cast<double>(settings.problems.size());
  }
  if (options.dry_run) {
    return print_estimate(archive, settings, data, prompt_device(data.paths, archive, device, options.architecture),
                          invocation);
  }
  require_work(settings, data, archive);
  if (!options.slurm.empty()) {
    const bool on_gpu = benchsuite::is_gpu(campaign::parse_device(settings.device).backend);
    const nodes::SlurmNodes slurm = nodes::nodes_on_slurm(options.slurm, on_gpu, settings.problems.size());
    settings.launcher = slurm.launcher;
    settings.nodes = slurm.nodes;
  }
  if (settings.seed == 0) settings.seed = std::random_device()();
  if (cold_gpu && !options.no_baselines && settings.nodes == 0)
    add_baselines(archive, data, settings, own, invocation.json);
  const core::Json environment = {{"program", KW_VERSION}, {"device", settings.device}};
  finish(archive, archive.start_campaign(to_json(settings), archive.add_environment(environment)), data, models,
         invocation);
}

void resume_campaign(const std::string& name, const models::ModelOptions& models, Invocation& invocation) {
  const campaign::LoadedData data = load_data(invocation);
  results::archive::Recorder archive = campaign::open_existing_archive(invocation.archive);
  const results::archive::CampaignRecord campaign = archive.find_campaign(name);
  if (campaign.status == "running" && core::is_running(campaign.process) == core::Running::yes) {
    throw core::InputError("resume", "campaign " + campaign.name + " is running, in another process",
                           "wait for its end, or end that process");
  }
  const auto settings =
      campaign::campaign_settings_from_json(core::JsonView(campaign.settings, "campaign " + campaign.name));
  if (campaign.status == "done") {
    throw core::InputError("resume", "campaign " + campaign.name + " is done", "kernelwright run starts another");
  }
  finish(archive, campaign, data, make_models(settings, models), invocation);
}

}  // namespace agent::cli::running

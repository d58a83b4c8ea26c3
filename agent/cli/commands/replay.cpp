// kernelwright replay [CAMPAIGN]: repeats a campaign's decisions from the archive and compares them with the recorded
// ones.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>

#include "agent/campaign/campaign.h"
#include "agent/campaign/startup.h"
#include "agent/cli/commands/commands.h"
#include "agent/cli/loading.h"
#include "agent/cli/output.h"
#include "core/error.h"
#include "core/text.h"

namespace agent::cli::commands {
namespace {
using core::Json;

// A copy of the archive for the replay to write to; removed with its owner.
class Copy {
 public:
  explicit Copy(const results::archive::Reader& archive) {
    std::string name = (std::filesystem::temp_directory_path() / "kernelwright_replay_XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw core::SystemError("cannot make a folder " + name, errno);
    folder_ = name;
    archive.copy_to(file());
  }
  ~Copy() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  Copy(const Copy&) = delete;
  Copy& operator=(const Copy&) = delete;

  std::filesystem::path file() const { return folder_ / "archive.db"; }

 private:
  std::filesystem::path folder_;
};

// Remembers why each problem ended.
class Ends : public search::Progress {
 public:
  void campaign_started(const std::string&, size_t, const search::BudgetLeft&) override {}
  void problem_started(const std::string&, size_t, size_t) override {}
  void attempted(const search::AttemptReport&) override {}
  void answered(const search::ReplyReport&) override {}
  void problem_ended(const std::string& problem, double best, const std::string& why) override {
    rows.push_back({{"problem", problem}, {"best", best}, {"why", why}});
  }
  void noted(const std::string&) override {}
  void warned(const std::string&) override {}

  Json rows = Json::array();
};

struct Counts {
  int64_t requests = 0, replies = 0, attempts = 0;
};

Counts count(const results::archive::Reader& archive, int64_t campaign) {
  using Kind = results::archive::StepRecord::Kind;
  Counts counts;
  for (const results::archive::StepRecord& step : archive.steps_of_campaign(campaign)) {
    counts.requests += step.kind == Kind::request;
    counts.replies += step.kind == Kind::reply;
    counts.attempts += step.kind == Kind::attempt;
  }
  return counts;
}

std::string verdict_of(const campaign::Replayed& replayed) {
  if (replayed.divergence) {
    return fmt::format(
        "The first different decision is at step {}, after {} reproduced steps.\n  recorded: {}\n  now:      {}",
        replayed.divergence->step, replayed.steps, core::clean_line(replayed.divergence->recorded),
        core::clean_line(replayed.divergence->now));
  }
  return fmt::format("Every decision was reproduced: {} steps{}.", replayed.steps,
                     replayed.ended ? "" : "; the record ends before the campaign did");
}

void replay(const std::string& name, Invocation& invocation) {
  const campaign::LoadedData data = load_data(invocation);
  const results::archive::Reader archive = campaign::open_existing_archive(invocation.archive);
  const results::archive::CampaignRecord campaign = archive.find_campaign(name);
  const Counts counts = count(archive, campaign.id);
  const Copy copy(archive);
  results::archive::Recorder copied(copy.file());
  Ends ends;
  const campaign::Replayed replayed = campaign::replay_campaign(
      copied, campaign, data.paths, campaign::problems_of_campaign(archive, campaign, data.catalogue), ends);
  if (replayed.divergence) invocation.exit_code = kRefused;
  if (invocation.json) {
    Json json{{"campaign", campaign.name}, {"requests", counts.requests},
              {"replies", counts.replies}, {"attempts", counts.attempts},
              {"problems", ends.rows},     {"steps", replayed.steps},
              {"ended", replayed.ended},   {"reproduced", !replayed.divergence.has_value()}};
    if (replayed.divergence) {
      json["differs"] = {{"step", replayed.divergence->step},
                         {"recorded", replayed.divergence->recorded},
                         {"now", replayed.divergence->now}};
    }
    return print_json(json);
  }
  print("campaign {}: {} requests, {} replies, {} attempts\n", campaign.name, counts.requests, counts.replies,
        counts.attempts);
  for (const Json& row : ends.rows) {
    print("{}: best {:.2f}x over naive; {}\n", row.at("problem").get<std::string>(), row.at("best").get<double>(),
          core::clean_line(row.at("why").get<std::string>()));
  }
  print("{}\n", verdict_of(replayed));
}
}  // namespace

void add_replay_command(CLI::App& app, Invocation& invocation) {
  auto name = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand(
      "replay", "Repeat a campaign's decisions from the archive, without network, compiler or device");
  command->add_option("CAMPAIGN", *name, "Its name or a prefix of it (default: the newest)");
  command->footer(
      "Compares each request (task, parents, prompt), the solutions of each reply, each attempt and each winner with "
      "the\nrecord. Exit code 0 if all are equal, 1 at the first difference. To use a campaign's replies again and "
      "judge the\ncandidates anew: kernelwright transcript, then run --proposer replay:FILE.");
  command->callback([name, &invocation] { replay(*name, invocation); });
}

}  // namespace agent::cli::commands

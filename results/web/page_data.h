// The data of pages, as JSON by path: "overview", "scores", "problem/NAME", "campaign/NAME", "solution/HASH",
// "attempt/NUMBER", "exchange/NUMBER" (a request to a model). The web server sends one at a time; a report contains all
// that it shows.
// Untrusted texts (names, descriptions, sources, messages) are cleaned as core/text.h says; pages show them as text.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "benchsuite/catalogue.h"
#include "core/strict_json.h"
#include "results/archive/campaign_tally.h"
#include "results/archive/leaderboard.h"
#include "results/archive/recorder.h"

namespace results::web {

// Restricts pages to these; an empty field means all.
struct PageScope {
  std::string campaign = {}, problem = {}, device = {};
  std::map<std::string, std::string> here = {};  // as archive::LeaderboardFilter::here
  std::vector<benchsuite::Suite> suites = {};    // with scores, unless a campaign or problem is chosen
};

class PageData {
 public:
  // `archive` must outlive it and is only read.
  explicit PageData(const archive::Reader& archive, PageScope scope = {})
      : archive_(archive), scope_(std::move(scope)) {}

  // The JSON of a path; nullopt if the archive has nothing there. Not for concurrent calls.
  std::optional<core::Json> at(std::string_view path);

  // All answers of a report by path: the overview, the pages that it links to, and the best solutions of each problem
  // and device with their sources. Throws core::InputError if the scope names something missing.
  core::Json report();

  // The judged source of a solution; nullopt if no solution has this hash.
  std::optional<std::string> source(std::string_view hash) const;

 private:
  core::Json overview();
  core::Json scores() const;
  std::optional<core::Json> problem(const std::string& name);
  std::optional<core::Json> campaign(const std::string& name);
  std::optional<core::Json> solution(const std::string& hash);
  std::optional<core::Json> attempt(const std::string& number) const;
  std::optional<core::Json> exchange(const std::string& number) const;
  archive::CampaignTally& tally(int64_t campaign);
  bool in_scope(const archive::CampaignRecord& campaign) const;
  std::vector<archive::LeaderboardRow> board() const;

  const archive::Reader& archive_;
  PageScope scope_;
  std::map<int64_t, archive::CampaignTally> tallies_;
};

}  // namespace results::web

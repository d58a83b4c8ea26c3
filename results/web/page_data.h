// The data of pages, as JSON by path: "overview", "problem/NAME", "campaign/NAME", "solution/HASH". The web server
// answers with one of them at a time, a report holds those that it shows. Whatever others wrote (names, descriptions,
// sources, messages) is cleaned as core/text.h says; pages show it as text.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/strict_json.h"
#include "results/archive/campaign_tally.h"
#include "results/archive/leaderboard.h"
#include "results/archive/recorder.h"

namespace results::web {

// Restricts pages to these; an empty field means all.
struct PageScope {
  std::string campaign, problem, device;
};

class PageData {
 public:
  // `archive` outlives it. Nothing is written to it.
  explicit PageData(const archive::Reader& archive, PageScope scope = {})
      : archive_(archive), scope_(std::move(scope)) {}

  // nullopt: there is no such thing in the archive. One call at a time.
  std::optional<core::Json> at(std::string_view path);

  // Everything that a report shows, by path: the overview and what it leads to, of each problem and device the best
  // solutions with their sources. Throws core::InputError when the scope names what is not there.
  core::Json report();

  // The source of a solution as it was judged; nullopt where there is no solution of this hash.
  std::optional<std::string> source(std::string_view hash) const;

 private:
  core::Json overview();
  std::optional<core::Json> problem(const std::string& name);
  std::optional<core::Json> campaign(const std::string& name);
  std::optional<core::Json> solution(const std::string& hash);
  archive::CampaignTally& tally(int64_t campaign);
  bool in_scope(const archive::CampaignRecord& campaign) const;
  std::vector<archive::LeaderboardRow> board() const;

  const archive::Reader& archive_;
  PageScope scope_;
  std::map<int64_t, archive::CampaignTally> tallies_;
};

}  // namespace results::web

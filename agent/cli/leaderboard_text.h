// The leaderboard and the scores of suites as text.
#pragma once

#include <string>
#include <vector>

#include "results/archive/leaderboard.h"
#include "results/view/scores.h"

namespace agent::cli {

// One line per problem and device: its best solution, with the libraries that it is compared with.
std::string best_text(const std::vector<results::archive::LeaderboardRow>& rows);
// A table for each problem and device, no wider than 120 characters. Empty when there are no rows.
std::string leaderboard_text(const std::vector<results::archive::LeaderboardRow>& rows);
// Says that results are of files that the problem no longer has.
std::string older_files_text(const std::string& problem);
// A table for each suite and device, and what the figures mean.
std::string scores_text(const std::vector<results::view::SuiteScores>& scores);

// "12k", "1.2M"; "$0.35"
std::string format_tokens(int64_t tokens);
// "12k tokens, $0.35"; without dollars if no price is known. Empty if there was no reply.
std::string format_cost(const results::archive::Cost& cost);
// Cuts text to this many characters; a cut text ends in "...".
std::string cut(const std::string& text, size_t characters);

}  // namespace agent::cli

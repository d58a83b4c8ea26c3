// Downloads of the web server: tables and names of files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "results/archive/leaderboard.h"

namespace results::web {

// Comma separated, one line a row, with a header. What a spreadsheet would take for a formula begins with an
// apostrophe.
std::string csv_of(const std::vector<archive::LeaderboardRow>& rows);

// Letters, digits, dots, dashes and underlines of `name`, the rest as underlines; never empty, no path, at most 80.
std::string file_name(std::string_view name);

}  // namespace results::web

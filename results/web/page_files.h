// Downloads of the web server: tables and names of files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "results/archive/leaderboard.h"

namespace results::web {

// Comma separated, one line per row, with a header. Cells that a spreadsheet would read as a formula get an apostrophe.
std::string csv_of(const std::vector<archive::LeaderboardRow>& rows);

// Keeps letters, digits, dots, dashes and underscores of `name`; others become underscores. Never empty or a path; at
// most 80 characters.
std::string file_name(std::string_view name);

}  // namespace results::web

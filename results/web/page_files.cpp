#include "results/web/page_files.h"

#include <array>
#include <cstdio>

#include "core/text.h"

namespace results::web {
namespace {
constexpr size_t kLongestName = 80;

std::string cell(const std::string& untrusted) {
  std::string text = core::clean_line(untrusted);
  if (!text.empty() && std::string_view("=+-@").find(text[0]) != std::string_view::npos) text.insert(0, 1, '\'');
  if (text.find_first_of("\",") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::string number(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.6g", value);
  return text.data();
}
}  // namespace

std::string csv_of(const std::vector<archive::LeaderboardRow>& rows) {
  std::string csv =
      "problem,device,rank,solution,tunables,origin,model,confirmed,library,verdict,speed_up,low,high,time_us,"
      "share_of_bound,tokens,dollars,attempt,hash,made\n";
  for (const archive::LeaderboardRow& row : rows) {
    const auto share = row.timed() ? row.workloads[0].share_of_bound() : std::nullopt;
    const std::vector<std::string> cells{cell(row.problem),
                                         cell(row.device),
                                         row.rank > 0 ? std::to_string(row.rank) : "",
                                         cell(row.solution),
                                         cell(sandbox::describe(row.binding)),
                                         cell(row.origin),
                                         cell(row.descent.model),
                                         row.confirmed ? "yes" : "no",
                                         row.library ? "yes" : "no",
                                         name_of(row.verdict),
                                         row.timed() ? number(row.speed_up.value) : "",
                                         row.timed() ? number(row.speed_up.low) : "",
                                         row.timed() ? number(row.speed_up.high) : "",
                                         row.timed() ? number(row.time_us()) : "",
                                         share ? number(*share) : "",
                                         std::to_string(row.descent.lineage.tokens),
                                         number(row.descent.lineage.dollars),
                                         row.library ? "" : std::to_string(row.attempt),
                                         row.hash,
                                         row.made};
    csv += core::join(cells, ",") + "\n";
  }
  return csv;
}

std::string file_name(std::string_view name) {
  std::string safe;
  for (const char c : name.substr(0, kLongestName)) {
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
    safe += plain ? c : '_';
  }
  if (safe.empty() || safe[0] == '.') safe.insert(0, 1, '_');
  return safe;
}

}  // namespace results::web

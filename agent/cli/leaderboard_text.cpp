#include "agent/cli/leaderboard_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "agent/cli/table.h"
#include "core/text.h"

namespace agent::cli {
namespace {
using results::archive::LeaderboardRow;
using Align = Table::Align;
constexpr size_t kWidth = 120;
constexpr size_t kAuthorWidth = 14;

std::optional<double> bound_of(const LeaderboardRow& row) {
  return row.timed() ? row.workloads[0].bound_us : std::nullopt;
}

std::string share_text(const LeaderboardRow& row) {
  const auto share = row.timed() ? row.workloads[0].share_of_bound() : std::nullopt;
  return share ? fmt::format("{:.0f} %", 100 * *share) : "";
}

std::string candidate_name(const LeaderboardRow& row) {
  const std::string tunables = sandbox::describe(row.binding);
  return core::clean_line(row.solution) + (tunables.empty() ? "" : " " + tunables);
}

// The wider side of an interval, as a share of the value: "+-0.4 %".
std::string spread(double value, double low, double high) {
  return value > 0 ? fmt::format(" ±{:.1f} %", 100 * std::max(value - low, high - value) / value) : "";
}

std::string author(const LeaderboardRow& row) {
  const results::archive::Descent& from = row.descent;
  return cut(core::clean_line(from.model.empty() ? row.origin : from.model), kAuthorWidth) +
         (from.ancestors > 0 ? fmt::format(" +{}", from.ancestors) : "");
}

// The libraries that solutions are compared with, each once; the index gives its letter.
std::vector<std::string> libraries_of(const LeaderboardRow* first, const LeaderboardRow* last) {
  std::vector<std::string> names;
  const auto add = [&](const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  for (const LeaderboardRow* row = first; row != last; ++row) {
    for (const results::archive::OverLibrary& over : row->over_libraries) add(over.library);
    if (row->library && row->timed()) add(row->solution);
  }
  return names;
}

std::string letter(size_t library) { return std::string(1, static_cast<char>('A' + library)); }

// The optional columns of a block.
struct Shown {
  bool bound = false, cost = false;
  std::vector<std::string> libraries;
};

std::vector<Table::Column> figure_columns(const Shown& shown) {
  std::vector<Table::Column> columns{
      {"  RANK", Align::right}, {"ATTEMPT", Align::right}, {"OVER NAIVE", Align::right}, {"TIME", Align::right}};
  if (shown.bound) columns.push_back({"BOUND", Align::right});
  for (size_t i = 0; i < shown.libraries.size(); ++i) columns.push_back({"OVER " + letter(i), Align::right});
  if (shown.cost) columns.insert(columns.end(), {{"TOKENS", Align::right}, {"COST", Align::right}});
  return columns;
}

std::vector<std::string> figure_cells(const LeaderboardRow& row, const Shown& shown) {
  std::string rank = row.confirmed ? std::to_string(row.rank) : "no";
  if (row.library) rank = "-";
  const verifier::statistics::SpeedUp& s = row.speed_up;
  std::vector<std::string> cells{
      rank, row.library ? "" : std::to_string(row.attempt),
      row.timed() ? format_speed_up(s.value) + spread(s.value, s.low, s.high) : name_of(row.verdict)};
  const verifier::statistics::Interval time = row.timed() ? row.workloads[0].time_us : verifier::statistics::Interval{};
  cells.push_back(
      !row.timed() ? "" : format_time_us(time.value) + (row.library ? "" : spread(time.value, time.low, time.high)));
  if (shown.bound) cells.push_back(share_text(row));
  for (const std::string& library : shown.libraries) {
    const auto over = std::find_if(row.over_libraries.begin(), row.over_libraries.end(),
                                   [&](const auto& one) { return one.library == library; });
    cells.push_back(over == row.over_libraries.end() ? "" : format_speed_up(over->ratio.value));
  }
  const results::archive::Cost& spent = row.descent.lineage;
  if (shown.cost) cells.push_back(spent.replies > 0 ? format_tokens(spent.tokens) : "");
  if (shown.cost) cells.push_back(spent.dollars > 0 ? fmt::format("${:.2f}", spent.dollars) : "");
  return cells;
}

std::string marked_name(const LeaderboardRow& row, const Shown& shown) {
  const auto at = std::find(shown.libraries.begin(), shown.libraries.end(), row.solution);
  const bool marked = row.library && at != shown.libraries.end();
  return (marked ? letter(static_cast<size_t>(at - shown.libraries.begin())) + ": " : "") + candidate_name(row);
}

// Keeps lines within a terminal's width: moves names that do not fit behind the figures below them.
std::string lines_of(const LeaderboardRow* first, const LeaderboardRow* last, const Shown& shown) {
  std::vector<Table::Column> columns = figure_columns(shown);
  Table figures(columns);
  columns.insert(columns.end(), {{"BY"}, {"SOLUTION"}});
  Table all(columns);
  for (const LeaderboardRow* row = first; row != last; ++row) {
    std::vector<std::string> cells = figure_cells(*row, shown);
    figures.add_row(cells);
    cells.insert(cells.end(), {row->library ? "library" : author(*row), marked_name(*row, shown)});
    all.add_row(std::move(cells));
  }
  const std::vector<std::string> lines = core::split(all.text(), '\n');
  if (std::all_of(lines.begin(), lines.end(), [](const auto& line) { return cut(line, kWidth) == line; })) {
    return all.text();
  }
  std::string text;
  const LeaderboardRow* row = nullptr;  // null: the line of titles
  for (const std::string& line : core::split(figures.text(), '\n')) {
    if (line.empty()) continue;
    text += line + "\n";
    if (row != nullptr) {
      const std::string by = row->library ? "" : " by " + author(*row);
      text += cut(std::string(8, ' ') + marked_name(*row, shown), kWidth - by.size()) + by + "\n";
    }
    row = row == nullptr ? first : row + 1;
  }
  return text;
}

// The table of one problem and device.
std::string block_text(const LeaderboardRow* first, const LeaderboardRow* last) {
  const auto any = [&](auto has) { return std::any_of(first, last, has); };
  const Shown shown{any([](const auto& row) { return bool(bound_of(row)); }),
                    any([](const auto& row) { return row.descent.lineage.replies > 0; }), libraries_of(first, last)};
  std::string text = lines_of(first, last, shown);
  if (any([](const auto& row) { return row.library; })) return text;
  std::vector<std::string> named;
  for (size_t i = 0; i < shown.libraries.size(); ++i) {
    named.push_back(letter(i) + ": " + core::clean_line(shown.libraries[i]));
  }
  if (!named.empty()) text += cut("  " + core::join(named, ", "), kWidth) + "\n";
  return text;
}

// "verified kernels for 2 of 12 problems, confirmed wins over naive for 1", and a line for each baseline.
std::string scores_table(const results::view::Scores& scores) {
  std::vector<Table::Column> columns{{"  BASELINE"}, {"PROBLEMS WITH IT", Align::right}};
  for (const double p : results::view::kThresholds) columns.push_back({fmt::format("fast_{:g}", p), Align::right});
  columns.push_back({"GEOMETRIC MEAN", Align::right});
  Table table(columns);
  for (const results::view::OverBaseline& of : scores.over) {
    std::vector<std::string> cells{"  " + of.baseline, std::to_string(of.problems)};
    for (const size_t fast : of.fast) {
      cells.push_back(of.problems == 0 ? "-" : fmt::format("{:.0f} %", 100 * scores.share(fast)));
    }
    cells.push_back(of.geometric_mean ? fmt::format("{} of {}", format_speed_up(*of.geometric_mean), of.compared)
                                      : "-");
    table.add_row(std::move(cells));
  }
  return fmt::format("verified kernels for {} of {} problems, confirmed wins over naive for {}\n", scores.verified,
                     scores.problems, scores.solved) +
         table.text();
}
}  // namespace

std::string best_text(const std::vector<LeaderboardRow>& rows) {
  const bool bound_known = std::any_of(rows.begin(), rows.end(), [](const auto& row) { return bool(bound_of(row)); });
  std::vector<Table::Column> columns{
      {"PROBLEM"}, {"RANK", Align::right}, {"SPEED-UP OVER NAIVE", Align::right}, {"TIME", Align::right}};
  if (bound_known) columns.push_back({"BOUND", Align::right});
  columns.insert(columns.end(), {{"DEVICE"}, {"SOLUTION"}, {"ATTEMPT", Align::right}});
  Table table(columns);
  for (const LeaderboardRow& row : rows) {
    if (!row.library && row.rank != 1) continue;
    std::vector<std::string> cells{
        row.problem, row.library ? "library" : std::to_string(row.rank),
        row.timed() ? format_speed_up(row.speed_up.value, row.speed_up.low, row.speed_up.high) : name_of(row.verdict),
        row.timed() ? format_time_us(row.time_us()) : ""};
    if (bound_known) cells.push_back(share_text(row));
    cells.insert(cells.end(), {row.device, candidate_name(row), row.library ? "" : std::to_string(row.attempt)});
    table.add_row(std::move(cells));
  }
  return table.empty() ? "" : table.text();
}

std::string older_files_text(const std::string& problem) {
  return "As of older files: those of " + core::clean_line(problem) + " have changed since it was judged.\n";
}

std::string leaderboard_text(const std::vector<LeaderboardRow>& rows) {
  std::string text;
  bool libraries = false, cost = false, unconfirmed = false, descended = false;
  for (size_t begin = 0, end = 0; begin < rows.size(); begin = end) {
    while (end < rows.size() && rows[end].problem == rows[begin].problem && rows[end].device == rows[begin].device) {
      libraries = libraries || !rows[end].over_libraries.empty();
      cost = cost || rows[end].descent.lineage.replies > 0;
      unconfirmed = unconfirmed || (!rows[end].library && rows[end].rank == 0);
      descended = descended || rows[end].descent.ancestors > 0;
      ++end;
    }
    const auto timed =
        std::find_if(rows.begin() + static_cast<std::ptrdiff_t>(begin), rows.begin() + static_cast<std::ptrdiff_t>(end),
                     [](const auto& row) { return row.timed(); });
    const std::string workload =
        timed == rows.begin() + static_cast<std::ptrdiff_t>(end) ? "" : ", time at " + timed->workloads[0].workload;
    text += (text.empty() ? "" : "\n") +
            core::clean_line(rows[begin].problem + " on " + rows[begin].device + workload) + "\n" +
            block_text(rows.data() + begin, rows.data() + end);
    if (rows[begin].older_files) text += older_files_text(rows[begin].problem);
  }
  if (text.empty()) return "";
  text += "\n± is a 99 % interval.";
  if (unconfirmed) text += " RANK \"no\": not won again in fresh processes.";
  if (descended) text += " BY \"model +2\": a model's, changed from two earlier solutions.";
  text += "\n";
  if (libraries) {
    text += "OVER a library: the quotient of both speed-ups over naive; the two were never timed as pairs.\n";
  }
  if (cost) text += "TOKENS, COST: of all replies behind it, including its ancestors'.\n";
  return text;
}

std::string scores_text(const std::vector<results::view::SuiteScores>& all) {
  std::string text;
  for (const results::view::SuiteScores& scores : all) {
    const std::string suite = scores.suite.empty() ? "" : "suite " + core::clean_line(scores.suite) + " on ";
    text += suite + core::clean_line(scores.device) + ": " + scores_table(scores.all);
    if (scores.clean) {
      text += "  clean subset: " + scores_table(*scores.clean);
      for (const auto& [problem, flaw] : scores.unclean) {
        text += cut("  unclean: " + core::clean_line(problem) + ": " + core::clean_line(flaw), kWidth) + "\n";
      }
    } else if (!scores.suite.empty()) {
      text += "  clean subset: all of it; no problem of this suite is marked\n";
    }
    for (const std::string& problem : scores.older_files) text += older_files_text(problem);
    text += "\n";
  }
  for (const std::string& sentence : results::view::score_definitions()) text += sentence + "\n";
  return text;
}

std::string format_tokens(int64_t tokens) {
  const auto value = static_cast<double>(tokens);
  if (tokens < 1000) return std::to_string(tokens);
  return tokens < 1'000'000 ? fmt::format("{:.0f}k", value / 1e3) : fmt::format("{:.1f}M", value / 1e6);
}

std::string format_cost(const results::archive::Cost& cost) {
  if (cost.replies == 0) return "";
  std::string text = format_tokens(cost.tokens) + " tokens";
  if (cost.dollars > 0) text += fmt::format(", ${:.2f}", cost.dollars);
  if (!cost.all_priced) text += cost.dollars > 0 ? " and replies with unknown prices" : "";
  return text;
}

std::string cut(const std::string& text, size_t characters) {
  const auto begins = [](char c) { return (c & 0xC0) != 0x80; };
  if (static_cast<size_t>(std::count_if(text.begin(), text.end(), begins)) <= characters) return text;
  std::string kept;
  size_t count = 0;
  for (const char c : text) {
    if (begins(c) && ++count > characters - 3) break;
    kept += c;
  }
  return kept + "...";
}

}  // namespace agent::cli

// kernelwright query SQL: runs one read-only SQL statement on the archive.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <memory>
#include <string_view>

#include "agent/campaign/startup.h"
#include "agent/cli/commands/commands.h"
#include "agent/cli/output.h"
#include "agent/cli/table.h"
#include "results/archive/query.h"

namespace agent::cli::commands {
namespace {
using core::Json;
constexpr unsigned kGrace_s = 5;

struct QueryOptions {
  std::string sql;
  size_t limit = 1000;
  double seconds = 30;
  bool csv = false;
};

std::string text_of(const Json& value) {
  if (value.is_null()) return "";
  return value.is_string() ? value.get<std::string>() : value.dump();
}

void print_csv(const results::archive::QueryResult& result) {
  print_text(csv_line({result.columns.begin(), result.columns.end()}));
  for (const std::vector<Json>& row : result.rows) print_text(csv_line(row));
}

void print_table(const results::archive::QueryResult& result) {
  std::vector<Table::Column> columns;
  for (size_t i = 0; i < result.columns.size(); ++i) {
    const bool number = !result.rows.empty() && result.rows.front()[i].is_number();
    columns.push_back({result.columns[i], number ? Table::Align::right : Table::Align::left});
  }
  Table table(std::move(columns));
  for (const std::vector<Json>& row : result.rows) {
    std::vector<std::string> cells;
    for (const Json& value : row) {
      cells.push_back(value.is_number_float() ? fmt::format("{:.6g}", value.get<double>()) : text_of(value));
    }
    table.add_row(std::move(cells));
  }
  print("{}", table.empty() ? "No rows.\n" : table.text());
}

void end_now(int) {
  constexpr std::string_view kWhy = "kernelwright: query: took too long within one instruction and was ended\n";
  static_cast<void>(!::write(STDERR_FILENO, kWhy.data(), kWhy.size()));
  ::_exit(kRefused);
}

// SQLite checks the time only between its instructions, and one of them may take forever (instr of two long texts). The
// archive is only read, so exiting at once does no harm.
void end_later(std::chrono::milliseconds at_most) {
  std::signal(SIGALRM, end_now);
  ::alarm(static_cast<unsigned>(at_most.count() / 1000) + kGrace_s);
}

void query(const QueryOptions& options, const Invocation& invocation) {
  const results::archive::Reader archive = campaign::open_existing_archive(invocation.archive);
  const auto at_most = std::chrono::milliseconds(static_cast<int64_t>(options.seconds * 1000));
  end_later(at_most);
  const results::archive::QueryResult result = results::archive::query(archive, options.sql, {options.limit, at_most});
  ::alarm(0);
  if (invocation.json) {
    Json rows = Json::array();
    for (const std::vector<Json>& row : result.rows) rows.push_back(row);
    print_json({{"columns", result.columns}, {"rows", std::move(rows)}, {"more", result.more}});
  } else if (options.csv) {
    print_csv(result);
  } else {
    print_table(result);
  }
  if (result.more && !invocation.json) {
    print_error(fmt::format("Only the first {} rows; --limit gives more, 0 all.\n", options.limit));
  }
}
}  // namespace

void add_query_command(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<QueryOptions>();
  CLI::App* command = app.add_subcommand(
      "query",
      "Query the archive in SQL, read only; docs/archive.md describes its views, which any SQLite client reads");
  command->add_option("SQL", options->sql, "One SELECT, as in \"SELECT * FROM v_leaderboard\"")->required();
  command->add_flag("--csv", options->csv, "Print comma-separated values");
  command->add_option("--limit", options->limit, "Rows to print; 0 prints all");
  command->add_option("--seconds", options->seconds, "Seconds after which the query is stopped")
      ->check(CLI::Range(0.001, 86400.0));
  command->footer("    kernelwright query \"SELECT * FROM v_leaderboard\" --csv");
  command->callback([options, &invocation] { query(*options, invocation); });
}

}  // namespace agent::cli::commands

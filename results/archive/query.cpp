#include "results/archive/query.h"

#include "core/error.h"
#include "core/suggest.h"
#include "results/archive/database.h"

namespace results::archive {
namespace {
using core::Json;
constexpr size_t kMostText = size_t{256} << 20;

Json value_of(const Statement& row, int column) {
  switch (row.type(column)) {
    case Statement::Type::integer:
      return row.integer(column);
    case Statement::Type::real:
      return row.real(column);
    case Statement::Type::text:
      return row.text(column);
    case Statement::Type::blob:
      return "(" + std::to_string(row.blob(column).size()) + " bytes)";
    case Statement::Type::null:
      break;
  }
  return {};
}

// Adds the names of views to SQLite's message.
[[noreturn]] void refuse(const Reader& archive, const core::InputError& error) {
  const std::string said = error.what();
  for (const std::string missing : {"no such table: ", "no such column: "}) {
    const size_t at = said.find(missing);
    if (at == std::string::npos) continue;
    const bool table = missing.find("table") != std::string::npos;
    const std::string word = said.substr(at + missing.size());
    const std::vector<std::string> views =
        texts_of(database_of(archive).prepare("SELECT name FROM sqlite_master WHERE type = 'view' ORDER BY name"));
    std::vector<std::string> known = views;
    if (table) {
      const std::string near = core::nearest(
          word, texts_of(database_of(archive).prepare("SELECT name FROM sqlite_master WHERE type = 'table'")));
      if (!near.empty()) known.push_back(near);
    }
    throw core::InputError(
        "query", said.substr(at),
        table ? core::did_you_mean(word, known, "views")
              : "PRAGMA table_info(v_leaderboard) shows a view's columns; " + core::did_you_mean("", views, "views"));
  }
  throw error;
}
}  // namespace

QueryResult query(const Reader& archive, const std::string& sql, const QueryLimits& limits) try {
  Question question(database_of(archive), sql, limits.at_most);
  QueryResult result;
  result.columns = question.columns();
  size_t bytes = 0;
  while (question.step()) {
    if (limits.rows > 0 && result.rows.size() == limits.rows) {
      result.more = true;
      break;
    }
    std::vector<Json>& row = result.rows.emplace_back();
    for (size_t i = 0; i < result.columns.size(); ++i) {
      row.push_back(value_of(question.row(), static_cast<int>(i)));
      if (row.back().is_string()) bytes += row.back().get_ref<const std::string&>().size();
    }
    if (bytes > kMostText) {
      throw core::InputError("query", "gives more than " + std::to_string(kMostText >> 20) + " MB of text",
                             "ask for fewer columns or rows");
    }
  }
  return result;
} catch (const core::InputError& error) {
  refuse(archive, error);
}

}  // namespace results::archive

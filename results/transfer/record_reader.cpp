#include "results/transfer/record_reader.h"

#include <cmath>

#include "core/error.h"

namespace results::transfer {
namespace {
using core::Json;
constexpr size_t kMostKeysKept = 200'000;  // of a table

std::string select_of(const Table& table) {
  std::string sql = "SELECT rowid";
  for (const Column& column : table.columns) {
    if (!column.is_below()) sql += ", " + (column.is_read_only() ? column.via : column.name);
  }
  return sql + " FROM " + table.name + " WHERE ";
}

[[noreturn]] void refuse(const Table& table, int64_t row, const std::string& what) {
  throw core::InputError(table.name + " " + std::to_string(row), what, "kernelwright archive verify lists all faults");
}

// Returns a column's value; references stay row numbers.
Json value_of(const Column& column, const Statement& row, int at) {
  using Type = Statement::Type;
  const auto must_be = [&](Type type, const char* what) {
    if (row.type(at) != type) throw core::InputError("", column.name + " is not a " + what);
  };
  switch (column.kind) {
    case Kind::text:
      must_be(Type::text, "text");
      return from_text(row.text(at));
    case Kind::json:
      must_be(Type::text, "text");
      return from_json_text(row.text(at));
    case Kind::prompt:
      must_be(Type::text, "text");
      return core::parse_json(row.text(at), column.name);
    case Kind::real:
      must_be(Type::real, "number");
      if (!std::isfinite(row.real(at))) throw core::InputError("", column.name + " is not finite");
      return row.real(at);
    case Kind::blob:
      must_be(Type::blob, "blob");
      return from_blob(row.blob(at));
    case Kind::flag:
      must_be(Type::integer, "flag");
      if (row.integer(at) != 0 && row.integer(at) != 1) throw core::InputError("", column.name + " is not a flag");
      return row.integer(at) == 1;
    default:
      must_be(Type::integer, "integer");
      return row.integer(at);
  }
}
}  // namespace

Rows rows_of_campaign(const Table& table, std::optional<int64_t> campaign) {
  return campaign ? Rows{table.of_campaign, campaign} : Rows{};
}

struct RecordReader::Values {
  int64_t row = 0;
  std::vector<Json> values;  // null: absent, or read later
};

RecordReader::Values RecordReader::values_of(const Table& table, const Statement& row) const {
  Values values{row.integer(0), {}};
  int at = 0;
  for (const Column& column : table.columns) {
    if (column.is_below()) {
      values.values.emplace_back();
      continue;
    }
    ++at;
    if (row.is_null(at) && !column.optional) throw core::InputError("", column.name + " is missing");
    values.values.push_back(row.is_null(at) ? Json() : value_of(column, row, at));
  }
  return values;
}

Json RecordReader::record_of(const Table& table, const Values& values) {
  Json record = Json::object();
  for (size_t i = 0; i < table.columns.size(); ++i) {
    const Column& column = table.columns[i];
    const Json& value = values.values[i];
    if (column.is_below()) {
      Json children = children_of(column, values.row);
      if (children.empty()) continue;
      record[column.name] = column.kind == Kind::child ? std::move(children[0]) : std::move(children);
    } else if (!value.is_null()) {
      const auto row = [&] { return value.get<int64_t>(); };
      if (column.kind == Kind::reference) {
        if (column.table == table.name && row() >= values.row) refuse(table, values.row, column.name + " comes later");
        record[column.name] = key_of_row(table_named(column.table), row());
      } else if (column.kind == Kind::part) {
        record[column.name] = children_of({column.name, Kind::part, false, column.table, "rowid"}, row()).at(0);
      } else {
        record[column.name] = column.kind == Kind::prompt ? prompt_of(value) : value;
      }
    }
  }
  return record;
}

Json RecordReader::children_of(const Column& column, int64_t row) {
  const Table& table = table_named(column.table);
  std::vector<Values> rows;
  {
    std::string& select = selects_[column.table];
    if (select.empty()) select = select_of(table) + column.via + " = ? ORDER BY rowid";
    Statement found = database_.prepare(select);
    found.bind(row);
    while (found.step()) rows.push_back(values_of(table, found));
  }
  if (rows.empty() && column.kind == Kind::part) throw core::InputError("", "its row in " + column.table + " is lost");
  Json children = Json::array();
  for (const Values& values : rows) children.push_back(record_of(table, values));
  return children;
}

Json RecordReader::prompt_of(const Json& with_rows) {
  const Table& texts = table_named("texts");
  const core::JsonView view(with_rows, "prompt");
  view.expect_object({"system", "turns"});
  Json turns = Json::array();
  for (const core::JsonView& turn : view.at("turns").items()) {
    turn.expect_object({"speaker", "sections"});
    Json sections = Json::array();
    for (const core::JsonView& row : turn.at("sections").items()) sections.push_back(key_of_row(texts, row.integer()));
    turns.push_back({{"speaker", turn.at("speaker").string()}, {"sections", std::move(sections)}});
  }
  return {{"system", key_of_row(texts, view.at("system").integer())}, {"turns", std::move(turns)}};
}

std::string RecordReader::key_of_row(const Table& table, int64_t row) {
  auto& known = keys_[table.name];
  if (const auto found = known.find(row); found != known.end()) return found->second;
  std::string key = new_key_of_row(table, row);
  if (known.size() < kMostKeysKept) known.emplace(row, key);
  return key;
}

std::string RecordReader::new_key_of_row(const Table& table, int64_t row) {
  Values values;
  if (table.key.empty()) {
    {
      Statement found = database_.prepare(select_of(table) + "rowid = ?");
      found.bind(row);
      if (!found.step())
        throw core::InputError("", "its row " + std::to_string(row) + " in " + table.name + " is lost");
      values = values_of(table, found);
    }
    Json record = record_of(table, values);
    const auto& copies = copies_[table.name];
    if (const auto copy = copies.find(row); copy != copies.end()) record[kCopy] = copy->second;
    return identity_of(record);
  }
  std::string sql = "SELECT ";
  for (const std::string& name : table.key) sql += (name == table.key[0] ? "" : ", ") + name;
  std::vector<Json> parts;
  {
    Statement found = database_.prepare(sql + " FROM " + table.name + " WHERE rowid = ?");
    found.bind(row);
    if (!found.step()) throw core::InputError("", "its row " + std::to_string(row) + " in " + table.name + " is lost");
    for (int i = 0; i < static_cast<int>(table.key.size()); ++i) {
      if (found.type(i) == Statement::Type::integer) {
        parts.emplace_back(found.integer(i));
      } else {
        parts.emplace_back(found.text(i));
      }
    }
  }
  std::string key;
  for (const Json& part : parts) {  // the only key with a reference refers to a solution
    key += (key.empty() ? "" : " ") +
           (part.is_string() ? part.get<std::string>() : key_of_row(table_named("solutions"), part.get<int64_t>()));
  }
  return key;
}

void RecordReader::number(const Table& table, int64_t row, Json& record,
                          std::unordered_map<std::string, int64_t>& seen) {
  if (!table.key.empty() || record.contains("step")) return;
  const int64_t copy = ++seen[record.value("campaign", "") + identity_of(record)];
  if (copy == 1) return;
  copies_[table.name][row] = copy;
  record[kCopy] = copy;
}

void RecordReader::each(const Table& table, const Take& take, const Rows& which, const Fault& fault) {
  Statement rows = database_.prepare(select_of(table) + "(" + which.where + ") ORDER BY rowid");
  if (which.campaign) rows.bind(*which.campaign);
  std::unordered_map<std::string, int64_t> seen;
  while (rows.step()) {
    Json record;
    try {
      record = record_of(table, values_of(table, rows));
      number(table, rows.integer(0), record, seen);
    } catch (const core::InputError& error) {
      const std::string what = (error.where().empty() ? "" : error.where() + ": ") + error.problem();
      if (!fault) refuse(table, rows.integer(0), what);
      fault(rows.integer(0), what);
      continue;
    }
    take(rows.integer(0), record);
  }
}

int64_t RecordReader::count(const Table& table, const Rows& which) {
  Statement rows = database_.prepare("SELECT count(*) FROM " + table.name + " WHERE (" + which.where + ")");
  if (which.campaign) rows.bind(*which.campaign);
  return rows.step() ? rows.integer(0) : 0;
}

}  // namespace results::transfer

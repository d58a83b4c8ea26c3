#include "results/transfer/record_writer.h"

#include "results/archive/rows.h"

namespace results::transfer {
namespace {
using core::Json;
using core::JsonView;
constexpr size_t kMostNamesKept = 200'000;

std::string name_in_memory(const Table& table, const std::string& campaign, const std::string& identity) {
  return table.name + " " + campaign + " " + identity;
}
}  // namespace

void RecordWriter::remember(const Table& table, const Json& record, int64_t row) {
  rows_.emplace(name_in_memory(table, record.value("campaign", ""), identity_of(record)), row);
}

std::optional<int64_t> RecordWriter::find(const Table& table, const std::string& key, const std::string& campaign) {
  if (table.key.empty()) {
    const auto found = rows_.find(name_in_memory(table, campaign, key));
    return found == rows_.end() ? std::nullopt : std::optional(found->second);
  }
  const std::string name = table.name + " " + key;
  if (const auto found = keys_.find(name); found != keys_.end()) return found->second;
  std::string sql = "SELECT rowid FROM " + table.name + " WHERE " + table.key[0] + " = ?";
  std::string first = key, second;
  std::optional<int64_t> referred;
  if (table.key.size() == 2) {
    sql += " AND " + table.key[1] + " = ?";
    first = key.substr(0, key.find(' '));
    second = key.size() > first.size() ? key.substr(first.size() + 1) : "";
  }
  if (table.name == "candidates") {
    referred = find(table_named("solutions"), first, campaign);
    if (!referred) return std::nullopt;
  }
  Statement found = database_.prepare(sql);
  if (referred) {
    found.bind(*referred);
  } else {
    found.bind(first);
  }
  if (table.key.size() == 2) found.bind(second);
  if (!found.step()) return std::nullopt;
  if (keys_.size() < kMostNamesKept) keys_.emplace(name, found.integer(0));
  return found.integer(0);
}

int64_t RecordWriter::reference(const Table& table, const JsonView& key, const std::string& campaign) {
  const auto row = find(table, key.string(), campaign);
  if (!row) key.fail("refers to nothing earlier in " + table.name);
  return *row;
}

std::string RecordWriter::prompt_with_rows(const JsonView& prompt) {
  const auto row_of = [&](const Json& hash) -> Json {
    return reference(table_named("texts"), JsonView(hash, prompt.file(), prompt.pointer()), "");
  };
  return archive::with_texts(prompt.json(), row_of).dump();
}

void RecordWriter::bind(Statement& statement, const Column& column, const JsonView& record,
                        const std::string& campaign) {
  if (!record.has(column.name)) {
    statement.bind_null();
    return;
  }
  const JsonView value = record.at(column.name);
  switch (column.kind) {
    case Kind::text:
      statement.bind(to_text(value));
      break;
    case Kind::json:
      statement.bind(to_json_text(value));
      break;
    case Kind::integer:
      statement.bind(value.integer());
      break;
    case Kind::real:
      statement.bind(value.number());
      break;
    case Kind::flag:
      statement.bind(int64_t{value.boolean()});
      break;
    case Kind::blob:
      statement.bind_blob(to_blob(value));
      break;
    case Kind::reference:
      statement.bind(reference(table_named(column.table), value, campaign));
      break;
    case Kind::prompt:
      statement.bind(prompt_with_rows(value));
      break;
    case Kind::part:
      statement.bind(insert(table_named(column.table), value, campaign));
      break;
    case Kind::child:
    case Kind::children:
      break;
  }
}

int64_t RecordWriter::insert(const Table& table, const JsonView& record, const std::string& campaign,
                             const std::string& owner, int64_t owner_row) {
  {
    Statement added = database_.prepare(archive::insert_into(table, owner));
    if (!owner.empty()) added.bind(owner_row);
    for (const Column& column : table.columns) {
      if (column.is_stored()) bind(added, column, record, campaign);
    }
    added.run();
  }
  const int64_t row = database_.last_id();
  for (const Column& column : table.columns) {
    if (column.is_stored() || column.kind == Kind::reference || !record.has(column.name)) continue;
    const JsonView value = record.at(column.name);
    const Table& part = table_named(column.table);
    if (column.kind == Kind::child) insert(part, value, campaign, column.via, row);
    if (column.kind == Kind::children) {
      for (const JsonView& item : value.items()) insert(part, item, campaign, column.via, row);
    }
  }
  return row;
}

int64_t RecordWriter::add(const Table& table, const JsonView& record) {
  const Json& json = record.json();
  try {
    const int64_t row = insert(table, record, json.value("campaign", ""));
    if (table.key.empty()) remember(table, json, row);
    return row;
  } catch (const archive::Contradiction& error) {
    record.fail(std::string("contradicts an earlier record (") + error.what() + ")");
  }
}

}  // namespace results::transfer

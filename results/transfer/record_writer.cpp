#include "results/transfer/record_writer.h"

namespace results::transfer {
namespace {
using core::Json;
using core::JsonView;
constexpr size_t kMostNamesKept = 200'000;

std::string name_in_memory(const archive::Table& table, const std::string& campaign, const std::string& identity) {
  return table.name + " " + campaign + " " + identity;
}

bool is_stored(const archive::Column& column) {
  const bool read_only = column.kind == archive::Kind::reference && !column.via.empty();
  return !read_only && column.kind != archive::Kind::child && column.kind != archive::Kind::children;
}

std::string insert_into(const archive::Table& table, const std::string& owner) {
  std::string names = owner, places = owner.empty() ? "" : "?";
  for (const archive::Column& column : table.columns) {
    if (!is_stored(column)) continue;
    names += (names.empty() ? "" : ", ") + column.name;
    places += places.empty() ? "?" : ", ?";
  }
  return "INSERT INTO " + table.name + " (" + names + ") VALUES (" + places + ")";
}
}  // namespace

void RecordWriter::remember(const archive::Table& table, const Json& record, int64_t row) {
  rows_.emplace(name_in_memory(table, record.value("campaign", ""), identity_of(record)), row);
}

std::optional<int64_t> RecordWriter::find(const archive::Table& table, const std::string& key,
                                          const std::string& campaign) {
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
    referred = find(archive::table_named("solutions"), first, campaign);
    if (!referred) return std::nullopt;
  }
  archive::Statement found = database_.prepare(sql);
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

int64_t RecordWriter::reference(const archive::Table& table, const JsonView& key, const std::string& campaign) {
  const auto row = find(table, key.string(), campaign);
  if (!row) key.fail("refers to nothing that came before it in " + table.name);
  return *row;
}

std::string RecordWriter::prompt_with_rows(const JsonView& prompt) {
  const archive::Table& texts = archive::table_named("texts");
  Json turns = Json::array();
  for (const JsonView& turn : prompt.at("turns").items()) {
    Json sections = Json::array();
    for (const JsonView& section : turn.at("sections").items()) sections.push_back(reference(texts, section, ""));
    turns.push_back({{"speaker", turn.at("speaker").json()}, {"sections", std::move(sections)}});
  }
  return Json{{"system", reference(texts, prompt.at("system"), "")}, {"turns", std::move(turns)}}.dump();
}

void RecordWriter::bind(archive::Statement& statement, const archive::Column& column, const JsonView& record,
                        const std::string& campaign) {
  if (!record.has(column.name)) {
    statement.bind_null();
    return;
  }
  const JsonView value = record.at(column.name);
  switch (column.kind) {
    case archive::Kind::text:
      statement.bind(to_text(value));
      break;
    case archive::Kind::json:
      statement.bind(to_json_text(value));
      break;
    case archive::Kind::integer:
      statement.bind(value.integer());
      break;
    case archive::Kind::real:
      statement.bind(value.number());
      break;
    case archive::Kind::flag:
      statement.bind(int64_t{value.boolean()});
      break;
    case archive::Kind::blob:
      statement.bind_blob(to_blob(value));
      break;
    case archive::Kind::reference:
      statement.bind(reference(archive::table_named(column.table), value, campaign));
      break;
    case archive::Kind::prompt:
      statement.bind(prompt_with_rows(value));
      break;
    case archive::Kind::part:
      statement.bind(insert(archive::table_named(column.table), value, campaign));
      break;
    case archive::Kind::child:
    case archive::Kind::children:
      break;
  }
}

int64_t RecordWriter::insert(const archive::Table& table, const JsonView& record, const std::string& campaign,
                             const std::string& owner, int64_t owner_row) {
  {
    archive::Statement added = database_.prepare(insert_into(table, owner));
    if (!owner.empty()) added.bind(owner_row);
    for (const archive::Column& column : table.columns) {
      if (is_stored(column)) bind(added, column, record, campaign);
    }
    added.run();
  }
  const int64_t row = database_.last_id();
  for (const archive::Column& column : table.columns) {
    if (is_stored(column) || column.kind == archive::Kind::reference || !record.has(column.name)) continue;
    const JsonView value = record.at(column.name);
    const archive::Table& part = archive::table_named(column.table);
    if (column.kind == archive::Kind::child) insert(part, value, campaign, column.via, row);
    if (column.kind == archive::Kind::children) {
      for (const JsonView& item : value.items()) insert(part, item, campaign, column.via, row);
    }
  }
  return row;
}

int64_t RecordWriter::add(const archive::Table& table, const JsonView& record) {
  const Json& json = record.json();
  try {
    const int64_t row = insert(table, record, json.value("campaign", ""));
    if (table.key.empty()) remember(table, json, row);
    return row;
  } catch (const archive::Contradiction& error) {
    record.fail(std::string("contradicts what came before it (") + error.what() + ")");
  }
}

}  // namespace results::transfer

#include "results/archive/rows.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <ctime>
#include <utility>

#include "core/error.h"

namespace results::archive {

std::string stored_text(const core::Json& json) {
  return json.dump(-1, ' ', false, core::Json::error_handler_t::replace);
}

std::string now_utc() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

std::optional<std::string> unless_empty(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

NewRow::NewRow(std::string_view table, std::string owner) : table_(table_named(table)), owner_(std::move(owner)) {}

void NewRow::bind(Statement& statement, const std::string& column) const {
  const auto found = values_.find(column);
  if (found == values_.end()) {
    statement.bind_null();
    return;
  }
  std::visit(
      [&](const auto& value) {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::same_as<T, std::monostate>) {
          statement.bind_null();
        } else if constexpr (std::same_as<T, std::vector<char>>) {
          statement.bind_blob(value);
        } else {
          statement.bind(value);
        }
      },
      found->second);
}

int64_t NewRow::run(Database& database, const std::string& verb) const {
  const std::vector<std::string> columns = stored_columns(table_, owner_);
  for (const auto& [name, value] : values_) {
    if (std::find(columns.begin(), columns.end(), name) == columns.end()) {
      throw core::SystemError("the archive's table " + table_.name + " has no column " + name);
    }
  }
  Statement added = database.prepare(insert_into(table_, owner_, verb));
  for (const std::string& column : columns) bind(added, column);
  added.run();
  return database.last_id();
}

int64_t NewRow::insert(Database& database) const { return run(database, "INSERT"); }

int64_t NewRow::find_or_insert(Database& database) const {
  std::string sql = "SELECT rowid FROM " + table_.name + " WHERE ";
  for (const std::string& column : table_.key) sql += (column == table_.key[0] ? "" : " AND ") + column + " = ?";
  const auto find = [&]() -> std::optional<int64_t> {
    Statement found = database.prepare(sql);
    for (const std::string& column : table_.key) bind(found, column);
    return found.step() ? std::optional(found.integer(0)) : std::nullopt;
  };
  if (const auto row = find()) return *row;
  run(database, "INSERT OR IGNORE");  // another process may have inserted it
  if (const auto row = find()) return *row;
  throw core::SystemError("the archive lost a row that was just added");
}

namespace {
constexpr size_t kPairBytes = 2 * sizeof(double) + 1;
constexpr size_t kClockBytes = 2 * sizeof(float) + 1;

bool clock_known(const verifier::statistics::Pair& pair) {
  return pair.candidate_mhz != 0 || pair.incumbent_mhz != 0 || pair.throttled;
}
}  // namespace

std::vector<char> pack(const std::vector<verifier::statistics::Pair>& pairs) {
  std::vector<char> bytes(pairs.size() * kPairBytes);
  for (size_t i = 0; i < pairs.size(); ++i) {
    char* at = bytes.data() + i * kPairBytes;
    std::memcpy(at, &pairs[i].candidate_us, sizeof(double));
    std::memcpy(at + sizeof(double), &pairs[i].incumbent_us, sizeof(double));
    at[2 * sizeof(double)] = pairs[i].candidate_first ? 1 : 0;
  }
  return bytes;
}

std::vector<char> pack_clocks(const std::vector<verifier::statistics::Pair>& pairs) {
  if (std::none_of(pairs.begin(), pairs.end(), clock_known)) return {};
  std::vector<char> bytes(pairs.size() * kClockBytes);
  for (size_t i = 0; i < pairs.size(); ++i) {
    char* at = bytes.data() + i * kClockBytes;
    std::memcpy(at, &pairs[i].candidate_mhz, sizeof(float));
    std::memcpy(at + sizeof(float), &pairs[i].incumbent_mhz, sizeof(float));
    at[2 * sizeof(float)] = pairs[i].throttled ? 1 : 0;
  }
  return bytes;
}

std::vector<verifier::statistics::Pair> unpack(const std::vector<char>& bytes, const std::vector<char>& clocks) {
  std::vector<verifier::statistics::Pair> pairs(bytes.size() / kPairBytes);
  if (!clocks.empty() && clocks.size() != pairs.size() * kClockBytes) {
    throw core::SystemError("the archive holds clocks that do not match their samples");
  }
  for (size_t i = 0; i < pairs.size(); ++i) {
    const char* at = bytes.data() + i * kPairBytes;
    std::memcpy(&pairs[i].candidate_us, at, sizeof(double));
    std::memcpy(&pairs[i].incumbent_us, at + sizeof(double), sizeof(double));
    pairs[i].candidate_first = at[2 * sizeof(double)] != 0;
    if (clocks.empty()) continue;
    at = clocks.data() + i * kClockBytes;
    std::memcpy(&pairs[i].candidate_mhz, at, sizeof(float));
    std::memcpy(&pairs[i].incumbent_mhz, at + sizeof(float), sizeof(float));
    pairs[i].throttled = at[2 * sizeof(float)] != 0;
  }
  return pairs;
}

}  // namespace results::archive

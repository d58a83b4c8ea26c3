// Inserts and reads rows by column names. tables.h lists each table's columns, records.h maps members to columns.
#pragma once

#include <concepts>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "results/archive/database.h"
#include "results/archive/records.h"
#include "results/archive/tables.h"
#include "verifier/verdicts/measurement.h"

namespace results::archive {

// JSON as text. Accepts any bytes from a candidate or a model; never throws.
std::string stored_text(const core::Json& json);
std::string now_utc();
// A prompt ({"system": text, "turns": [{"speaker": name, "sections": [text, ...]}]}) with each text replaced by
// exchange(text).
template <typename Exchange>
core::Json with_texts(const core::Json& prompt, Exchange exchange) {
  core::Json turns = core::Json::array();
  for (const core::Json& turn : prompt.at("turns")) {
    core::Json sections = core::Json::array();
    for (const core::Json& section : turn.at("sections")) sections.push_back(exchange(section));
    turns.push_back({{"speaker", turn.at("speaker")}, {"sections", std::move(sections)}});
  }
  return {{"system", exchange(prompt.at("system"))}, {"turns", std::move(turns)}};
}
// nullopt for "".
std::optional<std::string> unless_empty(const std::string& text);

// A new row of one of tables().
class NewRow {
 public:
  // `owner`: the column of a part that names the row it belongs to (Column::via), which its table does not list.
  explicit NewRow(std::string_view table, std::string owner = "");

  template <typename T>
  NewRow& operator()(std::string_view column, const T& value) {
    values_.insert_or_assign(std::string(column), value_of(value));
    return *this;
  }

  // Returns the row's id. Throws core::SystemError for a column that the table lacks.
  int64_t insert(Database& database) const;
  // The id of the row with this key; adds the row if there is none.
  int64_t find_or_insert(Database& database) const;

 private:
  using Value = std::variant<std::monostate, int64_t, double, std::string, std::vector<char>>;

  template <typename T>
  static Value value_of(const T& value) {
    if constexpr (std::same_as<T, uint64_t>) {
      return std::to_string(value);  // SQLite's integers are signed
    } else if constexpr (std::integral<T>) {
      return int64_t{value};
    } else if constexpr (std::same_as<T, core::Json>) {
      return stored_text(value);
    } else if constexpr (std::convertible_to<T, std::string_view>) {
      return std::string(std::string_view(value));
    } else {
      return value;
    }
  }
  template <typename T>
  static Value value_of(const std::optional<T>& value) {
    return value ? value_of(*value) : Value();
  }

  void bind(Statement& statement, const std::string& column) const;
  int64_t run(Database& database, const std::string& verb) const;

  const Table& table_;
  std::string owner_;
  std::map<std::string, Value, std::less<>> values_;
};

// Reads columns of a found row by name. Among columns of the same name, the first counts.
class FoundRow {
 public:
  explicit FoundRow(const Statement& statement) : statement_(statement) {}

  template <typename T>
  const FoundRow& operator()(std::string_view column, T& value) const {
    read(statement_.column_named(column), value);
    return *this;
  }
  template <typename T>
  T at(std::string_view column) const {
    T value{};
    read(statement_.column_named(column), value);
    return value;
  }

 private:
  template <typename T>
  void read(int at, T& value) const {
    if constexpr (std::same_as<T, uint64_t>) {
      value = std::stoull(statement_.text(at));
    } else if constexpr (std::same_as<T, bool>) {
      value = statement_.integer(at) != 0;
    } else if constexpr (std::integral<T>) {
      value = static_cast<T>(statement_.integer(at));
    } else if constexpr (std::floating_point<T>) {
      value = statement_.real(at);
    } else if constexpr (std::same_as<T, core::Json>) {
      value = core::Json::parse(statement_.text(at));
    } else if constexpr (std::same_as<T, std::vector<char>>) {
      value = statement_.blob(at);
    } else {
      value = statement_.text(at);
    }
  }
  template <typename T>
  void read(int at, std::optional<T>& value) const {
    value.reset();
    if (!statement_.is_null(at)) read(at, value.emplace());
  }

  const Statement& statement_;
};

// 17 bytes a pair: two doubles in microseconds (candidate, incumbent), and 1 where the candidate went first.
std::vector<char> pack(const std::vector<verifier::statistics::Pair>& pairs);
// 9 bytes a pair: two floats in MHz, and 1 where the device was throttled. Empty if no clock is known.
std::vector<char> pack_clocks(const std::vector<verifier::statistics::Pair>& pairs);
// `clocks` may be empty. Throws core::SystemError if the two do not match.
std::vector<verifier::statistics::Pair> unpack(const std::vector<char>& bytes, const std::vector<char>& clocks);

}  // namespace results::archive

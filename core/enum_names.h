// Enumerators and their names, spelled once.
//
//   enum class Build { fast, check };
//   KW_ENUM_NAMES(Build, fast, check)       // in the namespace of the enumeration
//
//   name_of(Build::check)                   // "check"; "" for a value without a name
//   core::enum_from_name<Build>("fast")     // Build::fast; nullopt for an unknown name
//   core::enum_names<Build>()               // {"fast", "check"}
//   core::parse_enum<Build>(text, where, "builds")  // throws InputError with a suggestion
//   view.one_of<Build>("builds")            // the same from JSON (core/strict_json.h)
//
// Where names differ from enumerators, define enum_rows() by hand: it returns an array of EnumRow.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/suggest.h"

namespace core {

template <typename E>
struct EnumRow {
  E value;
  std::string_view name;
};

// Rows of `values`, named by `list`: the same enumerators as text, separated by commas.
template <typename E, size_t N>
constexpr std::array<EnumRow<E>, N> enum_rows_of(const E (&values)[N], std::string_view list) {
  std::array<EnumRow<E>, N> rows{};
  for (size_t i = 0; i < N; ++i) {
    const size_t comma = list.find(',');
    rows[i] = {values[i], list.substr(0, comma)};
    if (comma != std::string_view::npos) list.remove_prefix(list.find_first_not_of(' ', comma + 1));
  }
  return rows;
}

template <typename E>
constexpr std::string_view enum_name(E value) {
  for (const EnumRow<E>& row : enum_rows(E{})) {
    if (row.value == value) return row.name;
  }
  return "";
}

template <typename E>
constexpr std::optional<E> enum_from_name(std::string_view name) {
  for (const EnumRow<E>& row : enum_rows(E{})) {
    if (row.name == name) return row.value;
  }
  return std::nullopt;
}

// In the order of the declaration.
template <typename E>
std::vector<std::string> enum_names() {
  std::vector<std::string> names;
  for (const EnumRow<E>& row : enum_rows(E{})) names.emplace_back(row.name);
  return names;
}

// Throws InputError at `where`. `kind` names the enumeration in the plural, for the message.
template <typename E>
E parse_enum(std::string_view name, const std::string& where, std::string_view kind) {
  if (const std::optional<E> value = enum_from_name<E>(name)) return *value;
  throw InputError(where, "\"" + std::string(name) + "\" is not one of the " + std::string(kind),
                   did_you_mean(name, enum_names<E>(), kind));
}

}  // namespace core

#define KW_ENUM_NAMES(Type, ...)                     \
  constexpr auto enum_rows(Type) {                   \
    using enum Type;                                 \
    constexpr Type values[] = {__VA_ARGS__};         \
    return core::enum_rows_of(values, #__VA_ARGS__); \
  }                                                  \
  constexpr std::string_view name_of(Type value) { return core::enum_name(value); }

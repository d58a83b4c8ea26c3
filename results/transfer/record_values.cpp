#include "results/transfer/record_values.h"

#include <algorithm>

#include "core/hash.h"
#include "results/transfer/base64.h"

namespace results::transfer {
namespace {
using core::Json;
using core::JsonView;
constexpr int kDeepest = 64;  // as core::parse_json reads

bool is_utf8(const std::string& text) {
  if (std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; })) return true;
  try {
    static_cast<void>(Json(text).dump());
    return true;
  } catch (const Json::type_error&) {
    return false;
  }
}

// At least as deep as the text is nested: brackets in strings count, too.
bool may_be_too_deep(const std::string& text) {
  int depth = 0, deepest = 0;
  for (const char c : text) {
    if (c == '[' || c == '{') deepest = std::max(deepest, ++depth);
    if (c == ']' || c == '}') --depth;
  }
  return deepest > kDeepest / 2;
}
}  // namespace

Json from_text(const std::string& text) { return is_utf8(text) ? Json(text) : Json{{"base64", base64(text)}}; }

Json from_json_text(const std::string& text) {
  const bool nested = !text.empty() && (text[0] == '{' || text[0] == '[') && !may_be_too_deep(text);
  if (!nested) return from_text(text);
  Json value = Json::parse(text, nullptr, false);
  return !value.is_discarded() && value.dump() == text ? value : from_text(text);
}

Json from_blob(const std::vector<char>& bytes) { return base64({bytes.data(), bytes.size()}); }

std::string to_text(const JsonView& value) {
  if (!value.json().is_object()) return value.string();
  value.expect_object({"base64"});
  const std::vector<char> bytes = to_blob(value.at("base64"));
  const std::string text(bytes.begin(), bytes.end());
  if (is_utf8(text)) value.fail("is text in base64 that could be plain", "export the archive again");
  return text;
}

std::string to_json_text(const JsonView& value) {
  if (!value.json().is_structured() || value.has("base64")) return to_text(value);
  return value.json().dump();
}

std::vector<char> to_blob(const JsonView& value) {
  auto bytes = from_base64(value.string());
  if (!bytes) value.fail("is no base64", "export the archive again");
  return std::move(*bytes);
}

std::string identity_of(const Json& record) {
  Json rest = record;
  rest.erase("campaign");
  rest.erase(kTable);
  return core::sha256_hex(line_of(rest));
}

std::string key_of(const archive::Table& table, const Json& record) {
  if (table.key.empty()) return identity_of(record);
  std::string key;
  for (const std::string& name : table.key) {
    const Json& value = record.at(name);
    key += (key.empty() ? "" : " ") + (value.is_string() ? value.get<std::string>() : value.dump());
  }
  return key;
}

std::string line_of(const Json& record) { return record.dump(-1, ' ', true); }

}  // namespace results::transfer

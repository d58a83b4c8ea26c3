#include "results/transfer/record_values.h"

#include <openssl/evp.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "core/hash.h"

namespace results::transfer {
namespace {
using core::Json;
using core::JsonView;
constexpr int kDeepest = 64;  // the limit of core::parse_json

const unsigned char* unsigned_bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

// RFC 4648, padded, in one line.
std::string base64(std::string_view bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');  // OpenSSL appends a zero
  const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()), unsigned_bytes(bytes),
                                   static_cast<int>(bytes.size()));
  text.resize(static_cast<size_t>(size));
  return text;
}

// nullopt unless `text` is exactly base64() of some bytes.
std::optional<std::vector<char>> from_base64(std::string_view text) {
  std::vector<char> bytes(text.size() / 4 * 3);
  const int size = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()), unsigned_bytes(text),
                                   static_cast<int>(text.size()));
  if (size < 0 || static_cast<size_t>(size) != bytes.size()) return std::nullopt;
  for (size_t i = text.size(); i > 0 && text[i - 1] == '=' && !bytes.empty(); --i) bytes.pop_back();
  // OpenSSL ignores surrounding blanks and unused bits.
  if (base64({bytes.data(), bytes.size()}) != text) return std::nullopt;
  return bytes;
}

// An upper bound of the nesting: counts brackets in strings, too.
bool may_be_too_deep(const std::string& text) {
  int depth = 0, deepest = 0;
  for (const char c : text) {
    if (c == '[' || c == '{') deepest = std::max(deepest, ++depth);
    if (c == ']' || c == '}') --depth;
  }
  return deepest > kDeepest / 2;
}
}  // namespace

Json from_text(const std::string& text) { return core::is_utf8(text) ? Json(text) : Json{{"base64", base64(text)}}; }

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
  if (core::is_utf8(text)) value.fail("is text in base64 that could be plain", "export the archive again");
  return text;
}

std::string to_json_text(const JsonView& value) {
  if (!value.json().is_structured() || value.has("base64")) return to_text(value);
  return value.json().dump();
}

std::vector<char> to_blob(const JsonView& value) {
  auto bytes = from_base64(value.string());
  if (!bytes) value.fail("is not base64", "export the archive again");
  return std::move(*bytes);
}

std::string identity_of(const Json& record) {
  Json rest = record;
  rest.erase("campaign");
  rest.erase(kTable);
  return core::sha256_hex(line_of(rest));
}

std::string key_of(const Table& table, const Json& record) {
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

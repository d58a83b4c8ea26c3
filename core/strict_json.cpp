#include "core/strict_json.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "core/error.h"
#include "core/suggest.h"

namespace core {
namespace {
std::string escape_pointer(std::string_view key) {
  std::string out;
  for (char c : key) out += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
  return out;
}
}  // namespace

Json parse_json(std::string_view text, const std::string& file) {
  std::vector<std::set<std::string>> open_objects;
  const auto watch = [&](int depth, Json::parse_event_t event, Json& parsed) {
    if (depth > 64) throw InputError(file, "JSON is nested deeper than 64 levels");
    if (event == Json::parse_event_t::object_start) open_objects.emplace_back();
    if (event == Json::parse_event_t::object_end) open_objects.pop_back();
    if (event == Json::parse_event_t::key && !open_objects.back().insert(parsed.get<std::string>()).second) {
      throw InputError(file, "the key " + parsed.dump() + " occurs twice in one object", "keep one of them");
    }
    return true;
  };
  try {
    return Json::parse(text, watch);
  } catch (const Json::exception& error) {
    std::string what = error.what();
    if (const size_t at = what.find("] "); at != std::string::npos) what = what.substr(at + 2);
    throw InputError(file, "is not valid JSON: " + what);
  }
}

void JsonView::fail(const std::string& what, const std::string& remedy) const {
  throw InputError(pointer_.empty() ? file_ : file_ + "#" + pointer_, what, remedy);
}

void JsonView::expect_object(const std::vector<std::string>& required, const std::vector<std::string>& optional) const {
  if (!value_->is_object()) fail("must be an object, is " + std::string(value_->type_name()));
  std::vector<std::string> known = required;
  known.insert(known.end(), optional.begin(), optional.end());
  for (const auto& [key, value] : value_->items()) {
    if (std::ranges::find(known, key) == known.end()) {
      JsonView(value, file_, pointer_ + "/" + escape_pointer(key))
          .fail("unknown field \"" + key + "\"", did_you_mean(key, known, "fields"));
    }
  }
  for (const std::string& key : required) {
    if (!value_->contains(key))
      fail("field \"" + key + "\" is missing",
           "add it; docs/problem-format.md and docs/solution-format.md show the formats");
  }
}

bool JsonView::has(std::string_view key) const { return value_->is_object() && value_->contains(key); }

JsonView JsonView::at(std::string_view key) const {
  if (!has(key)) fail("field \"" + std::string(key) + "\" is missing");
  return JsonView((*value_)[std::string(key)], file_, pointer_ + "/" + escape_pointer(key));
}

std::vector<JsonView> JsonView::items() const {
  if (!value_->is_array()) fail("must be an array, is " + std::string(value_->type_name()));
  std::vector<JsonView> views;
  for (size_t i = 0; i < value_->size(); ++i) {
    views.emplace_back((*value_)[i], file_, pointer_ + "/" + std::to_string(i));
  }
  return views;
}

std::vector<std::pair<std::string, JsonView>> JsonView::members() const {
  if (!value_->is_object()) fail("must be an object, is " + std::string(value_->type_name()));
  std::vector<std::pair<std::string, JsonView>> views;
  for (const auto& [key, value] : value_->items()) {
    views.emplace_back(key, JsonView(value, file_, pointer_ + "/" + escape_pointer(key)));
  }
  return views;
}

std::string JsonView::string() const {
  if (!value_->is_string()) fail("must be a string, is " + std::string(value_->type_name()));
  return value_->get<std::string>();
}

std::string JsonView::one_of(const std::vector<std::string>& allowed, std::string_view kind) const {
  std::string text = string();
  if (std::ranges::find(allowed, text) == allowed.end()) {
    fail("\"" + text + "\" is not one of the " + std::string(kind), did_you_mean(text, allowed, kind));
  }
  return text;
}

int64_t JsonView::integer(int64_t least, int64_t most) const {
  if (!value_->is_number_integer()) fail("must be an integer, is " + std::string(value_->type_name()));
  const bool beyond = value_->is_number_unsigned() && value_->get<uint64_t>() > uint64_t{INT64_MAX};
  const int64_t number = beyond ? INT64_MAX : value_->get<int64_t>();
  if (beyond || number < least || number > most) {
    fail("must be between " + std::to_string(least) + " and " + std::to_string(most) + ", is " + value_->dump());
  }
  return number;
}

double JsonView::number() const {
  if (!value_->is_number()) fail("must be a number, is " + std::string(value_->type_name()));
  return value_->get<double>();
}

bool JsonView::boolean() const {
  if (!value_->is_boolean()) fail("must be true or false, is " + std::string(value_->type_name()));
  return value_->get<bool>();
}

Expr JsonView::expr() const {
  if (value_->is_number_integer()) return Expr::constant(integer());
  if (!value_->is_string()) fail("must be an integer or an expression in a string");
  try {
    return Expr::parse(string());
  } catch (const ExprError& error) {
    fail(error.what());
  }
}

std::string JsonView::identifier() const {
  std::string text = string();
  const auto plain = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  if (text.empty() || text.size() > 64 || std::isdigit(static_cast<unsigned char>(text[0])) ||
      !std::ranges::all_of(text, plain)) {
    fail("\"" + text + "\" is not a name", "use letters, digits and '_', at most 64, not starting with a digit");
  }
  return text;
}

int64_t eval_at(const JsonView& view, const Expr& expr, const Bindings& bindings) {
  try {
    return expr.eval(bindings);
  } catch (const ExprError& error) {
    view.fail(error.what());
  }
}

bool is_utf8(const std::string& text) {
  if (std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; })) return true;
  try {
    static_cast<void>(Json(text).dump());
    return true;
  } catch (const Json::type_error&) {
    return false;
  }
}

}  // namespace core

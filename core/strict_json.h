// JSON read strictly: every fault is an InputError with the file, the JSON pointer and a remedy.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/enum_names.h"
#include "core/expr.h"

namespace core {

using Json = nlohmann::json;

// Parses text. `file` names the source in errors. Refuses duplicate keys, comments, NaN and nesting deeper than 64.
Json parse_json(std::string_view text, const std::string& file);

// A view of one value and its place. The Json must outlive the view.
class JsonView {
 public:
  JsonView(const Json& value, std::string file, std::string pointer = "")
      : value_(&value), file_(std::move(file)), pointer_(std::move(pointer)) {}

  [[noreturn]] void fail(const std::string& what, const std::string& remedy = "") const;

  // Requires an object with no other keys than these, and with all `required` ones.
  void expect_object(const std::vector<std::string>& required, const std::vector<std::string>& optional = {}) const;

  bool has(std::string_view key) const;
  JsonView at(std::string_view key) const;                        // an object's member; fails when absent
  std::vector<JsonView> items() const;                            // an array's items
  std::vector<std::pair<std::string, JsonView>> members() const;  // an object's members, in order of name

  std::string string() const;
  std::string one_of(const std::vector<std::string>& allowed, std::string_view kind) const;
  // The enumerator of this name (core/enum_names.h). `kind` names the enumeration in the plural.
  template <typename E>
  E one_of(std::string_view kind) const {
    return *enum_from_name<E>(one_of(enum_names<E>(), kind));
  }
  int64_t integer(int64_t least = INT64_MIN, int64_t most = INT64_MAX) const;
  double number() const;
  bool boolean() const;
  Expr expr() const;  // a string, or an integer
  // A C identifier of at most 64 characters.
  std::string identifier() const;

  const Json& json() const { return *value_; }
  const std::string& file() const { return file_; }
  const std::string& pointer() const { return pointer_; }

 private:
  const Json* value_;
  std::string file_, pointer_;
};

// Evaluates with the bindings; an ExprError becomes an InputError at `view`.
int64_t eval_at(const JsonView& view, const Expr& expr, const Bindings& bindings);

// Can the text be a JSON string as it is?
bool is_utf8(const std::string& text);

}  // namespace core

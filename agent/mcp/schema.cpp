#include "agent/mcp/schema.h"

#include "core/error.h"
#include "core/suggest.h"
#include "core/text.h"

namespace agent::mcp {
namespace {
using core::Json;

Json schema_of(const char* type, const std::string& description) {
  return {{"type", type}, {"description", description}};
}

Json object_of(const std::map<std::string, Json>& members, const std::vector<std::string>& required, bool is_open) {
  Json schema{{"type", "object"}, {"properties", members}, {"additionalProperties", is_open}};
  if (!required.empty()) schema["required"] = required;
  return schema;
}

bool has_type(const Json& value, const std::string& type) {
  if (type == "string") return value.is_string();
  if (type == "integer") return value.is_number_integer();
  if (type == "number") return value.is_number();
  if (type == "boolean") return value.is_boolean();
  return type == "array" ? value.is_array() : value.is_object();
}

std::string type_words(const std::string& type) {
  if (type == "string") return "a text";
  if (type == "boolean") return "true or false";
  return (type == "integer" || type == "array" || type == "object" ? "an " : "a ") + type;
}

void require_members_fit(const Json& value, const Json& schema, const std::string& where) {
  const Json members = schema.value("properties", Json::object());
  std::vector<std::string> known;
  for (const auto& [name, member] : members.items()) known.push_back(name);
  for (const Json& name : schema.value("required", Json::array())) {
    if (!value.contains(name.get<std::string>())) {
      throw core::InputError(where, "\"" + name.get<std::string>() + "\" is missing");
    }
  }
  const Json& others = schema.at("additionalProperties");
  for (const auto& [name, member] : value.items()) {
    const std::string place = where + "/" + core::clean_line(name, 100);
    if (members.contains(name)) {
      require_fits(member, members.at(name), place);
    } else if (others.is_object()) {
      require_fits(member, others, place);
    } else if (!others.get<bool>()) {
      throw core::InputError(place, "there is no such argument", core::did_you_mean(name, known, "arguments"));
    }
  }
}

void require_text_fits(const std::string& text, const Json& schema, const std::string& where) {
  // maxLength counts characters, of which there are no more than bytes.
  if (schema.contains("maxLength") && text.size() > schema.at("maxLength").get<size_t>()) {
    throw core::InputError(where,
                           "has " + std::to_string(text.size()) + " bytes, more than the " +
                               std::to_string(schema.at("maxLength").get<size_t>()) + " that are allowed",
                           "send less");
  }
  if (!schema.contains("enum")) return;
  const auto choices = schema.at("enum").get<std::vector<std::string>>();
  for (const std::string& choice : choices) {
    if (text == choice) return;
  }
  throw core::InputError(where, "\"" + core::clean_line(text, 100) + "\" is not one of its values",
                         core::did_you_mean(text, choices, "values"));
}

// A whole number that does not fit an int64_t is outside of every range.
void require_integer_fits(const Json& value, const Json& schema, const std::string& where) {
  const auto least = schema.value("minimum", INT64_MIN), most = schema.value("maximum", INT64_MAX);
  const bool is_huge = value.is_number_unsigned() && value.get<uint64_t>() > static_cast<uint64_t>(INT64_MAX);
  if (!is_huge && value.get<int64_t>() >= least && value.get<int64_t>() <= most) return;
  throw core::InputError(where,
                         value.dump() + " is not within " + std::to_string(least) + " and " + std::to_string(most));
}
}  // namespace

Json text_schema(const std::string& description) { return schema_of("string", description); }

Json text_schema(const std::string& description, size_t most_bytes) {
  Json schema = text_schema(description);
  schema["maxLength"] = most_bytes;
  return schema;
}

Json choice_schema(const std::string& description, const std::vector<std::string>& choices) {
  Json schema = text_schema(description);
  schema["enum"] = choices;
  return schema;
}

Json integer_schema(const std::string& description, int64_t least, int64_t most) {
  Json schema = schema_of("integer", description);
  schema["minimum"] = least;
  schema["maximum"] = most;
  return schema;
}

Json number_schema(const std::string& description) { return schema_of("number", description); }

Json boolean_schema(const std::string& description) { return schema_of("boolean", description); }

Json list_schema(const std::string& description, Json items) {
  Json schema = schema_of("array", description);
  schema["items"] = std::move(items);
  return schema;
}

Json integers_schema(const std::string& description) {
  Json schema = schema_of("object", description);
  schema["additionalProperties"] = {{"type", "integer"}};
  return schema;
}

Json object_schema(const std::map<std::string, Json>& members, const std::vector<std::string>& required) {
  return object_of(members, required, false);
}

Json result_schema(const std::map<std::string, Json>& members, const std::vector<std::string>& required) {
  return object_of(members, required, true);
}

void require_fits(const Json& value, const Json& schema, const std::string& where) {
  if (!schema.contains("type")) return;
  const auto type = schema.at("type").get<std::string>();
  if (!has_type(value, type)) throw core::InputError(where, "must be " + type_words(type));
  if (type == "string") require_text_fits(value.get_ref<const std::string&>(), schema, where);
  if (type == "integer") require_integer_fits(value, schema, where);
  if (type == "object" && schema.contains("additionalProperties")) require_members_fit(value, schema, where);
  if (type != "array" || !schema.contains("items")) return;
  size_t index = 0;
  for (const Json& item : value) require_fits(item, schema.at("items"), where + "/" + std::to_string(index++));
}

}  // namespace agent::mcp

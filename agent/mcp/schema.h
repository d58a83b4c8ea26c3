// JSON Schemas of tools: makes the few kinds that tools need, and holds arguments against them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/strict_json.h"

namespace agent::mcp {

// A schema's members beside "type" and "description" may be added to the result.
core::Json text_schema(const std::string& description);
core::Json text_schema(const std::string& description, size_t most_bytes);
core::Json choice_schema(const std::string& description, const std::vector<std::string>& choices);
core::Json integer_schema(const std::string& description, int64_t least, int64_t most);
core::Json number_schema(const std::string& description);
core::Json boolean_schema(const std::string& description);
core::Json list_schema(const std::string& description, core::Json items);
// An object of any names with integers as values.
core::Json integers_schema(const std::string& description);
// `required`: names of members. Refuses others than `members`.
core::Json object_schema(const std::map<std::string, core::Json>& members, const std::vector<std::string>& required);
// The same for results: clients must accept further members, which later versions add.
core::Json result_schema(const std::map<std::string, core::Json>& members, const std::vector<std::string>& required);

// Throws core::InputError that names the member, what is wrong with it and what is allowed. Knows the keywords that the
// functions above write.
void require_fits(const core::Json& value, const core::Json& schema, const std::string& where);

}  // namespace agent::mcp

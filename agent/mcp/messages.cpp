#include "agent/mcp/messages.h"

#include <utility>

#include "core/error.h"
#include "core/text.h"

namespace agent::mcp {
namespace {
using core::Json;
constexpr size_t kMostTextBytes = size_t{1} << 20;  // of one text that is sent
constexpr size_t kMostBatch = 64;                   // messages

bool is_id(const Json& value) { return value.is_string() || value.is_number_integer(); }

Json id_of(const Json& message) {
  const auto id = message.find("id");
  return id != message.end() && is_id(*id) ? *id : Json();
}

Message message_of(const Json& json) {
  if (!json.is_object()) return Malformed{{}, kInvalidRequest, "a message is a JSON object"};
  const Json id = id_of(json);
  if (json.value("jsonrpc", Json()) != "2.0") return Malformed{id, kInvalidRequest, "\"jsonrpc\" must be \"2.0\""};
  const auto method = json.find("method");
  if (method == json.end()) {
    if (json.contains("result") || json.contains("error")) return Response{};
    return Malformed{id, kInvalidRequest, "a request has a \"method\""};
  }
  if (!method->is_string()) return Malformed{id, kInvalidRequest, "\"method\" must be a text"};
  Json params = json.value("params", Json::object());
  if (!params.is_object()) return Malformed{id, kInvalidParams, "\"params\" must be an object"};
  if (!json.contains("id")) return Notification{*method, std::move(params)};
  if (id.is_null()) return Malformed{id, kInvalidRequest, "\"id\" must be a text or an integer"};
  return Request{id, *method, std::move(params)};
}

// Takes the id of the outermost object and stops there.
class IdReader : public nlohmann::json_sax<Json> {
 public:
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t value) override { return take(value); }
  bool number_unsigned(number_unsigned_t value) override { return take(value); }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t& value) override { return take(value); }
  bool binary(binary_t&) override { return true; }
  bool start_object(size_t) override { return ++depth_ < 64; }
  bool end_object() override { return --depth_ >= 0; }
  bool start_array(size_t) override { return ++depth_ < 64; }
  bool end_array() override { return --depth_ >= 0; }
  bool key(string_t& name) override {
    is_id_ = depth_ == 1 && name == "id";
    return true;
  }
  bool parse_error(size_t, const std::string&, const nlohmann::detail::exception&) override { return false; }

  Json id;

 private:
  template <typename T>
  bool take(const T& value) {
    if (is_id_ && depth_ == 1) id = value;
    return id.is_null();
  }
  int depth_ = 0;
  bool is_id_ = false;
};

Json clean(const Json& json) {
  if (json.is_string()) return core::clean_text(json.get_ref<const std::string&>(), kMostTextBytes);
  if (!json.is_structured()) return json;
  Json all = json.is_object() ? Json::object() : Json::array();
  for (const auto& [name, value] : json.items()) {
    if (json.is_array()) {
      all.push_back(clean(value));
    } else {
      all[core::clean_line(name)] = clean(value);
    }
  }
  return all;
}
}  // namespace

ParsedLine parse_line(std::string_view line) {
  ParsedLine parsed;
  try {
    const Json json = core::parse_json(line, "message");
    parsed.is_batch = json.is_array() && !json.empty() && json.size() <= kMostBatch;
    if (!parsed.is_batch) {
      parsed.messages.push_back(message_of(json));
      return parsed;
    }
    for (const Json& one : json) parsed.messages.push_back(message_of(one));
  } catch (const core::InputError& error) {
    parsed.messages.push_back(Malformed{{}, kParseError, "this line is no JSON: " + error.problem()});
  }
  return parsed;
}

Json id_in_beginning(std::string_view beginning) {
  IdReader reader;
  Json::sax_parse(beginning, &reader);
  return reader.id;
}

Json result_message(const Json& id, Json result) {
  return {{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}};
}

Json error_message(const Json& id, int code, const std::string& message, Json data) {
  Json error{{"code", code}, {"message", core::clean_line(message)}};
  if (!data.is_null()) error["data"] = std::move(data);
  return {{"jsonrpc", "2.0"}, {"id", id}, {"error", std::move(error)}};
}

Json notification_message(const std::string& method, Json params) {
  return {{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}};
}

std::string line_of(const Json& message) { return clean(message).dump(-1, ' ', true, Json::error_handler_t::replace); }

}  // namespace agent::mcp

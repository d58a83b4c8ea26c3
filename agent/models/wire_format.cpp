#include "agent/models/wire_format.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>

namespace agent::models {
using core::Json;

const Json& member(const Json& object, const char* key) {
  static const Json kNull;
  if (!object.is_object()) return kNull;
  const auto found = object.find(key);
  return found == object.end() ? kNull : *found;
}

std::string text_of(const Json& object, const char* key) {
  const Json& value = member(object, key);
  return value.is_string() ? value.get<std::string>() : std::string();
}

int64_t count_of(const Json& object, const char* key) {
  const Json& value = member(object, key);
  if (!value.is_number()) return 0;
  const double number = value.get<double>();
  return number >= 0 && number <= 1e12 ? static_cast<int64_t>(number) : 0;
}

const Json& items_of(const Json& object, const char* key) {
  static const Json kNone = Json::array();
  const Json& value = member(object, key);
  return value.is_array() ? value : kNone;
}

bool is_blank(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isspace(c); });
}

namespace {
// Google's RetryInfo: {"retryDelay": "34.5s"}.
std::optional<std::chrono::milliseconds> retry_delay(const Json& error) {
  for (const Json& detail : items_of(error, "details")) {
    const std::string delay = text_of(detail, "retryDelay");
    if (delay.empty() || delay.size() > 24 || delay.back() != 's') continue;
    char* end = nullptr;
    const double seconds = std::strtod(delay.c_str(), &end);
    if (end == delay.c_str() + delay.size() - 1 && seconds >= 0) {
      return std::chrono::milliseconds(static_cast<int64_t>(std::ceil(seconds * 1000)));
    }
  }
  return std::nullopt;
}
}  // namespace

std::optional<ProviderError> read_error(const Json& answer) {
  if (answer.is_array()) return answer.empty() ? std::nullopt : read_error(answer.front());  // Gemini, sometimes
  const Json& error = member(answer, "error");
  if (error.is_string()) return ProviderError{"", error.get<std::string>(), {}};  // Ollama
  if (error.is_object()) {
    std::string type = text_of(error, "code");          // OpenAI: the more specific word
    if (type.empty()) type = text_of(error, "status");  // Gemini
    if (type.empty()) type = text_of(error, "type");    // Anthropic
    return ProviderError{type, text_of(error, "message"), retry_delay(error)};
  }
  if (text_of(answer, "object") == "error") {  // older vLLM
    return ProviderError{text_of(answer, "type"), text_of(answer, "message"), {}};
  }
  const Json& detail = member(answer, "detail");  // FastAPI
  if (!detail.is_null()) return ProviderError{"", detail.is_string() ? detail.get<std::string>() : detail.dump(), {}};
  return std::nullopt;
}

}  // namespace agent::models

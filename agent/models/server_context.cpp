#include "agent/models/server_context.h"

#include <future>
#include <memory>
#include <string_view>

#include "agent/models/http_client.h"
#include "agent/models/keys.h"
#include "core/error.h"
#include "core/strict_json.h"

namespace agent::models {
namespace {
constexpr std::chrono::milliseconds kPatience{5'000};
constexpr int64_t kLeast = 256, kMost = int64_t{1} << 32;  // a context of other sizes is a mistake

class Fetched : public HttpReceiver {
 public:
  std::future<std::string> text() { return text_.get_future(); }

  void head(const HttpHead& head) override { status_ = head.status; }
  Flow body(std::string_view bytes) override {
    constexpr size_t kMostBytes = 1 << 20;
    all_ += bytes;
    return all_.size() > kMostBytes ? Flow::refused : Flow::progress;
  }
  void ended(const HttpEnd& end) override {
    text_.set_value(end.how == HttpEnd::How::complete && status_ == 200 ? all_ : "");
  }

 private:
  int status_ = 0;
  std::string all_;
  std::promise<std::string> text_;
};

std::optional<int64_t> as_context(const core::Json& value) {
  if (!value.is_number_integer()) return std::nullopt;
  const auto tokens = value.get<int64_t>();
  return tokens >= kLeast && tokens <= kMost ? std::optional(tokens) : std::nullopt;
}

std::optional<int64_t> in_list(const core::Json& list, const std::string& model) {
  if (!list.is_object() || !list.contains("data") || !list["data"].is_array()) return std::nullopt;
  for (const core::Json& one : list["data"]) {
    if (!one.is_object() || !one.contains("max_model_len")) continue;
    if (model.empty() || (one.contains("id") && one["id"] == model)) return as_context(one["max_model_len"]);
  }
  return std::nullopt;
}

std::optional<int64_t> in_properties(const core::Json& properties) {
  const auto at = core::Json::json_pointer("/default_generation_settings/n_ctx");
  return properties.is_object() && properties.contains(at) ? as_context(properties[at]) : std::nullopt;
}
}  // namespace

std::optional<int64_t> context_of_server(const std::string& name, const ModelOptions& options) {
  if (name.rfind("http://", 0) != 0 && name.rfind("https://", 0) != 0) return std::nullopt;
  const size_t hash = name.find('#');
  std::string url = name.substr(0, hash);
  while (url.ends_with('/')) url.pop_back();
  const std::string model = hash == std::string::npos ? "" : name.substr(hash + 1);
  const Key key = find_key({"KW_API_KEY"}, options.key_file, options.environment);
  HttpClient client;
  const auto fetch = [&](const std::string& from) -> core::Json {
    HttpRequest request;
    request.url = from;
    request.get = true;
    if (!key.value().empty()) request.headers.push_back("Authorization: Bearer " + key.value());
    if (options.ca_file) request.ca_file = options.ca_file->string();
    request.limits = {kPatience, kPatience, kPatience, kPatience};
    const auto fetched = std::make_shared<Fetched>();
    std::future<std::string> text = fetched->text();
    client.send(std::move(request), fetched);
    try {
      return core::parse_json(text.get(), "what the server says of itself");
    } catch (const core::InputError&) {
      return {};  // it says nothing
    }
  };
  if (const auto context = in_list(fetch(url + "/models"), model)) return context;
  const std::string root = url.ends_with("/v1") ? url.substr(0, url.size() - 3) : url;
  return in_properties(fetch(root + "/props"));
}

}  // namespace agent::models

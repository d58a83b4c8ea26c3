#include "agent/models/providers.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "agent/models/exec_model.h"
#include "agent/models/http_model.h"
#include "agent/models/inbox_model.h"
#include "agent/models/transcript.h"
#include "core/error.h"
#include "core/suggest.h"
#include "core/text.h"

namespace agent::models {
namespace {

struct Provider {
  const char* scheme;
  std::unique_ptr<WireFormat> (*format)();
  const char* base_url;
  const char* base_variable;  // names another server
  std::vector<std::string> key_variables;
};

std::vector<Provider> providers() {
  return {{"anthropic", anthropic_format, "https://api.anthropic.com", "ANTHROPIC_BASE_URL", {"ANTHROPIC_API_KEY"}},
          {"openai", openai_responses_format, "https://api.openai.com/v1", "OPENAI_BASE_URL", {"OPENAI_API_KEY"}},
          {"openai-chat",
           [] { return openai_chat_format(false); },
           "https://api.openai.com/v1",
           "OPENAI_BASE_URL",
           {"OPENAI_API_KEY"}},
          {"gemini",
           gemini_format,
           "https://generativelanguage.googleapis.com",
           "GEMINI_BASE_URL",
           {"GEMINI_API_KEY", "GOOGLE_API_KEY"}}};
}

// Checks a base URL. Model names are shown and stored, so a URL must not hold secrets.
std::string checked_url(std::string url, const std::string& where) {
  const auto fail = [&](const char* what, const char* remedy) { throw core::InputError(where, what, remedy); };
  const bool http = url.rfind("http://", 0) == 0, https = url.rfind("https://", 0) == 0;
  const size_t host = url.find("//") + 2;
  if ((!http && !https) || host >= url.size() || url[host] == '/') {
    fail("is no URL", "write it like http://localhost:8080/v1");
  }
  for (const char c : url) {
    if (c <= 0x20 || c >= 0x7F)
      fail("holds a character that is invalid in a URL", "write it like http://localhost:8080/v1");
  }
  if (url.find('@') != std::string::npos || url.find('?') != std::string::npos) {
    fail("is a URL with a password or a query", "put the key into the environment as KW_API_KEY, or use --key-file");
  }
  while (url.back() == '/') url.pop_back();
  return url;
}

HttpModelSetup common_setup(const std::string& name, const ModelOptions& options) {
  HttpModelSetup setup;
  setup.name = name;
  setup.limits = options.limits;
  setup.retry = options.retry;
  setup.most_reply_bytes = options.most_reply_bytes;
  setup.seed = options.seed;
  // The curl program reads these variables; libcurl does not.
  setup.ca_file =
      options.ca_file
          ? options.ca_file->string()
          : options.environment("CURL_CA_BUNDLE").value_or(options.environment("SSL_CERT_FILE").value_or(""));
  setup.ca_folder = options.environment("SSL_CERT_DIR").value_or("");
  if (!setup.ca_file.empty()) core::read_file(setup.ca_file);  // throws now if it is unreadable
  return setup;
}

std::unique_ptr<Model> provider_model(const Provider& provider, const std::string& name, const std::string& model,
                                      const ModelOptions& options) {
  const std::optional<std::string> elsewhere = options.environment(provider.base_variable);
  HttpModelSetup setup = common_setup(name, options);
  setup.model = model;
  setup.base_url = elsewhere ? checked_url(*elsewhere, provider.base_variable) : provider.base_url;
  setup.format = provider.format();
  setup.key = find_key(provider.key_variables, options.key_file, options.environment);
  const std::string variables = core::join(provider.key_variables, " or ");
  if (setup.key.value().empty() && !elsewhere) {
    throw core::InputError(name, "needs a key, and " + variables + " is not set",
                           "set it in the environment, or name a file that holds the key with --key-file");
  }
  setup.key_hint = options.key_file ? options.key_file->string() : variables;
  return http_model(std::move(setup));
}

std::unique_ptr<Model> server_model(const std::string& name, const ModelOptions& options) {
  const size_t hash = name.find('#');
  HttpModelSetup setup = common_setup(name, options);
  setup.base_url = checked_url(name.substr(0, hash), "the URL of the model");
  setup.model = hash == std::string::npos ? "" : name.substr(hash + 1);
  setup.any_model = setup.model.empty();
  setup.format = openai_chat_format(true);
  setup.key = find_key({"KW_API_KEY"}, options.key_file, options.environment);
  setup.key_hint = options.key_file ? options.key_file->string() : "KW_API_KEY";
  return http_model(std::move(setup));
}

// The parts before and after the first colon.
std::pair<std::string, std::string> kind_and_rest(const std::string& name) {
  const size_t colon = name.find(':');
  return {name.substr(0, colon), colon == std::string::npos ? "" : name.substr(colon + 1)};
}
}  // namespace

void check_model_name(const std::string& name) {
  const auto [scheme, rest] = kind_and_rest(name);
  if (scheme == "http" || scheme == "https") {
    checked_url(name.substr(0, name.find('#')), "the URL of the model");
    return;
  }
  if (scheme == "exec") {
    split_command(rest);
    return;
  }
  if ((scheme == "inbox" || scheme == "replay") && !rest.empty()) return;
  std::vector<std::string> known = {"http", "https", "exec", "inbox", "replay"};
  for (const Provider& provider : providers()) {
    if (provider.scheme == scheme && name != scheme) {
      if (!rest.empty()) return;
      throw core::InputError(name, "names no model", "write it like " + scheme + ":MODEL");
    }
    known.push_back(provider.scheme);
  }
  throw core::InputError("model " + name, "is unknown: a name is a provider, a colon and its argument",
                         core::did_you_mean(scheme, known, "providers"));
}

std::unique_ptr<Model> make_model(const std::string& name, const ModelOptions& options) {
  check_model_name(name);
  const auto [scheme, rest] = kind_and_rest(name);
  if (scheme == "http" || scheme == "https") return server_model(name, options);
  if (scheme == "exec") {
    return exec_model({name, split_command(rest), options.limits.total, options.most_reply_bytes});
  }
  if (scheme == "inbox") {
    InboxModelSetup setup;
    setup.name = name;
    setup.folder = rest;
    setup.most_reply_bytes = options.most_reply_bytes;
    return inbox_model(std::move(setup));
  }
  if (scheme == "replay") return replay_model(name, read_transcript(rest));
  const std::vector<Provider> all = providers();
  const auto provider = std::find_if(all.begin(), all.end(), [&s = scheme](const auto& p) { return p.scheme == s; });
  return provider_model(*provider, name, rest, options);
}

}  // namespace agent::models

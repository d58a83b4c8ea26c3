// Names of models, and the models behind them.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "agent/models/http_client.h"
#include "agent/models/http_model.h"
#include "agent/models/keys.h"
#include "agent/models/model.h"

namespace agent::models {

struct ModelOptions {
  std::optional<std::filesystem::path> key_file;  // instead of the environment
  std::optional<std::filesystem::path> ca_file;   // certificates to trust; else CURL_CA_BUNDLE, SSL_CERT_FILE and
                                                  // SSL_CERT_DIR in the environment, else the system's
  HttpLimits limits;                              // `total` also limits exec:
  RetryOptions retry;
  size_t most_reply_bytes = 4 << 20;
  uint64_t seed = 0;  // of the jitter between tries
  Environment environment = process_environment();
};

// name                        what it is                                       key in the environment
// anthropic:MODEL             Anthropic's Messages API                         ANTHROPIC_API_KEY
// openai:MODEL                OpenAI's Responses API                           OPENAI_API_KEY
// openai-chat:MODEL           OpenAI's Chat Completions API                    OPENAI_API_KEY
// gemini:MODEL                Google's Gemini API                              GEMINI_API_KEY or GOOGLE_API_KEY
// http://HOST:PORT/v1#MODEL   any server that speaks Chat Completions; also    KW_API_KEY, where it wants one
//                             https://; #MODEL only where it has several
// exec:COMMAND                a command (agent/models/exec_model.h)
// inbox:DIR                   a folder (agent/models/inbox_model.h)
// replay:FILE                 a transcript (agent/models/transcript.h)
//
// ANTHROPIC_BASE_URL, OPENAI_BASE_URL (with its /v1) and GEMINI_BASE_URL name other servers of the same protocols; a
// key is then optional. Throws core::InputError for another name, a missing or unusable key, or an unreadable file.
std::unique_ptr<Model> make_model(const std::string& name, const ModelOptions& options);

// Throws core::InputError for a name that make_model does not know. Needs no key, file or server.
void check_model_name(const std::string& name);

}  // namespace agent::models

// A provider's protocol: turns a prompt into a request, and pieces of an answer into a reply. Pure; one file per
// protocol.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/models/model.h"
#include "core/strict_json.h"

namespace agent::models {

// An error reported by a provider, within a stream or instead of one.
struct ProviderError {
  std::string type;  // the provider's word ("overloaded_error", "insufficient_quota"); may be empty
  std::string message;
  std::optional<std::chrono::milliseconds> retry_after;
};

// The part of a reply read so far.
struct Reply {
  enum class Stop { none, finished, out_of_tokens, declined };

  std::string text;
  std::string refusal;  // the model's words of refusal, if separate from its text
  std::string model;    // the answering model, as the provider names it
  std::optional<Usage> usage;
  Stop stop = Stop::none;
  bool over = false;  // complete, though the connection may stay open
  std::optional<ProviderError> error;
};

// One provider's protocol. Reads leniently, as providers ask: fields that are null or of another type count as absent,
// and unknown ones are ignored.
class WireFormat {
 public:
  virtual ~WireFormat() = default;

  virtual std::string path(const std::string& model) const = 0;  // below the base URL
  // "Name: value" of each header beyond Content-Type; `key` may be empty.
  virtual std::vector<std::string> headers(const std::string& key) const = 0;
  virtual core::Json request(const std::string& model, const Prompt& prompt, const Sampling& sampling) const = 0;
  virtual void read_event(const core::Json& event, Reply& reply) const = 0;  // one event of a stream
  virtual void read_whole(const core::Json& answer, Reply& reply) const = 0;
};

std::unique_ptr<WireFormat> anthropic_format();
std::unique_ptr<WireFormat> openai_responses_format();
// `compatible`: another vendor's server; sends only the fields that all such servers know.
std::unique_ptr<WireFormat> openai_chat_format(bool compatible);
std::unique_ptr<WireFormat> gemini_format();

// The error in a response body, in any form that these providers and servers use; nullopt: none.
std::optional<ProviderError> read_error(const core::Json& answer);

// Lenient readers of one field.
const core::Json& member(const core::Json& object, const char* key);    // null if absent
std::string text_of(const core::Json& object, const char* key);         // "" unless a string
int64_t count_of(const core::Json& object, const char* key);            // 0 unless a number from 0 to 10^12
const core::Json& items_of(const core::Json& object, const char* key);  // an empty array unless an array
bool is_blank(const std::string& text);                                 // nothing but white space

}  // namespace agent::models

// A language model that answers prompts: at a provider, behind a command, in a folder, or from a transcript.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/enum_names.h"

namespace agent::models {

// A piece of a turn. Stable sections are the same in many prompts and come first, so that providers' caches hit.
struct Section {
  std::string text;
  bool stable = false;
};
struct Turn {
  enum class Speaker { user, assistant } speaker = Speaker::user;
  std::vector<Section> sections;

  std::string text() const;  // the sections, joined without anything between them
};
// A request to a model. Turns alternate; the user has the first and the last.
struct Prompt {
  std::string system;
  std::vector<Turn> turns;

  std::string hash() const;  // of the sent text, independent of its sections
  // The prompt as one text: the system's, then the turns, each headed by its speaker if there are several.
  std::string as_text() const;
};

// For planning: every model counts in its own way. At most 8 % off the tokenizer of Gemma 3 on each of 72 kernels,
// problem files, pages of documentation and C++ sources of this repository (measured 2026-11-21). Other tokenizers were
// not measured; Anthropic says that its own gives up to 1.35 times as many since Opus 4.7. Linear in the text.
int64_t estimate_tokens(std::string_view text);
int64_t estimate_tokens(const Prompt& prompt);

struct Sampling {
  int64_t max_output_tokens = 16'000;  // thinking included
  std::optional<double> temperature;   // absent: the provider's default
  int64_t thinking_tokens = 0;         // of the above; 0: no extended thinking
  int64_t context_tokens = 0;          // prompt and reply together; 0: more than they take
  int most_paid_tries = 3;             // a try that fails within an answer costs as much as a successful one
};

// Tokens as counted by the provider, or estimated if it reports none.
struct Usage {
  int64_t input = 0;          // neither read from a cache nor written to it
  int64_t cache_read = 0;     // input
  int64_t cache_written = 0;  // input
  int64_t output = 0;         // thinking included
  bool estimated = false;

  Usage& operator+=(const Usage& other);
};

struct Completion {
  std::string text;      // untrusted UTF-8, as received
  std::string model;     // the model that answered, as the provider names it
  bool complete = true;  // false: it ran into max_output_tokens
  Usage usage;           // of all tries
  int tries = 1;
  double seconds = 0;  // from the first try
};

// Why there is no completion, after all useful retries.
struct NoCompletion {
  enum class Cause {
    unauthorized,  // no key, or a rejected one; asking again is useless
    bad_request,   // the provider rejects the request (no such model, too long); asking again is useless
    rate_limited,
    overloaded,  // 5xx
    unreachable,
    timed_out,
    cut_off,         // the stream ended early
    not_understood,  // not the format that the provider documents
    empty,
    declined,   // the model refused
    exhausted,  // a transcript has no more replies for this
    cancelled,
  };
  Cause cause = Cause::unreachable;
  std::string what;  // a sentence for people, without keys; clean it before printing
  Usage usage;       // of all tries, including refused and cut answers
  int tries = 1;
  double seconds = 0;
};
KW_ENUM_NAMES(NoCompletion::Cause, unauthorized, bad_request, rate_limited, overloaded, unreachable, timed_out, cut_off,
              not_understood, empty, declined, exhausted, cancelled)

using Answer = std::variant<Completion, NoCompletion>;

// Identifies a prompt in a campaign. Transcripts are matched by it.
struct Occasion {
  std::string problem;
  int64_t number = 0;  // among this problem's prompts in the campaign, from 1
};

class Model {
 public:
  virtual ~Model() = default;

  // The name that the user gave: "anthropic:claude-...", "inbox:DIR".
  virtual const std::string& name() const = 0;
  // Returns at once. Calls `answered` once, on one of the model's threads; it must be quick and must not throw. Any
  // number of requests may be in flight.
  virtual void ask(const Occasion& occasion, const Prompt& prompt, const Sampling& sampling,
                   std::function<void(Answer)> answered) = 0;
  // Answers every request in flight with `cancelled`, unless its answer is already complete.
  virtual void cancel() = 0;
  // Whether a request outlives the process that sent it: a resumed campaign then awaits the same answer, and pays for
  // one request. With other models, one that was lost may have been billed.
  virtual bool keeps_requests() const { return false; }
};

}  // namespace agent::models

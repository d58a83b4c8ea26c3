#include "agent/models/reply_reader.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "core/error.h"

namespace agent::models {
namespace {
using Cause = NoCompletion::Cause;
using core::Json;

constexpr size_t kMostErrorBytes = 64 << 10;
constexpr size_t kCarrierFactor = 2;  // a whole answer or one event against its text: escapes, fields
constexpr size_t kStreamFactor = 64;  // a stream against its text: an event of 300 bytes may carry 4

// Providers' words for errors, in an error's body or within a stream.
std::optional<Cause> cause_of_type(const std::string& type) {
  struct Word {
    std::string_view type;
    Cause cause;
  };
  constexpr std::array<Word, 21> kWords = {{{"authentication_error", Cause::unauthorized},
                                            {"permission_error", Cause::unauthorized},
                                            {"billing_error", Cause::unauthorized},
                                            {"insufficient_quota", Cause::unauthorized},
                                            {"invalid_api_key", Cause::unauthorized},
                                            {"UNAUTHENTICATED", Cause::unauthorized},
                                            {"PERMISSION_DENIED", Cause::unauthorized},
                                            {"invalid_request_error", Cause::bad_request},
                                            {"invalid_prompt", Cause::bad_request},
                                            {"not_found_error", Cause::bad_request},
                                            {"request_too_large", Cause::bad_request},
                                            {"INVALID_ARGUMENT", Cause::bad_request},
                                            {"NOT_FOUND", Cause::bad_request},
                                            {"rate_limit_error", Cause::rate_limited},
                                            {"rate_limit_exceeded", Cause::rate_limited},
                                            {"RESOURCE_EXHAUSTED", Cause::rate_limited},
                                            {"overloaded_error", Cause::overloaded},
                                            {"api_error", Cause::overloaded},
                                            {"server_error", Cause::overloaded},
                                            {"timeout_error", Cause::overloaded},
                                            {"UNAVAILABLE", Cause::overloaded}}};
  for (const Word& word : kWords) {
    if (word.type == type) return word.cause;
  }
  return std::nullopt;
}

Cause cause_of_status(int status) {
  if (status == 401 || status == 402 || status == 403 || status == 407) return Cause::unauthorized;
  if (status == 429) return Cause::rate_limited;
  if (status >= 500 || status == 408 || status == 409 || status == 425) return Cause::overloaded;
  if (status >= 400) return Cause::bad_request;
  return Cause::not_understood;
}

Cause cause_of_error(int status, const ProviderError& error) {
  // Google reports an unknown key as INVALID_ARGUMENT.
  if (error.message.find("API key not valid") != std::string::npos) return Cause::unauthorized;
  const std::optional<Cause> said = cause_of_type(error.type);
  if (status == 200) return said.value_or(Cause::overloaded);
  return said == Cause::unauthorized ? *said : cause_of_status(status);
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) { return std::tolower(c); });
  return out;
}

std::string beginning(const std::string& text) { return text.size() <= 300 ? text : text.substr(0, 300) + "..."; }
}  // namespace

ReplyReader::ReplyReader(const WireFormat& format, size_t most_bytes)
    : format_(&format), most_bytes_(most_bytes), events_(most_bytes * kCarrierFactor) {}

void ReplyReader::begin(int status, std::string_view content_type) {
  status_ = status;
  content_type_ = lower(content_type);
  const auto says = [&](std::string_view word) { return content_type_.find(word) != std::string::npos; };
  if (status != 200) {
    body_ = Body::error;
  } else if (says("text/event-stream")) {
    body_ = Body::stream;
  } else if (says("json")) {
    body_ = Body::json;
  }
}

ReplyReader::Flow ReplyReader::feed(std::string_view bytes) {
  if (refused_) return Flow::refused;
  received_ += bytes.size();
  if (body_ == Body::unknown) {
    refuse(Cause::not_understood, content_type_.empty()
                                      ? "it answered without a content type"
                                      : "it answered with " + beginning(content_type_) + ", not with JSON or events");
    return Flow::refused;
  }
  answered_ = answered_ || (status_ == 200 && !bytes.empty());
  if (body_ == Body::stream) return feed_stream(bytes);
  collected_ += bytes;
  if (body_ == Body::error) return collected_.size() > kMostErrorBytes ? Flow::over : Flow::progress;
  if (collected_.size() > most_bytes_ * kCarrierFactor) {
    refuse(Cause::not_understood, "its reply is larger than the " + std::to_string(most_bytes_) + " bytes allowed");
    return Flow::refused;
  }
  return Flow::progress;
}

ReplyReader::Flow ReplyReader::feed_stream(std::string_view bytes) {
  bool progress = false;
  events_.feed(bytes, [&](const ServerEvent& event) {
    progress = true;
    if (!refused_ && !reply_.over) read_stream_event(event);
  });
  if (reply_.text.size() > most_bytes_ || events_.too_long() || received_ > most_bytes_ * kStreamFactor) {
    refuse(Cause::not_understood, "its reply is larger than the " + std::to_string(most_bytes_) + " bytes allowed");
  }
  if (refused_ || reply_.error) return Flow::refused;
  if (reply_.over) return Flow::over;
  return progress ? Flow::progress : Flow::waiting;
}

void ReplyReader::read_stream_event(const ServerEvent& event) {
  if (event.data == "[DONE]") {
    reply_.over = true;
    return;
  }
  try {
    format_->read_event(core::parse_json(event.data, "an event of the reply"), reply_);
  } catch (const core::InputError& error) {
    refuse(Cause::not_understood, error.what());
  }
}

void ReplyReader::refuse(Cause cause, std::string what) {
  // A retry of a too large answer would only cost again; a garbled one may come out right.
  const bool too_large = what.find("larger than") != std::string::npos;
  if (!refused_) refused_ = FailedTry{cause, std::move(what), {}, too_large};
}

std::optional<FailedTry> ReplyReader::end(bool whole) {
  if (body_ == Body::error) return end_of_error();
  if (body_ == Body::stream && !refused_) {
    events_.finish([&](const ServerEvent& event) {
      if (!reply_.over) read_stream_event(event);
    });
    if (refused_) refused_ = FailedTry{Cause::cut_off, "the answer ended early", {}};  // within its last event
  } else if (body_ == Body::json && !refused_ && !collected_.empty()) {
    try {
      const Json answer = core::parse_json(collected_, "the reply");
      format_->read_whole(answer, reply_);
      if (!reply_.error) reply_.error = read_error(answer);
      if (reply_.text.size() > most_bytes_) refuse(Cause::not_understood, "its reply is larger than allowed");
    } catch (const core::InputError& error) {
      if (whole) refuse(Cause::not_understood, error.what());
    }
  }
  return judge(whole);
}

std::optional<FailedTry> ReplyReader::judge(bool whole) const {
  if (refused_) return refused_;
  if (reply_.error) {
    const ProviderError& error = *reply_.error;
    return FailedTry{cause_of_error(200, error), "it broke off: " + error.type + " " + beginning(error.message),
                     error.retry_after};
  }
  const auto failed = [](Cause cause, std::string what) { return FailedTry{cause, std::move(what), {}}; };
  switch (reply_.stop) {
    case Reply::Stop::declined:
      return failed(Cause::declined,
                    "the model declined: " + beginning(reply_.refusal.empty() ? reply_.text : reply_.refusal));
    case Reply::Stop::none:
      if (whole && body_ == Body::json) {
        return failed(Cause::not_understood, "its JSON does not have the documented form of this protocol");
      }
      return failed(Cause::cut_off, "the answer ended early");
    case Reply::Stop::out_of_tokens:
      if (is_blank(reply_.text)) {
        return FailedTry{Cause::empty, "it used all its tokens for thinking", {}, true};
      }
      return std::nullopt;
    case Reply::Stop::finished:
      if (is_blank(reply_.text)) return failed(Cause::empty, "the reply is empty");
  }
  return std::nullopt;
}

std::optional<FailedTry> ReplyReader::end_of_error() const {
  ProviderError error;
  try {
    const Json answer = core::parse_json(collected_, "the reply");
    error = read_error(answer).value_or(ProviderError{"", collected_, {}});
  } catch (const core::InputError&) {
    error.message = collected_;  // a page of HTML, perhaps
  }
  const Cause cause = cause_of_error(status_, error);
  std::string what = "it answered with status " + std::to_string(status_);
  if (!error.type.empty()) what += " (" + beginning(error.type) + ")";
  if (status_ >= 300 && status_ < 400) what += ", a redirection, which we do not follow";
  if (!is_blank(error.message)) what += ": " + beginning(error.message);
  return FailedTry{cause, what, error.retry_after, cause == Cause::not_understood};
}

}  // namespace agent::models

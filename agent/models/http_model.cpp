#include "agent/models/http_model.h"

#include <algorithm>
#include <mutex>
#include <random>
#include <utility>
#include <vector>

#include "agent/models/model.h"
#include "agent/models/reply_reader.h"
#include "agent/models/wire_format.h"
#include "core/error.h"

namespace agent::models {
namespace {
using Clock = std::chrono::steady_clock;
using Cause = NoCompletion::Cause;
using How = HttpEnd::How;
using std::chrono::milliseconds;

// A reply may be this long even for few requested tokens: some protocols repeat the prompt in it.
constexpr int64_t kLeastBytesAllowed = 256 << 10;
constexpr int64_t kMostBytesPerToken = 32;

// State shared by the requests of one model.
struct Shared {
  explicit Shared(HttpModelSetup all) : setup(std::move(all)), random_(setup.seed), model_(setup.model) {}

  const HttpModelSetup setup;

  double random() {
    const std::lock_guard lock(mutex_);
    return std::uniform_real_distribution<double>(0, 1)(random_);
  }

  // The model's name at the server; "" until known.
  std::string model() const {
    const std::lock_guard lock(mutex_);
    return model_;
  }
  void set_model(std::string model) {
    const std::lock_guard lock(mutex_);
    model_ = std::move(model);
  }

  // Delays all requests: a server that asks one to wait means all of them.
  void wait_all(milliseconds delay) {
    const std::lock_guard lock(mutex_);
    not_before_ = std::max(not_before_, Clock::now() + delay);
  }
  milliseconds delay() const {
    const std::lock_guard lock(mutex_);
    return std::max(std::chrono::ceil<milliseconds>(not_before_ - Clock::now()), milliseconds{0});
  }

 private:
  mutable std::mutex mutex_;
  std::mt19937_64 random_;
  std::string model_;
  Clock::time_point not_before_ = Clock::now();
};

HttpRequest request_to(const HttpModelSetup& setup, const std::string& path) {
  HttpRequest request;
  request.url = setup.base_url + path;
  request.headers = setup.format->headers(setup.key.value());
  request.ca_file = setup.ca_file;
  request.ca_folder = setup.ca_folder;
  request.limits = setup.limits;
  return request;
}

// A prompt that awaits its answer.
class Asking : public HttpReceiver, public std::enable_shared_from_this<Asking> {
 public:
  Asking(std::shared_ptr<Shared> shared, HttpClient& client, const Prompt& prompt, const Sampling& sampling,
         std::function<void(Answer)> answered)
      : shared_(std::move(shared)),
        client_(client),
        prompt_(prompt),
        sampling_(sampling),
        input_estimate_(estimate_tokens(prompt)),
        answered_(std::move(answered)) {
    reader_.emplace(*setup().format, most_bytes());
  }

  void start(milliseconds delay) {
    reader_.emplace(*setup().format, most_bytes());
    header_retry_after_.reset();
    const std::string model = shared_->model();
    HttpRequest request = request_to(setup(), setup().format->path(model));
    // Replaces bytes that are not UTF-8, so that any prompt can be sent.
    request.body =
        setup().format->request(model, prompt_, sampling_).dump(-1, ' ', false, core::Json::error_handler_t::replace);
    if (const milliseconds all_wait = shared_->delay(); all_wait > delay) {
      const milliseconds jitter(static_cast<int64_t>(shared_->random() * 1000));  // spreads the requests
      if (all_wait + jitter < left()) delay = all_wait + jitter;
    }
    request.limits.total = left() - delay;
    request.delay = delay;
    ++tries_;
    client_.send(std::move(request), shared_from_this());
  }

  void head(const HttpHead& head) override {
    header_retry_after_ = head.retry_after;
    reader_->begin(head.status, head.content_type);
  }
  Flow body(std::string_view bytes) override { return reader_->feed(bytes); }

  void ended(const HttpEnd& end) override {
    std::optional<FailedTry> failed = failure(end);
    paid_ += add_usage(failed.has_value()) ? 1 : 0;
    if (!failed) return answer(completion());
    if (!failed->final && paid_ < sampling_.most_paid_tries) {
      const int failures = ++(failed->cause == Cause::rate_limited ? rate_limited_ : failures_);
      const auto retry_after = failed->retry_after ? failed->retry_after : header_retry_after_;
      const auto delay = Retry(setup().retry).next(failures, failed->cause, retry_after, shared_->random());
      if (delay && retry_after) shared_->wait_all(*retry_after);
      if (delay && *delay < left()) return start(*delay);
    }
    answer(no_completion(*failed));
  }

 private:
  const HttpModelSetup& setup() const { return shared_->setup; }
  milliseconds left() const {
    return setup().limits.total - std::chrono::duration_cast<milliseconds>(Clock::now() - begin_);
  }

  // A server that respects the token limit sends no more than this.
  size_t most_bytes() const {
    const int64_t allowed = std::max(kLeastBytesAllowed, sampling_.max_output_tokens * kMostBytesPerToken);
    return std::min(setup().most_reply_bytes, static_cast<size_t>(allowed));
  }

  // nullopt: there is a completion. A complete one counts however the connection ended, since it is paid for.
  std::optional<FailedTry> failure(const HttpEnd& end) {
    std::optional<FailedTry> read = reader_->end(end.how == How::complete);
    if (end.how == How::complete || end.how == How::refused || !read) return read;
    const bool named = setup().name.rfind(setup().base_url, 0) == 0;  // the message begins with the name
    const std::string at = (named ? "" : setup().base_url + ": ") + end.what;
    switch (end.how) {
      case How::cancelled:
        return FailedTry{Cause::cancelled, "cancelled", {}, true};
      case How::unreachable:
        return FailedTry{Cause::unreachable, at, {}};
      case How::untrusted:
        return FailedTry{Cause::unreachable,
                         at + ". Its certificate is not trusted: set SSL_CERT_FILE to the one to trust",
                         {},
                         true};
      case How::timed_out:
        return FailedTry{Cause::timed_out, at, {}};
      case How::malformed:
        return FailedTry{Cause::not_understood, at, {}};
      default:
        return FailedTry{Cause::cut_off, at, {}};
    }
  }

  // Adds the usage of the try that just ended. Returns false if it cost nothing.
  bool add_usage(bool failed) {
    const Reply& reply = reader_->reply();
    if (!reply.usage && !reader_->answered()) return false;
    Usage usage = reply.usage.value_or(Usage{.input = input_estimate_});
    if (!reply.usage || (failed && reply.stop == Reply::Stop::none)) {
      usage.output = std::max(usage.output, std::min(estimate_tokens(reply.text), sampling_.max_output_tokens));
      usage.estimated = true;
    }
    usage_ += usage;
    return true;
  }

  Completion completion() const {
    const Reply& reply = reader_->reply();
    Completion completion;
    completion.text = setup().key.removed_from(reply.text);
    completion.model = setup().key.removed_from(reply.model.empty() ? shared_->model() : reply.model);
    completion.complete = reply.stop == Reply::Stop::finished;
    completion.usage = usage_;
    completion.tries = tries_;
    completion.seconds = seconds();
    return completion;
  }

  NoCompletion no_completion(const FailedTry& failed) const {
    std::string what = setup().name + ": " + failed.what;
    if (failed.cause == Cause::unauthorized) {
      what += std::string(what.back() == '.' ? "" : ".") + " The key comes from " + setup().key_hint;
    }
    return {failed.cause, setup().key.removed_from(std::move(what)), usage_, tries_, seconds()};
  }

  double seconds() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }
  void answer(Answer answer) { std::exchange(answered_, nullptr)(std::move(answer)); }

  const std::shared_ptr<Shared> shared_;
  HttpClient& client_;
  const Prompt prompt_;
  const Sampling sampling_;
  const int64_t input_estimate_;
  std::function<void(Answer)> answered_;
  const Clock::time_point begin_ = Clock::now();
  std::optional<ReplyReader> reader_;
  std::optional<milliseconds> header_retry_after_;
  Usage usage_;
  int tries_ = 0, failures_ = 0, rate_limited_ = 0, paid_ = 0;
};

// Asks a server for its models and takes the first.
class Listing : public HttpReceiver {
 public:
  // Calls `known` with the model's name, "" if it is not available, or nullopt when cancelled.
  explicit Listing(std::function<void(std::optional<std::string>)> known) : known_(std::move(known)) {}

  void head(const HttpHead& head) override { status_ = head.status; }
  Flow body(std::string_view bytes) override {
    constexpr size_t kMostBytes = 1 << 20;
    list_ += bytes;
    return list_.size() > kMostBytes ? Flow::refused : Flow::progress;
  }
  void ended(const HttpEnd& end) override {
    if (end.how == How::cancelled) return known_(std::nullopt);
    known_(end.how == How::complete && status_ == 200 ? first_of(list_) : "");
  }

 private:
  static std::string first_of(const std::string& list) {
    try {
      const core::Json answer = core::parse_json(list, "the list of models");
      const core::Json& models = items_of(answer, "data");
      return models.empty() ? "" : text_of(models.front(), "id");
    } catch (const core::InputError&) {
      return "";
    }
  }

  std::function<void(std::optional<std::string>)> known_;
  int status_ = 0;
  std::string list_;
};

class HttpModel : public Model {
 public:
  explicit HttpModel(HttpModelSetup setup) : shared_(std::make_shared<Shared>(std::move(setup))) {}

  const std::string& name() const override { return shared_->setup.name; }

  void ask(const Occasion&, const Prompt& prompt, const Sampling& sampling,
           std::function<void(Answer)> answered) override {
    const auto asking = std::make_shared<Asking>(shared_, client_, prompt, sampling, std::move(answered));
    if (shared_->setup.any_model && wait_for_model(asking)) return;
    asking->start(milliseconds{0});
  }

  void cancel() override { client_.cancel(); }

 private:
  enum class Known { no, asked, yes };

  // Returns true if the request has to wait for the model's name.
  bool wait_for_model(const std::shared_ptr<Asking>& asking) {
    const std::lock_guard lock(mutex_);
    if (known_ == Known::yes) return false;
    waiting_.push_back(asking);
    if (std::exchange(known_, Known::asked) == Known::asked) return true;
    HttpRequest request = request_to(shared_->setup, "/models");
    request.get = true;
    client_.send(std::move(request), std::make_shared<Listing>([this](const auto& model) { model_known(model); }));
    return true;
  }

  // Without a name, some servers still answer; the next prompt asks again.
  void model_known(const std::optional<std::string>& model) {
    std::vector<std::shared_ptr<Asking>> waiting;
    {
      const std::lock_guard lock(mutex_);
      waiting.swap(waiting_);
      known_ = model.value_or("").empty() ? Known::no : Known::yes;
    }
    if (model) shared_->set_model(*model);
    for (const auto& asking : waiting) {
      if (model) {
        asking->start(milliseconds{0});
      } else {
        asking->ended({How::cancelled, ""});
      }
    }
  }

  std::shared_ptr<Shared> shared_;
  std::mutex mutex_;
  Known known_ = Known::no;
  std::vector<std::shared_ptr<Asking>> waiting_;  // requests that wait for the model's name
  HttpClient client_;                             // last: cancels requests in flight before the rest is destroyed
};
}  // namespace

std::unique_ptr<Model> http_model(HttpModelSetup setup) { return std::make_unique<HttpModel>(std::move(setup)); }

namespace {
// Number of tries worth making. A wrong answer may come out right next time, but each try is paid for.
int tries_worth(NoCompletion::Cause cause, const RetryOptions& options) {
  using Cause = NoCompletion::Cause;
  switch (cause) {
    case Cause::rate_limited:
      return options.most_rate_limited;
    case Cause::overloaded:
    case Cause::unreachable:
    case Cause::timed_out:
    case Cause::cut_off:
      return options.most_tries;
    case Cause::not_understood:
    case Cause::empty:
      return std::min(3, options.most_tries);
    case Cause::unauthorized:
    case Cause::bad_request:
    case Cause::declined:
    case Cause::exhausted:
    case Cause::cancelled:
      break;
  }
  return 1;
}
}  // namespace

std::optional<std::chrono::milliseconds> Retry::next(int tries, NoCompletion::Cause cause,
                                                     std::optional<std::chrono::milliseconds> retry_after,
                                                     double random) const {
  if (tries >= tries_worth(cause, options_)) return std::nullopt;
  if (retry_after && *retry_after > options_.most_patience) return std::nullopt;
  std::chrono::milliseconds ceiling = std::min(options_.first_delay, options_.most_delay);
  for (int i = 1; i < tries && ceiling < options_.most_delay; ++i) ceiling = std::min(ceiling * 2, options_.most_delay);
  const std::chrono::milliseconds jitter(static_cast<int64_t>(static_cast<double>(ceiling.count()) * random));
  return retry_after.value_or(std::chrono::milliseconds{0}) + jitter;
}

}  // namespace agent::models

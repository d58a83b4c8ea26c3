#include "agent/models/http_client.h"

#include <curl/curl.h>
#include <signal.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <list>
#include <utility>

#include "core/error.h"

namespace agent::models {
namespace {
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using How = HttpEnd::How;

// Time for a server to end its answer properly, so that the connection can be reused.
constexpr milliseconds kGrace{500};

// Close-on-exec: programs that we start must not inherit connections.
curl_socket_t open_socket(void*, curlsocktype, curl_sockaddr* address) {
  return ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

How how_of(CURLcode code) {
  switch (code) {
    case CURLE_OK:
      return How::complete;
    case CURLE_OPERATION_TIMEDOUT:
      return How::timed_out;
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_CERTPROBLEM:
      return How::untrusted;
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_CONNECT:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PROXY:
      return How::unreachable;
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_BAD_CONTENT_ENCODING:
    case CURLE_URL_MALFORMAT:
      return How::malformed;
    default:
      return How::cut_off;
  }
}
}  // namespace

struct FreeEasy {
  void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
};
struct FreeMulti {
  void operator()(CURLM* multi) const { curl_multi_cleanup(multi); }
};
struct FreeList {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};

// A request in flight.
class Transfer {
 public:
  Transfer(HttpRequest request, std::shared_ptr<HttpReceiver> receiver, Clock::time_point begins)
      : request_(std::move(request)), receiver_(std::move(receiver)), begins_(begins) {}

  Clock::time_point begins() const { return begins_; }
  CURL* easy() const { return easy_.get(); }

  void begin(Clock::time_point now) {
    begins_ = last_progress_ = now;
    easy_.reset(curl_easy_init());
    if (!easy_) throw core::SystemError("libcurl cannot make a handle");
    add_header("Content-Type: application/json");
    add_header("Accept: text/event-stream, application/json");
    add_header("User-Agent: kernelwright/" KW_VERSION);
    add_header("Expect:");  // sends a long prompt without asking first
    for (const std::string& header : request_.headers) add_header(header);
    set(CURLOPT_URL, request_.url.c_str());
    set(CURLOPT_PROTOCOLS_STR, "http,https");
    set(CURLOPT_HTTPHEADER, headers_.get());
    if (!request_.get) {
      set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request_.body.size()));
      set(CURLOPT_POSTFIELDS, request_.body.data());
    }
    // The TLS handshake negotiates HTTP/2: later requests wait for the first one's connection instead of opening many.
    const bool tls = request_.url.rfind("https:", 0) == 0;
    set(CURLOPT_HTTP_VERSION, static_cast<long>(tls ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1));
    set(CURLOPT_PIPEWAIT, tls ? 1L : 0L);
    set(CURLOPT_FOLLOWLOCATION, 0L);
    set(CURLOPT_NOSIGNAL, 1L);
    set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(request_.limits.connect.count()));
    set(CURLOPT_TCP_KEEPALIVE, 1L);
    set(CURLOPT_OPENSOCKETFUNCTION, &open_socket);
    set(CURLOPT_ERRORBUFFER, error_);
    set(CURLOPT_HEADERFUNCTION, &Transfer::on_header);
    set(CURLOPT_HEADERDATA, this);
    set(CURLOPT_WRITEFUNCTION, &Transfer::on_body);
    set(CURLOPT_WRITEDATA, this);
    if (!request_.ca_file.empty()) set(CURLOPT_CAINFO, request_.ca_file.c_str());
    if (!request_.ca_folder.empty()) set(CURLOPT_CAPATH, request_.ca_folder.c_str());
  }

  // The time at which it is given up unless something happens before.
  Clock::time_point deadline() const {
    if (over_) return *over_ + kGrace;
    const HttpLimits& limits = request_.limits;
    return std::min(begins_ + limits.total, has_answered_ ? last_progress_ + limits.idle : begins_ + limits.first_byte);
  }

  void end_by(CURLcode code) {
    if (over_) return end({How::complete, ""});
    const How how = how_of(code);
    if (how == How::complete) tell_head();
    if (code == CURLE_WRITE_ERROR && refused_) return end({How::refused, ""});
    const std::string what = error_[0] != '\0' ? error_ : curl_easy_strerror(code);
    end({how, how == How::complete ? "" : what});
  }
  void end_by_deadline(Clock::time_point now) {
    if (over_) return end({How::complete, ""});
    const char* const what = now >= begins_ + request_.limits.total ? "the whole answer took too long"
                             : has_answered_                        ? "the answer stopped"
                                                                    : "no answer began";
    end({How::timed_out, what});
  }
  void end(const HttpEnd& how) { std::exchange(receiver_, nullptr)->ended(how); }

 private:
  template <typename T>
  void set(CURLoption option, T value) {
    if (const CURLcode code = curl_easy_setopt(easy_.get(), option, value); code != CURLE_OK) {
      throw core::SystemError("libcurl refuses the option " + std::to_string(option) + ": " + curl_easy_strerror(code));
    }
  }

  void add_header(const std::string& header) {
    curl_slist* const longer = curl_slist_append(headers_.get(), header.c_str());
    if (longer == nullptr) throw core::SystemError("libcurl cannot make a list of headers");
    [[maybe_unused]] curl_slist* const same = headers_.release();
    headers_.reset(longer);
  }

  void tell_head() {
    if (std::exchange(head_told_, true)) return;
    HttpHead head;
    long status = 0;
    curl_easy_getinfo(easy_.get(), CURLINFO_RESPONSE_CODE, &status);
    head.status = static_cast<int>(status);
    const char* type = nullptr;
    curl_easy_getinfo(easy_.get(), CURLINFO_CONTENT_TYPE, &type);
    if (type != nullptr) head.content_type = type;
    curl_off_t seconds = 0;
    curl_easy_getinfo(easy_.get(), CURLINFO_RETRY_AFTER, &seconds);
    if (seconds > 0) head.retry_after = std::chrono::seconds(std::min<curl_off_t>(seconds, 100'000'000));
    receiver_->head(head);
  }

  static size_t on_header(char*, size_t size, size_t count, void* self) {
    auto& transfer = *static_cast<Transfer*>(self);
    if (!std::exchange(transfer.has_answered_, true)) transfer.last_progress_ = Clock::now();
    return size * count;
  }

  static size_t on_body(char* bytes, size_t size, size_t count, void* self) {
    auto& transfer = *static_cast<Transfer*>(self);
    const size_t length = size * count;
    if (transfer.over_) return length;
    transfer.tell_head();
    switch (transfer.receiver_->body({bytes, length})) {
      case HttpReceiver::Flow::waiting:
        return length;
      case HttpReceiver::Flow::progress:
        transfer.last_progress_ = Clock::now();
        return length;
      case HttpReceiver::Flow::over:
        transfer.over_ = Clock::now();
        return length;
      case HttpReceiver::Flow::refused:
        break;
    }
    transfer.refused_ = true;
    return CURL_WRITEFUNC_ERROR;
  }

  HttpRequest request_;
  std::shared_ptr<HttpReceiver> receiver_;
  Clock::time_point begins_, last_progress_;
  std::unique_ptr<curl_slist, FreeList> headers_;
  char error_[CURL_ERROR_SIZE] = {};
  bool has_answered_ = false, head_told_ = false, refused_ = false;
  std::optional<Clock::time_point> over_;
  std::unique_ptr<CURL, FreeEasy> easy_;  // last: destroyed before what it points to
};

// Other threads put their requests into a queue; only the loop's thread uses everything else.
class HttpClient::Loop {
 public:
  Loop() {
    static const CURLcode initialised = curl_global_init(CURL_GLOBAL_DEFAULT);
    multi_.reset(initialised == CURLE_OK ? curl_multi_init() : nullptr);
    if (!multi_) throw core::SystemError("libcurl cannot be started");
  }

  void ask(std::optional<Transfer> transfer) {
    {
      const std::lock_guard lock(mutex_);
      asked_.push_back(std::move(transfer));
    }
    curl_multi_wakeup(multi_.get());
  }
  void stop() {
    stopping_ = true;
    curl_multi_wakeup(multi_.get());
  }

  void run() {
    while (!stopping_) {
      take_requests();
      const Clock::time_point now = Clock::now();
      begin_due(now);
      int running = 0;
      curl_multi_perform(multi_.get(), &running);
      end_complete();
      end_late(Clock::now());
      curl_multi_poll(multi_.get(), nullptr, 0, milliseconds_to_sleep(), nullptr);
    }
    // Ended requests may send again; those are cancelled, too.
    do {
      cancel_all();
    } while (take_requests());
  }

 private:
  // Starts queued transfers; an empty entry cancels those before it. Returns true if there was any.
  bool take_requests() {
    std::vector<std::optional<Transfer>> asked;
    {
      const std::lock_guard lock(mutex_);
      asked.swap(asked_);
    }
    for (std::optional<Transfer>& transfer : asked) {
      if (transfer) {
        waiting_.push_back(std::move(*transfer));
      } else {
        cancel_all();
      }
    }
    return !asked.empty();
  }

  void begin_due(Clock::time_point now) {
    for (auto it = waiting_.begin(); it != waiting_.end();) {
      const auto transfer = it++;
      if (transfer->begins() > now) continue;
      try {
        transfer->begin(now);
      } catch (const core::SystemError& error) {
        transfer->end({How::unreachable, error.what()});
        waiting_.erase(transfer);
        continue;
      }
      running_.splice(running_.end(), waiting_, transfer);
      curl_multi_add_handle(multi_.get(), transfer->easy());
    }
  }

  void end_complete() {
    int left = 0;
    while (const CURLMsg* message = curl_multi_info_read(multi_.get(), &left)) {
      if (message->msg != CURLMSG_DONE) continue;
      const CURLcode code = message->data.result;
      const auto found = std::find_if(running_.begin(), running_.end(), [&](const Transfer& transfer) {
        return transfer.easy() == message->easy_handle;
      });
      if (found != running_.end()) remove(found, [&](Transfer& transfer) { transfer.end_by(code); });
    }
  }

  void end_late(Clock::time_point now) {
    for (auto it = running_.begin(); it != running_.end();) {
      const auto transfer = it++;
      if (transfer->deadline() <= now) remove(transfer, [&](Transfer& late) { late.end_by_deadline(now); });
    }
  }

  void cancel_all() {
    while (!running_.empty()) remove(running_.begin(), [](Transfer& transfer) { transfer.end({How::cancelled, ""}); });
    while (!waiting_.empty()) {
      waiting_.front().end({How::cancelled, ""});
      waiting_.pop_front();
    }
  }

  template <typename End>
  void remove(std::list<Transfer>::iterator transfer, const End& end) {
    curl_multi_remove_handle(multi_.get(), transfer->easy());
    end(*transfer);
    running_.erase(transfer);
  }

  int milliseconds_to_sleep() const {
    Clock::time_point next = Clock::now() + std::chrono::seconds(10);
    for (const Transfer& transfer : waiting_) next = std::min(next, transfer.begins());
    for (const Transfer& transfer : running_) next = std::min(next, transfer.deadline());
    const auto left = std::chrono::ceil<milliseconds>(next - Clock::now()).count();
    return static_cast<int>(std::max<milliseconds::rep>(left, 0));
  }

  std::unique_ptr<CURLM, FreeMulti> multi_;
  std::list<Transfer> waiting_, running_;
  std::mutex mutex_;
  std::vector<std::optional<Transfer>> asked_;
  std::atomic<bool> stopping_ = false;
};

HttpClient::HttpClient() : loop_(std::make_unique<Loop>()) {
  thread_ = std::thread([this] {
    // Leaves signals to other threads; blocks SIGPIPE, since a closed connection must not end the program.
    sigset_t signals;
    ::sigfillset(&signals);
    ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    loop_->run();
  });
}

HttpClient::~HttpClient() {
  loop_->stop();
  thread_.join();
}

void HttpClient::send(HttpRequest request, std::shared_ptr<HttpReceiver> receiver) {
  const Clock::time_point begins = Clock::now() + request.delay;
  loop_->ask(Transfer(std::move(request), std::move(receiver), begins));
}

void HttpClient::cancel() { loop_->ask(std::nullopt); }

}  // namespace agent::models

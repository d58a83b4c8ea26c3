// Many HTTP requests at once, on one thread: libcurl's multi interface, HTTP/2 where offered, proxies from the
// environment (https_proxy, NO_PROXY). It follows no redirection, so a key never reaches another server.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace agent::models {

struct HttpLimits {
  std::chrono::milliseconds connect{15'000};
  std::chrono::milliseconds first_byte{300'000};  // of the answer, from the start: a slow model reads its prompt first
  std::chrono::milliseconds idle{120'000};        // between two pieces that the receiver counts as progress
  std::chrono::milliseconds total{1'800'000};
};

struct HttpRequest {
  std::string url;
  std::vector<std::string> headers;  // "Name: value"
  std::string body;                  // of a POST
  bool get = false;                  // instead of POST
  std::string ca_file, ca_folder;    // certificates to trust; "": the system's
  HttpLimits limits;
  std::chrono::milliseconds delay{0};  // before the start; not counted against the limits
};

struct HttpHead {
  int status = 0;
  std::string content_type;
  std::optional<std::chrono::milliseconds> retry_after;  // seconds or a date in the header
};

struct HttpEnd {
  enum class How { complete, unreachable, untrusted, timed_out, cut_off, malformed, refused, cancelled };
  How how = How::complete;
  std::string what;  // why it failed, for people; "" when complete, refused or cancelled
};

// Receives one response. Called on the client's thread; must be quick and must not throw. `ended` is called once, at
// the end.
class HttpReceiver {
 public:
  enum class Flow { waiting, progress, over, refused };

  virtual ~HttpReceiver() = default;
  virtual void head(const HttpHead& head) = 0;    // before the body, or before `ended` when there is none
  virtual Flow body(std::string_view bytes) = 0;  // `over`: complete, stop; `refused`: cut it off
  virtual void ended(const HttpEnd& end) = 0;     // may send again
};

class HttpClient {
 public:
  HttpClient();
  // Cancels requests in flight.
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  // Callable from any thread.
  void send(HttpRequest request, std::shared_ptr<HttpReceiver> receiver);
  void cancel();  // cancels every request sent so far, in flight or delayed

 private:
  class Loop;
  struct Command;

  std::unique_ptr<Loop> loop_;
  std::thread thread_;
};

}  // namespace agent::models

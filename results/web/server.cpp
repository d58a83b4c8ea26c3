#include "results/web/server.h"

#include <arpa/inet.h>
#include <openssl/crypto.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "core/error.h"
#include "core/hash.h"
#include "core/text.h"
#include "results/web/connection.h"  // includes httplib.h
#include "results/web/page_data.h"
#include "results/web/page_files.h"
#include "results/web/plain_page.h"
#include "results/web/report.h"

namespace results::web {
struct ServedFile {
  std::string type, content;
};

namespace {
using core::Json;
using httplib::Request;
using httplib::Response;
using std::chrono::milliseconds;

constexpr size_t kLongestTarget = 1024;
constexpr size_t kAnswersKept = 64;
constexpr milliseconds kLookAgain{250};     // for changes in the archive
constexpr milliseconds kBetweenNews{1000};  // to one listener, at least
constexpr milliseconds kGoneWithin{500};    // to notice a listener that has closed
constexpr const char* kPlain = "text/plain; charset=utf-8";
constexpr const char* kJson = "application/json";
constexpr const char* kCookie = "kernelwright";

std::map<std::string, ServedFile> read_files(const ServeSettings& settings) {
  static const std::map<std::string, std::string> kTypes{{".html", "text/html; charset=utf-8"},
                                                         {".css", "text/css; charset=utf-8"},
                                                         {".js", "text/javascript; charset=utf-8"}};
  std::map<std::string, ServedFile> files;
  for (const auto& [folder, prefix] :
       {std::pair(settings.pages, std::string("/")), std::pair(settings.vendor, std::string("/vendor/"))}) {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      const auto type = kTypes.find(entry.path().extension().string());
      if (type == kTypes.end()) continue;
      files[prefix + entry.path().filename().string()] = {type->second, core::read_file(entry.path())};
    }
  }
  files["/"] = files["/index.html"];
  return files;
}

bool same(const std::string& a, const std::string& b) {
  // Hashes have the same length, whatever was sent.
  const std::string left = core::sha256_hex(a), right = core::sha256_hex(b);
  return CRYPTO_memcmp(left.data(), right.data(), left.size()) == 0;
}

// The value of our cookie; empty if there is none.
std::string cookie_of(const Request& request) {
  const std::string all = request.get_header_value("Cookie");
  for (std::string part : core::split(all, ';')) {
    part.erase(0, part.find_first_not_of(' '));
    if (part.rfind(std::string(kCookie) + "=", 0) == 0) return part.substr(std::string_view(kCookie).size() + 1);
  }
  return "";
}

std::string without_port(const std::string& host) {
  if (!host.empty() && host[0] == '[') return host.substr(0, host.find(']') + 1);
  return host.substr(0, host.find(':'));
}

bool is_address(const std::string& host) {
  return !host.empty() && (host[0] == '[' || host.find_first_not_of("0123456789.") == std::string::npos);
}

// Browsers name the asking site. A page elsewhere cannot read an answer, but it could measure its time and keep the
// server busy. Following a link is allowed.
bool is_of_another_page(const Request& request) {
  const std::string site = request.get_header_value("Sec-Fetch-Site");
  return (site == "cross-site" || site == "same-site") && request.get_header_value("Sec-Fetch-Mode") != "navigate";
}

void refuse(Response& response, int status, const std::string& why) {
  response.status = status;
  response.set_content(why + "\n", kPlain);
}
}  // namespace

bool is_loopback(const std::string& host) {
  in_addr address{};
  const bool numeric = ::inet_pton(AF_INET, host.c_str(), &address) == 1;
  return host == "localhost" || host == "::1" || (numeric && host.rfind("127.", 0) == 0);
}

struct PageServer::State {
  State(const archive::Reader& of, ServeSettings set)
      : archive(of),
        settings(std::move(set)),
        data(of, {.here = settings.here, .suites = settings.suites}),
        files(read_files(settings)) {}

  bool known_host(const Request& request) const;
  bool allowed(const Request& request, Response& response) const;
  void answer(const Request& request, Response& response);
  void plain(const Request& request, Response& response);
  void download(const Request& request, Response& response);
  void listen_for_news(Response& response);
  void look_for_changes();
  void route();

  const archive::Reader& archive;
  const ServeSettings settings;
  BoundedServer server;
  int port = 0;

  std::mutex archive_mutex;  // guards the members below, until the next comment
  PageData data;
  struct Answer {
    uint64_t version = 0;
    std::string body, tag;
  };
  std::map<std::string, Answer> answers;

  const std::map<std::string, ServedFile> files;
  std::mutex news_mutex;
  std::condition_variable news;
  uint64_t version = 1;  // of the archive at the last look
  int64_t data_version = 0;
  bool ended = false;
  size_t listeners = 0;
};

// Against DNS rebinding: a page elsewhere can let its own name resolve to this machine. Only names that nobody else can
// own are answered.
bool PageServer::State::known_host(const Request& request) const {
  if (request.get_header_value_count("Host") != 1) return false;
  const std::string host = request.get_header_value("Host");
  const std::string with_port = ":" + std::to_string(port);
  const std::string name = without_port(host);
  if (host != name && host != name + with_port) return false;
  if (is_loopback(settings.host)) return name == "127.0.0.1" || name == "localhost" || name == "[::1]";
  return name == settings.host || name == "[" + settings.host + "]" || is_address(name);
}

bool PageServer::State::allowed(const Request& request, Response& response) const {
  if (request.method != "GET" && request.method != "HEAD") {
    response.set_header("Allow", "GET, HEAD");
    refuse(response, 405, "This server is read-only: GET and HEAD.");
  } else if (request.target.size() > kLongestTarget) {
    refuse(response, 414, "The address is too long.");
  } else if (request.has_header("Range")) {
    refuse(response, 400, "Range requests are not supported.");
  } else if (!known_host(request)) {
    refuse(response, 403, "This server does not answer to that host name; open the address that it printed.");
  } else if (is_of_another_page(request)) {
    refuse(response, 403, "This server only answers its own pages.");
  } else if (settings.token.empty() || same(cookie_of(request), settings.token) ||
             same(request.get_header_value("Authorization"), "Bearer " + settings.token)) {
    return true;
  } else if (request.has_param("token") && same(request.get_param_value("token"), settings.token)) {
    response.status = 303;  // removes the token from the address bar and history
    response.set_header("Location", "/");
    response.set_header("Set-Cookie",
                        std::string(kCookie) + "=" + settings.token + "; HttpOnly; SameSite=Strict; Path=/");
  } else {
    response.set_header("WWW-Authenticate", "Bearer");
    refuse(response, 401, "A token is needed: open the address that the server printed.");
  }
  return false;
}

void PageServer::State::answer(const Request& request, Response& response) {
  const std::string path = request.path.substr(std::string_view("/api/").size());
  uint64_t now = 0;
  {
    const std::lock_guard lock(news_mutex);
    now = version;
  }
  const std::lock_guard lock(archive_mutex);
  auto known = answers.find(path);
  if (known == answers.end() || known->second.version < now) {
    const std::optional<Json> json = data.at(path);
    if (!json) return refuse(response, 404, "The archive has nothing of that name.");
    std::string body = json->dump(-1, ' ', true, Json::error_handler_t::replace);
    if (answers.size() >= kAnswersKept) answers.clear();
    std::string tag = "\"" + core::sha256_hex(body).substr(0, 32) + "\"";
    known = answers.insert_or_assign(path, Answer{now, std::move(body), std::move(tag)}).first;
  }
  response.set_header("ETag", known->second.tag);
  if (request.get_header_value("If-None-Match") == known->second.tag) {
    response.status = 304;
  } else {
    response.set_content(known->second.body, kJson);
  }
}

void PageServer::State::plain(const Request& request, Response& response) {
  const std::string path = request.path.substr(std::min(request.path.size(), std::string_view("/plain/").size()));
  const std::lock_guard lock(archive_mutex);
  const std::optional<std::string> page = plain_page(data, path.empty() ? "overview" : path);
  if (!page) return refuse(response, 404, "The archive has nothing of that name.");
  response.set_content(*page, "text/html; charset=utf-8");
}

void PageServer::State::download(const Request& request, Response& response) {
  const std::string name = request.path.substr(std::string_view("/download/").size());
  const auto send = [&](const std::string& as, const std::string& content, const char* type) {
    response.set_header("Content-Disposition", "attachment; filename=\"" + file_name(as) + "\"");
    response.set_content(content, type);
  };
  const std::lock_guard lock(archive_mutex);
  if (name == "leaderboard.csv") return send(name, csv_of(archive::leaderboard(archive)), "text/csv; charset=utf-8");
  if (name == "report.html") {
    PageData whole(archive, {.here = settings.here, .suites = settings.suites});
    return send(name, report_html(settings.pages, settings.vendor, {{"answers", whole.report()}}),
                "text/html; charset=utf-8");
  }
  const size_t dot = name.rfind('.');
  const std::string stem = name.substr(0, dot), extension = dot == std::string::npos ? "" : name.substr(dot);
  if (extension == ".json") {
    if (const auto json = data.at(stem))
      return send(name, json->dump(2, ' ', true, Json::error_handler_t::replace), kJson);
  }
  constexpr std::string_view kSolution = "solution/";
  if (extension == ".cu" && stem.rfind(kSolution, 0) == 0) {
    if (const auto source = data.source(stem.substr(kSolution.size()))) {
      return send("kernel-" + stem.substr(kSolution.size(), 12) + ".cu", *source, kPlain);
    }
  }
  refuse(response, 404, "There is no such file.");
}

// Server-sent events: "changed" with a number, whenever another process has written to the archive.
void PageServer::State::listen_for_news(Response& response) {
  {
    const std::lock_guard lock(news_mutex);
    if (listeners >= settings.listeners) return refuse(response, 503, "Too many pages listen already.");
    ++listeners;
  }
  response.set_header("Cache-Control", "no-store");
  auto told = std::make_shared<uint64_t>(0);
  response.set_chunked_content_provider(
      "text/event-stream",
      [this, told](size_t, httplib::DataSink& sink) {
        std::unique_lock lock(news_mutex);
        if (*told != 0) news.wait_for(lock, kBetweenNews, [this] { return ended; });
        const bool any = news.wait_for(lock, kGoneWithin, [&] { return ended || version != *told; });
        if (ended) {
          sink.done();
          return true;
        }
        if (!any) return sink.is_writable();  // frees the slot of a closed client
        const std::string text = "event: changed\ndata: " + std::to_string(version) + "\n\n";
        *told = version;
        lock.unlock();
        return sink.write(text.data(), text.size());
      },
      [this](bool) {
        const std::lock_guard lock(news_mutex);
        --listeners;
      });
}

void PageServer::State::look_for_changes() {
  int64_t now = 0;
  {
    const std::lock_guard lock(archive_mutex);
    now = archive.data_version();
  }
  if (now == data_version) return;
  const std::lock_guard lock(news_mutex);
  data_version = now;
  ++version;
  news.notify_all();
}

void PageServer::State::route() {
  const size_t threads = settings.connections;
  server.new_task_queue = [threads] { return new httplib::ThreadPool(threads); };
  // The library's default would let a second server share the port.
  server.set_socket_options([](socket_t socket) {
    const int yes = 1;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  server.set_payload_max_length(0);
  server.set_keep_alive_timeout(1);  // how long a silent client may hold a thread
  server.set_keep_alive_max_count(100);
  server.set_default_headers(
      {{"Content-Security-Policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; frame-ancestors "
        "'none'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'"},
       {"X-Content-Type-Options", "nosniff"},
       {"X-Frame-Options", "DENY"},
       {"Referrer-Policy", "no-referrer"},
       {"Cross-Origin-Resource-Policy", "same-origin"},
       {"Cross-Origin-Opener-Policy", "same-origin"},
       {"Cache-Control", "private, no-cache"}});
  server.set_pre_routing_handler([this](const Request& request, Response& response) {
    using Routed = httplib::Server::HandlerResponse;
    return allowed(request, response) ? Routed::Unhandled : Routed::Handled;
  });
  server.set_exception_handler([](const Request&, Response& response, std::exception_ptr failed) {
    try {
      std::rethrow_exception(std::move(failed));
    } catch (const std::exception& error) {
      refuse(response, 500, core::clean_line(error.what()));
    }
  });
  server.set_error_handler(httplib::Server::HandlerWithResponse([](const Request&, Response& response) {
    if (response.body.empty()) response.set_content("Error " + std::to_string(response.status) + ".\n", kPlain);
    return httplib::Server::HandlerResponse::Handled;
  }));
  server.Get("/api/.+", [this](const Request& request, Response& response) { answer(request, response); });
  server.Get("/plain(/.*)?", [this](const Request& request, Response& response) { plain(request, response); });
  server.Get("/download/.+", [this](const Request& request, Response& response) { download(request, response); });
  server.Get("/events", [this](const Request&, Response& response) { listen_for_news(response); });
  server.Get(".*", [this](const Request& request, Response& response) {
    const auto file = files.find(request.path);
    if (file == files.end()) return refuse(response, 404, "There is no such page.");
    response.set_content(file->second.content, file->second.type.c_str());
  });
}

PageServer::PageServer(const archive::Reader& archive, ServeSettings settings)
    : state_(std::make_unique<State>(archive, std::move(settings))) {
  const ServeSettings& set = state_->settings;
  if (!is_loopback(set.host) && set.token.empty()) {
    throw core::InputError("serve", "--host " + set.host + " admits other machines, but there is no token", "");
  }
  archive.deny_writing();
  state_->data_version = archive.data_version();
  state_->route();
  if (set.port == 0) {
    state_->port = state_->server.bind_to_any_port(set.host.c_str());
  } else {
    state_->port = state_->server.bind_to_port(set.host.c_str(), set.port) ? set.port : -1;
  }
  if (state_->port < 0) {
    throw core::InputError("serve", "cannot listen at " + set.host + ", port " + std::to_string(set.port),
                           set.port == 0 ? "give an address of this machine with --host"
                                         : "another program may have that port: leave --port out for any that is free");
  }
}

PageServer::~PageServer() = default;

int PageServer::port() const { return state_->port; }

std::string PageServer::url() const {
  const std::string& host = state_->settings.host;
  const bool v6 = host.find(':') != std::string::npos;
  return "http://" + (v6 ? "[" + host + "]" : host) + ":" + std::to_string(state_->port) + "/" +
         (state_->settings.token.empty() ? "" : "?token=" + state_->settings.token);
}

void PageServer::serve(const std::function<bool()>& ended) {
  std::atomic<bool> failed{false};
  std::thread listening([&] { failed = !state_->server.listen_after_bind(); });
  while (!failed && !state_->server.is_running()) std::this_thread::sleep_for(milliseconds(1));  // stop() needs that
  while (!failed && !ended()) {
    state_->look_for_changes();
    std::this_thread::sleep_for(kLookAgain);
  }
  {
    const std::lock_guard lock(state_->news_mutex);
    state_->ended = true;
  }
  state_->news.notify_all();
  state_->server.stop();
  listening.join();
  if (failed && !ended()) throw core::SystemError("the web server stopped listening");
}

}  // namespace results::web

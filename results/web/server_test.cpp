#include "results/web/server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "core/paths.h"
#include "core/strict_json.h"
#include "core/unique_fd.h"
#include "results/archive/archive_fixture.h"
#include "results/archive/database.h"

namespace results::web::test {
namespace {
using namespace archive;
using namespace archive::test;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr const char* kToken = "0123456789abcdef0123456789abcdef";

// A server on an archive with one win, and raw requests to it.
class Web {
 public:
  explicit Web(const std::string& token = "")
      : started_(temporary_.file()), served_(temporary_.file()), server_(served_, settings(token)) {
    add_win("fast", 3);
    thread_ = std::thread([this] { server_.serve([this] { return ended_.load(); }); });
  }
  ~Web() {
    ended_ = true;
    thread_.join();
  }

  void add_win(const std::string& name, double speed_up) {
    started_.archive.add_attempt(started_.attempt_at(started_.add_candidate(name, "seed"),
                                                     verifier::verdicts::Effort::confirm, correct_judgement(speed_up)));
  }

  int connect_to() const {
    const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(server_.port()));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    return fd;
  }

  // Sends raw bytes and returns the whole answer, until the server closes.
  std::string raw(const std::string& request) const {
    const core::UniqueFd fd(connect_to());
    EXPECT_EQ(::send(fd.get(), request.data(), request.size(), MSG_NOSIGNAL), static_cast<ssize_t>(request.size()));
    std::string answer;
    std::array<char, 4096> bytes{};
    for (ssize_t got; (got = ::read(fd.get(), bytes.data(), bytes.size())) > 0;) answer.append(bytes.data(), got);
    return answer;
  }
  std::string host() const { return "127.0.0.1:" + std::to_string(server_.port()); }
  std::string get(const std::string& target, const std::string& headers = "", const std::string& method = "GET") const {
    return raw(method + " " + target + " HTTP/1.1\r\nHost: " + host() + "\r\nConnection: close\r\n" + headers + "\r\n");
  }

  const PageServer& server() const { return server_; }
  const archive::Reader& served() const { return served_; }

 private:
  static ServeSettings settings(const std::string& token) {
    const core::Paths paths = core::installed_paths();
    ServeSettings settings;
    settings.pages = paths.pages();
    settings.vendor = paths.vendor();
    settings.token = token;
    return settings;
  }

  TemporaryArchive temporary_;
  Started started_;
  archive::Recorder served_;
  PageServer server_;
  std::atomic<bool> ended_{false};
  std::thread thread_;
};

TEST(PageServer, EveryAnswerLocksThePage) {
  const Web web;
  for (const char* target : {"/", "/app.js", "/api/overview", "/plain", "/no/such/page", "/download/leaderboard.csv"}) {
    const std::string answer = web.get(target);
    EXPECT_THAT(answer, HasSubstr("Content-Security-Policy: default-src 'none'; script-src 'self';")) << target;
    EXPECT_THAT(answer, HasSubstr("X-Content-Type-Options: nosniff")) << target;
    EXPECT_THAT(answer, HasSubstr("Referrer-Policy: no-referrer")) << target;
    EXPECT_THAT(answer, HasSubstr("Cross-Origin-Resource-Policy: same-origin")) << target;
    EXPECT_THAT(answer, Not(HasSubstr("Access-Control-Allow"))) << target;
  }
  EXPECT_THAT(web.get("/"), HasSubstr("Content-Type: text/html; charset=utf-8"));
  EXPECT_THAT(web.get("/vendor/chart.min.js"), HasSubstr("Content-Type: text/javascript"));
  EXPECT_THAT(web.get("/plain"), HasSubstr("Content-Type: text/html; charset=utf-8"));
  EXPECT_THAT(web.get("/plain/"), HasSubstr("<h1>Campaigns</h1>"));
  EXPECT_THAT(web.get("/plain/exchange/1"), StartsWith("HTTP/1.1 404"));
  EXPECT_THAT(web.get("/no/such/page"), HasSubstr("Content-Type: text/plain"));
}

TEST(PageServer, AnswersOnlyToItsOwnNames) {
  const Web web;
  const std::string port = ":" + std::to_string(web.server().port());
  const auto with_host = [&](const std::string& lines) {
    return web.raw("GET / HTTP/1.1\r\n" + lines + "Connection: close\r\n\r\n");
  };
  for (const std::string& host : {"127.0.0.1" + port, "localhost" + port, "[::1]" + port, std::string("localhost")}) {
    EXPECT_THAT(with_host("Host: " + host + "\r\n"), StartsWith("HTTP/1.1 200")) << host;
  }
  for (const std::string& host : {"evil.example" + port, std::string("127.0.0.1.evil.example"), std::string(),
                                  std::string("127.0.0.1:1"), "127.0.0.1@evil.example" + port}) {
    EXPECT_THAT(with_host("Host: " + host + "\r\n"), StartsWith("HTTP/1.1 403")) << host;
  }
  EXPECT_THAT(with_host(""), StartsWith("HTTP/1.1 403"));
  EXPECT_THAT(with_host("Host: localhost\r\nHost: evil.example\r\n"), StartsWith("HTTP/1.1 403"));
}

TEST(PageServer, OnlyShows) {
  const Web web;
  for (const char* method : {"POST", "PUT", "DELETE", "PATCH", "OPTIONS"}) {
    EXPECT_THAT(web.get("/", "", method), StartsWith("HTTP/1.1 405")) << method;
  }
  EXPECT_THAT(web.get("/api/overview", "", "HEAD"), StartsWith("HTTP/1.1 200"));
  EXPECT_THROW(database_of(web.served()).execute("DELETE FROM events"), core::InputError);
}

TEST(PageServer, ARequestWithoutEndIsCutOffWhoeverSendsIt) {
  const Web web(kToken);
  for (const std::string& begin : {std::string("GET / HTTP/1.1\r\n"), std::string()}) {
    const core::UniqueFd fd(web.connect_to());
    std::string part = begin;
    while (part.size() < 8000) part += begin.empty() ? "G" : "A: 1\r\n";
    size_t sent = 0;
    constexpr size_t kFar = size_t{64} << 20;  // more than socket buffers hold
    while (sent<kFar&& ::send(fd.get(), part.data(), part.size(), MSG_NOSIGNAL)> 0) sent += part.size();
    EXPECT_LT(sent, kFar);
  }
  EXPECT_THAT(web.get("/?token=" + std::string(kToken)), StartsWith("HTTP/1.1 303"));
}

TEST(PageServer, OtherPagesInTheBrowserMayOnlyLinkToIt) {
  const Web web;
  for (const std::string site : {"cross-site", "same-site"}) {
    const std::string from = "Sec-Fetch-Site: " + site + "\r\n";
    EXPECT_THAT(web.get("/api/overview", from + "Sec-Fetch-Mode: no-cors\r\n"), StartsWith("HTTP/1.1 403"));
    EXPECT_THAT(web.get("/", from + "Sec-Fetch-Mode: navigate\r\n"), StartsWith("HTTP/1.1 200"));
  }
  EXPECT_THAT(web.get("/api/overview", "Sec-Fetch-Site: same-origin\r\n"), StartsWith("HTTP/1.1 200"));
}

TEST(PageServer, NothingOfARequestReachesTheFileSystem) {
  const Web web;
  for (const char* target : {"/../../../etc/passwd", "/vendor/../../../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd",
                             "/..%2f..%2fetc%2fpasswd", "/vendor/", "/download/../../etc/passwd",
                             "/download/solution/..%2f..%2fetc%2fpasswd.cu", "/api/../../etc/passwd", "/api/",
                             "/api/campaign/%00", "/index.html%00.js"}) {
    const std::string answer = web.get(target);
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 404")) << target;
    EXPECT_THAT(answer, Not(HasSubstr("root:"))) << target;
  }
  EXPECT_THAT(web.get("/" + std::string(2000, 'a')), StartsWith("HTTP/1.1 414"));
  EXPECT_THAT(web.get("/", "Range: bytes=0-,0-,0-\r\n"), StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(web.get("/", "X: " + std::string(9000, 'a') + "\r\n"), StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(web.raw("nonsense\r\n\r\n"), StartsWith("HTTP/1.1 400"));
}

TEST(PageServer, ATokenIsAskedForAndLeavesTheAddress) {
  const Web web(kToken);
  EXPECT_THAT(web.get("/"), StartsWith("HTTP/1.1 401"));
  EXPECT_THAT(web.get("/api/overview", "Cookie: kernelwright=wrong\r\n"), StartsWith("HTTP/1.1 401"));
  EXPECT_THAT(web.get("/?token=wrong"), StartsWith("HTTP/1.1 401"));
  EXPECT_THAT(web.get("/events"), StartsWith("HTTP/1.1 401"));
  const std::string entered = web.get(std::string("/?token=") + kToken);
  EXPECT_THAT(entered, StartsWith("HTTP/1.1 303"));
  EXPECT_THAT(entered, HasSubstr("Location: /\r\n"));
  EXPECT_THAT(entered, HasSubstr(std::string("Set-Cookie: kernelwright=") + kToken + "; HttpOnly; SameSite=Strict"));
  EXPECT_THAT(web.get("/", std::string("Cookie: other=1; kernelwright=") + kToken + "\r\n"),
              StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(web.get("/api/overview", std::string("Authorization: Bearer ") + kToken + "\r\n"),
              StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(web.server().url(), HasSubstr(std::string("?token=") + kToken));
}

TEST(PageServer, OtherMachinesNeedAToken) {
  const TemporaryArchive temporary;
  const archive::Recorder archive(temporary.file());
  const core::Paths paths = core::installed_paths();
  ServeSettings settings;
  settings.pages = paths.pages();
  settings.vendor = paths.vendor();
  settings.host = "0.0.0.0";
  EXPECT_THROW(PageServer(archive, settings), core::InputError);
  settings.token = kToken;
  EXPECT_GT(PageServer(archive, settings).port(), 0);
}

TEST(PageServer, APortThatIsTakenIsNamed) {
  const Web web;
  const TemporaryArchive temporary;
  const archive::Recorder archive(temporary.file());
  const core::Paths paths = core::installed_paths();
  ServeSettings settings;
  settings.pages = paths.pages();
  settings.vendor = paths.vendor();
  settings.port = web.server().port();
  EXPECT_THROW(PageServer(archive, settings), core::InputError);
}

TEST(PageServer, SendsOnlyChangedAnswersAgain) {
  Web web;
  const std::string first = web.get("/api/overview");
  const size_t at = first.find("ETag: ");
  ASSERT_NE(at, std::string::npos);
  const std::string tag = first.substr(at + 6, first.find('\r', at) - at - 6);
  const std::string again = web.get("/api/overview", "If-None-Match: " + tag + "\r\n");
  EXPECT_THAT(again, StartsWith("HTTP/1.1 304"));
}

TEST(PageServer, TellsItsPagesAboutWritesOfOtherProcesses) {
  Web web;
  const core::UniqueFd fd(web.connect_to());
  const std::string request = "GET /events HTTP/1.1\r\nHost: " + web.host() + "\r\n\r\n";
  ASSERT_EQ(::send(fd.get(), request.data(), request.size(), MSG_NOSIGNAL), static_cast<ssize_t>(request.size()));
  std::string heard;
  const auto listen_until = [&](const std::function<bool()>& enough) {
    std::array<char, 1024> bytes{};
    while (!enough()) {
      const ssize_t got = ::read(fd.get(), bytes.data(), bytes.size());
      if (got <= 0) return false;
      heard.append(bytes.data(), static_cast<size_t>(got));
    }
    return true;
  };
  const auto changes = [&] {
    size_t count = 0;
    for (size_t at = heard.find("event: changed"); at != std::string::npos; at = heard.find("event: changed", at + 1)) {
      ++count;
    }
    return count;
  };
  ASSERT_TRUE(listen_until([&] { return changes() >= 1; }));
  EXPECT_THAT(heard, HasSubstr("Content-Type: text/event-stream"));
  const size_t before = changes();
  web.add_win("faster", 4);
  ASSERT_TRUE(listen_until([&] { return changes() > before; }));
  EXPECT_THAT(web.get("/api/overview"), HasSubstr("\"solution\":\"faster\""));
}

TEST(PageServer, DownloadsAreNamedByUs) {
  const Web web;
  const std::string csv = web.get("/download/leaderboard.csv");
  EXPECT_THAT(csv, HasSubstr("Content-Disposition: attachment; filename=\"leaderboard.csv\""));
  EXPECT_THAT(csv, HasSubstr("problem,device,rank,solution"));
  const std::string hash = solution_named("fast").hash();
  const std::string source = web.get("/download/solution/" + hash + ".cu");
  EXPECT_THAT(source, HasSubstr("filename=\"kernel-" + hash.substr(0, 12) + ".cu\""));
  EXPECT_THAT(source, HasSubstr("Content-Type: text/plain"));
  EXPECT_THAT(source, HasSubstr(solution_named("fast").source));
  EXPECT_THAT(web.get("/download/overview.json"), HasSubstr("\"leaderboard\""));
  EXPECT_THAT(web.get("/download/report.html"), HasSubstr("<!doctype html>"));
  EXPECT_THAT(web.get("/download/other.txt"), StartsWith("HTTP/1.1 404"));
}

}  // namespace
}  // namespace results::web::test

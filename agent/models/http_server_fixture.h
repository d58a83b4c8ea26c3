// For tests: an HTTP/1.1 server on loopback that does what a script says, right or wrong, byte by byte.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <list>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "core/unique_fd.h"

namespace agent::models::test {

struct HttpSeen {
  std::string head, body;  // as received
};

// The server's end of a connection.
class HttpWire {
 public:
  explicit HttpWire(int fd) : fd_(fd) {}

  // Returns false once the other end has hung up.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<size_t>(sent));
    }
    return true;
  }
  // Sends a whole answer and keeps the connection.
  bool answer(const std::string& status, const std::string& type, const std::string& body,
              const std::string& headers = "") {
    return send("HTTP/1.1 " + status + "\r\nContent-Type: " + type + "\r\n" + headers +
                "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
  }
  bool begin_stream() {
    return send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n");
  }
  bool chunk(std::string_view bytes) {
    char size[20];
    std::snprintf(size, sizeof size, "%zx\r\n", bytes.size());
    return send(size + std::string(bytes) + "\r\n");
  }
  bool end_stream() { return send("0\r\n\r\n"); }
  bool stream(const std::string& body) { return begin_stream() && chunk(body) && end_stream(); }
  void hang_up() { ::shutdown(fd_, SHUT_RDWR); }
  // Waits until the other end hangs up.
  void wait_for_hang_up() {
    char byte;
    while (::recv(fd_, &byte, 1, 0) > 0) {
    }
  }

 private:
  int fd_;
};

class HttpServer {
 public:
  // Calls `script` for each request with its number, from 1, on a thread per connection.
  using Script = std::function<void(HttpWire&, const HttpSeen&, int number)>;

  explicit HttpServer(Script script) : script_(std::move(script)), listener_(::socket(AF_INET, SOCK_STREAM, 0)) {
    ::setenv("no_proxy", "127.0.0.1", 1);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    socklen_t length = sizeof address;
    if (::bind(listener_.get(), generic, length) != 0 || ::listen(listener_.get(), 128) != 0 ||
        ::getsockname(listener_.get(), generic, &length) != 0) {
      throw std::runtime_error("no server for a test");
    }
    port_ = ntohs(address.sin_port);
    acceptor_ = std::thread([this] { accept_all(); });
  }
  ~HttpServer() {
    ::shutdown(listener_.get(), SHUT_RDWR);
    acceptor_.join();
    {
      const std::lock_guard lock(mutex_);
      for (const core::UniqueFd& fd : connections_) ::shutdown(fd.get(), SHUT_RDWR);
    }
    for (std::thread& thread : threads_) thread.join();
  }

  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  std::vector<HttpSeen> seen() const {
    const std::lock_guard lock(mutex_);
    return seen_;
  }

 private:
  void accept_all() {
    while (true) {
      const int fd = ::accept(listener_.get(), nullptr, nullptr);
      if (fd < 0) return;
      const std::lock_guard lock(mutex_);
      connections_.emplace_back(fd);
      threads_.emplace_back([this, fd] { serve(fd); });
    }
  }

  void serve(int fd) {
    HttpWire wire(fd);
    std::string bytes;
    HttpSeen request;
    while (read_request(fd, bytes, request)) {
      int number = 0;
      {
        const std::lock_guard lock(mutex_);
        seen_.push_back(request);
        number = static_cast<int>(seen_.size());
      }
      script_(wire, request, number);
    }
  }

  static bool read_request(int fd, std::string& bytes, HttpSeen& request) {
    size_t end = std::string::npos, length = 0;
    while (true) {
      end = bytes.find("\r\n\r\n");
      if (end != std::string::npos) {
        const size_t field = bytes.find("Content-Length: ");
        length = field < end ? std::strtoul(bytes.c_str() + field + 16, nullptr, 10) : 0;
        if (bytes.size() >= end + 4 + length) break;
      }
      char block[16384];
      const ssize_t got = ::recv(fd, block, sizeof block, 0);
      if (got <= 0) return false;
      bytes.append(block, static_cast<size_t>(got));
    }
    request = {bytes.substr(0, end), bytes.substr(end + 4, length)};
    bytes.erase(0, end + 4 + length);
    return true;
  }

  Script script_;
  core::UniqueFd listener_;
  int port_ = 0;
  mutable std::mutex mutex_;
  std::vector<HttpSeen> seen_;
  std::list<core::UniqueFd> connections_;
  std::list<std::thread> threads_;
  std::thread acceptor_;
};

}  // namespace agent::models::test

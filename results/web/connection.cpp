#include "results/web/connection.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>

namespace results::web {
namespace {
using std::chrono::milliseconds;
constexpr size_t kLargestRequest = size_t{64} << 10;
constexpr milliseconds kWholeRequest{10'000}, kWrite{5'000};

bool is_ready(socket_t socket, short what, milliseconds patience) {
  pollfd one{socket, what, 0};
  return ::poll(&one, 1, static_cast<int>(std::max(patience, milliseconds(0)).count())) > 0;
}
}  // namespace

bool Connection::wait_for_request(milliseconds patience) {
  if (begin_ == end_ && !is_ready(socket_, POLLIN, patience)) return false;
  allowed_ = kLargestRequest;
  until_ = std::chrono::steady_clock::now() + kWholeRequest;
  return true;
}

bool Connection::is_readable() const { return begin_ < end_ || is_ready(socket_, POLLIN, milliseconds(0)); }

bool Connection::is_writable() const {
  char next = 0;
  const bool gone = ::recv(socket_, &next, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
  return !gone && is_ready(socket_, POLLOUT, milliseconds(0));
}

bool Connection::fill() {
  const auto left = std::chrono::duration_cast<milliseconds>(until_ - std::chrono::steady_clock::now());
  if (left <= milliseconds(0) || !is_ready(socket_, POLLIN, left)) return false;
  const ssize_t got = ::recv(socket_, buffer_.data(), buffer_.size(), 0);
  begin_ = 0;
  end_ = got > 0 ? static_cast<size_t>(got) : 0;
  return got > 0;
}

ssize_t Connection::read(char* to, size_t size) {
  if (allowed_ == 0 || (begin_ == end_ && !fill())) return -1;
  const size_t count = std::min({size, end_ - begin_, allowed_});
  std::copy_n(buffer_.data() + begin_, count, to);
  begin_ += count;
  allowed_ -= count;
  return static_cast<ssize_t>(count);
}

ssize_t Connection::write(const char* from, size_t size) {
  return is_ready(socket_, POLLOUT, kWrite) ? ::send(socket_, from, size, MSG_NOSIGNAL) : -1;
}

// Unused: no handler asks for addresses.
void Connection::get_remote_ip_and_port(std::string& ip, int& port) const {
  ip.clear();
  port = 0;
}
void Connection::get_local_ip_and_port(std::string& ip, int& port) const { get_remote_ip_and_port(ip, port); }

bool BoundedServer::process_and_close_socket(socket_t socket) {
  Connection connection(socket);
  const milliseconds silent(1000 * keep_alive_timeout_sec_);
  bool closed = false;
  for (size_t left = keep_alive_max_count_; !closed && left > 0 && svr_sock_ != INVALID_SOCKET; --left) {
    if (!connection.wait_for_request(silent) || !process_request(connection, left == 1, closed, nullptr)) break;
  }
  ::shutdown(socket, SHUT_RDWR);
  ::close(socket);
  return true;
}

}  // namespace results::web

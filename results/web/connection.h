// A connection of the page server that limits the bytes and the time of every request, before anything is known about
// its sender. The library itself reads headers without end.
#pragma once

#include <httplib.h>

#include <array>
#include <chrono>

namespace results::web {

class Connection final : public httplib::Stream {
 public:
  explicit Connection(socket_t socket) : socket_(socket) {}

  // The next request may begin, within `patience`. False when nothing comes.
  bool wait_for_request(std::chrono::milliseconds patience);

  bool is_readable() const override;
  bool is_writable() const override;  // also false once the other side has closed
  ssize_t read(char* to, size_t size) override;
  ssize_t write(const char* from, size_t size) override;
  void get_remote_ip_and_port(std::string& ip, int& port) const override;
  void get_local_ip_and_port(std::string& ip, int& port) const override;
  socket_t socket() const override { return socket_; }

 private:
  bool fill();  // the buffer, which is empty

  socket_t socket_;
  std::array<char, 4096> buffer_{};
  size_t begin_ = 0, end_ = 0;  // of what is in the buffer
  size_t allowed_ = 0;          // bytes that the request may still take
  std::chrono::steady_clock::time_point until_{};
};

// The library's server over such connections.
class BoundedServer final : public httplib::Server {
 private:
  bool process_and_close_socket(socket_t socket) override;
};

}  // namespace results::web

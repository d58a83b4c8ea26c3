// A connection of the page server that limits the bytes and the time of every request, whoever sends it. The library
// itself reads headers of any length.
#pragma once

#include <httplib.h>

#include <array>
#include <chrono>

namespace results::web {

class Connection final : public httplib::Stream {
 public:
  explicit Connection(socket_t socket) : socket_(socket) {}

  // Waits up to `patience` for the next request; false if none comes.
  bool wait_for_request(std::chrono::milliseconds patience);

  bool is_readable() const override;
  bool is_writable() const override;  // also false once the other side has closed
  ssize_t read(char* to, size_t size) override;
  ssize_t write(const char* from, size_t size) override;
  void get_remote_ip_and_port(std::string& ip, int& port) const override;
  void get_local_ip_and_port(std::string& ip, int& port) const override;
  socket_t socket() const override { return socket_; }

 private:
  bool fill();  // refills the empty buffer

  socket_t socket_;
  std::array<char, 4096> buffer_{};
  size_t begin_ = 0, end_ = 0;  // of the buffer's content
  size_t allowed_ = 0;          // bytes left to the request
  std::chrono::steady_clock::time_point until_{};
};

// The library's server over such connections.
class BoundedServer final : public httplib::Server {
 private:
  bool process_and_close_socket(socket_t socket) override;
};

}  // namespace results::web

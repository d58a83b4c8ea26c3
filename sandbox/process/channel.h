// Messages between our processes: length-prefixed JSON over a private Unix socket, with descriptors. Only this file
// knows the wire format: 4 bytes length, 4 bytes number of descriptors (both little-endian), the JSON.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/strict_json.h"
#include "core/unique_fd.h"

namespace sandbox::process {

struct Message {
  core::Json json;
  std::vector<core::UniqueFd> fds;  // owned by the receiver
};

// The other side has closed or violates the format. Never thrown for a deadline.
class ChannelClosed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// One end of a socket. Not thread-safe. A frame is at most 32 MiB and 128 descriptors, and its JSON is nested no deeper
// than 64.
class Channel {
 public:
  Channel() = default;
  explicit Channel(core::UniqueFd socket) : socket_(std::move(socket)) {}

  // Two connected ends; close-on-exec.
  static std::pair<Channel, Channel> make_pair();

  // The caller keeps `fds`. Throws ChannelClosed.
  void send(const core::Json& json, const std::vector<int>& fds = {});
  // Waits for one frame; nullopt when the deadline passes first. Throws ChannelClosed.
  std::optional<Message> receive(std::chrono::steady_clock::time_point deadline);
  Message receive();

  int fd() const { return socket_.get(); }
  explicit operator bool() const { return static_cast<bool>(socket_); }
  core::UniqueFd take() { return std::move(socket_); }

 private:
  core::UniqueFd socket_;
};

// A worker's loop: passes each request of `owner` to `answer` and reports a Failure thrown by it as {"error": text}.
// Throws ChannelClosed when the owner hangs up; other exceptions end the worker. `before_each` may serve other channels
// until the owner sends a request.
template <typename Failure = std::exception, typename Answer>
[[noreturn]] void serve(Channel& owner, const Answer& answer, const std::function<void()>& before_each = {}) {
  while (true) {
    if (before_each) before_each();
    Message request = owner.receive();
    try {
      answer(std::move(request));
    } catch (const ChannelClosed&) {
      throw;
    } catch (const Failure& failure) {
      owner.send({{"error", failure.what()}});
    }
  }
}

// Anonymous shared memory of `bytes` (sealed against resizing), close-on-exec. Throws core::SystemError.
core::UniqueFd make_memory_file(const char* name, size_t bytes);

}  // namespace sandbox::process

#include "sandbox/process/channel.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "core/error.h"

namespace sandbox::process {
namespace {
using Clock = std::chrono::steady_clock;
constexpr uint32_t kMaxFrameBytes = uint32_t{32} << 20;
constexpr uint32_t kMaxDescriptors = 128;
constexpr int kMaxDepth = 64;

struct Header {
  uint32_t bytes, descriptors;
};

// Returns false if the deadline passes first; nullopt waits without limit.
bool wait_readable(int fd, std::optional<Clock::time_point> deadline) {
  while (deadline) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(*deadline - Clock::now()).count();
    const int timeout = static_cast<int>(std::clamp<int64_t>(left, 0, 1 << 30));
    pollfd entry{fd, POLLIN, 0};
    const int ready = ::poll(&entry, 1, timeout);
    if (ready > 0) return true;
    if (ready == 0) return false;
    if (errno != EINTR) throw core::SystemError("cannot wait for a worker", errno);
  }
  return true;
}

void send_all(int fd, const char* data, size_t size) {
  while (size > 0) {
    const ssize_t sent = ::send(fd, data, size, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) throw ChannelClosed("the other process is gone");
    data += sent;
    size -= static_cast<size_t>(sent);
  }
}

// Reads exactly `size` bytes; appends received descriptors to `fds`.
bool receive_all(int fd, char* data, size_t size, std::vector<core::UniqueFd>& fds,
                 std::optional<Clock::time_point> deadline) {
  while (size > 0) {
    if (!wait_readable(fd, deadline)) return false;
    iovec part{data, size};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * kMaxDescriptors)> control{};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    const ssize_t got = ::recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
    if (got < 0 && errno == EINTR) continue;
    for (cmsghdr* c = got > 0 ? CMSG_FIRSTHDR(&message) : nullptr; c != nullptr; c = CMSG_NXTHDR(&message, c)) {
      if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
      const size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
      for (size_t i = 0; i < count; ++i) {
        int received = -1;
        std::memcpy(&received, CMSG_DATA(c) + i * sizeof(int), sizeof received);
        fds.emplace_back(received);
      }
    }
    if (got <= 0) throw ChannelClosed("the other process is gone");
    if (fds.size() > kMaxDescriptors) throw ChannelClosed("a frame has too many descriptors");
    data += got;
    size -= static_cast<size_t>(got);
  }
  return true;
}

// Limits nesting, since parsers recurse.
bool is_nested_too_deeply(std::string_view json) {
  int depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (c == '"') quoted = !quoted;
    if (c == '\\' && quoted) ++i;
    if (quoted) continue;
    if (c == '[' || c == '{') ++depth;
    if (c == ']' || c == '}') --depth;
    if (depth > kMaxDepth) return true;
  }
  return false;
}

std::optional<Message> receive_frame(int fd, std::optional<Clock::time_point> deadline) {
  Message message;
  Header header{};
  if (!receive_all(fd, reinterpret_cast<char*>(&header), sizeof header, message.fds, deadline)) return std::nullopt;
  if (header.bytes > kMaxFrameBytes || header.descriptors > kMaxDescriptors) {
    throw ChannelClosed("a frame of " + std::to_string(header.bytes) + " bytes is over the limit");
  }
  std::string text(header.bytes, '\0');
  if (!receive_all(fd, text.data(), text.size(), message.fds, deadline)) return std::nullopt;
  if (message.fds.size() != header.descriptors) throw ChannelClosed("a frame lacks its descriptors");
  if (is_nested_too_deeply(text)) throw ChannelClosed("a frame is nested too deeply");
  message.json = core::Json::parse(text, nullptr, false);
  if (message.json.is_discarded()) throw ChannelClosed("a frame does not hold JSON");
  return message;
}
}  // namespace

std::pair<Channel, Channel> Channel::make_pair() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    throw core::SystemError("cannot make a socket pair", errno);
  }
  return {Channel(core::UniqueFd(ends[0])), Channel(core::UniqueFd(ends[1]))};
}

void Channel::send(const core::Json& json, const std::vector<int>& fds) {
  const std::string text = json.dump(-1, ' ', false, core::Json::error_handler_t::replace);
  if (text.size() > kMaxFrameBytes || fds.size() > kMaxDescriptors) {
    throw core::SystemError("a message to a worker is over the frame limit");
  }
  // Sends header and text in one call, so that a small message costs one wake-up.
  Header header{static_cast<uint32_t>(text.size()), static_cast<uint32_t>(fds.size())};
  std::array<iovec, 2> parts{{{&header, sizeof header}, {const_cast<char*>(text.data()), text.size()}}};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * kMaxDescriptors)> control{};
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  if (!fds.empty()) {
    message.msg_control = control.data();
    message.msg_controllen = CMSG_SPACE(sizeof(int) * fds.size());
    cmsghdr* c = CMSG_FIRSTHDR(&message);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof(int) * fds.size());
    std::memcpy(CMSG_DATA(c), fds.data(), sizeof(int) * fds.size());
  }
  ssize_t sent = -1;
  do {
    sent = ::sendmsg(socket_.get(), &message, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  if (sent <= 0) throw ChannelClosed("the other process is gone");
  size_t done = static_cast<size_t>(sent);
  if (done < sizeof header) {
    send_all(socket_.get(), reinterpret_cast<const char*>(&header) + done, sizeof header - done);
    done = sizeof header;
  }
  send_all(socket_.get(), text.data() + (done - sizeof header), text.size() - (done - sizeof header));
}

std::optional<Message> Channel::receive(Clock::time_point deadline) { return receive_frame(socket_.get(), deadline); }

Message Channel::receive() { return std::move(*receive_frame(socket_.get(), std::nullopt)); }

core::UniqueFd make_memory_file(const char* name, size_t bytes) {
  core::UniqueFd fd(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd || ::ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0) {
    throw core::SystemError("cannot make " + std::to_string(bytes) + " bytes of shared memory", errno);
  }
  if (::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0) {
    throw core::SystemError("cannot seal shared memory", errno);
  }
  return fd;
}

}  // namespace sandbox::process

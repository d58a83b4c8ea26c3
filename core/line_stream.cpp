#include "core/line_stream.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "core/error.h"

namespace core {
namespace {
constexpr size_t kMostWaiting = 64;       // lines; then the client has to wait
constexpr size_t kBeginningBytes = 4096;  // kept of a line that is too long
constexpr std::chrono::milliseconds kNoWait{0};

UniqueFd copy_of(int fd) {
  UniqueFd copy(::fcntl(fd, F_DUPFD_CLOEXEC, 3));
  if (!copy) throw SystemError("standard input or output is closed", errno);
  return copy;
}
}  // namespace

LineStream LineStream::of_program(size_t most_line_bytes) {
  UniqueFd in = copy_of(STDIN_FILENO), out = copy_of(STDOUT_FILENO);
  const UniqueFd nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!nothing || ::dup2(nothing.get(), STDIN_FILENO) < 0 || ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
    throw SystemError("standard input or output cannot be replaced", errno);
  }
  return {std::move(in), std::move(out), most_line_bytes};
}

LineStream::LineStream(UniqueFd in, UniqueFd out, size_t most_line_bytes)
    : most_line_bytes_(most_line_bytes), in_(std::move(in)), out_(std::move(out)) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw SystemError("no pipe", errno);
  stop_read_.reset(ends[0]);
  stop_write_.reset(ends[1]);
  reader_ = std::thread([this] { read_lines(); });
}

LineStream::~LineStream() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  stop_write_.reset();
  taken_.notify_all();
  reader_.join();
}

void LineStream::read_lines() {
  std::array<char, size_t{1} << 16> buffer;
  while (true) {
    pollfd watched[] = {{in_.get(), POLLIN, 0}, {stop_read_.get(), POLLIN, 0}};
    if (::poll(watched, 2, -1) < 0 && errno == EINTR) continue;
    if (watched[1].revents != 0) break;
    const ssize_t count = ::read(in_.get(), buffer.data(), buffer.size());
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count <= 0) break;
    take({buffer.data(), static_cast<size_t>(count)});
  }
  if (!line_.text.empty()) finish_line();
  {
    const std::lock_guard lock(mutex_);
    at_end_ = true;
  }
  came_.notify_all();
}

void LineStream::take(std::string_view bytes) {
  while (!bytes.empty()) {
    const size_t end = bytes.find('\n');
    const std::string_view part = bytes.substr(0, end);
    if (!line_.is_cut) line_.text += part;
    if (line_.text.size() > most_line_bytes_) {
      line_.is_cut = true;
      line_.text.resize(kBeginningBytes);
    }
    if (end == std::string_view::npos) return;
    finish_line();
    bytes.remove_prefix(end + 1);
  }
}

// Waits while too many lines wait to be taken.
void LineStream::finish_line() {
  Line line = std::exchange(line_, {});
  if (!line.text.empty() && line.text.back() == '\r') line.text.pop_back();
  if (line.text.empty()) return;
  std::unique_lock lock(mutex_);
  taken_.wait(lock, [&] { return lines_.size() < kMostWaiting || stopping_; });
  lines_.push_back(std::move(line));
  lock.unlock();
  came_.notify_all();
}

std::optional<Line> LineStream::next(std::chrono::milliseconds at_most) {
  std::unique_lock lock(mutex_);
  if (at_most > kNoWait) came_.wait_for(lock, at_most, [&] { return !lines_.empty() || at_end_; });
  if (lines_.empty()) return std::nullopt;
  Line line = std::move(lines_.front());
  lines_.pop_front();
  lock.unlock();
  taken_.notify_all();
  return line;
}

bool LineStream::has_ended() const {
  const std::lock_guard lock(mutex_);
  return is_broken_ || (at_end_ && lines_.empty());
}

void LineStream::send(const std::string& text) {
  const std::string line = text + "\n";
  for (size_t sent = 0; sent < line.size();) {
    const ssize_t count = ::write(out_.get(), line.data() + sent, line.size() - sent);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      const std::lock_guard lock(mutex_);
      is_broken_ = true;
      return;
    }
    sent += static_cast<size_t>(count);
  }
}

}  // namespace core

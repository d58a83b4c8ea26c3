// A channel over two file descriptors, those of standard input and output.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "agent/mcp/channel.h"
#include "core/unique_fd.h"

namespace agent::mcp {

inline constexpr size_t kMostLineBytes = size_t{1} << 20;

class StdioChannel : public Channel {
 public:
  // Takes standard input and output away from the rest of the program, so that no worker reads or writes there: input
  // becomes empty, and what is printed goes to standard error. Throws core::SystemError.
  static StdioChannel of_program();

  // Reads `in` on a thread of its own.
  StdioChannel(core::UniqueFd in, core::UniqueFd out);
  ~StdioChannel() override;

  std::optional<Line> next(std::chrono::milliseconds at_most) override;
  bool has_ended() const override;
  void send(const core::Json& message) override;

 private:
  void read_lines();
  void take(std::string_view bytes);
  void finish_line();

  core::UniqueFd in_, out_, stop_read_, stop_write_;  // the last two: a pipe whose end wakes the reader
  mutable std::mutex mutex_;
  std::condition_variable came_, taken_;
  std::deque<Line> lines_;
  Line line_;  // of the reader's thread: so far
  bool at_end_ = false, is_broken_ = false, stopping_ = false;
  std::thread reader_;
};

}  // namespace agent::mcp

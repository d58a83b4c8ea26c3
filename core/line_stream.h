// Lines of text over two file descriptors, such as standard input and output.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "core/unique_fd.h"

namespace core {

struct Line {
  std::string text;
  bool is_cut = false;  // it was longer than allowed; `text` is its beginning
};

class LineStream {
 public:
  // Takes standard input and output away from the rest of the program, so that no worker reads or writes there: input
  // becomes empty, and what is printed goes to standard error. Throws SystemError.
  static LineStream of_program(size_t most_line_bytes);

  // Reads `in` on a thread of its own.
  LineStream(UniqueFd in, UniqueFd out, size_t most_line_bytes);
  ~LineStream();

  // The next line of the other side; waits for it, at most this long. Empty lines are left out.
  std::optional<Line> next(std::chrono::milliseconds at_most);
  // Has the other side gone? No further line comes, and nobody reads what is sent.
  bool has_ended() const;
  // `line`: without its end. Waits while the other side reads nothing.
  void send(const std::string& line);
  // Nothing is sent any more: the other side reads the end. Not beside send().
  void end_output() { out_.reset(); }

 private:
  void read_lines();
  void take(std::string_view bytes);
  void finish_line();

  size_t most_line_bytes_;
  UniqueFd in_, out_, stop_read_, stop_write_;  // the last two: a pipe whose end wakes the reader
  mutable std::mutex mutex_;
  std::condition_variable came_, taken_;
  std::deque<Line> lines_;
  Line line_;  // of the reader's thread: so far
  bool at_end_ = false, is_broken_ = false, stopping_ = false;
  std::thread reader_;
};

}  // namespace core

// Messages from other threads (judges, compilers, models) to the thread of a campaign.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>

namespace agent::search {

class EventLoop {
 public:
  // From any thread.
  void post(std::function<void()> message);
  // Waits for a message, at most this long. False: none came.
  bool wait(std::chrono::milliseconds at_most);
  // Runs the first message; false: there is none. Lets its exception through; later messages stay.
  bool serve();

 private:
  std::mutex mutex_;
  std::condition_variable came_;
  std::deque<std::function<void()>> messages_;
};

}  // namespace agent::search

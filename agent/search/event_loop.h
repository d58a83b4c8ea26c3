// What other threads (judges, compilers, models) have for the thread of a campaign.
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
  // For something to come, at most this long. False when nothing came.
  bool wait(std::chrono::milliseconds at_most);
  // Does what came first. False when there is nothing. What a message throws comes out; those behind it stay.
  bool serve();

 private:
  std::mutex mutex_;
  std::condition_variable came_;
  std::deque<std::function<void()>> messages_;
};

}  // namespace agent::search

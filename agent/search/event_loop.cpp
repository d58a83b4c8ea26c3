#include "agent/search/event_loop.h"

#include <utility>

namespace agent::search {

void EventLoop::post(std::function<void()> message) {
  {
    const std::lock_guard lock(mutex_);
    messages_.push_back(std::move(message));
  }
  came_.notify_one();
}

bool EventLoop::wait(std::chrono::milliseconds at_most) {
  std::unique_lock lock(mutex_);
  return came_.wait_for(lock, at_most, [&] { return !messages_.empty(); });
}

bool EventLoop::serve() {
  std::unique_lock lock(mutex_);
  if (messages_.empty()) return false;
  const std::function<void()> message = std::move(messages_.front());
  messages_.pop_front();
  lock.unlock();
  message();
  return true;
}

}  // namespace agent::search

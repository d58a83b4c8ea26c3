#include "agent/mailbox.h"

#include <utility>

namespace agent {

void Mailbox::post(std::function<void()> message) {
  {
    const std::lock_guard lock(mutex_);
    messages_.push_back(std::move(message));
  }
  came_.notify_one();
}

bool Mailbox::serve(std::chrono::milliseconds at_most) {
  std::unique_lock lock(mutex_);
  if (!came_.wait_for(lock, at_most, [&] { return !messages_.empty(); })) return false;
  while (!messages_.empty()) {
    const std::function<void()> message = std::move(messages_.front());
    messages_.pop_front();
    lock.unlock();
    message();
    lock.lock();
  }
  return true;
}

}  // namespace agent

#include "agent/campaign/judges/judge_pool.h"

#include <algorithm>
#include <utility>

#include "core/error.h"

namespace agent::campaign::judges {
namespace {
constexpr int kTries = 3;  // per judgement, when our side fails
}

JudgePool::JudgePool(const std::vector<verifier::judging::JudgedDevice>& devices,
                     const verifier::judging::JudgeSettings& settings) {
  for (size_t i = 0; i < devices.size(); ++i) {
    members_.push_back(std::make_unique<Member>());
    Member& member = *members_.back();
    member.thread = std::thread([this, &member] { serve(member); });
  }
  try {
    std::deque<const verifier::judging::JudgedDevice*> next;
    for (const verifier::judging::JudgedDevice& device : devices) next.push_back(&device);
    std::mutex mutex;
    for_all([&](Member& member) {
      const verifier::judging::JudgedDevice* device = nullptr;
      {
        const std::lock_guard lock(mutex);
        device = next.front();
        next.pop_front();
      }
      member.judge = std::make_unique<verifier::judging::Judge>(*device, settings);
    });
  } catch (...) {
    stop();
    throw;
  }
}

JudgePool::~JudgePool() { stop(); }

void JudgePool::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    tasks_.clear();
    for (const auto& member : members_) member->own.clear();
  }
  wake_.notify_all();
  for (const auto& member : members_) member->thread.join();
}

void JudgePool::serve(Member& member) {
  while (true) {
    std::unique_lock lock(mutex_);
    wake_.wait(lock, [&] { return stopping_ || !member.own.empty() || (!tasks_.empty() && !member.retired); });
    if (!member.own.empty()) {
      const std::function<void()> next = std::move(member.own.front());
      member.own.pop_front();
      lock.unlock();
      next();
    } else if (stopping_) {
      break;
    } else {
      Submitted next = std::move(tasks_.front());
      tasks_.pop_front();
      ++in_flight_;
      lock.unlock();
      judge(member, std::move(next));
    }
  }
  member.judge.reset();
}

void JudgePool::judge(Member& member, Submitted submitted) {
  const JudgeTask& task = submitted.task;
  for (int failures = 0;;) {
    try {
      const verifier::judging::Builds& naive = member.judge->naive();
      verifier::verdicts::Judgement judgement =
          member.judge->judge(task.candidate != nullptr ? *task.candidate : naive,
                              task.incumbent != nullptr ? *task.incumbent : naive, task.effort);
      try {
        if (task.afterwards) task.afterwards(judgement, *member.judge);
      } catch (const core::SystemError& error) {
        submitted.trouble.push_back(error.what());
      }
      return finish(submitted, std::move(judgement));
    } catch (const verifier::judging::DeviceSetAside& error) {
      return retire(member, std::move(submitted), error.what());
    } catch (const core::SystemError& error) {
      submitted.trouble.push_back(std::string(error.what()) + "; trying again");
      if (++failures < kTries) continue;
      return finish(submitted, std::current_exception());
    } catch (...) {
      return finish(submitted, std::current_exception());
    }
  }
}

void JudgePool::finish(Submitted& submitted, std::variant<verifier::verdicts::Judgement, std::exception_ptr> outcome) {
  submitted.done({std::move(outcome), std::move(submitted.trouble)});
  {
    const std::lock_guard lock(mutex_);
    --in_flight_;
  }
  reported_.notify_all();
}

// Retires the device and hands the task to another one, if any is left.
void JudgePool::retire(Member& member, Submitted submitted, const std::string& why) {
  submitted.trouble.push_back(why);
  std::deque<Submitted> lost;
  {
    const std::lock_guard lock(mutex_);
    member.retired = true;
    --in_flight_;
    tasks_.push_front(std::move(submitted));
    if (in_use() == 0) {
      lost = std::exchange(tasks_, {});
      in_flight_ += lost.size();
    }
  }
  wake_.notify_all();
  for (Submitted& one : lost) finish(one, std::make_exception_ptr(core::SystemError(why)));
}

void JudgePool::submit(JudgeTask task, std::function<void(JudgeResult)> done) {
  Submitted submitted{std::move(task), std::move(done), {}};
  std::unique_lock lock(mutex_);
  if (in_use() == 0) {
    ++in_flight_;
    lock.unlock();
    return finish(submitted, std::make_exception_ptr(core::SystemError("no device is left")));
  }
  tasks_.push_back(std::move(submitted));
  lock.unlock();
  wake_.notify_all();
}

void JudgePool::drain() {
  std::unique_lock lock(mutex_);
  tasks_.clear();
  reported_.wait(lock, [&] { return in_flight_ == 0; });
}

size_t JudgePool::in_use() const {
  return static_cast<size_t>(
      std::count_if(members_.begin(), members_.end(), [](const auto& member) { return !member->retired; }));
}

size_t JudgePool::size() const {
  const std::lock_guard lock(mutex_);
  return in_use();
}

void JudgePool::post(Member& member, std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    member.own.push_back(std::move(work));
  }
  wake_.notify_all();
}

// Waits for all, then rethrows the first failure.
void JudgePool::for_all(const std::function<void(Member&)>& action) {
  std::vector<std::packaged_task<void()>> tasks;
  std::vector<std::future<void>> done;
  for (const auto& member : members_) {
    tasks.emplace_back([&action, &member] {
      if (!member->retired) action(*member);
    });
    done.push_back(tasks.back().get_future());
  }
  for (size_t i = 0; i < members_.size(); ++i) post(*members_[i], [&tasks, i] { tasks[i](); });
  for (std::future<void>& one : done) one.wait();
  for (std::future<void>& one : done) one.get();
}

void JudgePool::use_problem(const benchsuite::Problem& problem, sandbox::CompilePool& pool) {
  for_all([&](Member& member) { member.judge->use_problem(problem, pool); });
}

}  // namespace agent::campaign::judges

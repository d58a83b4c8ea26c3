// The judges of one campaign: one for each of its devices, working side by side.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "verifier/judging/judge.h"

namespace agent::campaign::judges {

// A judgement to make. The builds must live until its result is reported or the pool is drained.
struct JudgeTask {
  const verifier::judging::Builds* candidate = nullptr;  // absent: the problem's naive solution
  const verifier::judging::Builds* incumbent = nullptr;  // absent: the naive solution
  verifier::verdicts::Effort effort = verifier::verdicts::Effort::screen;
  // Called on the judge's thread while the task still owns the device; may be empty. Its exceptions are reported as
  // trouble.
  std::function<void(verifier::verdicts::Judgement&, verifier::judging::Judge&)> afterwards;
};
struct JudgeResult {
  std::variant<verifier::verdicts::Judgement, std::exception_ptr>
      outcome;                       // an exception: our side failed at every try
  std::vector<std::string> trouble;  // failures that a retry overcame
};

class JudgePool {
 public:
  // Starts all judges at once. Rethrows the first failure.
  JudgePool(const std::vector<verifier::judging::JudgedDevice>& devices,
            const verifier::judging::JudgeSettings& settings);
  ~JudgePool();

  // Number of devices in use, without retired ones.
  size_t size() const;
  void use_problem(const benchsuite::Problem& problem, sandbox::CompilePool& pool);

  // Queues a task for the next free device. Calls `done` once, on a thread of the pool. Retries a judgement when our
  // side fails; retires a device that no longer computes.
  void submit(JudgeTask task, std::function<void(JudgeResult)> done);
  // Drops queued tasks and waits until those in flight have reported.
  void drain();

  // Runs `action` with the first judge, on its thread, and returns its result.
  template <typename Action>
  auto with_first(Action action) {
    return post_first(std::move(action)).get();
  }
  // The same without waiting. Such actions run one after the other; those that have not begun when the pool ends are
  // dropped.
  template <typename Action>
  auto post_first(Action action) {
    using Result = std::invoke_result_t<Action, verifier::judging::Judge&>;
    const auto task = std::make_shared<std::packaged_task<Result()>>(
        [this, action = std::move(action)]() mutable { return action(*members_.front()->judge); });
    post(*members_.front(), [task] { (*task)(); });
    return task->get_future();
  }

 private:
  // A judge and the thread that started its workers; they end with that thread.
  struct Member {
    std::unique_ptr<verifier::judging::Judge> judge;
    bool retired = false;
    std::deque<std::function<void()>> own;  // work for this judge only
    std::thread thread;
  };
  struct Submitted {
    JudgeTask task;
    std::function<void(JudgeResult)> done;
    std::vector<std::string> trouble;
  };

  void serve(Member& member);
  void judge(Member& member, Submitted submitted);
  void finish(Submitted& submitted, std::variant<verifier::verdicts::Judgement, std::exception_ptr> outcome);
  void retire(Member& member, Submitted submitted, const std::string& why);
  void post(Member& member, std::function<void()> work);
  void for_all(const std::function<void(Member&)>& action);
  void stop();
  size_t in_use() const;

  mutable std::mutex mutex_;
  std::condition_variable wake_, reported_;
  std::deque<Submitted> tasks_;
  size_t in_flight_ = 0;  // tasks in flight
  bool stopping_ = false;
  std::vector<std::unique_ptr<Member>> members_;
};

}  // namespace agent::campaign::judges

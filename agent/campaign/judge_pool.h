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

namespace agent::campaign {

// One judgement to be made. What it points to must live until it is told or drained.
struct JudgeTask {
  const verifier::judging::Builds* candidate = nullptr;  // absent: the problem's naive solution
  const verifier::judging::Builds* incumbent = nullptr;  // likewise
  verifier::verdicts::Effort effort = verifier::verdicts::Effort::screen;
  // Done on the judge's thread, while its device is this task's alone; may be empty. What it throws is told as trouble.
  std::function<void(verifier::verdicts::Judgement&)> afterwards;
};
struct JudgeResult {
  std::variant<verifier::verdicts::Judgement, std::exception_ptr>
      outcome;                       // a failure of our side that nothing helped against
  std::vector<std::string> trouble;  // what was tried again
};

class JudgePool {
 public:
  // All start at once. Throws what the first of them fails with.
  JudgePool(const std::vector<verifier::judging::JudgedDevice>& devices,
            const verifier::judging::JudgeSettings& settings);
  ~JudgePool();

  // Devices in use: those that were set aside do not count.
  size_t size() const;
  void use_problem(const benchsuite::Problem& problem, sandbox::CompilePool& pool);

  // To be judged by the next device that is free. `done` is told once, on a thread of the crew's. A judgement that our
  // side fails at is tried again; a device that does not compute any more is set aside.
  void submit(JudgeTask task, std::function<void(JudgeResult)> done);
  // Forgets the tasks that nobody has begun, and waits until the others are told.
  void drain();

  // Has `action` done by the first judge, on its thread, and waits.
  template <typename Action>
  auto with_first(Action action) {
    std::packaged_task<std::invoke_result_t<Action, verifier::judging::Judge&>()> task(
        [&] { return action(*members_.front()->judge); });
    auto result = task.get_future();
    post(*members_.front(), [&] { task(); });
    return result.get();
  }

 private:
  // A judge and the thread that started its workers: they end with it.
  struct Member {
    std::unique_ptr<verifier::judging::Judge> judge;
    bool set_aside = false;
    std::deque<std::function<void()>> own;  // work for this one alone
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
  void set_aside(Member& member, Submitted submitted, const std::string& why);
  void post(Member& member, std::function<void()> work);
  void for_all(const std::function<void(Member&)>& action);
  void stop();
  size_t in_use() const;

  mutable std::mutex mutex_;
  std::condition_variable wake_, told_;
  std::deque<Submitted> tasks_;
  size_t begun_ = 0;  // tasks that are neither waiting nor told
  bool stopping_ = false;
  std::vector<std::unique_ptr<Member>> members_;
};

}  // namespace agent::campaign

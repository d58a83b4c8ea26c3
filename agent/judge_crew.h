// The judges of one campaign: one for each of its devices, working side by side.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "verifier/judge.h"

namespace agent {

// One judgement to be made.
struct JudgeTask {
  const verifier::Builds* candidate = nullptr;  // absent: the problem's naive solution
  const verifier::Builds* incumbent = nullptr;  // likewise
  verifier::Effort effort = verifier::Effort::screen;
};

class JudgeCrew {
 public:
  // All start at once. Throws what the first of them fails with.
  JudgeCrew(const std::vector<verifier::JudgedDevice>& devices, const verifier::JudgeSettings& settings);

  // Devices in use: those that were set aside do not count.
  size_t size() const;
  void use_problem(const benchsuite::Problem& problem, sandbox::CompilePool& pool);

  // Makes all judgements, each on the next device that is free; the results come in the order of the tasks. A judgement
  // that our side fails at is tried again, a device that does not compute any more is set aside; `trouble` is told,
  // on the caller's thread, once all is done. Throws core::SystemError when nothing helps.
  std::vector<verifier::Judgement> judge(const std::vector<JudgeTask>& tasks,
                                         const std::function<void(const std::string&)>& trouble);

  // Has `action` done by the first judge, on its thread, and waits.
  template <typename Action>
  auto with_first(Action action) {
    std::packaged_task<std::invoke_result_t<Action, verifier::Judge&>()> task(
        [&] { return action(*members_.front()->judge); });
    auto result = task.get_future();
    post(*members_.front(), [&] { task(); });
    return result.get();
  }

 private:
  // A judge and the thread that started its workers: they end with it.
  struct Member {
    std::unique_ptr<verifier::Judge> judge;
    bool set_aside = false;
    std::mutex mutex;
    std::condition_variable wake;
    std::deque<std::function<void()>> work;
    bool stopping = false;
    std::thread thread;

    ~Member();
    void serve();
  };
  struct Session;  // what the members share while they judge

  static void post(Member& member, std::function<void()> work);
  void for_all(const std::function<void(Member&)>& action);
  static void judge_until_done(Member& member, Session& session);

  std::vector<std::unique_ptr<Member>> members_;
};

}  // namespace agent

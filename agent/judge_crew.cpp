#include "agent/judge_crew.h"

#include <optional>
#include <utility>

#include "core/error.h"

namespace agent {
namespace {
constexpr int kTries = 3;  // of one judgement, when our side fails
}

struct JudgeCrew::Session {
  const std::vector<JudgeTask>& tasks;
  std::vector<std::optional<verifier::Judgement>> results;
  std::mutex mutex;
  std::deque<size_t> left;  // indices of tasks that nobody has begun
  std::vector<std::string> trouble;
  std::exception_ptr failure;  // of our side, for good
};

void JudgeCrew::Member::serve() {
  while (true) {
    std::unique_lock lock(mutex);
    wake.wait(lock, [&] { return stopping || !work.empty(); });
    if (work.empty()) break;
    const std::function<void()> next = std::move(work.front());
    work.pop_front();
    lock.unlock();
    next();
  }
  judge.reset();
}

JudgeCrew::Member::~Member() {
  {
    const std::lock_guard lock(mutex);
    stopping = true;
  }
  wake.notify_one();
  thread.join();
}

void JudgeCrew::post(Member& member, std::function<void()> work) {
  {
    const std::lock_guard lock(member.mutex);
    member.work.push_back(std::move(work));
  }
  member.wake.notify_one();
}

// Waits for all, then throws what the first one failed with.
void JudgeCrew::for_all(const std::function<void(Member&)>& action) {
  std::vector<std::packaged_task<void()>> tasks;
  std::vector<std::future<void>> done;
  for (const auto& member : members_) {
    tasks.emplace_back([&action, &member] {
      if (!member->set_aside) action(*member);
    });
    done.push_back(tasks.back().get_future());
  }
  for (size_t i = 0; i < members_.size(); ++i) post(*members_[i], [&tasks, i] { tasks[i](); });
  for (std::future<void>& one : done) one.wait();
  for (std::future<void>& one : done) one.get();
}

JudgeCrew::JudgeCrew(const std::vector<verifier::JudgedDevice>& devices, const verifier::JudgeSettings& settings) {
  for (size_t i = 0; i < devices.size(); ++i) {
    members_.push_back(std::make_unique<Member>());
    Member& member = *members_.back();
    member.thread = std::thread([&member] { member.serve(); });
  }
  std::deque<const verifier::JudgedDevice*> next;
  for (const verifier::JudgedDevice& device : devices) next.push_back(&device);
  std::mutex mutex;
  for_all([&](Member& member) {
    const verifier::JudgedDevice* device = nullptr;
    {
      const std::lock_guard lock(mutex);
      device = next.front();
      next.pop_front();
    }
    member.judge = std::make_unique<verifier::Judge>(*device, settings);
  });
}

size_t JudgeCrew::size() const {
  size_t count = 0;
  for (const auto& member : members_) count += member->set_aside ? 0 : 1;
  return count;
}

void JudgeCrew::use_problem(const benchsuite::Problem& problem, sandbox::CompilePool& pool) {
  for_all([&](Member& member) { member.judge->use_problem(problem, pool); });
}

void JudgeCrew::judge_until_done(Member& member, Session& session) {
  for (int failures = 0;;) {
    std::unique_lock lock(session.mutex);
    if (session.left.empty() || session.failure) return;
    const size_t index = session.left.front();
    session.left.pop_front();
    lock.unlock();
    const JudgeTask& task = session.tasks[index];
    try {
      const verifier::Builds& naive = member.judge->naive();
      session.results[index] = member.judge->judge(task.candidate != nullptr ? *task.candidate : naive,
                                                   task.incumbent != nullptr ? *task.incumbent : naive, task.effort);
      failures = 0;
      continue;
    } catch (const verifier::DeviceSetAside& error) {
      lock.lock();
      session.trouble.push_back(error.what());
      member.set_aside = true;
      session.left.push_front(index);
      return;
    } catch (const core::SystemError& error) {
      lock.lock();
      session.trouble.push_back(error.what());
      session.left.push_front(index);
      if (++failures < kTries) continue;
      session.failure = std::current_exception();
    } catch (...) {
      lock.lock();
      session.failure = std::current_exception();
    }
  }
}

std::vector<verifier::Judgement> JudgeCrew::judge(const std::vector<JudgeTask>& tasks,
                                                  const std::function<void(const std::string&)>& trouble) {
  Session session{tasks, {}, {}, {}, {}, {}};
  session.results.resize(tasks.size());
  for (size_t i = 0; i < tasks.size(); ++i) session.left.push_back(i);
  do {
    for_all([&](Member& member) { judge_until_done(member, session); });
  } while (!session.left.empty() && !session.failure && size() > 0);
  for (const std::string& what : session.trouble) trouble(what);
  if (session.failure) std::rethrow_exception(session.failure);
  if (size() == 0) throw core::SystemError(session.trouble.empty() ? "no device is left" : session.trouble.back());
  std::vector<verifier::Judgement> judgements;
  for (std::optional<verifier::Judgement>& result : session.results) judgements.push_back(std::move(*result));
  return judgements;
}

}  // namespace agent

#include "sandbox/process/worker.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mutex>
#include <utility>

#include "core/error.h"

namespace sandbox::process {
namespace {
constexpr auto kGreetingDeadline = std::chrono::seconds(60);
constexpr int kDyingMs = 50;

// Serialises the creation of cgroups.
std::mutex& making_cgroup() {
  static std::mutex mutex;
  return mutex;
}
}  // namespace

Worker Worker::start(const WorkerCommand& command) {
  Worker worker = launch(command);
  worker.await_greeting();
  return worker;
}

Worker Worker::launch(const WorkerCommand& command) {
  std::vector<std::string> argv = command.launcher;
  argv.push_back(command.program.string());
  argv.insert(argv.end(), command.args.begin(), command.args.end());
  auto [ours, theirs] = Channel::make_pair();
  Worker worker;
  worker.program_ = argv[0];
  worker.required_level_ = command.required_level;
  worker.channel_ = std::move(ours);
  int entrance = -1;
  if (command.launcher.empty()) {
    const std::lock_guard lock(making_cgroup());
    auto made = jail::Cgroup::make({});
    if (auto* cgroup = std::get_if<jail::Cgroup>(&made)) {
      entrance = cgroup->entrance();
      worker.cgroup_ = std::move(*cgroup);
    } else {
      worker.cgroup_ = std::get<jail::Shortfall>(made);
    }
  } else {
    worker.cgroup_ = jail::Shortfall{"its launcher is " + argv[0], "start it without one"};
  }
  const auto prepare = [parent = ::getpid(), entrance] {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);
    // If this fails, the owner notices that the worker is outside.
    [[maybe_unused]] const ssize_t written = entrance >= 0 ? ::write(entrance, "0", 1) : 0;
    if (::chdir("/") != 0) ::_exit(1);
  };
  static_assert(kWorkerChannelFd == 3);
  worker.process_ = core::Process(
      {.argv = argv, .environment = std::vector<std::string>(), .channel = theirs.fd(), .prepare = prepare});
  return worker;
}

void Worker::await_greeting() {
  try {
    auto greeting = channel_.receive(std::chrono::steady_clock::now() + kGreetingDeadline);
    if (!greeting) throw ChannelClosed("it does not answer");
    if (greeting->json.contains("error")) {
      throw core::SystemError(program_ + ": " + greeting->json["error"].get<std::string>());
    }
    greeting_ = std::move(greeting->json);
    if (greeting_.contains("sandbox_level")) settle_level();
  } catch (const ChannelClosed& closed) {
    throw core::SystemError(program_ + " did not start: " + closed.what());
  }
}

void Worker::settle_level() {
  jail::JailReport report = jail::JailReport::of(greeting_);
  const auto* cgroup = std::get_if<jail::Cgroup>(&cgroup_);
  std::optional<jail::Shortfall> shortfall;
  if (cgroup == nullptr) {
    shortfall = std::get<jail::Shortfall>(cgroup_);
  } else if (!cgroup->holds(process_.pid())) {
    shortfall =
        jail::Shortfall{"the worker could not be moved into its cgroup", "check the permissions of cgroup.procs"};
  }
  report.add(4, "cgroup", shortfall);
  report.describe(greeting_);
  if (report.level >= required_level_) return;
  throw LevelNotReached("the sandbox of the " + greeting_.value("role", "") + " worker reaches level " +
                        std::to_string(report.level) + " here, and level " + std::to_string(required_level_) +
                        " is required: " + report.missing->why + "\n  " + report.missing->remedy);
}

int Worker::kill_and_collect() {
  // If the worker already ended, keep its own signal.
  const bool ended = process_ && process_.has_ended();
  const int status = process_.end();
  cgroup_ = jail::Shortfall{};
  return ended && WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

bool Worker::finish(std::chrono::milliseconds deadline) {
  channel_ = Channel();
  const auto end = std::chrono::steady_clock::now() + deadline;
  bool ended = !process_;
  while (!ended && std::chrono::steady_clock::now() < end) {
    ended = process_.has_ended();
    if (!ended) ::usleep(2000);
  }
  kill_and_collect();
  return ended;
}

void Worker::lose(WorkerLost::Cause cause, const std::string& what) {
  channel_ = Channel();
  const int signal = kill_and_collect();
  throw WorkerLost(cause, signal, what + (signal > 0 ? " (signal " + std::to_string(signal) + ")" : ""));
}

Message Worker::request(const core::Json& json, const std::vector<int>& fds, std::chrono::milliseconds deadline) {
  if (!process_) throw WorkerLost(WorkerLost::Cause::died, 0, "the worker is not running");
  std::optional<Message> answer;
  try {
    channel_.send(json, fds);
    answer = channel_.receive(std::chrono::steady_clock::now() + deadline);
  } catch (const ChannelClosed& closed) {
    // Lets a dying process end by itself, which preserves its signal; a process that waits outside its namespaces ends
    // after it.
    for (int i = 0; i < kDyingMs && !process_.has_ended(); ++i) ::usleep(1000);
    lose(WorkerLost::Cause::died, std::string("the worker died: ") + closed.what());
  }
  if (!answer) lose(WorkerLost::Cause::deadline, "no answer within " + std::to_string(deadline.count()) + " ms");
  if (answer->json.is_object() && answer->json.contains("error")) {
    throw core::SystemError("a worker failed: " + answer->json["error"].dump());
  }
  return std::move(*answer);
}

}  // namespace sandbox::process

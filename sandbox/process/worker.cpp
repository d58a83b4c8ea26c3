#include "sandbox/process/worker.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/process.hpp>
#include <boost/process/extend.hpp>
#include <boost/process/posix.hpp>
#include <cerrno>
#include <mutex>
#include <utility>

#include "core/error.h"

namespace sandbox::process {
namespace {
namespace bp = boost::process;
constexpr auto kGreetingDeadline = std::chrono::seconds(20);
constexpr int kDyingMs = 50;

// Boost waits for the end of a pipe that it does not open close-on-exec in one step: a process started at the same time
// by another thread could inherit it, and keep it open for as long as it lives.
std::mutex& starting() {
  static std::mutex mutex;
  return mutex;
}

bool has_ended(int pid) {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid;
}

// Runs in the child between fork and exec: only async-signal-safe calls.
struct PrepareChild : bp::extend::handler {
  explicit PrepareChild(int entrance_of_cgroup) : entrance(entrance_of_cgroup) {}
  pid_t parent = ::getpid();
  int entrance;

  template <typename Executor>
  void on_exec_setup(Executor&) const {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);
    ::setpgid(0, 0);
    // What our own owner left open is nothing to a worker.
    ::close_range(kWorkerChannelFd + 1, ~0u, CLOSE_RANGE_CLOEXEC);
    // Where it is refused, the owner sees that the worker is not inside.
    [[maybe_unused]] const ssize_t written = entrance >= 0 ? ::write(entrance, "0", 1) : 0;
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    if (::chdir("/") != 0) ::_exit(1);
  }
};
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
  try {
    const std::lock_guard lock(starting());
    if (command.launcher.empty()) {
      auto made = jail::Cgroup::make({});
      if (auto* cgroup = std::get_if<jail::Cgroup>(&made)) {
        entrance = cgroup->entrance();
        worker.cgroup_ = std::move(*cgroup);
      } else {
        worker.cgroup_ = std::get<jail::Shortfall>(made);
      }
    } else {
      worker.cgroup_ = jail::Shortfall{"it is started by " + argv[0], "start it without"};
    }
    bp::child child(bp::exe = argv[0], bp::args = std::vector<std::string>(argv.begin() + 1, argv.end()),
                    bp::env = bp::environment(), bp::std_in<bp::null, bp::std_out> bp::null, bp::std_err > bp::null,
                    bp::posix::fd.bind(kWorkerChannelFd, theirs.fd()), PrepareChild(entrance));
    worker.pid_ = child.id();
    child.detach();  // collected by kill_and_collect: Boost.Process' own waiting is not safe from several threads
  } catch (const bp::process_error& error) {
    throw core::SystemError("cannot start " + argv[0] + ": " + error.what());
  }
  return worker;
}

void Worker::await_greeting() {
  try {
    auto greeting = channel_.receive(std::chrono::steady_clock::now() + kGreetingDeadline);
    if (!greeting) throw ChannelClosed("it does not answer");
    if (greeting->json.contains("error")) throw ChannelClosed(greeting->json["error"].dump());
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
  } else if (!cgroup->holds(pid_)) {
    shortfall =
        jail::Shortfall{"the worker could not be moved into its cgroup", "look at who may write to cgroup.procs"};
  }
  report.add(4, "cgroup", shortfall);
  report.describe(greeting_);
  if (report.level >= required_level_) return;
  throw LevelNotReached("the sandbox of the " + greeting_.value("role", "") + " worker reaches level " +
                        std::to_string(report.level) + " here, and level " + std::to_string(required_level_) +
                        " is required: " + report.missing->why + "\n  " + report.missing->remedy);
}

Worker::Worker(Worker&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      program_(std::move(other.program_)),
      required_level_(other.required_level_),
      cgroup_(std::move(other.cgroup_)),
      channel_(std::move(other.channel_)),
      greeting_(std::move(other.greeting_)) {}

Worker& Worker::operator=(Worker&& other) noexcept {
  if (this != &other) {
    kill_and_collect();
    pid_ = std::exchange(other.pid_, -1);
    program_ = std::move(other.program_);
    required_level_ = other.required_level_;
    cgroup_ = std::move(other.cgroup_);
    channel_ = std::move(other.channel_);
    greeting_ = std::move(other.greeting_);
  }
  return *this;
}

Worker::~Worker() { kill_and_collect(); }

int Worker::kill_and_collect() {
  if (pid_ <= 0) return 0;
  const int pid = std::exchange(pid_, -1);
  // A worker that already ended keeps the signal it ended by; kill() of an uncollected process changes nothing.
  const bool ended = has_ended(pid);
  ::kill(-pid, SIGKILL);
  ::kill(pid, SIGKILL);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  cgroup_ = jail::Shortfall{};
  return ended && WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

bool Worker::finish(std::chrono::milliseconds deadline) {
  channel_ = Channel();
  const auto end = std::chrono::steady_clock::now() + deadline;
  bool ended = pid_ <= 0;
  while (!ended && std::chrono::steady_clock::now() < end) {
    ended = has_ended(pid_);
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
  if (pid_ <= 0) throw WorkerLost(WorkerLost::Cause::died, 0, "the worker is not running");
  std::optional<Message> answer;
  try {
    channel_.send(json, fds);
    answer = channel_.receive(std::chrono::steady_clock::now() + deadline);
  } catch (const ChannelClosed& closed) {
    // A dying process is to be seen as dead by its own doing; who waits outside of its namespaces ends after it.
    for (int i = 0; i < kDyingMs && !has_ended(pid_); ++i) ::usleep(1000);
    lose(WorkerLost::Cause::died, std::string("the worker died: ") + closed.what());
  }
  if (!answer) lose(WorkerLost::Cause::deadline, "no answer within " + std::to_string(deadline.count()) + " ms");
  if (answer->json.is_object() && answer->json.contains("error")) {
    throw core::SystemError("a worker failed: " + answer->json["error"].dump());
  }
  return std::move(*answer);
}

}  // namespace sandbox::process

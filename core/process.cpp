#include "core/process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "core/error.h"

namespace core {
namespace {
constexpr int kAboveTargets = 10;  // descriptors from here on are not targets of the child's dup2

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// In the child, between fork and exec: async-signal-safe calls only. Returns with errno set when something failed.
void become(const ProcessSetup& setup, char* const* argv, char* const* environment) {
  ::setpgid(0, 0);
  std::array<int, 4> sources{setup.input, setup.output, setup.error, setup.channel};
  for (size_t i = 0; i < sources.size(); ++i) {
    if (sources[i] < 0 && i < 3) sources[i] = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    if (sources[i] >= 0) sources[i] = ::fcntl(sources[i], F_DUPFD_CLOEXEC, kAboveTargets);
  }
  int targets = 0;
  for (; targets < 4 && sources[static_cast<size_t>(targets)] >= 0; ++targets) {
    if (::dup2(sources[static_cast<size_t>(targets)], targets) < 0) return;
  }
  if (targets < 3) return;
  ::close_range(static_cast<unsigned>(targets), ~0u, CLOSE_RANGE_CLOEXEC);
  if (setup.prepare) setup.prepare();
  for (int signal = 1; signal < NSIG; ++signal) ::signal(signal, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::execvpe(argv[0], argv, environment);
}

int wait_for(int pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}
}  // namespace

Process::Process(const ProcessSetup& setup) {
  const std::vector<char*> argv = pointers_to(setup.argv);
  const std::vector<char*> environment = setup.environment ? pointers_to(*setup.environment) : std::vector<char*>();
  Pipe failure;  // closed by exec; else it carries the error
  UniqueFd report(::fcntl(failure.write.get(), F_DUPFD_CLOEXEC, kAboveTargets));
  failure.write.reset();
  const pid_t pid = ::fork();
  if (pid < 0) throw SystemError("cannot start " + setup.argv[0], errno);
  if (pid == 0) {
    become(setup, argv.data(), setup.environment ? environment.data() : environ);
    const int error = errno;
    [[maybe_unused]] const ssize_t written = ::write(report.get(), &error, sizeof error);
    ::_exit(127);
  }
  report.reset();
  int error = 0;
  ssize_t got = -1;
  do {
    got = ::read(failure.read.get(), &error, sizeof error);
  } while (got < 0 && errno == EINTR);
  pid_ = pid;
  if (got <= 0) return;
  end();
  throw SystemError("cannot start " + setup.argv[0], error);
}

Process& Process::operator=(Process&& other) noexcept {
  if (this != &other) {
    end();
    pid_ = std::exchange(other.pid_, -1);
  }
  return *this;
}

bool Process::has_ended() const {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid_;
}

int Process::end() {
  if (pid_ <= 0) return 0;
  ::kill(-pid_, SIGKILL);  // before waiting for it: afterwards its id may be reused
  ::kill(pid_, SIGKILL);
  return wait_for(std::exchange(pid_, -1));
}

int Process::wait() {
  siginfo_t info{};
  while (::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT) < 0 && errno == EINTR) {
  }
  return end();
}

Pipe::Pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw SystemError("cannot make a pipe", errno);
  read = UniqueFd(ends[0]);
  write = UniqueFd(ends[1]);
}

}  // namespace core

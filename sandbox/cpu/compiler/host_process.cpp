#include "sandbox/cpu/compiler/host_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>

#include "core/error.h"
#include "core/unique_fd.h"

namespace sandbox::cpu::compiler {
namespace {
using Clock = std::chrono::steady_clock;
constexpr size_t kKeptOutput = size_t{1} << 16;

void limit(__rlimit_resource_t resource, rlim_t value) {
  const rlimit pair{value, value};
  ::setrlimit(resource, &pair);  // a limit that is lower already stays
}

// In the child, between fork and exec: only calls that are safe there.
[[noreturn]] void become(char* const* argv, char* const* environment, const char* folder, int output,
                         const ProcessLimits& limits) {
  ::setpgid(0, 0);
  const int nothing = ::open("/dev/null", O_RDWR);
  if (nothing >= 0) ::dup2(nothing, STDIN_FILENO);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(output, STDERR_FILENO);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_FSIZE, limits.file_bytes);
  limit(RLIMIT_CPU, static_cast<rlim_t>(std::ceil(limits.deadline_s)) + 1);
  if (limits.memory_bytes > 0) limit(RLIMIT_AS, limits.memory_bytes);
  if (::chdir(folder) == 0) ::execve(argv[0], argv, environment);
  ::_exit(127);
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

// Reads until the other side closes or the deadline passes; returns false at the deadline.
bool collect(int fd, Clock::time_point deadline, std::string& output) {
  std::array<char, 4096> chunk;
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return false;
    pollfd ready{fd, POLLIN, 0};
    const int n = ::poll(&ready, 1, static_cast<int>(std::min<long>(left, 60'000)));
    if (n <= 0) continue;
    const ssize_t got = ::read(fd, chunk.data(), chunk.size());
    if (got == 0 || (got < 0 && errno != EINTR)) return true;
    if (got > 0) output.append(chunk.data(), std::min(static_cast<size_t>(got), kKeptOutput - output.size()));
  }
}
// What has left the group is still in the PID namespace, where there is one: this process is the first of it then.
void end_what_is_left(pid_t group) {
  ::kill(-group, SIGKILL);
  if (::getpid() != 1 || ::getppid() != 0) return;
  ::kill(-1, SIGKILL);
  while (::waitpid(-1, nullptr, 0) > 0 || errno == EINTR) {
  }
}
}  // namespace

ProcessResult run_process(const std::vector<std::string>& argv, const std::filesystem::path& folder,
                          const ProcessLimits& limits) {
  const auto deadline =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(limits.deadline_s));
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw core::SystemError("cannot make a pipe for the compiler", errno);
  const core::UniqueFd from(ends[0]);
  core::UniqueFd to(ends[1]);
  std::vector<std::string> arguments = argv;
  std::vector<std::string> environment{"TMPDIR=" + folder.string(), "PATH=/usr/bin:/bin"};
  const std::vector<char*> argument_pointers = pointers(arguments), environment_pointers = pointers(environment);
  const std::string where = folder.string();
  const pid_t pid = ::fork();
  if (pid < 0) throw core::SystemError("cannot start " + argv[0], errno);
  if (pid == 0) become(argument_pointers.data(), environment_pointers.data(), where.c_str(), to.get(), limits);
  ::setpgid(pid, pid);  // whoever of the two comes first
  to.reset();
  ProcessResult result;
  result.timed_out = !collect(from.get(), deadline, result.output);
  if (result.timed_out) ::kill(-pid, SIGKILL);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  end_what_is_left(pid);
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
  if (result.exit_code == 127) throw core::SystemError("cannot run " + argv[0]);
  return result;
}

}  // namespace sandbox::cpu::compiler

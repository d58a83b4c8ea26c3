#include "sandbox/cpu/compiler/host_process.h"

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
#include "core/process.h"

namespace sandbox::cpu::compiler {
namespace {
using Clock = std::chrono::steady_clock;
constexpr size_t kKeptOutput = size_t{1} << 16;

void limit(__rlimit_resource_t resource, rlim_t value) {
  const rlimit pair{value, value};
  ::setrlimit(resource, &pair);  // a limit that is lower already stays
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

// Ends what has left the process group, where this process is the first of a PID namespace.
void end_what_is_left() {
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
  core::Pipe pipe;
  const auto prepare = [&limits, where = folder.c_str()] {
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_FSIZE, limits.file_bytes);
    limit(RLIMIT_CPU, static_cast<rlim_t>(std::ceil(limits.deadline_s)) + 1);
    if (limits.memory_bytes > 0) limit(RLIMIT_AS, limits.memory_bytes);
    if (::chdir(where) != 0) ::_exit(127);
  };
  core::Process process({.argv = argv,
                         .environment = {{"TMPDIR=" + folder.string(), "PATH=/usr/bin:/bin"}},
                         .output = pipe.write.get(),
                         .error = pipe.write.get(),
                         .prepare = prepare});
  pipe.write.reset();
  ProcessResult result;
  result.timed_out = !collect(pipe.read.get(), deadline, result.output);
  const int status = result.timed_out ? process.end() : process.wait();
  end_what_is_left();
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
  if (result.exit_code == 127) throw core::SystemError("cannot run " + argv[0]);
  return result;
}

}  // namespace sandbox::cpu::compiler

// A worker process of ours, as its owner sees it: started, asked, given a deadline, killed and replaced.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "core/error.h"
#include "sandbox/jail/cgroup.h"
#include "sandbox/process/channel.h"

namespace sandbox::process {

struct WorkerCommand {
  std::filesystem::path program;
  std::vector<std::string> args;      // "--role", "compile", ...
  std::vector<std::string> launcher;  // argv put before the program ("srun", "-n1", ...); usually empty
  int required_level = 1;             // of the sandbox: a worker that greets with a lower one is not kept
};

// This host does not allow the sandbox that was asked for. what() says how it would.
class LevelNotReached : public core::SystemError {
 public:
  using SystemError::SystemError;
};

// The worker died or went silent. The owner decides whether to start another.
class WorkerLost : public std::runtime_error {
 public:
  enum class Cause { died, deadline };
  WorkerLost(Cause cause, int signal, const std::string& what)
      : std::runtime_error(what), cause_(cause), signal_(signal) {}
  Cause cause() const { return cause_; }
  int signal() const { return signal_; }  // that ended it; 0 when it exited by itself or at a deadline

 private:
  Cause cause_;
  int signal_;
};

// Owns one process and its channel. Empty environment, no standard streams, the channel on descriptor 3, a cgroup
// where the host lets us make one; killed with its process group at destruction, and by the kernel should the owner
// die. Start it from a thread that outlives it.
class Worker {
 public:
  // Waits for the worker's greeting. Throws core::SystemError when it cannot be started or does not greet,
  // LevelNotReached when its sandbox is not what the command requires.
  static Worker start(const WorkerCommand& command);
  // The same in two steps, so that several can start at once. Between the two nothing may be asked of it.
  static Worker launch(const WorkerCommand& command);
  void await_greeting();
  Worker(Worker&& other) noexcept;
  Worker& operator=(Worker&& other) noexcept;
  ~Worker();

  // One request, one answer. An answer {"error": text} (our own failure inside the worker) becomes core::SystemError.
  // Throws WorkerLost after killing the worker when it dies or the deadline passes.
  Message request(const core::Json& json, const std::vector<int>& fds, std::chrono::milliseconds deadline);

  // Hangs up and gives the worker time to end by itself, which the one below it (a launcher) may need. Whether it did.
  bool finish(std::chrono::milliseconds deadline);

  const core::Json& greeting() const { return greeting_; }
  int pid() const { return pid_; }

 private:
  Worker() = default;
  [[noreturn]] void lose(WorkerLost::Cause cause, const std::string& what);
  int kill_and_collect();  // returns the signal that ended it, 0 when it had exited
  void settle_level();     // completes the greeting by what only the owner knows

  int pid_ = -1;
  std::string program_;
  int required_level_ = 0;
  std::variant<jail::Shortfall, jail::Cgroup> cgroup_;
  Channel channel_;
  core::Json greeting_;
};

constexpr int kWorkerChannelFd = 3;

}  // namespace sandbox::process

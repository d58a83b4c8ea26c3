// A worker process from its owner's side: started, asked, given a deadline, killed and replaced.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "core/error.h"
#include "core/process.h"
#include "sandbox/jail/cgroup.h"
#include "sandbox/process/channel.h"

namespace sandbox::process {

struct WorkerCommand {
  std::filesystem::path program;
  std::vector<std::string> args;      // "--role", "compile", ...
  std::vector<std::string> launcher;  // argv put before the program ("srun", "-n1", ...); usually empty
  int required_level = 1;             // of the sandbox: a worker that greets with a lower one is not kept
};

// This host does not reach the required sandbox level. what() says what would.
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

// Owns one process and its channel: empty environment, no standard streams, the channel on descriptor 3, a cgroup where
// the host allows one. The destructor kills its process group; the kernel kills it should the owner die. Start it from
// a thread that outlives it.
class Worker {
 public:
  // Waits for the worker's greeting. Throws core::SystemError when it cannot be started or does not greet,
  // LevelNotReached when its sandbox is below the required level.
  static Worker start(const WorkerCommand& command);
  // The same in two steps, so that several can start at once. Send no request in between.
  static Worker launch(const WorkerCommand& command);
  void await_greeting();

  // One request, one answer. An answer {"error": text} (our own failure inside the worker) becomes core::SystemError.
  // Throws WorkerLost after killing the worker when it dies or the deadline passes.
  Message request(const core::Json& json, const std::vector<int>& fds, std::chrono::milliseconds deadline);

  // Hangs up and lets the worker exit by itself, which the program below a launcher may need. Returns whether it did.
  bool finish(std::chrono::milliseconds deadline);

  const core::Json& greeting() const { return greeting_; }
  int pid() const { return process_.pid(); }

 private:
  Worker() = default;
  [[noreturn]] void lose(WorkerLost::Cause cause, const std::string& what);
  int kill_and_collect();  // returns the signal that ended it, 0 when it had exited
  void settle_level();     // completes the greeting by what only the owner knows

  std::string program_;
  int required_level_ = 0;
  std::variant<jail::Shortfall, jail::Cgroup> cgroup_;
  core::Process process_;  // ends before its cgroup does
  Channel channel_;
  core::Json greeting_;
};

constexpr int kWorkerChannelFd = 3;

}  // namespace sandbox::process

// A worker process from its owner's side: start, requests with deadlines, kill.
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
  std::vector<std::string> launcher;  // argv before the program ("srun", "-n1", ...); usually empty
  int required_level = 1;             // least sandbox level; a worker with a lower one is refused
};

// This host does not reach the required sandbox level. what() says what would.
class LevelNotReached : public core::SystemError {
 public:
  using SystemError::SystemError;
};

// The worker died or missed its deadline. The owner decides whether to start another.
class WorkerLost : public std::runtime_error {
 public:
  enum class Cause { died, deadline };
  WorkerLost(Cause cause, int signal, const std::string& what)
      : std::runtime_error(what), cause_(cause), signal_(signal) {}
  Cause cause() const { return cause_; }
  int signal() const { return signal_; }  // that killed it; 0: it exited by itself or missed its deadline

 private:
  Cause cause_;
  int signal_;
};

// Owns one process and its channel: empty environment, no standard streams, the channel on descriptor 3, a cgroup if
// the host allows one. The destructor kills its process group; if the owner dies, the kernel kills it. Start it from a
// thread that outlives it.
class Worker {
 public:
  // Waits for the worker's greeting. Throws core::SystemError when it cannot be started or does not greet,
  // LevelNotReached when its sandbox is below the required level.
  static Worker start(const WorkerCommand& command);
  // start() in two steps, so that several workers can start at once. Send no request in between.
  static Worker launch(const WorkerCommand& command);
  void await_greeting();

  // Sends one request and returns its answer. An answer {"error": text} (our own failure inside the worker) becomes
  // core::SystemError. Throws WorkerLost after killing the worker when it dies or the deadline passes.
  Message request(const core::Json& json, const std::vector<int>& fds, std::chrono::milliseconds deadline);

  // Hangs up and lets the worker exit by itself, as a program below a launcher may need. Returns true if it did.
  bool finish(std::chrono::milliseconds deadline);

  const core::Json& greeting() const { return greeting_; }
  int pid() const { return process_.pid(); }

 private:
  Worker() = default;
  [[noreturn]] void lose(WorkerLost::Cause cause, const std::string& what);
  int kill_and_collect();  // returns the signal that ended it; 0: it had exited
  void settle_level();     // adds the owner's knowledge (cgroup) to the greeting

  std::string program_;
  int required_level_ = 0;
  std::variant<jail::Shortfall, jail::Cgroup> cgroup_;
  core::Process process_;  // declared after the cgroup: ends before it
  Channel channel_;
  core::Json greeting_;
};

constexpr int kWorkerChannelFd = 3;

}  // namespace sandbox::process

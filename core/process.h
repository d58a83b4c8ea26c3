// Starts other programs; no other file does.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/unique_fd.h"

namespace core {

struct ProcessSetup {
  std::vector<std::string> argv;                             // argv[0] is looked up in PATH unless it contains a '/'
  std::optional<std::vector<std::string>> environment = {};  // "NAME=value"; absent: ours
  int input = -1, output = -1, error = -1;                   // become descriptors 0, 1 and 2; -1: /dev/null
  int channel = -1;                                          // becomes descriptor 3; no other descriptor is inherited
  std::function<void()> prepare = {};  // runs in the child before the program: async-signal-safe calls only
};

// One child process, the leader of its own process group. Its signal mask and handlers are the defaults.
class Process {
 public:
  Process() = default;
  // Throws SystemError when the program cannot be started.
  explicit Process(const ProcessSetup& setup);
  Process(Process&& other) noexcept : pid_(std::exchange(other.pid_, -1)) {}
  Process& operator=(Process&& other) noexcept;
  ~Process() { end(); }

  int pid() const { return pid_; }
  explicit operator bool() const { return pid_ > 0; }
  // True once the program has exited; its status can still be collected.
  bool has_ended() const;
  // Kills the process group and waits for the leader. Returns its wait status; 0 when there is no process.
  int end();
  // Waits for the leader, then kills the rest of its group. Returns the leader's wait status.
  int wait();

 private:
  int pid_ = -1;
};

// Both ends are close-on-exec. Throws SystemError.
struct Pipe {
  Pipe();
  UniqueFd read, write;
};

}  // namespace core

// User, network, IPC, UTS and PID namespaces for workers: level 3 of the sandbox.
#pragma once

#include <optional>
#include <string>

#include "core/unique_fd.h"
#include "sandbox/jail/jail.h"

namespace sandbox::jail {

enum class Pids {
  shared,  // with the host
  own,     // the worker is the first process of a PID namespace: it sees no others, and what it started ends with it
};

// Call it from a process with one thread that has started nothing. The process keeps its user, loses its capabilities
// and gets a network without interfaces. If the host forbids user namespaces, nothing changes and the result says why.
// With Pids::own the calling process waits outside and exits as the returning one does.
Namespaces enter_namespaces(Pids pids);

// For a worker without a PID namespace that starts processes which it need not wait for. The returning process is a
// child of the calling one, which waits outside and exits as the child does. If their owner dies, it kills its process
// group: seccomp must keep whatever the child starts in there. Call it as the leader of a process group.
void fork_into_guarded_group();

// For steps that may fail inside namespaces, such as opening a driver or reading a folder that only root can read. The
// process that calls begin() waits outside; the returning one tries the step. If it fails, a second process returns,
// without namespaces.
class NamespaceTrial {
 public:
  static NamespaceTrial begin(Pids pids);
  const Namespaces& namespaces() const { return namespaces_; }
  // The step worked.
  void keep();
  // The step failed: ends this process if the namespaces may be the cause; otherwise returns.
  void fall_back(const Shortfall& shortfall);

 private:
  Namespaces namespaces_;
  core::UniqueFd to_parent_;  // reports the outcome; unused in the second process
};

}  // namespace sandbox::jail

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

// To be called by a process of one thread that has started nothing. It keeps its user, loses its capabilities and has a
// network without interfaces. Where the host forbids user namespaces nothing is changed, and the report says why.
// Pids::own: the process that called waits outside, and ends as the one that returns does.
Namespaces enter_namespaces(Pids pids);

// For what may not work inside, such as a driver to open, or a folder to read that root alone may. The process that
// calls begin() waits outside; the one that returns tries, and where it fails a second one returns, without namespaces.
class NamespaceTrial {
 public:
  static NamespaceTrial begin(Pids pids);
  const Namespaces& namespaces() const { return namespaces_; }
  // It works.
  void keep();
  // It does not: ends this process, if that may be due to the namespaces; else returns.
  void fall_back(const Shortfall& shortfall);

 private:
  Namespaces namespaces_;
  core::UniqueFd to_parent_;  // until it is known; not in the second process
};

}  // namespace sandbox::jail

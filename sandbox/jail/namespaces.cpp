#include "sandbox/jail/namespaces.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

#include "core/error.h"

namespace sandbox::jail {
namespace {
constexpr int kAlways = CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS;
constexpr char kKept = 'k';

bool write_file(const char* path, const std::string& text) {
  const core::UniqueFd file(::open(path, O_WRONLY | O_CLOEXEC));
  return file && ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

// A kernel setting; -1 if unknown.
int setting(const char* path) {
  int value = -1;
  std::ifstream(path) >> value;
  return value;
}

Shortfall forbidden(int error) {
  if (error == EINVAL || error == ENOSYS) {
    return {"this kernel has no user namespaces", "use a Linux kernel that is built with CONFIG_USER_NS"};
  }
  if (setting("/proc/sys/user/max_user_namespaces") == 0 || error == ENOSPC) {
    return {"user namespaces may not be created here", "as root: sysctl user.max_user_namespaces=10000"};
  }
  if (::geteuid() != 0 && setting("/proc/sys/kernel/unprivileged_userns_clone") == 0) {
    return {"only root may create user namespaces here", "as root: sysctl kernel.unprivileged_userns_clone=1"};
  }
  if (::geteuid() != 0 && setting("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == 1) {
    return {"AppArmor forbids user namespaces", "as root: sysctl kernel.apparmor_restrict_unprivileged_userns=0"};
  }
  return {std::string("user namespaces are forbidden, probably by a container (") + std::strerror(error) + ")",
          "permit unshare to the container, as docker run --security-opt seccomp=unconfined does"};
}

// Drops the capabilities that the creator of namespaces gets and, for root, all others.
bool drop_capabilities() {
  for (int capability = 0; ::prctl(PR_CAPBSET_READ, capability) >= 0; ++capability) {
    if (::prctl(PR_CAPBSET_DROP, capability) != 0) return false;
  }
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  const __user_cap_data_struct none[2] = {};
  return ::syscall(SYS_capset, &header, none) == 0;
}

std::optional<Shortfall> enter(int flags) {
  const std::string user = std::to_string(::geteuid()), group = std::to_string(::getegid());
  if (::unshare(flags) != 0) return forbidden(errno);
  const bool mapped = write_file("/proc/self/setgroups", "deny") &&
                      write_file("/proc/self/uid_map", user + " " + user + " 1") &&
                      write_file("/proc/self/gid_map", group + " " + group + " 1");
  // Gaining capabilities may have cleared this signal.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (mapped) return std::nullopt;
  return Shortfall{"cannot map the users of a user namespace here", "mount /proc in the container"};
}

// For the process that waits outside: exits as its child did.
[[noreturn]] void end_like(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) {
    const rlimit none{0, 0};
    ::setrlimit(RLIMIT_CORE, &none);
    ::signal(WTERMSIG(status), SIG_DFL);
    ::kill(::getpid(), WTERMSIG(status));
  }
  ::_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

// Only the child keeps the channel and other descriptors, so that the owner notices when the child closes them.
void close_descriptors() { ::close_range(0, ~0u, 0); }

pid_t fork_or_throw() {
  const pid_t child = ::fork();
  if (child < 0) throw core::SystemError("cannot fork a worker", errno);
  return child;
}

// In a child. A parent outside its PID namespace has number 0.
void die_with(pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
}

void kill_group(int) {
  ::kill(-::getpid(), SIGKILL);
  ::_exit(1);
}

[[noreturn]] void wait_outside(pid_t child) {
  close_descriptors();
  end_like(child);
}
}  // namespace

Namespaces enter_namespaces(Pids pids) {
  Namespaces entered{"namespaces (user, network, IPC, UTS)", enter(kAlways | (pids == Pids::own ? CLONE_NEWPID : 0))};
  if (entered.missing) return entered;
  if (!drop_capabilities()) entered.missing = Shortfall{"cannot drop capabilities here", "use a newer kernel"};
  if (pids == Pids::shared) return entered;
  entered.names = "namespaces (user, network, IPC, UTS, PID)";
  if (const pid_t child = fork_or_throw(); child > 0) wait_outside(child);
  die_with(0);
  return entered;
}

void fork_into_guarded_group() {
  const pid_t owner = ::getppid(), guard = ::getpid();
  const pid_t child = fork_or_throw();
  if (child == 0) return die_with(guard);
  ::signal(SIGTERM, kill_group);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);  // in place of SIGKILL, which would end this process alone
  if (::getppid() != owner) kill_group(SIGTERM);
  wait_outside(child);
}

NamespaceTrial NamespaceTrial::begin(Pids pids) {
  NamespaceTrial trial;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw core::SystemError("cannot make a pipe", errno);
  core::UniqueFd from(ends[0]);
  trial.to_parent_.reset(ends[1]);
  const pid_t parent = ::getpid();
  const pid_t first = fork_or_throw();
  if (first == 0) {
    die_with(parent);
    trial.namespaces_ = enter_namespaces(pids);
    return trial;
  }
  trial.to_parent_.reset();
  std::array<char, 600> told{};
  const ssize_t size = ::read(from.get(), told.data(), told.size());
  if (size == 1 && told[0] == kKept) wait_outside(first);
  while (::waitpid(first, nullptr, 0) < 0 && errno == EINTR) {
  }
  if (const pid_t second = fork_or_throw(); second > 0) wait_outside(second);
  die_with(parent);
  const std::string text(told.data(), size > 0 ? static_cast<size_t>(size) : 0);
  const size_t line = text.find('\n');
  trial.namespaces_.missing = line == std::string::npos
                                  ? Shortfall{"the worker died in its own namespaces", "look at the kernel's log"}
                                  : Shortfall{text.substr(0, line), text.substr(line + 1)};
  return trial;
}

void NamespaceTrial::keep() {
  if (!to_parent_) return;
  if (::write(to_parent_.get(), &kKept, 1) != 1) ::_exit(1);
  to_parent_.reset();
}

void NamespaceTrial::fall_back(const Shortfall& shortfall) {
  if (!to_parent_) return;
  if (namespaces_.missing) return keep();
  std::string why = shortfall.why.substr(0, 300);
  std::replace(why.begin(), why.end(), '\n', ' ');
  const std::string told = why + "\n" + shortfall.remedy.substr(0, 200);
  ::_exit(::write(to_parent_.get(), told.data(), told.size()) > 0 ? 0 : 1);
}

}  // namespace sandbox::jail

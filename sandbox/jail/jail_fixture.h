// Child processes that lock themselves and then try what the jail must prevent.
#pragma once

#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <functional>
#include <string>

namespace sandbox::jail {

constexpr int kNotPossible = 0, kPossible = 1, kNotOnThisHost = 40, kThrown = 99;

// The wait status of a child that exits with the result of `act`.
inline int status_of_child(const std::function<int()>& act) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    try {
      ::_exit(act());
    } catch (const std::exception&) {
      ::_exit(kThrown);
    }
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  return status;
}

inline int exit_of_child(const std::function<int()>& act) {
  const int status = status_of_child(act);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// Asks the host directly, independent of the tested code.
inline bool host_allows_namespaces() {
  constexpr int kWanted = CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWPID;
  return exit_of_child([] { return ::unshare(kWanted) == 0 ? kPossible : kNotPossible; }) == kPossible;
}
inline bool host_has_landlock() { return ::syscall(SYS_landlock_create_ruleset, nullptr, 0, 1) > 0; }

inline int opens(const char* path, int flags) {
  const int fd = ::open(path, flags, 0600);
  if (fd < 0) return kNotPossible;
  char byte = 0;
  const bool readable = (flags & O_ACCMODE) != O_RDONLY || ::read(fd, &byte, 1) == 1;
  ::close(fd);
  return readable ? kPossible : kNotPossible;
}
inline int reads_a_file() { return opens("/etc/passwd", O_RDONLY); }
inline int reads_environment_of(pid_t pid) {
  return opens(("/proc/" + std::to_string(pid) + "/environ").c_str(), O_RDONLY);
}
inline int signals(pid_t pid) { return ::kill(pid, 0) == 0 ? kPossible : kNotPossible; }
inline int traces(pid_t pid) { return ::ptrace(PTRACE_SEIZE, pid, nullptr, nullptr) == 0 ? kPossible : kNotPossible; }
inline int makes_a_socket() { return ::socket(AF_INET, SOCK_STREAM, 0) >= 0 ? kPossible : kNotPossible; }
inline int makes_namespaces() {
  const long pid = ::syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, nullptr, nullptr, nullptr, nullptr);
  if (pid == 0) ::_exit(0);
  return pid > 0 || ::unshare(CLONE_NEWUSER) == 0 ? kPossible : kNotPossible;
}
inline int has_capabilities() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2] = {};
  if (::syscall(SYS_capget, &header, data) != 0) return kPossible;
  for (const auto& part : data) {
    if ((part.effective | part.permitted | part.inheritable) != 0) return kPossible;
  }
  return kNotPossible;
}

// Listens on an abstract socket, whose name is in no file system.
class AbstractSocket {
 public:
  explicit AbstractSocket(int type = SOCK_STREAM) : type_(type), fd_(::socket(AF_UNIX, type | SOCK_CLOEXEC, 0)) {
    address_.sun_family = AF_UNIX;
    std::snprintf(address_.sun_path + 1, sizeof address_.sun_path - 1, "kernelwright-test-%d", ::getpid());
    size_ = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + std::strlen(address_.sun_path + 1));
    listens_ = ::bind(fd_, reinterpret_cast<sockaddr*>(&address_), size_) == 0 && ::listen(fd_, 4) == 0;
  }
  AbstractSocket(const AbstractSocket&) = delete;
  AbstractSocket& operator=(const AbstractSocket&) = delete;
  ~AbstractSocket() { ::close(fd_); }

  bool listens() const { return listens_; }
  int is_reached() const {
    const int fd = ::socket(AF_UNIX, type_, 0);
    return fd >= 0 && ::connect(fd, reinterpret_cast<const sockaddr*>(&address_), size_) == 0 ? kPossible
                                                                                              : kNotPossible;
  }

 private:
  int type_, fd_;
  sockaddr_un address_{};
  socklen_t size_ = 0;
  bool listens_ = false;
};

}  // namespace sandbox::jail

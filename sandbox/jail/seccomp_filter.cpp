#include "sandbox/jail/jail.h"

#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

namespace sandbox::jail {
namespace {
// Allowed in every profile except a candidate's: memory, open channels, time, own signals, exit.
constexpr std::string_view kCommonCalls[] = {
    "read",        "write", "recvmsg",       "sendmsg",      "sendto",         "recvfrom",     "poll",
    "ppoll",       "close", "mmap",          "munmap",       "mprotect",       "mremap",       "madvise",
    "brk",         "futex", "clock_gettime", "gettimeofday", "rt_sigaction",   "rt_sigreturn", "rt_sigprocmask",
    "sigaltstack", "exit",  "exit_group",    "sched_yield",  "getpid",         "gettid",       "restart_syscall",
    "membarrier",  "rseq",  "getrandom",     "nanosleep",    "clock_nanosleep"};
// All unconditional calls of a candidate. clock_gettime is for processors whose clock needs the kernel.
constexpr std::string_view kCandidateCalls[] = {"munmap", "brk", "mincore", "close", "exit_group", "clock_gettime"};
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
// Calls that sanitizers make on their own.
constexpr std::string_view kSanitizerCalls[] = {"futex",        "madvise",        "sched_yield", "getpid", "gettid",
                                                "rt_sigaction", "rt_sigprocmask", "sigaltstack", "write"};
#endif
// Further calls for loading a module and running it: stacks are overwritten where they were touched.
constexpr std::string_view kLoadCalls[] = {
    "openat",          "open",       "fstat",        "newfstatat", "stat",
    "lstat",           "pread64",    "lseek",        "readlink",   "readlinkat",
    "fcntl",           "ftruncate",  "memfd_create", "access",     "faccessat",
    "getcwd",          "statx",      "prctl",        "tgkill",     "sched_getaffinity",
    "set_robust_list", "getdents64", "mincore"};
// The run worker forks candidate processes, limits and collects them. They inherit its filter.
constexpr std::string_view kForkCalls[] = {
    "fork",       "vfork", "wait4", "waitid", "kill",        "prlimit64", "setrlimit",       "getrlimit", "seccomp",
    "socketpair", "dup",   "dup2",  "dup3",   "close_range", "getppid",   "set_tid_address", "signalfd4"};
// A GPU's driver talks to its device files; a run worker creates channels for judges.
constexpr std::string_view kDriverCalls[] = {"ioctl",   "dup",   "eventfd2", "getrusage",
                                             "sysinfo", "uname", "writev",   "socketpair"};
// The compile worker starts the host compiler, which uses files.
constexpr std::string_view kCompileCalls[] = {
    "execve",       "pipe",        "pipe2",     "unlink",     "unlinkat",        "rename",
    "renameat",     "renameat2",   "mkdir",     "mkdirat",    "rmdir",           "chmod",
    "fchmod",       "fchmodat",    "umask",     "chdir",      "getrusage",       "sysinfo",
    "uname",        "arch_prctl",  "writev",    "readv",      "pwrite64",        "pwritev",
    "getuid",       "geteuid",     "getgid",    "getegid",    "ioctl",           "fadvise64",
    "fallocate",    "truncate",    "utimensat", "getpgrp",    "getpgid",         "fsync",
    "flock",        "creat",       "link",      "linkat",     "copy_file_range", "sendfile",
    "times",        "getpriority", "alarm",     "faccessat2", "fchdir",          "pselect6",
    "select",       "select",      "statfs",    "fstatfs",    "setitimer",       "sched_setaffinity",
    "rt_sigsuspend"};

// Whoever ends a Python with all that it started ends its process group, which nothing in it may leave.
constexpr std::string_view kGroupCalls[] = {"setpgid"};

// A compiler that is a library makes files and folders, and starts nothing.
constexpr std::string_view kScratchCalls[] = {
    "mkdir",   "mkdirat",   "rmdir", "unlink", "unlinkat", "rename",   "uname",  "renameat", "renameat2", "faccessat2",
    "sysinfo", "getrusage", "umask", "chmod",  "fchmod",   "pwrite64", "writev", "statfs",   "fstatfs"};

// Calls of a Python with PyTorch beyond the compile worker's; descriptors of GPUs need eventfd2.
constexpr std::string_view kPythonCalls[] = {
    "getsockname", "getsockopt",         "socketpair",      "dup",
    "dup2",        "eventfd2",           "prlimit64",       "getrlimit",
    "getppid",     "sched_setscheduler", "mincore",         "get_mempolicy",
    "mbind",       "set_mempolicy",      "set_tid_address", "epoll_create1",
    "epoll_ctl",   "epoll_wait",         "sched_getparam",  "sched_getscheduler"};

// Calls of a Python that starts compilers. It signals none of them.
constexpr std::string_view kStartCalls[] = {"fork", "vfork", "wait4", "waitid", "dup3", "close_range", "setrlimit"};

// Forks are allowed, new namespaces are not: a process has capabilities in its own user namespace.
constexpr uint64_t kNewNamespaces =
    CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;

class SeccompFilter {
 public:
  explicit SeccompFilter(uint32_t default_action) : context_(seccomp_init(default_action), seccomp_release) {}

  template <size_t n>
  void allow(const std::string_view (&names)[n]) {
    for (std::string_view name : names) {
      const int number = seccomp_syscall_resolve_name(std::string(name).c_str());
      // Ignores calls that this architecture lacks.
      if (number >= 0) add(SCMP_ACT_ALLOW, number);
    }
  }

  void allow_forks() {
    if (!context_) return;
    keep(seccomp_rule_add(context_.get(), SCMP_ACT_ALLOW, SCMP_SYS(clone), 1,
                          SCMP_A0(SCMP_CMP_MASKED_EQ, kNewNamespaces, 0)));
    add(SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3));  // a filter cannot see its flags; the C library falls back to clone
  }

  void allow_threads() {
    allow_if(SCMP_SYS(clone), SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, CLONE_THREAD));
    add(SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3));
  }

  // CUDA waits on a local socket for processes that would share its memory: without one it does not start. None can be
  // connected to others.
  void allow_waiting_sockets() {
    constexpr uint64_t kFlags = SOCK_CLOEXEC | SOCK_NONBLOCK;
    allow_if(SCMP_SYS(socket), SCMP_A0(SCMP_CMP_EQ, AF_UNIX), SCMP_A1(SCMP_CMP_MASKED_EQ, ~kFlags, SOCK_SEQPACKET));
    for (const int call : {SCMP_SYS(bind), SCMP_SYS(listen), SCMP_SYS(accept4), SCMP_SYS(setsockopt)}) allow_if(call);
    add(SCMP_ACT_ERRNO(ECONNREFUSED), SCMP_SYS(connect));
  }

  // For untrusted native code. Its module is already loaded: no other memory may become executable.
  void allow_candidate(int channel) {
    allow(kCandidateCalls);
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    allow(kSanitizerCalls);
#endif
    const scmp_arg_cmp no_code = SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0);
    allow_if(SCMP_SYS(mprotect), no_code);
    // Only private memory other than stacks counts toward RLIMIT_DATA; shared memory is that of the lent files.
    constexpr uint64_t kType = MAP_SHARED | MAP_PRIVATE;
    allow_if(SCMP_SYS(mmap), no_code, SCMP_A3(SCMP_CMP_MASKED_EQ, kType | MAP_GROWSDOWN, MAP_PRIVATE));
    allow_if(SCMP_SYS(mmap), no_code, SCMP_A3(SCMP_CMP_MASKED_EQ, kType | MAP_ANONYMOUS, MAP_SHARED));
    const auto number = static_cast<scmp_datum_t>(channel);
    for (const int call : {SCMP_SYS(recvmsg), SCMP_SYS(sendmsg), SCMP_SYS(sendto)}) {
      allow_if(call, SCMP_A0(SCMP_CMP_EQ, number));
    }
    const auto own_pid = static_cast<scmp_datum_t>(::getpid());
    allow_if(SCMP_SYS(kill), SCMP_A0(SCMP_CMP_EQ, own_pid), SCMP_A1(SCMP_CMP_EQ, SIGSTOP));
  }

  // Installs the filter. Returns 0 or an errno value.
  int load() {
    if (!context_) return ENOMEM;
    if (error_ == 0) keep(seccomp_load(context_.get()));
    return error_;
  }

 private:
  template <typename... Conditions>
  void allow_if(int number, Conditions... conditions) {
    if (context_) keep(seccomp_rule_add(context_.get(), SCMP_ACT_ALLOW, number, sizeof...(conditions), conditions...));
  }
  void add(uint32_t action, int number) {
    if (context_) keep(seccomp_rule_add(context_.get(), action, number, 0));
  }
  void keep(int result) {
    if (error_ == 0 && result < 0) error_ = -result;
  }

  std::unique_ptr<void, void (*)(void*)> context_;
  int error_ = 0;  // the first
};
}  // namespace

std::optional<Shortfall> enter_seccomp(JailProfile profile, int channel) {
  // Any other call ends a candidate process. In other profiles the call fails.
  SeccompFilter filter(profile == JailProfile::candidate ? SCMP_ACT_KILL_PROCESS : SCMP_ACT_ERRNO(EPERM));
  if (profile == JailProfile::candidate) {
    filter.allow_candidate(channel);
  } else {
    filter.allow(kCommonCalls);
    filter.allow(kLoadCalls);
  }
  if (profile == JailProfile::run || profile == JailProfile::compile) {
    filter.allow(kForkCalls);
    filter.allow_forks();
  }
  if (profile == JailProfile::compile) {
    filter.allow(kCompileCalls);
    filter.allow(kGroupCalls);
  }
  if (profile == JailProfile::scratch_compile) filter.allow(kScratchCalls);
  const bool starts_compilers = profile == JailProfile::python_compile || profile == JailProfile::gpu_python_compile;
  const bool gpu_python = profile == JailProfile::gpu_python || profile == JailProfile::gpu_python_compile;
  if (profile == JailProfile::python || starts_compilers || gpu_python) {
    filter.allow(kCompileCalls);
    filter.allow(kPythonCalls);
  }
  if (profile == JailProfile::python || profile == JailProfile::gpu_python) filter.allow_threads();
  if (starts_compilers) {
    filter.allow(kStartCalls);
    filter.allow_forks();
  }
  if (profile == JailProfile::gpu || gpu_python) filter.allow(kDriverCalls);
  if (gpu_python) filter.allow_waiting_sockets();
  const int error = filter.load();
  if (error == 0) return std::nullopt;
  return Shortfall{std::string("seccomp is refused (") + std::strerror(error) + ")",
                   "use a Linux kernel that is built with seccomp filters, in a container that permits them"};
}

}  // namespace sandbox::jail

#include "sandbox/jail.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <memory>
#include <string_view>

#include "core/error.h"
#include "core/unique_fd.h"

namespace sandbox {
namespace {
// Sanitizers reserve terabytes of it.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kAddressSpaceIsOurs = false;
#else
constexpr bool kAddressSpaceIsOurs = true;
#endif

// Rights and fields newer than the <linux/landlock.h> of Debian 12 (which stops at ABI 2).
constexpr uint64_t kRightTruncate = 1ull << 14;     // ABI 3
constexpr uint64_t kRightIoctlDevice = 1ull << 15;  // ABI 5
struct RulesetAttributes {
  uint64_t handled_access_fs = 0;
  uint64_t handled_access_net = 0;  // ABI 4: bind and connect of TCP
  uint64_t scoped = 0;              // ABI 6: abstract sockets and signals
};

constexpr uint64_t kReadRights =
    LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;

uint64_t filesystem_rights(int abi) {
  uint64_t rights = (1ull << 13) - 1;
  if (abi >= 2) rights |= LANDLOCK_ACCESS_FS_REFER;
  if (abi >= 3) rights |= kRightTruncate;
  if (abi >= 5) rights |= kRightIoctlDevice;
  return rights;
}

void allow_below(int ruleset, const std::filesystem::path& folder, uint64_t rights) {
  const core::UniqueFd parent(::open(folder.c_str(), O_PATH | O_CLOEXEC));
  if (!parent) return;  // a folder that is not there needs no permission
  struct stat status {};
  if (::fstat(parent.get(), &status) == 0 && !S_ISDIR(status.st_mode)) {
    rights &= LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE |
              kRightTruncate | kRightIoctlDevice;
  }
  landlock_path_beneath_attr rule{};
  rule.allowed_access = rights;
  rule.parent_fd = parent.get();
  if (::syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) != 0) {
    throw core::SystemError("Landlock refuses a rule for " + folder.string(), errno);
  }
}

bool enter_landlock(const JailFolders& folders, int abi) {
  RulesetAttributes attributes;
  attributes.handled_access_fs = filesystem_rights(abi);
  if (abi >= 4) attributes.handled_access_net = 3;  // bind, connect
  if (abi >= 6) attributes.scoped = 3;
  const size_t size = abi >= 6 ? 24 : abi >= 4 ? 16 : 8;
  const core::UniqueFd ruleset(static_cast<int>(::syscall(SYS_landlock_create_ruleset, &attributes, size, 0)));
  if (!ruleset) return false;
  const uint64_t all = filesystem_rights(abi);
  for (const auto& folder : folders.read_only) allow_below(ruleset.get(), folder, kReadRights);
  for (const auto& folder : folders.read_write) {
    allow_below(ruleset.get(), folder,
                all & ~(LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_BLOCK |
                        LANDLOCK_ACCESS_FS_MAKE_SOCK));
  }
  return ::syscall(SYS_landlock_restrict_self, ruleset.get(), 0) == 0;
}

// Allowed to every profile: memory, the channel that is already open, time, signals of one's own, the end.
constexpr std::string_view kCommonCalls[] = {
    "read",        "write", "recvmsg",       "sendmsg",      "sendto",         "recvfrom",     "poll",
    "ppoll",       "close", "mmap",          "munmap",       "mprotect",       "mremap",       "madvise",
    "brk",         "futex", "clock_gettime", "gettimeofday", "rt_sigaction",   "rt_sigreturn", "rt_sigprocmask",
    "sigaltstack", "exit",  "exit_group",    "sched_yield",  "getpid",         "gettid",       "restart_syscall",
    "membarrier",  "rseq",  "getrandom",     "nanosleep",    "clock_nanosleep"};
// What loading a module needs beyond that.
constexpr std::string_view kLoadCalls[] = {
    "openat",          "open",      "fstat",        "newfstatat", "stat",
    "lstat",           "pread64",   "lseek",        "readlink",   "readlinkat",
    "fcntl",           "ftruncate", "memfd_create", "access",     "faccessat",
    "getcwd",          "statx",     "prctl",        "tgkill",     "sched_getaffinity",
    "set_robust_list", "getdents64"};
// The run worker forks cells, limits them and collects them.
constexpr std::string_view kForkCalls[] = {
    "clone",     "clone3",  "fork",       "vfork", "wait4", "waitid", "kill",        "prlimit64", "setrlimit",
    "getrlimit", "seccomp", "socketpair", "dup",   "dup2",  "dup3",   "close_range", "getppid",   "set_tid_address"};
// A GPU's driver speaks to its device files; a run worker makes the channels of its cells.
constexpr std::string_view kDriverCalls[] = {"ioctl",   "dup",   "eventfd2", "getrusage",
                                             "sysinfo", "uname", "writev",   "socketpair"};
// The compile worker starts the host compiler, which works on files.
constexpr std::string_view kCompileCalls[] = {"execve",
                                              "pipe",
                                              "pipe2",
                                              "unlink",
                                              "unlinkat",
                                              "rename",
                                              "renameat",
                                              "renameat2",
                                              "mkdir",
                                              "mkdirat",
                                              "rmdir",
                                              "chmod",
                                              "fchmod",
                                              "fchmodat",
                                              "umask",
                                              "chdir",
                                              "getrusage",
                                              "sysinfo",
                                              "uname",
                                              "arch_prctl",
                                              "writev",
                                              "readv",
                                              "pwrite64",
                                              "pwritev",
                                              "getuid",
                                              "geteuid",
                                              "getgid",
                                              "getegid",
                                              "ioctl",
                                              "fadvise64",
                                              "fallocate",
                                              "truncate",
                                              "utimensat",
                                              "setpgid",
                                              "getpgrp",
                                              "getpgid",
                                              "fsync",
                                              "flock",
                                              "creat",
                                              "link",
                                              "linkat",
                                              "copy_file_range",
                                              "sendfile",
                                              "times",
                                              "getpriority",
                                              "alarm",
                                              "faccessat2",
                                              "fchdir",
                                              "pselect6",
                                              "select",
                                              "select",
                                              "statfs",
                                              "fstatfs",
                                              "setitimer",
                                              "sched_setaffinity",
                                              "rt_sigsuspend"};

class SeccompFilter {
 public:
  explicit SeccompFilter(uint32_t default_action) : context_(seccomp_init(default_action), seccomp_release) {
    if (!context_) throw core::SystemError("seccomp is not available");
  }
  template <size_t n>
  void allow(const std::string_view (&names)[n]) {
    for (std::string_view name : names) {
      const int number = seccomp_syscall_resolve_name(std::string(name).c_str());
      // Names that this architecture does not have are of no concern.
      if (number >= 0) seccomp_rule_add(context_.get(), SCMP_ACT_ALLOW, number, 0);
    }
  }
  void load() {
    if (const int error = seccomp_load(context_.get()); error != 0) throw core::SystemError("seccomp refused", -error);
  }

 private:
  std::unique_ptr<void, void (*)(void*)> context_;
};

void enter_seccomp(JailProfile profile) {
  // A cell holds native code of unknown intent: anything outside the list ends it. Elsewhere the call is refused.
  SeccompFilter filter(profile == JailProfile::cell ? SCMP_ACT_KILL_PROCESS : SCMP_ACT_ERRNO(EPERM));
  filter.allow(kCommonCalls);
  if (profile != JailProfile::cell) filter.allow(kLoadCalls);
  if (profile == JailProfile::run || profile == JailProfile::compile) filter.allow(kForkCalls);
  if (profile == JailProfile::compile) filter.allow(kCompileCalls);
  if (profile == JailProfile::gpu) filter.allow(kDriverCalls);
  filter.load();
}

void limit(int resource, rlim_t value, const char* what) {
  const rlimit pair{value, value};
  if (::setrlimit(static_cast<__rlimit_resource_t>(resource), &pair) != 0) {
    throw core::SystemError(std::string("cannot limit ") + what, errno);
  }
}
}  // namespace

int landlock_abi() {
  const long abi = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  return abi < 0 ? 0 : static_cast<int>(abi);
}

JailReport enter_jail(JailProfile profile, const JailFolders& folders, const JailLimits& limits) {
  limit(RLIMIT_CORE, 0, "core dumps");
  limit(RLIMIT_FSIZE, limits.file_bytes, "file sizes");
  limit(RLIMIT_NOFILE, limits.open_files, "open files");
  if (limits.processor_s > 0) limit(RLIMIT_CPU, limits.processor_s, "processor time");
  if (limits.address_space_bytes > 0 && kAddressSpaceIsOurs)
    limit(RLIMIT_AS, limits.address_space_bytes, "address space");
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) throw core::SystemError("cannot set no_new_privs", errno);
  JailReport report{1, "this kernel has no Landlock"};
  if (profile == JailProfile::cell) {
    // Landlock came with the fork from the run worker.
  } else if (const int abi = landlock_abi(); abi > 0 && enter_landlock(folders, abi)) {
    report = {2, "Landlock ABI " + std::to_string(abi)};
  }
  enter_seccomp(profile);
  return report;
}

}  // namespace sandbox

#include "sandbox/jail/jail.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>

#include "core/error.h"
#include "core/unique_fd.h"

namespace sandbox::jail {
namespace {
// Rights and fields missing from <linux/landlock.h> of Debian 12 (ABI 2).
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
  if (!parent) return;  // a missing folder needs no permission
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

bool restrict_self(const JailFolders& folders, int abi) {
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

long ask_for_abi() { return ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION); }

Shortfall no_landlock(int error) {
  if (error == EOPNOTSUPP) {
    return {"Landlock is switched off", "add landlock to the list after lsm= in the kernel's boot parameters"};
  }
  if (error == EPERM) {
    return {"this container forbids Landlock", "use a newer container engine, or allow the landlock_* system calls"};
  }
  return {"this kernel has no Landlock", "use a Linux kernel of 5.13 or newer that is built with Landlock"};
}

// Verifies the restriction by opening what no rule of any profile allows.
std::optional<Shortfall> try_forbidden() {
  const core::UniqueFd root(::open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const bool root_refused = !root && errno == EACCES;
  const core::UniqueFd file(::open("/proc/version", O_RDONLY | O_CLOEXEC));
  if (root_refused && !file) return std::nullopt;
  return Shortfall{"Landlock accepts the rules, but files can still be opened",
                   "check what runs between this program and the kernel (an emulated one?)"};
}
}  // namespace

int landlock_abi() {
  const long abi = ask_for_abi();
  return abi < 0 ? 0 : static_cast<int>(abi);
}

std::optional<Shortfall> enter_landlock(const JailFolders& folders) {
  const long abi = ask_for_abi();
  if (abi <= 0) return no_landlock(errno);
  if (!restrict_self(folders, static_cast<int>(abi))) return no_landlock(errno);
  return try_forbidden();
}

}  // namespace sandbox::jail

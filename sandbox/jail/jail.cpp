#include "sandbox/jail/jail.h"

#include <sys/prctl.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>

#include "core/error.h"
#include "core/text.h"

namespace sandbox::jail {
namespace {
// Sanitizers reserve terabytes of address space.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kAddressSpaceIsOurs = false;
#else
constexpr bool kAddressSpaceIsOurs = true;
#endif

void limit(int resource, rlim_t soft, rlim_t hard, const char* what) {
  const rlimit pair{soft, hard};
  if (::setrlimit(static_cast<__rlimit_resource_t>(resource), &pair) != 0) {
    throw core::SystemError(std::string("cannot limit ") + what, errno);
  }
}

void limit(int resource, rlim_t value, const char* what) { limit(resource, value, value, what); }

Shortfall not_wanted() { return {"no higher level was requested", "request a higher level"}; }
}  // namespace

void JailReport::add(int level_of_it, const std::string& what, const std::optional<Shortfall>& shortfall) {
  if (!shortfall) held.push_back(what);
  if (missing) return;
  if (shortfall) {
    missing = shortfall;
  } else {
    level = level_of_it;
  }
}

std::string JailReport::sentence() const {
  const std::string what = held.empty() ? "rlimits" : core::join(held, ", ");
  if (!missing) return what;
  return what + "; not level " + std::to_string(level + 1) + ": " + missing->why;
}

void JailReport::describe(core::Json& facts) const {
  facts["sandbox_level"] = level;
  facts["sandbox"] = sentence();
  facts["sandbox_held"] = held;
  if (missing) facts["sandbox_missing"] = {{"why", missing->why}, {"remedy", missing->remedy}};
}

JailReport JailReport::of(const core::Json& facts) {
  JailReport report;
  report.level = facts.at("sandbox_level").get<int>();
  report.held = facts.at("sandbox_held").get<std::vector<std::string>>();
  if (const auto found = facts.find("sandbox_missing"); found != facts.end()) {
    report.missing = Shortfall{found->at("why").get<std::string>(), found->at("remedy").get<std::string>()};
  }
  return report;
}

JailReport enter_jail(JailProfile profile, const JailFolders& folders, const JailLimits& limits,
                      const Namespaces& namespaces) {
  limit(RLIMIT_CORE, 0, "core dumps");
  limit(RLIMIT_FSIZE, limits.file_bytes, "file sizes");
  limit(RLIMIT_NOFILE, limits.open_files, "open files");
  // The soft limit ends a process by SIGXCPU, which says why; the hard one by SIGKILL, as a lack of memory does.
  if (limits.processor_s > 0) limit(RLIMIT_CPU, limits.processor_s, limits.processor_s + 1, "processor time");
  if (limits.address_space_bytes > 0 && kAddressSpaceIsOurs)
    limit(RLIMIT_AS, limits.address_space_bytes, "address space");
  if (limits.data_bytes > 0 && kAddressSpaceIsOurs) limit(RLIMIT_DATA, limits.data_bytes, "memory");
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) throw core::SystemError("cannot set no_new_privs", errno);
  const int abi = landlock_abi();  // before the filter forbids the call
  std::optional<Shortfall> no_landlock;
  if (profile != JailProfile::candidate) {  // a candidate process inherited it in the fork from the run worker
    no_landlock = limits.most_level >= 2 ? enter_landlock(folders) : not_wanted();
  }
  const std::optional<Shortfall> no_seccomp =
      limits.most_level >= 1 ? enter_seccomp(profile, limits.channel) : not_wanted();
  JailReport report;
  report.add(1, "seccomp", no_seccomp);
  report.add(2, "Landlock ABI " + std::to_string(abi), no_landlock);
  report.add(3, namespaces.names, namespaces.missing);
  return report;
}

}  // namespace sandbox::jail

#include "sandbox/jail/cgroup.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>
#include <vector>

namespace sandbox::jail {
namespace {
namespace fs = std::filesystem;
constexpr std::string_view kPrefix = "kernelwright-";
constexpr const char* kDelegate =
    "start it as: systemd-run --user --scope -p Delegate=yes kernelwright ... (root: without --user); in a container, "
    "mount /sys/fs/cgroup "
    "writable (docker run --privileged)";
constexpr int kRemovalMs = 100;    // killed processes take a moment to disappear
constexpr int kMostGroups = 1000;  // per program

bool write_file(const fs::path& file, const std::string& text) {
  const core::UniqueFd fd(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
  return fd && ::write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

std::vector<std::string> words_of(const fs::path& file) {
  std::ifstream in(file);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

bool names_both(const fs::path& file) {
  const std::vector<std::string> words = words_of(file);
  const auto has = [&](const char* word) { return std::ranges::find(words, word) != words.end(); };
  return has("memory") && has("pids");
}

// A process's start time in clock ticks since boot; 0 if there is no such process.
unsigned long long start_of(int pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(file, text);
  const size_t name_end = text.rfind(')');  // the process name before it may contain anything
  if (name_end == std::string::npos) return 0;
  std::istringstream rest(text.substr(name_end + 1));
  std::string word;
  for (int field = 3; field <= 22 && rest >> word; ++field) {
    if (field == 22) return std::strtoull(word.c_str(), nullptr, 10);
  }
  return 0;
}

std::string own_name() {
  return std::string(kPrefix) + std::to_string(::getpid()) + "-" + std::to_string(start_of(::getpid()));
}

struct Mount {
  fs::path point, root;  // the mount point, and the mounted subtree of the hierarchy
};

std::optional<Mount> find_mount(const fs::path& root) {
  std::ifstream file(root / "proc/self/mountinfo");
  for (std::string line; std::getline(file, line);) {
    const size_t dash = line.find(" - cgroup2 ");
    if (dash == std::string::npos) continue;
    std::istringstream fields(line.substr(0, dash));
    std::string skipped, within, point;
    fields >> skipped >> skipped >> skipped >> within >> point;
    return Mount{root / fs::path(point).relative_path(), within};
  }
  return std::nullopt;
}

std::optional<fs::path> own_cgroup(const fs::path& root, const Mount& mount) {
  std::ifstream file(root / "proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("0::", 0) != 0) continue;
    const fs::path below = fs::path(line.substr(3)).lexically_relative(mount.root);
    if (below == ".") return mount.point;
    if (below.empty() || *below.begin() == "..") return std::nullopt;
    return (mount.point / below).lexically_normal();
  }
  return std::nullopt;
}

// A cgroup cannot both hold processes and delegate memory. If this process is alone in its cgroup, it can move one
// level down.
bool divide(const fs::path& own) {
  if (!names_both(own / "cgroup.controllers")) return false;
  if (own.filename().string().rfind(kPrefix, 0) == 0) return false;  // already moved down
  if (write_file(own / "cgroup.subtree_control", "+memory +pids")) return true;
  if (words_of(own / "cgroup.procs") != std::vector<std::string>{std::to_string(::getpid())}) return false;
  const fs::path leaf = own / (own_name() + "-main");
  std::error_code failed;
  fs::create_directory(leaf, failed);
  return !failed && write_file(leaf / "cgroup.procs", "0") &&
         write_file(own / "cgroup.subtree_control", "+memory +pids");
}

bool writable(const fs::path& folder) {
  return ::access(folder.c_str(), W_OK) == 0 && ::access((folder / "cgroup.procs").c_str(), W_OK) == 0;
}

size_t memory_limit(const CgroupLimits& limits) {
  const auto pages = static_cast<size_t>(::sysconf(_SC_PHYS_PAGES));
  return std::min(limits.memory_bytes, pages * static_cast<size_t>(::sysconf(_SC_PAGESIZE)) / 8 * 7);
}

void end_and_remove(const fs::path& folder) {
  if (!write_file(folder / "cgroup.kill", "1")) {  // Linux 5.14
    for (const std::string& pid : words_of(folder / "cgroup.procs")) ::kill(std::atoi(pid.c_str()), SIGKILL);
  }
  for (int i = 0; i < kRemovalMs && ::rmdir(folder.c_str()) != 0 && errno == EBUSY; ++i) ::usleep(1000);
}
}  // namespace

std::variant<fs::path, Shortfall> find_cgroup_parent(const fs::path& root) {
  const std::optional<Mount> mount = find_mount(root);
  if (!mount) return Shortfall{"no cgroup v2 is mounted here", "mount cgroup2 at /sys/fs/cgroup"};
  if (!names_both(mount->point / "cgroup.controllers")) {
    return Shortfall{"cgroup v2 on this host does not control memory and processes",
                     "boot the host with systemd.unified_cgroup_hierarchy=1"};
  }
  const std::optional<fs::path> own = own_cgroup(root, *mount);
  if (!own) return Shortfall{"the cgroup of this process is not mounted here", kDelegate};
  bool any_writable = false;
  for (fs::path folder = *own;; folder = folder.parent_path()) {
    if (writable(folder)) {
      any_writable = true;
      if (names_both(folder / "cgroup.subtree_control")) return folder;
      if (folder == *own && divide(folder)) return folder;
    }
    // Root could write to every ancestor; leaving its own cgroup would escape the limits set for it.
    if (folder == mount->point || ::geteuid() == 0) break;
  }
  if (!any_writable) return Shortfall{"this user may not create cgroups here", kDelegate};
  return Shortfall{"other processes share the cgroup that this one would divide", kDelegate};
}

void sweep_stale_cgroups(const fs::path& parent) {
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(parent, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.rfind(kPrefix, 0) != 0) continue;
    const std::string numbers = name.substr(kPrefix.size());
    const size_t dash = numbers.find('-');
    if (dash == std::string::npos) continue;
    const int pid = std::atoi(numbers.c_str());
    const unsigned long long start = std::strtoull(numbers.c_str() + dash + 1, nullptr, 10);
    // A process of another PID namespace reads as 0: its cgroup may be in use.
    const std::vector<std::string> pids = words_of(entry.path() / "cgroup.procs");
    const bool strange = std::ranges::find(pids, "0") != pids.end();
    if (pid > 0 && start > 0 && start_of(pid) != start && !strange) end_and_remove(entry.path());
  }
}

std::variant<Cgroup, Shortfall> Cgroup::make(const CgroupLimits& limits) {
  const auto found = find_cgroup_parent();
  if (const auto* shortfall = std::get_if<Shortfall>(&found)) return *shortfall;
  sweep_stale_cgroups(std::get<fs::path>(found));
  return make_in(std::get<fs::path>(found), limits);
}

std::variant<Cgroup, Shortfall> Cgroup::make_in(const fs::path& parent, const CgroupLimits& limits) {
  const std::string name = own_name();
  fs::path folder;
  int error = EEXIST;
  for (int i = 1; error == EEXIST && i <= kMostGroups; ++i) {
    folder = parent / (name + "-" + std::to_string(i));
    error = ::mkdir(folder.c_str(), 0755) == 0 ? 0 : errno;
  }
  if (error != 0) {
    return Shortfall{"cannot create a cgroup in " + parent.string() + " (" + std::strerror(error) + ")", kDelegate};
  }
  Cgroup group(folder, core::UniqueFd(::open((folder / "cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC)));
  write_file(folder / "memory.swap.max", "0");  // missing on some kernels
  if (group.entrance_ && write_file(folder / "memory.max", std::to_string(memory_limit(limits))) &&
      write_file(folder / "pids.max", std::to_string(limits.processes))) {
    return group;
  }
  return Shortfall{"cannot set the limits of a cgroup here", kDelegate};
}

Cgroup::Cgroup(fs::path folder, core::UniqueFd entrance) : folder_(std::move(folder)), entrance_(std::move(entrance)) {}

Cgroup::Cgroup(Cgroup&& other) noexcept
    : folder_(std::exchange(other.folder_, {})), entrance_(std::move(other.entrance_)) {}

Cgroup& Cgroup::operator=(Cgroup&& other) noexcept {
  if (this != &other) {
    remove();
    folder_ = std::exchange(other.folder_, {});
    entrance_ = std::move(other.entrance_);
  }
  return *this;
}

Cgroup::~Cgroup() { remove(); }

void Cgroup::remove() {
  if (folder_.empty()) return;
  entrance_.reset();
  end_and_remove(std::exchange(folder_, {}));
}

bool Cgroup::holds(int pid) const {
  const std::vector<std::string> pids = words_of(folder_ / "cgroup.procs");
  return std::ranges::find(pids, std::to_string(pid)) != pids.end();
}

}  // namespace sandbox::jail

#include "core/running.h"

#include <unistd.h>

#include <fstream>
#include <sstream>

namespace core {
namespace {
// The boot and the process-id namespace: within both, an id names one process at a time.
std::string place() {
  std::string boot;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), boot);
  char space[64] = {};
  if (::readlink("/proc/self/ns/pid", space, sizeof space - 1) < 0) return "";
  return boot + " " + space;
}

// Ticks between the boot and the start of a process; empty if there is none.
std::string start_of(const std::string& pid) {
  std::ifstream file("/proc/" + pid + "/stat");
  std::string stat((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const size_t name_end = stat.rfind(')');  // the name may hold blanks and brackets
  if (name_end == std::string::npos) return "";
  std::istringstream fields(stat.substr(name_end + 1));
  std::string field;
  fields >> field;
  if (field == "Z" || field == "X") return "";  // dead, and not yet collected by its parent
  for (int number = 4; number <= 22; ++number) fields >> field;
  return field;
}
}  // namespace

std::string this_process() {
  const std::string pid = std::to_string(::getpid());
  return place() + " " + pid + " " + start_of(pid);
}

Running is_running(const std::string& process) {
  const std::string here = place();
  if (here.empty() || process.rfind(here + " ", 0) != 0) return Running::unknown;
  std::istringstream rest(process.substr(here.size()));
  std::string pid, start;
  if (!(rest >> pid >> start)) return Running::unknown;
  return start_of(pid) == start ? Running::yes : Running::no;
}

}  // namespace core

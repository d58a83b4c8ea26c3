#include "sandbox/cpu/run_role.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "core/error.h"
#include "sandbox/cpu/cell.h"
#include "sandbox/jail.h"
#include "sandbox/namespaces.h"

namespace sandbox::cpu {
namespace {
using core::Json;

class Cells {
 public:
  explicit Cells(Channel& owner) : owner_(owner) {}

  void open(Message request) {
    const Build build = request.json.at("build") == "check" ? Build::check : Build::fast;
    auto [judge_end, cell_end] = Channel::make_pair();
    const pid_t parent = ::getpid();
    const pid_t pid = ::fork();
    if (pid < 0) throw core::SystemError("cannot fork a cell", errno);
    if (pid == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (::getppid() != parent) ::_exit(1);
      judge_end = Channel();
      owner_ = Channel();
      serve_cell(std::move(cell_end), std::move(request.fds.at(0)), build, CellLimits{});
    }
    pids_.push_back(pid);
    owner_.send({{"cell", pid}}, {judge_end.fd()});
  }

  void close(int pid) {
    const auto found = std::find(pids_.begin(), pids_.end(), pid);
    if (found == pids_.end()) throw core::SystemError("there is no cell " + std::to_string(pid));
    pids_.erase(found);
    // A cell that ended by itself keeps its own status; killing it then changes nothing.
    siginfo_t info{};
    const bool ended =
        ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid;
    ::kill(pid, SIGKILL);
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (!ended) {
      owner_.send({{"killed", true}});
    } else if (WIFSIGNALED(status)) {
      owner_.send({{"signal", WTERMSIG(status)}});
    } else if (WEXITSTATUS(status) == kCellFailed) {
      owner_.send({{"failed", true}});
    } else {
      owner_.send({{"exit", WEXITSTATUS(status)}});
    }
  }

 private:
  Channel& owner_;
  std::vector<pid_t> pids_;
};
}  // namespace

void serve_run_role(Channel& owner) {
  JailLimits limits;
  limits.address_space_bytes = 0;  // each cell has its own
  const Namespaces namespaces = enter_namespaces(Pids::own);
  Json greeting{{"role", "run"}};
  enter_jail(JailProfile::run, {}, limits, namespaces).describe(greeting);
  owner.send(greeting);
  Cells cells(owner);
  while (true) {
    Message request = owner.receive();
    try {
      if (request.json.at("op") == "open") {
        cells.open(std::move(request));
      } else {
        cells.close(request.json.at("cell").get<int>());
      }
    } catch (const core::SystemError& error) {
      owner.send({{"error", error.what()}});
    }
  }
}

}  // namespace sandbox::cpu

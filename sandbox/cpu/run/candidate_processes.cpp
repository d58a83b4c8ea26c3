#include "sandbox/cpu/run/candidate_processes.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>
#include <vector>

#include "core/error.h"
#include "sandbox/cpu/run/candidate_process.h"

namespace sandbox::cpu::run {
namespace {
constexpr timeval kMostSending{2, 0};  // to a candidate process that does not read

// For a child of ours, which stays uncollected.
bool is_stopped_or_ended(pid_t pid, int also = 0) {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT | also) == 0 && info.si_pid == pid;
}

// Processor time of a child, in microseconds. It has one thread and can neither sleep nor start others, so this counts
// all of its work.
double processor_time_us(pid_t pid) {
  constexpr clockid_t kOfProcess = 2;  // as the kernel's posix-timers.h makes a clock of a process: CPUCLOCK_SCHED
  timespec time{};
  if (::clock_gettime((~pid << 3) | kOfProcess, &time) != 0) {
    throw core::SystemError("cannot tell how long a candidate process ran", errno);
  }
  return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_nsec) / 1e3;
}

// Whether the request fits a socket whose reader is stopped.
bool is_short(const core::Json& request) {
  const auto op = request.find("op");
  return op != request.end() && (*op == "go" || *op == "ping");
}
}  // namespace

CandidateProcesses::CandidateProcesses(process::Channel& owner, Serve serve) : owner_(owner), serve_(std::move(serve)) {
  sigset_t children;
  sigemptyset(&children);
  sigaddset(&children, SIGCHLD);
  if (::sigprocmask(SIG_BLOCK, &children, nullptr) == 0) {
    children_ = core::UniqueFd(::signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK));
  }
  if (!children_) throw core::SystemError("cannot be told what becomes of candidate processes", errno);
}

void CandidateProcesses::serve_judges() {
  while (true) {
    std::vector<pollfd> entries{{owner_.fd(), POLLIN, 0}, {children_.get(), POLLIN, 0}};
    std::vector<Held*> asking;
    for (Held& held : held_) {
      if (held.running || !held.judge) continue;
      entries.push_back({held.judge.fd(), POLLIN, 0});
      asking.push_back(&held);
    }
    if (::poll(entries.data(), entries.size(), -1) < 0 && errno != EINTR) {
      throw core::SystemError("cannot wait for the judge", errno);
    }
    if (entries[1].revents != 0) look_for_stopped();
    for (size_t i = 0; i < asking.size(); ++i) {
      if (entries[2 + i].revents != 0) pass_on_request(*asking[i]);
    }
    if (entries[0].revents != 0) return;
  }
}

void CandidateProcesses::open(process::Message request) {
  const auto build = core::JsonView(request.json, "request for a process").at("build").one_of<Build>("builds");
  auto [judge_end, own_judge_end] = process::Channel::make_pair();
  auto [own_end, process_end] = process::Channel::make_pair();
  ::setsockopt(own_end.fd(), SOL_SOCKET, SO_SNDTIMEO, &kMostSending, sizeof kMostSending);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) throw core::SystemError("cannot fork a candidate process", errno);
  if (pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);
    for (process::Channel* other : {&judge_end, &own_judge_end, &own_end}) *other = process::Channel();
    become_candidate(std::move(process_end), std::move(request.fds.at(0)), build);
  }
  held_.push_back({pid, std::move(own_end), std::move(own_judge_end), true, 0});
  owner_.send({{"process", pid}}, {judge_end.fd()});
}

void CandidateProcesses::become_candidate(process::Channel worker, core::UniqueFd binary, Build build) {
  held_.clear();
  children_.reset();
  owner_ = process::Channel();
  serve_(std::move(worker), std::move(binary), build);
  ::_exit(kCandidateProcessFailed);
}

void CandidateProcesses::close(pid_t pid) {
  const auto found = std::ranges::find_if(held_, [&](const Held& held) { return held.pid == pid; });
  if (found == held_.end()) throw core::SystemError("there is no candidate process " + std::to_string(pid));
  held_.erase(found);
  // A process that ended by itself keeps its own status; killing it changes nothing.
  const bool ended = is_stopped_or_ended(pid);
  ::kill(pid, SIGKILL);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (!ended) {
    owner_.send({{"killed", true}});
  } else if (WIFSIGNALED(status)) {
    owner_.send({{"signal", WTERMSIG(status)}});
  } else if (WEXITSTATUS(status) == kCandidateProcessFailed) {
    owner_.send({{"failed", true}});
  } else {
    owner_.send({{"exit", WEXITSTATUS(status)}});
  }
}

// A short request waits in the socket until the process continues. A long one is read while it is sent.
void CandidateProcesses::pass_on_request(Held& held) {
  try {
    const process::Message request = held.judge.receive();
    std::vector<int> fds;
    for (const core::UniqueFd& fd : request.fds) fds.push_back(fd.get());
    const bool waits = is_short(request.json);
    if (waits) held.candidate.send(request.json, fds);
    held.running = true;
    held.spent_us = processor_time_us(held.pid);
    ::kill(held.pid, SIGCONT);
    if (!waits) held.candidate.send(request.json, fds);
  } catch (const process::ChannelClosed&) {
    hang_up(held);
  }
}

void CandidateProcesses::look_for_stopped() {
  signalfd_siginfo signal;
  while (::read(children_.get(), &signal, sizeof signal) > 0) {
  }
  for (Held& held : held_) {
    if (!held.running || !is_stopped_or_ended(held.pid, WSTOPPED)) continue;
    held.running = false;
    pass_on_answer(held, processor_time_us(held.pid) - held.spent_us);
  }
}

// The one answer that the process left, with its running time.
void CandidateProcesses::pass_on_answer(Held& held, double elapsed_us) {
  if (!held.judge) return;
  try {
    std::optional<process::Message> answer = held.candidate.receive(std::chrono::steady_clock::now());
    if (!answer || !answer->json.is_object() || !answer->fds.empty()) return hang_up(held);
    pollfd more{held.candidate.fd(), POLLIN, 0};
    char byte = 0;
    if (::poll(&more, 1, 0) > 0 && ::recv(held.candidate.fd(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0)
      return hang_up(held);
    answer->json["elapsed_us"] = elapsed_us;
    held.judge.send(answer->json);
  } catch (const process::ChannelClosed&) {
    hang_up(held);
  }
}

void CandidateProcesses::hang_up(Held& held) {
  held.judge = process::Channel();
  held.candidate = process::Channel();
}

}  // namespace sandbox::cpu::run

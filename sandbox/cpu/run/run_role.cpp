#include "sandbox/cpu/run/run_role.h"

#include <sched.h>

#include <utility>

#include "core/error.h"
#include "sandbox/cpu/run/candidate_process.h"
#include "sandbox/cpu/run/candidate_processes.h"
#include "sandbox/jail/jail.h"
#include "sandbox/jail/namespaces.h"

namespace sandbox::cpu::run {
namespace {
// Candidate processes inherit this: processors differ, above all while other programs use one of them, and times are
// compared. Without it, times are noisier.
void stay_on_this_processor() {
  const int here = ::sched_getcpu();
  if (here < 0 || here >= CPU_SETSIZE) return;
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET(here, &only);
  ::sched_setaffinity(0, sizeof only, &only);
}
}  // namespace

void serve_run_role(process::Channel& owner) {
  stay_on_this_processor();
  jail::JailLimits limits;
  limits.address_space_bytes = 0;  // each candidate process has its own
  const jail::Namespaces namespaces = jail::enter_namespaces(jail::Pids::own);
  core::Json greeting{{"role", "run"}};
  jail::enter_jail(jail::JailProfile::run, {}, limits, namespaces).describe(greeting);
  owner.send(greeting);
  CandidateProcesses candidates(owner, [](process::Channel worker, core::UniqueFd binary, Build build) {
    serve_candidate(std::move(worker), std::move(binary), build, limits_of(build));
  });
  const auto answer = [&](process::Message request) {
    if (request.json.at("op") == "open") {
      candidates.open(std::move(request));
    } else {
      candidates.close(request.json.at("process").get<int>());
    }
  };
  process::serve<core::SystemError>(owner, answer, [&] { candidates.serve_judges(); });
}

}  // namespace sandbox::cpu::run

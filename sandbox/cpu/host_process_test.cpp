#include "sandbox/cpu/host_process.h"

#include <gtest/gtest.h>

#include "sandbox/jail_fixture.h"
#include "sandbox/namespaces.h"

namespace sandbox::cpu {
namespace {

// Else it could change the files of the next compilation.
TEST(HostProcess, NothingThatItStartsOutlivesIt) {
  const int left = exit_of_child([] {
    const Namespaces entered = enter_namespaces(Pids::own);
    if (entered.missing) return kNotOnThisHost;
    const ProcessResult result =
        run_process({"/bin/sh", "-c", "setsid sleep 100 >/dev/null 2>&1 & echo started"}, "/tmp", {});
    if (result.output != "started\n") return kThrown;
    return ::kill(-1, 0) == 0 ? kPossible : kNotPossible;
  });
  EXPECT_EQ(left, host_allows_namespaces() ? kNotPossible : kNotOnThisHost);
}

}  // namespace
}  // namespace sandbox::cpu

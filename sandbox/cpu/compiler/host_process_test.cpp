#include "sandbox/cpu/compiler/host_process.h"

#include <gtest/gtest.h>

#include "sandbox/jail/jail_fixture.h"
#include "sandbox/jail/namespaces.h"

namespace sandbox::cpu::compiler {
namespace {

// Else it could change the files of the next compilation.
TEST(HostProcess, NothingThatItStartsOutlivesIt) {
  const int left = jail::exit_of_child([] {
    const jail::Namespaces entered = jail::enter_namespaces(jail::Pids::own);
    if (entered.missing) return jail::kNotOnThisHost;
    const ProcessResult result =
        run_process({"/bin/sh", "-c", "setsid sleep 100 >/dev/null 2>&1 & echo started"}, "/tmp", {});
    if (result.output != "started\n") return jail::kThrown;
    return ::kill(-1, 0) == 0 ? jail::kPossible : jail::kNotPossible;
  });
  EXPECT_EQ(left, jail::host_allows_namespaces() ? jail::kNotPossible : jail::kNotOnThisHost);
}

}  // namespace
}  // namespace sandbox::cpu::compiler

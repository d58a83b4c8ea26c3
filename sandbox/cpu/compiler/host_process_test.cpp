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

TEST(HostProcess, RunsBehindTheJailOfCompileWorkers) {
  const int ran = jail::exit_of_child([] {
    jail::JailLimits limits;
    limits.address_space_bytes = 0;
    jail::enter_jail(jail::JailProfile::compile,
                     {{"/usr", "/lib", "/lib64", "/bin", "/etc/ld.so.cache"}, {"/tmp", "/dev/null"}}, limits);
    const ProcessResult result = run_process({"/bin/sh", "-c", "echo $PATH; exit 3"}, "/tmp", {});
    return result.output == "/usr/bin:/bin\n" && result.exit_code == 3 ? jail::kPossible : jail::kNotPossible;
  });
  EXPECT_EQ(ran, jail::kPossible);
}

}  // namespace
}  // namespace sandbox::cpu::compiler

#include "core/process.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <cerrno>

#include "core/error.h"

namespace core {
namespace {

std::string all_of(const UniqueFd& fd) {
  std::string text;
  char block[256];
  ssize_t got = 0;
  while ((got = ::read(fd.get(), block, sizeof block)) > 0) text.append(block, static_cast<size_t>(got));
  return text;
}

TEST(Process, HasItsStreamsEnvironmentAndStatus) {
  Pipe out;
  Process process({.argv = {"/bin/sh", "-c", "cat; echo $A; ls /proc/self/fd | wc -l; exit 3"},
                   .environment = std::vector<std::string>{"A=b", "PATH=/bin:/usr/bin"},
                   .output = out.write.get()});
  out.write.reset();
  EXPECT_EQ(all_of(out.read), "b\n4\n");  // three streams, and the folder that ls reads
  const int status = process.wait();
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 3);
  EXPECT_FALSE(process);
}

TEST(Process, EndsWithItsGroup) {
  Pipe out;
  Process process({.argv = {"sh", "-c", "sleep 100 & echo $!; wait"}, .output = out.write.get()});
  out.write.reset();
  char digits[16] = {};
  ASSERT_GT(::read(out.read.get(), digits, sizeof digits - 1), 0);
  EXPECT_FALSE(process.has_ended());
  EXPECT_EQ(WTERMSIG(process.end()), SIGKILL);
  EXPECT_EQ(all_of(out.read), "");  // closed by the grandchild, too
}

TEST(Process, SaysWhyItCannotStart) {
  EXPECT_THROW(
      {
        try {
          Process({.argv = {"/no/such/program"}});
        } catch (const SystemError& error) {
          EXPECT_STREQ(error.what(), "cannot start /no/such/program: No such file or directory");
          throw;
        }
      },
      SystemError);
}

}  // namespace
}  // namespace core

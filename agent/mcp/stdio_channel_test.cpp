#include "agent/mcp/stdio_channel.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace agent::mcp {
namespace {
using namespace std::chrono_literals;

struct Pipe {
  Pipe() {
    int ends[2];
    if (::pipe(ends) != 0) throw std::runtime_error("no pipe");
    read.reset(ends[0]);
    write.reset(ends[1]);
  }
  core::UniqueFd read, write;
};

void put(const core::UniqueFd& fd, const std::string& text) {
  for (size_t done = 0; done < text.size();) {
    const ssize_t count = ::write(fd.get(), text.data() + done, text.size() - done);
    ASSERT_GT(count, 0);
    done += static_cast<size_t>(count);
  }
}

TEST(StdioChannel, LinesComeWholeAndInOrder) {
  Pipe in, out;
  StdioChannel channel(std::move(in.read), std::move(out.write));
  EXPECT_FALSE(channel.next(0ms));
  put(in.write, "one\r\n\ntw");
  EXPECT_EQ(channel.next(5000ms).value().text, "one");
  put(in.write, "o\nlast");
  EXPECT_EQ(channel.next(5000ms).value().text, "two");
  EXPECT_FALSE(channel.has_ended());
  in.write.reset();
  EXPECT_EQ(channel.next(5000ms).value().text, "last");
  EXPECT_FALSE(channel.next(5000ms));
  EXPECT_TRUE(channel.has_ended());
}

TEST(StdioChannel, ALongLineIsCutAndTheNextOneIsWhole) {
  Pipe in, out;
  StdioChannel channel(std::move(in.read), std::move(out.write));
  std::thread writer(
      [&] { put(in.write, std::string(3 * kMostLineBytes, 'a') + "\n" + std::string(kMostLineBytes, 'b') + "\n"); });
  const Line cut = channel.next(5000ms).value();
  EXPECT_TRUE(cut.is_cut);
  EXPECT_LT(cut.text.size(), 10'000u);
  const Line whole = channel.next(5000ms).value();
  EXPECT_FALSE(whole.is_cut);
  EXPECT_EQ(whole.text.size(), kMostLineBytes);
  writer.join();
}

TEST(StdioChannel, EndsWhileItsReaderWaits) {
  Pipe in, out;
  const StdioChannel channel(std::move(in.read), std::move(out.write));
  put(
      in.write, std::string(200, '\n') + [] {
        std::string lines;
        for (int i = 0; i < 200; ++i) lines += "line\n";
        return lines;
      }());
}

TEST(StdioChannel, SendsALineForEachMessage) {
  Pipe in, out;
  StdioChannel channel(std::move(in.read), std::move(out.write));
  channel.send({{"a", "x\ny"}});
  char buffer[100];
  const ssize_t count = ::read(out.read.get(), buffer, sizeof buffer);
  EXPECT_EQ(std::string(buffer, static_cast<size_t>(count)), "{\"a\":\"x\\ny\"}\n");
}

}  // namespace
}  // namespace agent::mcp

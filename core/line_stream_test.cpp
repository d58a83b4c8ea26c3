#include "core/line_stream.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "core/process.h"

namespace core {
namespace {
constexpr size_t kMostLineBytes = size_t{1} << 20;
using namespace std::chrono_literals;

void put(const UniqueFd& fd, const std::string& text) {
  for (size_t done = 0; done < text.size();) {
    const ssize_t count = ::write(fd.get(), text.data() + done, text.size() - done);
    ASSERT_GT(count, 0);
    done += static_cast<size_t>(count);
  }
}

TEST(LineStream, LinesComeWholeAndInOrder) {
  Pipe in, out;
  LineStream stream(std::move(in.read), std::move(out.write), kMostLineBytes);
  EXPECT_FALSE(stream.next(0ms));
  put(in.write, "one\r\n\ntw");
  EXPECT_EQ(stream.next(5000ms).value().text, "one");
  put(in.write, "o\nlast");
  EXPECT_EQ(stream.next(5000ms).value().text, "two");
  EXPECT_FALSE(stream.has_ended());
  in.write.reset();
  EXPECT_EQ(stream.next(5000ms).value().text, "last");
  EXPECT_FALSE(stream.next(5000ms));
  EXPECT_TRUE(stream.has_ended());
}

TEST(LineStream, ALongLineIsCutAndTheNextOneIsWhole) {
  Pipe in, out;
  LineStream stream(std::move(in.read), std::move(out.write), kMostLineBytes);
  std::thread writer(
      [&] { put(in.write, std::string(3 * kMostLineBytes, 'a') + "\n" + std::string(kMostLineBytes, 'b') + "\n"); });
  const Line cut = stream.next(5000ms).value();
  EXPECT_TRUE(cut.is_cut);
  EXPECT_LT(cut.text.size(), 10'000u);
  const Line whole = stream.next(5000ms).value();
  EXPECT_FALSE(whole.is_cut);
  EXPECT_EQ(whole.text.size(), kMostLineBytes);
  writer.join();
}

TEST(LineStream, EndsWhileItsReaderWaits) {
  Pipe in, out;
  const LineStream stream(std::move(in.read), std::move(out.write), kMostLineBytes);
  put(
      in.write, std::string(200, '\n') + [] {
        std::string lines;
        for (int i = 0; i < 200; ++i) lines += "line\n";
        return lines;
      }());
}

TEST(LineStream, SendsLines) {
  Pipe in, out;
  LineStream stream(std::move(in.read), std::move(out.write), kMostLineBytes);
  stream.send("a b");
  char buffer[100];
  const ssize_t count = ::read(out.read.get(), buffer, sizeof buffer);
  EXPECT_EQ(std::string(buffer, static_cast<size_t>(count)), "a b\n");
}

}  // namespace
}  // namespace core

#include "sandbox/process/channel.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <thread>

namespace sandbox::process {
namespace {
using std::chrono::milliseconds;
using std::chrono::steady_clock;

TEST(Channel, CarriesJsonAndDescriptors) {
  auto [a, b] = Channel::make_pair();
  const core::UniqueFd file = make_memory_file("test", 4096);
  ASSERT_EQ(::pwrite(file.get(), "hello", 5, 0), 5);
  a.send({{"op", "map"}}, {file.get()});
  Message message = b.receive();
  EXPECT_EQ(message.json["op"], "map");
  ASSERT_EQ(message.fds.size(), 1u);
  char text[5];
  ASSERT_EQ(::pread(message.fds[0].get(), text, 5, 0), 5);
  EXPECT_EQ(std::string(text, 5), "hello");
  EXPECT_NE(::fcntl(message.fds[0].get(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST(Channel, LargeFramesArriveWhole) {
  auto [a, b] = Channel::make_pair();
  const std::string large(3 << 20, 'x');
  std::thread sender([&a = a, &large] { a.send({{"text", large}}); });
  EXPECT_EQ(b.receive().json["text"].get<std::string>(), large);
  sender.join();
}

TEST(Channel, ADeadlineIsNotAnError) {
  auto [a, b] = Channel::make_pair();
  EXPECT_FALSE(b.receive(steady_clock::now() + milliseconds(20)).has_value());
  a.send({{"late", true}});
  EXPECT_TRUE(b.receive(steady_clock::now() + milliseconds(1000)).has_value());
}

TEST(Channel, HangingUpAndNonsenseAreSeen) {
  auto [a, b] = Channel::make_pair();
  a = Channel();
  EXPECT_THROW(b.receive(), ChannelClosed);
  EXPECT_THROW(b.send({{"op", "x"}}), ChannelClosed);

  auto send_raw = [](const std::string& bytes) {
    auto [c, d] = Channel::make_pair();
    EXPECT_EQ(::send(c.fd(), bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
    c = Channel();
    EXPECT_THROW(d.receive(), ChannelClosed);
  };
  send_raw(std::string("\xff\xff\xff\xff\0\0\0\0", 8));  // a frame of 4 GiB
  send_raw(std::string("\x02\0\0\0\xff\0\0\0{}", 10));   // more descriptors than allowed
  send_raw(std::string("\x02\0\0\0\x01\0\0\0{}", 10));   // a descriptor announced and not sent
  send_raw(std::string("\x03\0\0\0\0\0\0\0{]x", 11));    // no JSON
  send_raw(std::string("\xa0\x86\x01\0\0\0\0\0", 8) + std::string(50000, '[') + std::string(50000, ']'));
}

TEST(Channel, BracketsInStringsAreNoNesting) {
  auto [a, b] = Channel::make_pair();
  const std::string text = "\\\"" + std::string(1000, '[');
  a.send({{text, text}});
  EXPECT_EQ(b.receive().json[text], text);
}

}  // namespace
}  // namespace sandbox::process

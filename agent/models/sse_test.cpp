#include "agent/models/sse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace agent::models {
namespace {
using Events = std::vector<std::pair<std::string, std::string>>;

Events parse(const std::vector<std::string_view>& pieces, bool finish = true) {
  Events events;
  const auto keep = [&](const ServerEvent& event) { events.emplace_back(event.type, event.data); };
  SseParser parser(1000);
  for (const std::string_view piece : pieces) parser.feed(piece, keep);
  if (finish) parser.finish(keep);
  return events;
}

// Comments, line ends of all three kinds, an empty value, no space after the colon, fields that mean nothing here.
constexpr std::string_view kStream =
    "\xEF\xBB\xBF: hello\n\nevent: a\ndata: one\ndata:two\r\n\r\nid: 7\rretry: 10\rdata\r\revent: b\n\n"
    "data: caf\xC3\xA9 {\"x\": \"\\n\"}\n\ndata:  two spaces\n\n";
const Events kExpected = {{"a", "one\ntwo"}, {"", ""}, {"", "caf\xC3\xA9 {\"x\": \"\\n\"}"}, {"", " two spaces"}};

TEST(Sse, FollowsTheStandard) { EXPECT_EQ(parse({kStream}, false), kExpected); }

TEST(Sse, EverySplitInTwoReadsTheSame) {
  for (size_t at = 0; at <= kStream.size(); ++at) {
    EXPECT_EQ(parse({kStream.substr(0, at), kStream.substr(at)}), kExpected) << at;
  }
}

TEST(Sse, EverySplitInThreeReadsTheSame) {
  for (size_t a = 0; a <= kStream.size(); ++a) {
    for (size_t b = a; b <= kStream.size(); ++b) {
      ASSERT_EQ(parse({kStream.substr(0, a), kStream.substr(a, b - a), kStream.substr(b)}), kExpected) << a << " " << b;
    }
  }
}

TEST(Sse, ByteByByteReadsTheSame) {
  std::vector<std::string_view> bytes;
  for (size_t i = 0; i < kStream.size(); ++i) bytes.push_back(kStream.substr(i, 1));
  EXPECT_EQ(parse(bytes), kExpected);
}

TEST(Sse, AnEventWithoutItsBlankLineComesAtTheEnd) {
  EXPECT_EQ(parse({"data: last"}, false), Events());
  EXPECT_EQ(parse({"data: last"}), (Events{{"", "last"}}));
  EXPECT_EQ(parse({"data: last\n"}), (Events{{"", "last"}}));
  EXPECT_EQ(parse({"event: alone\n\n"}), Events());
}

TEST(Sse, NothingIsKeptWithoutLimit) {
  const std::string line(600, 'x');
  for (const std::string& stream : {"data: " + line + line, "data: " + line + "\ndata: " + line + "\n\n"}) {
    Events events;
    SseParser parser(1000);
    for (const char c : stream) {
      parser.feed({&c, 1}, [&](const ServerEvent& event) { events.emplace_back(event.type, event.data); });
    }
    EXPECT_TRUE(parser.too_long());
    EXPECT_EQ(events, Events());
  }
  SseParser parser(1000);
  int events = 0;
  for (int i = 0; i < 10; ++i) parser.feed("data: " + line + "\n\n", [&](const ServerEvent&) { ++events; });
  EXPECT_FALSE(parser.too_long()) << "the limit is for each event";
  EXPECT_EQ(events, 10);
}
}  // namespace
}  // namespace agent::models

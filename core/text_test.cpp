#include "core/text.h"

#include <gtest/gtest.h>

#include "core/error.h"

namespace core {
namespace {
struct Untrusted {
  const char* name;
  std::string text, shown;
};
std::ostream& operator<<(std::ostream& out, const Untrusted& one) { return out << one.name; }
class CleanText : public testing::TestWithParam<Untrusted> {};

TEST_P(CleanText, KeepsOnlyVisibleCharacters) {
  const std::string shown = clean_text(GetParam().text, 1000);
  EXPECT_EQ(shown, GetParam().shown);
  EXPECT_EQ(clean_text(shown, 1000), shown);
}

const Untrusted kUntrusted[] = {
    {"plain", "a = b + 1;\n\tc", "a = b + 1;\n\tc"},
    {"letters_of_the_world", "\xc3\xa4 \xe2\x89\xa4 \xe6\x97\xa5 \xf0\x9f\x98\x80",
     "\xc3\xa4 \xe2\x89\xa4 \xe6\x97\xa5 \xf0\x9f\x98\x80"},
    {"escape_sequence", "\x1b[31mred\x1b]0;title\x07", "?[31mred?]0;title?"},
    {"one_byte_escape",
     "\xc2\x9b"
     "31m",
     "??31m"},
    {"carriage_return", "right\rwrong", "right?wrong"},
    {"lines_of_windows", "a\r\nb\r\n", "a\nb\n"},
    {"backspace_and_delete", "a\b\x7f", "a??"},
    {"zero_byte", std::string("a\0b", 3), "a?b"},
    {"right_to_left_override",
     "a\xe2\x80\xae"
     "b",
     "a???b"},
    {"isolates", "\xe2\x81\xa6x\xe2\x81\xa9", "???x???"},
    {"no_width",
     "a\xe2\x80\x8b"
     "b\xef\xbb\xbf",
     "a???b???"},
    {"line_separator",
     "a\xe2\x80\xa8"
     "b",
     "a???b"},
    {"tag", "a\xf3\xa0\x81\xa1", "a????"},
    {"lone_continuation", "\x80\xbf", "??"},
    {"overlong", "\xc0\xaf\xe0\x80\xaf", "?????"},
    {"surrogate", "\xed\xa0\x80", "???"},
    {"cut_off", "\xe2\x82", "??"},
    {"beyond_unicode", "\xf4\x90\x80\x80", "????"},
};
INSTANTIATE_TEST_SUITE_P(Untrusted, CleanText, testing::ValuesIn(kUntrusted),
                         [](const auto& one) { return std::string(one.param.name); });

TEST(CleanText, IsCutBetweenCharacters) {
  EXPECT_EQ(clean_text("abcdef", 4), "abcd\n[2 more bytes left out]");
  EXPECT_EQ(clean_text("abc\xe2\x89\xa4", 4), "abc\n[3 more bytes left out]");
  EXPECT_EQ(clean_line("abc\xe2\x89\xa4", 4), "abc...");
}

TEST(CleanLine, IsOneLine) { EXPECT_EQ(clean_line("refused\naccepted\r\n\tall"), "refused accepted  all"); }

TEST(InputErrors, FirstLineIsOneLine) {
  const InputError error("a\nb\x1b.cu", "has\nlines", "first\nsecond");
  EXPECT_STREQ(error.what(), "a b?.cu: has lines\n  first\n  second");
  EXPECT_LT(std::string(InputError("", std::string(100000, 'x')).what()).size(), 5000u);
}

}  // namespace
}  // namespace core

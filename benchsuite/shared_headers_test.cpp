#include "benchsuite/shared_headers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "core/text.h"

namespace benchsuite {
namespace {
using testing::HasSubstr;
using testing::Not;

TEST(SharedHeaders, TakeThePlaceOfTheirLine) {
  const std::string file = "first\n  #include <kw/tma.cuh>\nlast\n#include <kw/tma.cuh>";
  const std::string whole = with_shared_headers(file, "k.cu");
  EXPECT_THAT(whole, testing::StartsWith("first\n// begin <kw/"));
  EXPECT_THAT(whole, HasSubstr("// end <kw/tma.cuh>\nlast\n"));
  EXPECT_THAT(whole, Not(HasSubstr("\n#include <kw/")));
  EXPECT_EQ(whole.find("// begin <kw/tma.cuh>"), whole.rfind("// begin <kw/tma.cuh>"));
  EXPECT_EQ(with_shared_headers(whole, "k.cu"), whole);
}

TEST(SharedHeaders, BecomeIncludesAgainForReaders) {
  for (const SharedHeader& header : shared_headers()) {
    const std::string file = "first\n#include <" + header.name + ">\nlast\n";
    EXPECT_EQ(without_shared_headers(with_shared_headers(file, "k.cu")), file) << header.name;
  }
  const std::string file = "first\n#include <kw/tma.cuh>\n";
  std::string other = with_shared_headers(file, "k.cu");
  other.insert(other.find("// end <kw/tma.cuh>"), "// of another version\n");
  EXPECT_THAT(without_shared_headers(other), HasSubstr("// of another version\n// end <kw/tma.cuh>\n"));
  EXPECT_EQ(with_shared_headers(without_shared_headers(other), "k.cu"), other);
}

TEST(SharedHeaders, EachSaysWhatItIsFor) {
  EXPECT_GE(shared_headers().size(), 3u);
  for (const SharedHeader& header : shared_headers()) {
    EXPECT_THAT(header.about, testing::SizeIs(testing::Gt(100u))) << header.name;
    EXPECT_THAT(header.arch, testing::StartsWith("sm_")) << header.name;
    EXPECT_LE(core::split(header.about, '\n').size(), 30u) << header.name;  // prompts show it
  }
}

TEST(SharedHeaders, AnUnknownOneIsNamedWithItsLine) {
  for (const std::string name : {"tna.cuh", "../../../etc/passwd", "", "tma.cuh/../tma.cuh"}) {
    try {
      with_shared_headers("first\n#include <kw/" + name + ">\n", "k.cu");
      FAIL() << name;
    } catch (const core::InputError& error) {
      EXPECT_EQ(error.where(), "k.cu:2");
      EXPECT_THAT(error.problem(), HasSubstr("there is no header <kw/" + name + ">"));
      if (name == "tna.cuh") {
        EXPECT_THAT(error.remedy(), HasSubstr("tma.cuh"));
      }
    }
  }
}

TEST(SharedHeaders, LinesAreThoseOfTheAuthor) {
  const std::string source =
      with_shared_headers("first\n#include <kw/tma.cuh>\nthird\n#include <kw/wgmma.cuh>\nfifth\n", "k.cu");
  const std::vector<std::string> lines = core::split(source, '\n');
  const auto at = [&](const std::string& text) {
    return author_line(source, static_cast<int>(std::ranges::find(lines, text) - lines.begin()) + 1);
  };
  EXPECT_EQ(at("first"), "line 1");
  EXPECT_EQ(at("third"), "line 3");
  EXPECT_EQ(at("fifth"), "line 5");
  const auto begin = std::ranges::find(lines, "// begin <kw/tma.cuh>");
  EXPECT_EQ(author_line(source, static_cast<int>(begin - lines.begin()) + 3), "line 2 of <kw/tma.cuh>");
  EXPECT_EQ(author_line("first\nsecond\n", 2), "");
}

}  // namespace
}  // namespace benchsuite

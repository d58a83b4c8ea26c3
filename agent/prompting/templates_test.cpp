#include "agent/prompting/templates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"

namespace agent::prompting {
namespace {
using testing::ElementsAre;
using testing::HasSubstr;

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const core::InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Templates, PlaceholdersAreFilled) {
  const Template text("a {{one}}, b {{two}}{{one}}.\n", "t.md");
  EXPECT_THAT(text.placeholders(), ElementsAre("one", "two"));
  EXPECT_EQ(text.fill({{"one", "1"}, {"two", "{{one}}"}}), "a 1, b {{one}}1.\n");
  EXPECT_EQ(Template("{ { } }}\n", "t.md").fill({}), "{ { } }}\n");
  EXPECT_EQ(Template("", "t.md").fill({}), "");
}

TEST(Templates, AnUnfilledPlaceIsAnErrorWithFileAndName) {
  const Template text("{{one}} {{two}}", "prompts/t.md");
  const std::string error = error_of([&] { text.fill({{"one", ""}}); });
  EXPECT_THAT(error, HasSubstr("prompts/t.md"));
  EXPECT_THAT(error, HasSubstr("{{two}}"));
}

TEST(Templates, AValueWithoutAPlaceholderIsAnError) {
  const std::string error = error_of([] { Template("{{problem}}", "t.md").fill({{"problem", ""}, {"problen", ""}}); });
  EXPECT_THAT(error, HasSubstr("t.md: has no placeholder {{problen}}"));
  EXPECT_THAT(error, HasSubstr("did you mean \"problem\"?"));
}

TEST(Templates, AMalformedPlaceholderIsAnErrorWithItsLine) {
  for (const char* text : {"a\n{{", "a\n{{}}", "a\n{{One}}", "a\n{{o ne}}", "a\n{{one}", "a\n{{{one}}}"}) {
    EXPECT_THAT(error_of([&] { Template(text, "t.md"); }), HasSubstr("t.md:2: \"{{\" begins no placeholder")) << text;
  }
}

TEST(Templates, AMissingFileIsNamed) {
  EXPECT_THAT(error_of([] { Template::load("/nowhere/fresh.md"); }), HasSubstr("/nowhere/fresh.md"));
}

}  // namespace
}  // namespace agent::prompting

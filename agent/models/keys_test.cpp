#include "agent/models/keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <map>

#include "agent/models/folder_fixture.h"
#include "core/error.h"

namespace agent::models {
namespace {
using testing::HasSubstr;
using testing::Not;

Environment environment_of(const std::map<std::string, std::string>& variables) {
  return [variables](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
}

class KeysTest : public testing::Test {
 protected:
  std::filesystem::path file_with(const std::string& text, mode_t mode = 0600) {
    const std::filesystem::path file = folder_.path() / "key";
    std::ofstream(file) << text;
    ::chmod(file.c_str(), mode);
    return file;
  }
  std::string key_in(const std::string& text, const std::vector<std::string>& names = {"OPENAI_API_KEY"}) {
    return find_key(names, file_with(text), environment_of({{"OPENAI_API_KEY", "from-environment"}})).value();
  }
  test::Folder folder_;
};

TEST_F(KeysTest, TheEnvironmentHasThem) {
  const Environment environment = environment_of({{"GOOGLE_API_KEY", " abc\n"}});
  EXPECT_EQ(find_key({"GEMINI_API_KEY", "GOOGLE_API_KEY"}, {}, environment).value(), "abc");
  EXPECT_EQ(find_key({"OPENAI_API_KEY"}, {}, environment).value(), "");
}

TEST_F(KeysTest, AFileHasOneForAllOrOneForEach) {
  EXPECT_EQ(key_in("sk-abc\n"), "sk-abc");
  EXPECT_EQ(key_in("# mine\n\nsk-abc==\n"), "sk-abc==");
  EXPECT_EQ(key_in("ANTHROPIC_API_KEY=sk-a\nOPENAI_API_KEY = sk-o\n"), "sk-o");
  EXPECT_EQ(key_in("ANTHROPIC_API_KEY=sk-a\nsk-other\n"), "sk-other");
  EXPECT_THROW(key_in("ANTHROPIC_API_KEY=sk-a\n"), core::InputError);
  EXPECT_THROW(key_in(""), core::InputError);
}

TEST_F(KeysTest, AFileThatOthersMayReadIsRefused) {
  for (const mode_t mode : {0644, 0640, 0604, 0620}) {
    try {
      find_key({"OPENAI_API_KEY"}, file_with("sk-secret-secret", mode), environment_of({}));
      FAIL() << std::oct << mode;
    } catch (const core::InputError& error) {
      EXPECT_THAT(error.what(), HasSubstr("chmod 600"));
      EXPECT_THAT(error.what(), Not(HasSubstr("sk-secret")));
    }
    std::filesystem::remove(folder_.path() / "key");
  }
  EXPECT_THROW(find_key({"A_API_KEY"}, folder_.path(), environment_of({})), core::InputError) << "a folder";
  EXPECT_THROW(find_key({"A_API_KEY"}, folder_.path() / "none", environment_of({})), core::InputError);
}

TEST_F(KeysTest, AKeyCannotBreakOutOfItsHeader) {
  try {
    Key("sk-secret\r\nX-Injected: yes", "the test");
    FAIL();
  } catch (const core::InputError& error) {
    EXPECT_THAT(error.what(), Not(HasSubstr("sk-secret")));
  }
}

TEST(Key, IsRemovedWhereverItStands) {
  const Key key("sk-12345678", "test");
  EXPECT_EQ(key.removed_from("sk-12345678"), "[key]");
  EXPECT_EQ(key.removed_from("a sk-12345678sk-12345678 b sk-1234567"), "a [key][key] b sk-1234567");
  EXPECT_EQ(Key("none", "test").removed_from("none of it"), "none of it") << "no secret";
  EXPECT_EQ(Key().removed_from("text"), "text");
}
}  // namespace
}  // namespace agent::models

#include "results/web/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/evp.h>

#include <array>
#include <regex>

#include "core/paths.h"
#include "results/archive/archive_fixture.h"
#include "results/web/page_data.h"

namespace results::web::test {
namespace {
using namespace archive;
using namespace archive::test;
using core::Json;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kHostile = "</script><script>alert(1)</script><!--<script>&\xe2\x80\xa8";

std::string base64_of_sha256(const std::string& text) {
  std::array<unsigned char, 32> hash{};
  unsigned length = 0;
  EVP_Digest(text.data(), text.size(), hash.data(), &length, EVP_sha256(), nullptr);
  std::array<unsigned char, 64> base64{};
  EVP_EncodeBlock(base64.data(), hash.data(), static_cast<int>(length));
  return reinterpret_cast<const char*>(base64.data());
}

// The contents of all elements that begin with exactly this tag.
std::vector<std::string> bodies(const std::string& page, const std::string& tag, const std::string& end) {
  std::vector<std::string> all;
  for (size_t at = page.find(tag); at != std::string::npos; at = page.find(tag, at)) {
    at += tag.size();
    all.push_back(page.substr(at, page.find(end, at) - at));
  }
  return all;
}

std::string page_with(const Json& answers) {
  const core::Paths paths = core::installed_paths();
  return report_html(paths.pages(), paths.vendor(), {{"answers", answers}});
}

TEST(Report, DataCannotEndItsElement) {
  const std::string text = json_for_html({{"name", kHostile}});
  EXPECT_EQ(text.find_first_of("<>&"), std::string::npos);
  EXPECT_EQ(Json::parse(text)["name"], kHostile);
  EXPECT_TRUE(std::all_of(text.begin(), text.end(), [](char c) { return c > 0; }));
}

TEST(Report, ScriptsCannotEndTheirElementNorHideItsEnd) {
  const std::string script = script_for_html("f('</script>', /<!--|<Script/, \"<SCRIPT\")");
  EXPECT_EQ(script, "f('\\x3C/script>', /\\x3C!--|\\x3CScript/, \"\\x3CSCRIPT\")");
}

TEST(Report, LoadsNothing) {
  const std::string page = page_with({{"overview", {{"name", kHostile}}}});
  EXPECT_THAT(page, Not(HasSubstr("@import")));
  for (const std::string& style : bodies(page, "<style>", "</style>")) EXPECT_THAT(style, Not(HasSubstr("url(")));
  std::string markup = page;
  for (const std::string end : {"</script>", "</style>"}) {
    const std::string begin = "<" + end.substr(2, end.size() - 3);
    for (size_t at = markup.find(begin); at != std::string::npos; at = markup.find(begin, at + 1)) {
      const size_t open = markup.find('>', at) + 1;
      markup.erase(open, markup.find(end, open) - open);
    }
  }
  ASSERT_LT(markup.size(), 10'000u);
  static const std::regex kReference(R"re((src|href|action|data|srcset)="([^"]*)")re");
  size_t references = 0;
  for (auto at = std::sregex_iterator(markup.begin(), markup.end(), kReference); at != std::sregex_iterator(); ++at) {
    ++references;
    const std::string to = (*at)[2];
    EXPECT_TRUE(to[0] == '#' || to == "data:,") << to;
  }
  EXPECT_GE(references, 2u);
}

TEST(Report, ItsPolicyNamesItsScriptsAndStylesAndNothingElse) {
  const std::string page = page_with({{"overview", {{"name", kHostile}}}});
  const std::string begin = "Content-Security-Policy\" content=\"";
  const size_t at = page.find(begin);
  ASSERT_NE(at, std::string::npos);
  const std::string policy = page.substr(at + begin.size(), page.find('"', at + begin.size()) - at - begin.size());
  EXPECT_THAT(policy, HasSubstr("default-src 'none'"));
  EXPECT_THAT(policy, Not(HasSubstr("unsafe")));
  const auto scripts = bodies(page, "<script>", "</script>"), styles = bodies(page, "<style>", "</style>");
  EXPECT_GE(scripts.size(), 10u);
  EXPECT_EQ(styles.size(), 1u);
  for (const auto& part : {scripts, styles}) {
    for (const std::string& body : part) EXPECT_THAT(policy, HasSubstr("'sha256-" + base64_of_sha256(body) + "'"));
  }
  const std::regex hash("'sha256-");
  EXPECT_EQ(std::distance(std::sregex_iterator(policy.begin(), policy.end(), hash), std::sregex_iterator()),
            static_cast<std::ptrdiff_t>(scripts.size() + styles.size()));
}

TEST(Report, HoldsHostileNamesAsData) {
  const TemporaryArchive temporary;
  Started s(temporary.file());
  s.archive.add_attempt(
      s.attempt_at(s.add_candidate(kHostile, "seed"), verifier::verdicts::Effort::confirm, correct_judgement(3)));
  const std::string page = page_with(PageData(s.archive).report());
  EXPECT_THAT(page, Not(HasSubstr("alert(1)</script>")));
  const auto data = bodies(page, "<script type=\"application/json\" id=\"data\">", "</script>");
  ASSERT_EQ(data.size(), 1u);
  const Json answers = Json::parse(data[0])["answers"];
  EXPECT_THAT(answers["overview"]["leaderboard"][0]["solution"].get<std::string>(), HasSubstr("<script>alert(1)"));
}

TEST(Report, AnInstallationWithoutPagesIsNamed) {
  EXPECT_THROW(report_html("/nowhere", "/nowhere", {}), core::InputError);
}

}  // namespace
}  // namespace results::web::test

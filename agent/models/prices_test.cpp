#include "agent/models/prices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "agent/models/folder_fixture.h"
#include "core/error.h"

namespace agent::models {
namespace {
using testing::HasSubstr;

class PricesTest : public testing::Test {
 protected:
  Prices prices_of(const std::string& entries, const std::string& today = "2026-11-21") {
    const auto file = folder_.path() / "prices.json";
    std::ofstream(file) << R"({"about": "for a test", "prices": [)" << entries << "]}";
    return Prices::load(file, today);
  }
  test::Folder folder_;
};

const std::string kOtherPrices = R"("as_of": "2026-10-01", "source": "a page"})";

TEST_F(PricesTest, TokensOfEachKindHaveTheirPrice) {
  const Prices prices =
      prices_of(R"({"models": ["anthropic:a"], "input": 3, "output": 15, "cache_read": 0.3, "cache_write": 3.75, )" +
                kOtherPrices);
  EXPECT_DOUBLE_EQ(*prices.cost({1'000'000, 0, 0, 0, false}, "anthropic:a"), 3);
  EXPECT_DOUBLE_EQ(*prices.cost({1000, 100'000, 2000, 500, false}, "anthropic:a"), 0.003 + 0.03 + 0.0075 + 0.0075);
  EXPECT_EQ(prices.cost({}, "anthropic:a"), 0.0);
}

TEST_F(PricesTest, AnUnknownModelHasNoPrice) {
  const Prices prices = prices_of(R"({"models": ["openai:gpt-5"], "input": 1, "output": 2, )" + kOtherPrices);
  for (const char* name : {"openai:gpt-5", "openai-chat:gpt-5", "openai:gpt-5-2025-08-07", "openai:gpt-5-20250807",
                           "openai:gpt-5-latest"}) {
    EXPECT_TRUE(prices.cost({1, 0, 0, 1, false}, name)) << name;
  }
  for (const char* name : {"gpt-5", "openai:gpt-5.5", "openai:gpt-5-mini", "anthropic:gpt-5", "openai:", "",
                           "http://localhost:1/v1#gpt-5", "openai:gpt-5-2025-08", "exec:x", "-latest", "2025-08-07"}) {
    EXPECT_FALSE(prices.cost({1, 0, 0, 1, false}, name)) << name;
  }
  EXPECT_FALSE(prices.cost({1, 1, 0, 1, false}, "openai:gpt-5")) << "reading its cache has a price that is not known";
  EXPECT_FALSE(prices.cost({1, 0, 1, 1, false}, "openai:gpt-5"));
}

TEST_F(PricesTest, LongPromptsMayCostMore) {
  const Prices prices = prices_of(
      R"({"models": ["gemini:a", "gemini:b"], "prompt_up_to": 1000, "input": 1, "output": 1, "cache_read": 1, )" +
      kOtherPrices + R"(, {"models": ["gemini:a"], "input": 2, "output": 2, "cache_read": 2, )" + kOtherPrices);
  EXPECT_DOUBLE_EQ(*prices.cost({900, 100, 0, 0, false}, "gemini:a"), 0.001);
  EXPECT_DOUBLE_EQ(*prices.cost({901, 100, 0, 0, false}, "gemini:a"), 0.002002);
  EXPECT_TRUE(prices.cost({1000, 0, 0, 0, false}, "gemini:b"));
  EXPECT_FALSE(prices.cost({1001, 0, 0, 0, false}, "gemini:b"));
}

TEST_F(PricesTest, OffersEnd) {
  const std::string offer =
      R"({"models": ["gemini:a"], "input": 1, "output": 1, "until": "2026-12-31", )" + kOtherPrices;
  EXPECT_NE(prices_of(offer, "2026-12-31").find("gemini:a"), nullptr);
  EXPECT_EQ(prices_of(offer, "2027-01-01").find("gemini:a"), nullptr);
}

TEST_F(PricesTest, FaultsAreSaidWithTheirPlace) {
  for (const char* wrong :
       {R"({"models": ["a"], "input": 1})",
        R"({"models": "a", "input": 1, "output": 1, "as_of": "2026-10-01", "source": ""})",
        R"({"models": ["a"], "input": -1, "output": 1, "as_of": "2026-10-01", "source": ""})",
        R"({"models": ["a"], "input": 1, "output": 1, "as_of": "October", "source": ""})",
        R"({"models": ["a"], "input": 1, "output": 1, "ouptut": 1, "as_of": "2026-10-01", "source": ""})"}) {
    try {
      prices_of(wrong);
      FAIL() << wrong;
    } catch (const core::InputError& error) {
      EXPECT_THAT(error.what(), HasSubstr("prices.json#/prices/0")) << wrong;
    }
  }
}

TEST(ShippedPrices, AreReadAndDated) {
  const Prices prices = Prices::load(KW_SOURCE_FOLDER "/prompts/prices.json", "2026-11-21");
  for (const char* name : {"anthropic:claude-opus-4-5-20251101", "anthropic:claude-haiku-5-5", "openai:gpt-5.4",
                           "openai-chat:gpt-6-sol", "gemini:gemini-2.5-pro"}) {
    const Price* const price = prices.find(name);
    ASSERT_NE(price, nullptr) << name;
    EXPECT_GT(price->output, price->input) << name;
    EXPECT_LT(price->cache_read.value_or(0), price->input) << name;
    EXPECT_FALSE(price->source.empty()) << name;
  }
  EXPECT_DOUBLE_EQ(*prices.cost({0, 0, 0, 1000, false}, "anthropic:claude-opus-5"), 0.025);
}
}  // namespace
}  // namespace agent::models

#include "session/prices.h"

#include <gtest/gtest.h>

#include "support/must.h"

namespace reprise {
namespace {

using test::fails;
using test::must;

Usage used(std::int64_t input, std::int64_t output, std::int64_t cached = 0,
           std::int64_t written = 0) {
  return {.input = {input}, .output = {output}, .cached = {cached}, .cache_written = {written}};
}

TEST(Prices, ComputesCostsPerMillionTokens) {
  const Prices prices({});
  EXPECT_EQ(prices.cost(used(1'000'000, 0), "claude-opus-5-5"), Money::parse("4"));
  EXPECT_EQ(prices.cost(used(0, 1'000'000), "claude-opus-5-5"), Money::parse("20"));
  EXPECT_EQ(prices.cost(used(1, 1), "claude-sonnet-5-5"), Money::parse("0.000012"));
}

TEST(Prices, PricesCachedTokens) {
  const Prices prices({});
  EXPECT_EQ(prices.cost(used(100'000, 0, 50'000, 10'000), "claude-opus-5-5"),
            Money::parse("0.22"));  // 40k at 4, 50k at 0.2, 10k at 5
}

TEST(Prices, LongRequestsCostMore) {
  const Prices prices({});
  EXPECT_EQ(prices.cost(used(272'000, 0), "gpt-6.1-sol"), Money::parse("0.544"));
  EXPECT_EQ(prices.cost(used(272'001, 1000), "gpt-6.1-sol"), Money::parse("1.103004"));
}

TEST(Prices, FindsModelsByTheirCommonNames) {
  const Prices prices({});
  for (const char* name : {"claude-haiku-4-5", "claude-haiku-4-5-20251001", "claude-haiku-4-5[1m]",
                           "anthropic/claude-haiku-4-5", "claude-haiku-4-5-2025-10-01"}) {
    ASSERT_NE(prices.find(name), nullptr) << name;
    EXPECT_EQ(prices.find(name)->input, 1) << name;
  }
  for (const char* name : {"", "claude-haiku-4", "claude-haiku-4-5-turbo", "gpt-6-sol-mini", "2026",
                           "20261018", "-20261018", "/", "[1m]"}) {
    EXPECT_EQ(prices.find(name), nullptr) << name;
  }
  EXPECT_EQ(prices.cost(used(1000, 1000), "llama-3"), std::nullopt);
}

TEST(Prices, PrefersReportedCostsThenOwnPrices) {
  const Prices prices({must(parse_price("claude-opus-5-5 1 2")), must(parse_price("llama-3 1 2"))});
  Usage usage = used(1'000'000, 0);
  EXPECT_EQ(prices.cost(usage, "claude-opus-5-5"), Money::parse("1"));
  EXPECT_EQ(prices.cost(usage, "llama-3"), Money::parse("1"));
  usage.cost = Money::parse("0.5");
  EXPECT_EQ(prices.cost(usage, "claude-opus-5-5"), Money::parse("0.5"));
}

TEST(Prices, ParsesPrices) {
  const Price price = must(parse_price("  m  1.5 10 0.25 2 "));
  EXPECT_EQ(price.model, "m");
  EXPECT_EQ(price.input, 1.5);
  EXPECT_EQ(price.output, 10);
  EXPECT_EQ(price.cached, 0.25);
  EXPECT_EQ(price.cache_written, 2);
  EXPECT_EQ(must(parse_price("m 1 2 0.5")).cache_written, 1);
  EXPECT_EQ(must(parse_price("m 1 2")).cached, 1);
  for (const char* wrong : {"", "m", "m 1", "m 1 x", "m -1 2", "m 1 2 3 4 5", "m nan 2", "m inf 2",
                            "m 1e9 2", "m 1,5 2"}) {
    EXPECT_TRUE(fails(parse_price(wrong), Code::invalid_argument)) << wrong;
  }
}

TEST(Prices, OverflowingCostsAreUnknown) {
  EXPECT_EQ(Prices({}).cost(used(std::numeric_limits<std::int64_t>::max(), 0), "claude-opus-5-5"),
            std::nullopt);
}

}  // namespace
}  // namespace reprise

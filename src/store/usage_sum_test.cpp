#include "store/usage_sum.h"

#include <gtest/gtest.h>

#include "reprise/message.h"

namespace reprise::store {
namespace {

Usage one(std::int64_t tokens, std::optional<Money> cost, const char* source) {
  return {.input = {tokens},
          .output = {tokens * 2},
          .reasoning = {tokens * 3},
          .cached = {tokens * 4},
          .cache_written = {tokens * 5},
          .cost = cost,
          .price_source = source,
          .request_id = "r",
          .extra = {{"x", RawJson()}}};
}

TEST(AddUsage, AddsEachNumberAndNothingElse) {
  Usage sum;
  add_usage(sum, one(1, std::nullopt, ""));
  add_usage(sum, one(10, Money{5}, "config"));
  add_usage(sum, one(100, std::nullopt, ""));
  add_usage(sum, one(0, Money{6}, "config"));
  EXPECT_EQ(sum, (Usage{.input = {111},
                        .output = {222},
                        .reasoning = {333},
                        .cached = {444},
                        .cache_written = {555},
                        .cost = Money{11},
                        .price_source = "config"}));
}

TEST(AddUsage, PricesFromSeveralSourcesAreMixed) {
  Usage sum;
  for (const char* source : {"config", "provider", "config"}) {
    add_usage(sum, one(0, Money{1}, source));
  }
  EXPECT_EQ(sum.price_source, "mixed");
  EXPECT_EQ(sum.cost, Money{3});
}

TEST(AddUsage, NumbersStayAtTheLimit) {
  Usage sum;
  sum.input = {INT64_MAX - 1};
  sum.output = {INT64_MIN + 1};
  Usage more;
  more.input = {INT64_MAX};
  more.output = {INT64_MIN};
  add_usage(sum, more);
  EXPECT_EQ(sum.input.value, INT64_MAX);
  EXPECT_EQ(sum.output.value, INT64_MIN);
}

}  // namespace
}  // namespace reprise::store

#include <gtest/gtest.h>

#include <limits>

#include "cli/output/table.h"

namespace reprise::cli {
namespace {

TEST(BarChart, BarsAreProportional) {
  EXPECT_EQ(bar(0, 10, 4), "");
  EXPECT_EQ(bar(10, 10, 4), "████");
  EXPECT_EQ(bar(5, 10, 4), "██");
  EXPECT_EQ(bar(1, 1000, 4), "▏");
  EXPECT_EQ(bar(9, 16, 2), "█▏");
  EXPECT_EQ(bar(5, 0, 4), "");
  EXPECT_EQ(bar(20, 10, 2), "██");
  EXPECT_EQ(bar(-1, 10, 2), "");
}

TEST(BarChart, CountsAreShort) {
  EXPECT_EQ(compact_count(0), "0");
  EXPECT_EQ(compact_count(999), "999");
  EXPECT_EQ(compact_count(1000), "1.0k");
  EXPECT_EQ(compact_count(9999), "9.9k");
  EXPECT_EQ(compact_count(12'345), "12k");
  EXPECT_EQ(compact_count(1'250'000), "1.2M");
  EXPECT_EQ(compact_count(999'999'999), "999M");
  EXPECT_EQ(compact_count(-1500), "-1.5k");
  EXPECT_EQ(compact_count(std::numeric_limits<std::int64_t>::max()), "9223372T");
}

}  // namespace
}  // namespace reprise::cli

#include "source/reuse_time.h"

#include <gtest/gtest.h>

namespace reprise::test {
namespace {

TEST(ReuseTime, IsLongForWhatTookLong) {
  source::ReuseTime reuse;
  EXPECT_TRUE(reuse.is_over());
  const auto now = source::ReuseTime::Clock::now();
  reuse.begin(now - std::chrono::minutes(1));
  EXPECT_FALSE(reuse.is_over());
  reuse.begin(now + std::chrono::seconds(1));
  EXPECT_TRUE(reuse.is_over()) << "looking again is quick";
}

}  // namespace
}  // namespace reprise::test

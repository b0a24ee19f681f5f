#include "base/assert.h"

#include <gtest/gtest.h>

#include <csignal>

namespace reprise {
namespace {

TEST(Assert, LetsATrueConditionPass) {
  int evaluated = 0;
  REPRISE_ASSERT(++evaluated == 1);
  EXPECT_EQ(evaluated, 1);
}

TEST(AssertDeathTest, PrintsLocationAndConditionAndAborts) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(REPRISE_ASSERT(1 + 1 == 3), testing::KilledBySignal(SIGABRT),
              "^src/base/assert_test\\.cpp:[0-9]+: broken invariant: 1 \\+ 1 == 3");
}

}  // namespace
}  // namespace reprise

#include "base/hash.h"

#include <gtest/gtest.h>

namespace reprise {
namespace {

TEST(Fnv1a, KnownValues) {
  EXPECT_EQ(fnv1a(""), 0xcbf29ce484222325U);
  EXPECT_EQ(fnv1a("a"), 0xaf63dc4c8601ec8cU);
  EXPECT_EQ(fnv1a("foobar"), 0x85944171f73967e8U);
  EXPECT_NE(fnv1a("foobar", 1), fnv1a("foobar"));
}

}  // namespace
}  // namespace reprise

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/testing/temporary_folder.h"
#include "store/paths.h"
#include "support/must.h"

namespace reprise::store {
namespace {

using test::must;

TEST(Quarantine, OverwritesNothing) {
  const test::TemporaryFolder folder;
  const auto file = folder.path() / "a.json";
  EXPECT_EQ(must(quarantine(file, "one")), folder.path() / "a.json.bak");
  EXPECT_EQ(must(quarantine(file, "two")), folder.path() / "a.json.bak.1");
  EXPECT_EQ(must(quarantine(file, "three")), folder.path() / "a.json.bak.2");
  EXPECT_EQ(must(quarantine(file, "two")), folder.path() / "a.json.bak.1") << "it is there already";
  EXPECT_EQ(must(read_file(folder.path() / "a.json.bak")), "one");
  EXPECT_EQ(must(read_file(folder.path() / "a.json.bak.2")), "three");
}

}  // namespace
}  // namespace reprise::store

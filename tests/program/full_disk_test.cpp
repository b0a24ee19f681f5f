// A disk without a byte left: who asks is told that the answer is not saved, and only what is
// stored is shown as a message.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "program/program_fixture.h"
#include "reprise/open_store.h"
#include "reprise/session.h"
#include "reprise/store.h"
#include "support/must.h"
#include "support/small_disk.h"

namespace reprise::test {
namespace {

namespace fs = std::filesystem;

std::size_t count(std::string_view text, std::string_view what) {
  std::size_t count = 0;
  for (auto at = text.find(what); at != std::string_view::npos; at = text.find(what, at + 1)) {
    ++count;
  }
  return count;
}

class FullDiskTest : public ProgramTest, public testing::WithParamInterface<const char*> {
 protected:
  fs::path folder() const { return home() / "disk"; }
  std::string url() const { return cat(GetParam(), ":", (folder() / "store").native()); }

  std::int64_t stored() {
    const auto store = must(open_store(url(), {.access = Access::read}));
    const SessionPage page = must(store->list({}));
    return page.sessions.empty() ? 0 : page.sessions.front().head.value;
  }
};

TEST_P(FullDiskTest, OnlyWhatIsStoredIsShownAsAMessage) {
  fs::create_directories(folder());
  const SmallDisk disk(folder());
  if (!disk.is_mounted()) {
    GTEST_SKIP() << "mounting a small disk needs root";
  }
  ASSERT_EQ(run({"--store", url(), "ask", "hello"}).code, 0);
  const std::int64_t before = stored();
  disk.fill();
  // More than fits into what the last block of a file has left.
  const Done done = run({"--store", url(), "--json", "ask", "-c", std::string(100'000, 'x')});
  EXPECT_EQ(done.code, 2) << done.err;
  EXPECT_EQ(static_cast<std::int64_t>(count(done.out, R"("event":"message")")), stored() - before);
  EXPECT_EQ(count(done.out, R"("event":"done")"), 1U);
  EXPECT_NE(done.err, "");
  fs::remove(folder() / "filler");
  EXPECT_EQ(run({"--store", url(), "ask", "-c", "and now"}).code, 0);
  EXPECT_EQ(run({"--store", url(), "verify"}).code, 0);
}

INSTANTIATE_TEST_SUITE_P(Stores, FullDiskTest,
                         testing::Values("sqlite", "sessions", "chatdir", "context"),
                         [](const auto& one) { return std::string(one.param); });

}  // namespace
}  // namespace reprise::test

#include "store/document/partial_file.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/testing/temporary_folder.h"
#include "reprise/message.h"
#include "reprise/session.h"
#include "support/build.h"
#include "support/must.h"

namespace reprise::store {
namespace {

using test::must;
using test::operation_id;

std::vector<Block> text(const char* words) {
  return {TextBlock{words, {}}};
}

TEST(PartialFile, GrowsByPieces) {
  const test::TemporaryFolder folder;
  const auto file = folder.path() / "a.answer";
  const OperationId answer = operation_id("one");
  EXPECT_EQ(must(read_partial(file, answer)), std::vector<Block>{});
  must(add_partial(file, answer, text("Hel")));
  must(add_partial(file, answer, text("lo\n")));
  EXPECT_EQ(must(read_partial(file, answer)), text("Hello\n"));
  must(remove_if_exists(file));
  must(remove_if_exists(file));
  EXPECT_EQ(must(read_partial(file, answer)), std::vector<Block>{});
}

// However much was appended after it, and before.
TEST(PartialFile, TheLastLeaseIsRead) {
  const test::TemporaryFolder folder;
  const auto file = folder.path() / "a.answer";
  const OperationId answer = operation_id("one");
  const auto lease = [](int seconds) {
    return Lease{.renewed_at = test::at(seconds),
                 .uptime = std::chrono::seconds(seconds),
                 .length = std::chrono::seconds(30)};
  };
  EXPECT_EQ(must(read_lease(file, answer)), std::nullopt);
  const std::string words(30'000, 'w');
  for (const int pieces : {0, 1, 5, 40}) {
    must(add_lease(file, answer, lease(1)));
    must(add_lease(file, answer, lease(2 + pieces)));
    for (int i = 0; i < pieces; ++i) {
      must(add_partial(file, answer, text(words.c_str())));
    }
    EXPECT_EQ(must(read_lease(file, answer)), lease(2 + pieces)) << pieces;
  }
  EXPECT_EQ(must(read_lease(file, operation_id("two"))), std::nullopt);
}

TEST(PartialFile, PiecesOfAnotherAnswerAreRemoved) {
  const test::TemporaryFolder folder;
  const auto file = folder.path() / "a.answer";
  must(add_partial(file, operation_id("one"), text("old")));
  EXPECT_EQ(must(read_partial(file, operation_id("on"))), std::vector<Block>{});
  must(add_partial(file, operation_id("two"), text("new")));
  EXPECT_EQ(must(read_partial(file, operation_id("one"))), std::vector<Block>{});
  EXPECT_EQ(must(read_partial(file, operation_id("two"))), text("new"));
}

TEST(PartialFile, ATruncatedLineCostsOnlyItself) {
  const test::TemporaryFolder folder;
  const auto file = folder.path() / "a.answer";
  const OperationId answer = operation_id("one");
  must(add_partial(file, answer, text("first ")));
  const std::size_t first = must(read_file(file)).size();
  must(add_partial(file, answer, text("second ")));
  const std::string whole = must(read_file(file));
  for (std::size_t cut = first; cut < whole.size() - 1; ++cut) {
    must(replace_file(file, whole.substr(0, cut)));
    EXPECT_EQ(must(read_partial(file, answer)), text("first ")) << cut;
    must(add_partial(file, answer, text("third")));
    EXPECT_EQ(must(read_partial(file, answer)), text("first third")) << cut;
  }
}

}  // namespace
}  // namespace reprise::store

// What a caller's function throws goes on to the caller, and the store works on.

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "contract/store_contract.h"
#include "reprise/error.h"
#include "reprise/message.h"
#include "reprise/session.h"
#include "reprise/store.h"
#include "reprise/store_offers.h"
#include "support/build.h"
#include "support/must.h"

namespace reprise::test {
namespace {

TEST_P(StoreContract, WhatASinkThrowsReachesTheReader) {
  REPRISE_NEEDS(holds().words);
  const std::vector<Message> all = numbered(messages(5));
  const SessionId id = create("s", all);
  int delivered = 0;
  const auto sink = [&](Message&&) -> Flow {
    if (++delivered == 2) {
      throw 42;
    }
    return Flow::go_on;
  };
  EXPECT_THROW((void)store().read(id, {}, sink), int);
  EXPECT_EQ(delivered, 2);
  EXPECT_EQ(stored(id), all);
  append(id, messages(1));
  EXPECT_EQ(stored(id).size(), 6U);
}

TEST_P(StoreContract, WhatAnEditThrowsChangesNothing) {
  REPRISE_NEEDS(offers().todos != nullptr);
  const SessionId id = create("s");
  const auto add = [](std::vector<Todo>& todos) -> Result<> {
    todos.push_back({"first", TodoStatus::pending, "", {}});
    return {};
  };
  ASSERT_TRUE(offers().todos->edit_todos(id, add));
  const auto thrower = [](std::vector<Todo>& todos) -> Result<> {
    todos.clear();
    throw 42;
  };
  EXPECT_THROW((void)offers().todos->edit_todos(id, thrower), int);
  EXPECT_EQ(must(offers().todos->todos(id)).size(), 1U);
  ASSERT_TRUE(offers().todos->edit_todos(id, add));
  EXPECT_EQ(must(offers().todos->todos(id)).size(), 2U);
}

TEST_P(StoreContract, WhatABlobsSinkThrowsReachesTheReader) {
  REPRISE_NEEDS(offers().blobs != nullptr);
  const BlobHash hash = must(offers().blobs->put_blob("some bytes"));
  EXPECT_THROW((void)offers().blobs->read_blob(hash, [](std::string_view) -> Flow { throw 42; }),
               int);
  std::string bytes;
  ASSERT_TRUE(offers().blobs->read_blob(hash, [&](std::string_view piece) {
    bytes += piece;
    return Flow::go_on;
  }));
  EXPECT_EQ(bytes, "some bytes");
}

}  // namespace
}  // namespace reprise::test

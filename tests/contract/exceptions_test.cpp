// Exceptions of a caller's function propagate to the caller, and the store remains usable.

#include <gtest/gtest.h>

#include <atomic>
#include <iterator>
#include <thread>

#include "contract/store_contract.h"
#include "reprise/capabilities.h"
#include "support/build.h"
#include "support/must.h"

namespace reprise::test {
namespace {

TEST_P(StoreContract, ExceptionsOfASinkReachTheReader) {
  REPRISE_NEEDS(capabilities().messages);
  const std::vector<Message> all = numbered(messages(5));
  const SessionId id = create("s", all);
  int delivered = 0;
  const auto sink = [&](Message&&) -> Flow {
    if (++delivered == 2) {
      throw 42;
    }
    return Flow::proceed;
  };
  EXPECT_THROW((void)store().read(id, {}, sink), int);
  EXPECT_EQ(delivered, 2);
  EXPECT_EQ(stored(id), all);
  append(id, messages(1));
  EXPECT_EQ(stored(id).size(), 6U);
}

TEST_P(StoreContract, AThrowingEditChangesNothing) {
  REPRISE_NEEDS(capabilities().todos != nullptr);
  const SessionId id = create("s");
  const auto add = [](std::vector<Todo>& todos) -> Result<> {
    todos.push_back({"first", TodoStatus::pending, "", {}});
    return {};
  };
  ASSERT_TRUE(capabilities().todos->edit_todos(id, add));
  const auto thrower = [](std::vector<Todo>& todos) -> Result<> {
    todos.clear();
    throw 42;
  };
  EXPECT_THROW((void)capabilities().todos->edit_todos(id, thrower), int);
  EXPECT_EQ(must(capabilities().todos->todos(id)).size(), 1U);
  ASSERT_TRUE(capabilities().todos->edit_todos(id, add));
  EXPECT_EQ(must(capabilities().todos->todos(id)).size(), 2U);
}

// Writers of several threads may share a transaction, which runs on one of the threads.
TEST_P(StoreContract, ExceptionsOfAnEditReachItsOwnThread) {
  REPRISE_NEEDS(capabilities().todos != nullptr && capabilities().many_sessions);
  constexpr int kThreads = 6;
  constexpr int kEdits = 15;
  std::vector<SessionId> ids;
  for (int thread = 0; thread < kThreads; ++thread) {
    ids.push_back(create(std::string(1, static_cast<char>('a' + thread))));
  }
  std::atomic<int> thrown = 0;
  std::atomic<int> edited = 0;
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < kThreads; ++thread) {
      const bool throws = thread % 2 == 0;
      threads.emplace_back([&, throws, id = ids.at(static_cast<std::size_t>(thread))] {
        for (int i = 0; i < kEdits; ++i) {
          try {
            const auto edit = [throws](std::vector<Todo>& todos) -> Result<> {
              todos.push_back({"one", TodoStatus::pending, "", {}});
              if (throws) {
                throw 42;
              }
              return {};
            };
            edited += capabilities().todos->edit_todos(id, edit) ? 1 : 0;
          } catch (int) {
            ++thrown;
          }
        }
      });
    }
  }
  EXPECT_EQ(thrown, kThreads / 2 * kEdits);
  EXPECT_EQ(edited, kThreads / 2 * kEdits);
  for (int thread = 0; thread < kThreads; ++thread) {
    const auto todos = must(capabilities().todos->todos(ids.at(static_cast<std::size_t>(thread))));
    EXPECT_EQ(std::ssize(todos), thread % 2 == 0 ? 0 : kEdits);
  }
}

TEST_P(StoreContract, ExceptionsOfABlobSinkReachTheReader) {
  REPRISE_NEEDS(capabilities().blobs != nullptr);
  const BlobHash hash = must(capabilities().blobs->put_blob("some bytes"));
  EXPECT_THROW(
      (void)capabilities().blobs->read_blob(hash, [](std::string_view) -> Flow { throw 42; }), int);
  std::string bytes;
  ASSERT_TRUE(capabilities().blobs->read_blob(hash, [&](std::string_view piece) {
    bytes += piece;
    return Flow::proceed;
  }));
  EXPECT_EQ(bytes, "some bytes");
}

}  // namespace
}  // namespace reprise::test

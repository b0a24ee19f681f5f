#include <gtest/gtest.h>

#include "reprise/open_store.h"

namespace reprise {
namespace {

TEST(Get, AbsenceIsAnErrorThatNamesTheSession) {
  const auto store = open_memory_store();
  const auto missing = get(*store, *SessionId::parse("nobody"));
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error(), (Error{Code::not_found, "no session nobody"}));
}

TEST(ReadAll, GivesTheRangeInItsDirection) {
  const auto store = open_memory_store();
  const Session session{.info = {.id = *SessionId::parse("s")}};
  ASSERT_TRUE(store->create(session));
  ASSERT_TRUE(store->append(session.info.id, std::vector<Message>(4, Message{.role = "user"}), {}));
  const auto some =
      read_all(*store, session.info.id, {.from = {1}, .to = {3}, .newest_first = true});
  ASSERT_TRUE(some);
  ASSERT_EQ(some->size(), 2U);
  EXPECT_EQ(some->front().seq, Seq{2});
  EXPECT_EQ(some->back().seq, Seq{1});
}

}  // namespace
}  // namespace reprise

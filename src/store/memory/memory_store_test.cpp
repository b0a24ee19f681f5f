// What only the memory store promises; the contract suite tests the remaining behaviour.

#include <gtest/gtest.h>

#include "reprise/open_store.h"
#include "store/stored_session.h"

namespace reprise::store {
namespace {

std::shared_ptr<Log> log_of(int count) {
  auto log = std::make_shared<Log>();
  for (int number = 0; number < count; ++number) {
    Message message;
    message.role = std::to_string(number);
    log->own.push_back(std::make_shared<const Message>(std::move(message)));
  }
  return log;
}

TEST(MemoryLog, SharesWithoutCopying) {
  const auto whole = log_of(1000);
  const auto part = share(whole, 600);
  EXPECT_EQ(part->size(), 600);
  EXPECT_TRUE(part->own.empty());
  EXPECT_EQ(part->at(599), whole->at(599)) << "the same object";
}

TEST(MemoryLog, ChainsStayShort) {
  const auto whole = log_of(10);
  auto log = share(whole, 5);
  for (int generation = 0; generation < 100; ++generation) {
    log = share(log, 5);
  }
  EXPECT_EQ(log->base, whole) << "forks of forks at the same place share with the first";
}

TEST(MemoryStore, HasAllCapabilitiesThatNeedNoDisk) {
  const auto store = open_memory_store();
  const Capabilities& offers = store->capabilities();
  EXPECT_NE(offers.rewriting, nullptr);
  EXPECT_NE(offers.forking, nullptr);
  EXPECT_NE(offers.partials, nullptr);
  EXPECT_NE(offers.todos, nullptr);
  EXPECT_NE(offers.artefacts, nullptr);
  EXPECT_NE(offers.blobs, nullptr);
  EXPECT_NE(offers.trash, nullptr);
  EXPECT_EQ(offers.verifier, nullptr);
  EXPECT_EQ(offers.repair, nullptr);
  EXPECT_EQ(offers.backup, nullptr);
}

TEST(MemoryStore, EndsWithTheObject) {
  const Session session{.info = {.id = *SessionId::parse("s")}};
  const auto first = open_memory_store();
  ASSERT_TRUE(first->create(session));
  EXPECT_FALSE(get(*open_memory_store(), session.info.id));
  EXPECT_TRUE(get(*first, session.info.id));
}

// A reader keeps its snapshot, whatever happens to the session meanwhile.
TEST(MemoryStore, ReadersKeepTheirSnapshot) {
  const auto store = open_memory_store();
  const Session session{.info = {.id = *SessionId::parse("s")}};
  ASSERT_TRUE(store->create(session));
  ASSERT_TRUE(store->append(session.info.id, std::vector<Message>(3, Message{.role = "user"}), {}));
  int seen = 0;
  ASSERT_TRUE(store->read(session.info.id, {}, [&](Message&& message) {
    EXPECT_EQ(message.seq.value, seen++);
    if (seen == 1) {
      EXPECT_TRUE(store->capabilities().rewriting->replace_suffix(session.info.id, {0}, {}, {}));
      EXPECT_TRUE(store->capabilities().trash->purge(session.info.id));
    }
    return Flow::proceed;
  }));
  EXPECT_EQ(seen, 3);
}

}  // namespace
}  // namespace reprise::store

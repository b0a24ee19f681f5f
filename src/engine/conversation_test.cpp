#include "reprise/conversation.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/fake_provider.h"
#include "reprise/message.h"
#include "reprise/open_store.h"
#include "reprise/provider.h"
#include "reprise/session.h"
#include "reprise/store.h"
#include "reprise/store_offers.h"

namespace reprise {
namespace {

Session make_session(std::string_view id) {
  return {
      SessionInfo{
          *SessionId::parse(id), {}, {}, SessionState::active, {}, {}, {}, {}, {}, {}, {}, {}, {}},
      {},
      {},
      {},
      {},
      {},
      {}};
}

TEST(Conversation, KeepsAPlainTurn) {
  const auto store = open_memory_store();
  const Session session = make_session("s1");
  ASSERT_TRUE(store->create(session));
  FakeProvider provider;
  provider.add().started("r1").text("Hel").text("lo").usage(3, 2).ended();
  Conversation talk(provider, store.get(), session, {.model = "m"});
  TurnObserver observer;
  const auto outcome = talk.ask("Hi", observer);
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_TRUE(outcome->saved);
  EXPECT_EQ(plain_text(outcome->answer), "Hello");
  const auto messages = read_all(*store, session.info.id);
  ASSERT_TRUE(messages);
  ASSERT_EQ(messages->size(), 2U);
  EXPECT_EQ(messages->at(1), outcome->answer);
  const auto partial = store->offers().partials->find(session.info.id);
  EXPECT_TRUE(partial && !*partial);
}

}  // namespace
}  // namespace reprise

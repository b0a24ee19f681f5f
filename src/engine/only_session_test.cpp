// Several conversations that each begin the only session of a store: they become one.

#include <gtest/gtest.h>

#include "base/testing/temporary_folder.h"
#include "engine/testing/fake_provider.h"
#include "engine/testing/messages.h"
#include "reprise/conversation.h"
#include "reprise/open_store.h"

namespace reprise {
namespace {

class OnlySessionTest : public testing::Test {
 protected:
  // As in a process of its own.
  struct Asker {
    std::unique_ptr<Store> store;
    FakeProvider provider = {};
    std::unique_ptr<Conversation> conversation = {};

    Result<Outcome> ask(std::string_view question) {
      RecordingObserver observer;
      auto outcome = conversation->ask(question, observer);
      EXPECT_TRUE(observer.warnings.empty());
      return outcome;
    }
  };

  std::unique_ptr<Asker> asker(std::string_view id) const {
    auto store = open_context_store(folder_.path() / "openai.json");
    EXPECT_TRUE(store) << store.error().message;
    auto made = std::make_unique<Asker>(Asker{.store = *std::move(store)});
    made->conversation = std::make_unique<Conversation>(
        made->provider, made->store.get(), make_session(id),
        ConversationOptions{.busy_timeout = std::chrono::milliseconds(50), .is_new = true});
    return made;
  }

  std::string stored() const {
    const auto store = *open_context_store(folder_.path() / "openai.json");
    const auto page = *store->list({});
    EXPECT_EQ(page.sessions.size(), 1U);
    return page.sessions.empty() ? "" : spell(*read_all(*store, page.sessions.front().id));
  }

  test::TemporaryFolder folder_;
};

TEST_F(OnlySessionTest, TheLaterOneGoesOnInTheFirst) {
  const auto first = asker("a");
  const auto second = asker("b");
  first->provider.add().text("1").ended();
  second->provider.add().text("2").ended();
  EXPECT_TRUE(first->ask("one")->saved);
  EXPECT_TRUE(second->ask("two")->saved);
  EXPECT_EQ(stored(), "user: one | assistant: 1 | user: two | assistant: 2");
  EXPECT_EQ(second->conversation->session().info.id.str(), "a");
  EXPECT_EQ(spell(second->provider.seen.at(0).messages), "user: one | assistant: 1 | user: two");
}

TEST_F(OnlySessionTest, AlsoIfBothHaveBegun) {
  const auto first = asker("a");
  const auto second = asker("b");
  ASSERT_TRUE(first->conversation->store_session());
  ASSERT_TRUE(second->conversation->store_session());
  first->provider.add().text("1").ended();
  second->provider.add().text("2").ended();
  EXPECT_TRUE(second->ask("two")->saved);
  EXPECT_TRUE(first->ask("one")->saved);
  EXPECT_EQ(stored(), "user: two | assistant: 2 | user: one | assistant: 1");
}

// The first question of the other session was refused, so that session is gone again.
TEST_F(OnlySessionTest, GoesBackToItsOwnIfTheOtherIsWithdrawn) {
  const auto first = asker("a");
  const auto second = asker("b");
  second->provider.add().text("2").ended();
  first->provider.add()
      .then([&] { EXPECT_FALSE(second->ask("two")) << "while the other one is answered"; })
      .fails(Code::invalid_argument, "refused");
  EXPECT_FALSE(first->ask("one"));
  EXPECT_TRUE(second->ask("two")->saved);
  EXPECT_EQ(stored(), "user: two | assistant: 2");
  EXPECT_EQ(second->conversation->session().info.id.str(), "b");
}

}  // namespace
}  // namespace reprise

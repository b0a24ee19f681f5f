// A store with response ids only, without messages; and one without unanswered questions.

#include <gtest/gtest.h>
#include <stdlib.h>

#include "base/testing/temporary_folder.h"
#include "engine/testing/fake_provider.h"
#include "engine/testing/faulty_store.h"
#include "engine/testing/messages.h"
#include "reprise/capabilities.h"
#include "reprise/conversation.h"
#include "reprise/open_store.h"

namespace reprise {
namespace {

namespace fs = std::filesystem;
using Chain = std::vector<ResponseLink>;

class NoWordsTest : public testing::Test {
 protected:
  NoWordsTest() {
    chain_store_ = *open_chain_store(folder_ / "conversations.json");
    store_ = std::make_unique<FaultyStore>(*chain_store_);
    session_.info.title = "A title";
    provider_.stores = true;
  }

  void create_with(Chain chain) {
    session_.response_chain = std::move(chain);
    ASSERT_TRUE(chain_store_->create(session_));
  }
  Chain stored_chain(const SessionId& id) { return get(*chain_store_, id)->response_chain; }
  std::vector<SessionInfo> listed(SessionState state) {
    return chain_store_->list({.states = {state}})->sessions;
  }

  const test::TemporaryFolder temporary_;
  fs::path folder_ = temporary_.path();
  std::unique_ptr<Store> chain_store_;
  std::unique_ptr<FaultyStore> store_;
  Session session_ = make_session("s1");
  FakeProvider provider_;
  RecordingObserver listener_;
};

TEST_F(NoWordsTest, TheChainGrowsAndIsContinued) {
  create_with({{"fake", "r1"}});
  provider_.add().started("r2").text("a").ended();
  provider_.add().started("r3").text("b").ended();
  Conversation conversation(provider_, store_.get(), session_, {.system = "Be brief."});
  EXPECT_TRUE(conversation.ask("one", listener_)->saved);
  EXPECT_TRUE(conversation.ask("two", listener_)->saved);
  EXPECT_EQ(provider_.seen.at(0).previous_response_id, "r1");
  EXPECT_EQ(spell(provider_.seen.at(0).messages), "user: one");
  EXPECT_EQ(provider_.seen.at(1).previous_response_id, "r2");
  EXPECT_EQ(spell(provider_.seen.at(1).messages), "user: two");
  for (const auto& request : provider_.seen) {
    EXPECT_EQ(request.system, "Be brief.") << "a response id does not carry the instructions";
  }
  EXPECT_EQ(stored_chain(session_.info.id),
            (Chain{{"fake", "r1"}, {"fake", "r2"}, {"fake", "r3"}}));
  EXPECT_TRUE(listener_.warnings.empty());
}

TEST_F(NoWordsTest, ASessionIsStoredWithItsFirstAnswer) {
  provider_.add().fails(Code::unauthorized);
  provider_.add().started("r1").text("a").ended();
  Conversation conversation(provider_, store_.get(), session_, {});
  EXPECT_FALSE(conversation.ask("one", listener_));
  EXPECT_TRUE(fs::is_empty(folder_)) << "nothing that could be gone on with";
  EXPECT_TRUE(conversation.ask("two", listener_)->saved);
  EXPECT_EQ(stored_chain(session_.info.id), (Chain{{"fake", "r1"}}));
  EXPECT_EQ(get(*chain_store_, session_.info.id)->info.title, "A title");
}

TEST_F(NoWordsTest, OnlyTheAnswerThatEndsATurnIsContinuedFrom) {
  ToolRegistry tools;
  ASSERT_TRUE(tools.add({{"t", "", *RawJson::parse("{}")},
                         [](const ToolContext&, const RawJson&) -> Result<ToolOutput> {
                           return ToolOutput{"done"};
                         }}));
  provider_.add().started("r1").call("t1", "t", "").ended();
  provider_.add().started("r2").text("a").ended();
  provider_.add().started("r3").text("cut").fails(Code::io);
  Conversation conversation(provider_, store_.get(), session_, {.tools = &tools});
  EXPECT_TRUE(conversation.ask("one", listener_)->saved);
  EXPECT_TRUE(conversation.ask("two", listener_)->error);
  EXPECT_EQ(stored_chain(session_.info.id), (Chain{{"fake", "r2"}}));
}

TEST_F(NoWordsTest, AfterAnIncompleteAnswerOnlyNewMessagesAreSent) {
  provider_.add().started("r1").text("a").ended();
  provider_.add().started("r2").text("cut").fails(Code::io);
  provider_.add().started("r3").text("b").ended();
  Conversation conversation(provider_, store_.get(), session_, {});
  EXPECT_TRUE(conversation.ask("one", listener_));
  EXPECT_TRUE(conversation.ask("two", listener_));
  EXPECT_TRUE(conversation.ask("three", listener_));
  EXPECT_EQ(provider_.seen.at(2).previous_response_id, "r1");
  EXPECT_EQ(spell(provider_.seen.at(2).messages).find("one"), std::string::npos);
}

TEST_F(NoWordsTest, AnExpiredConversationGoesToTheTrash) {
  create_with({{"fake", "r1"}});
  provider_.add().fails(Code::expired);
  provider_.add().started("r2").text("a").ended();
  Conversation conversation(provider_, store_.get(), session_, {});
  EXPECT_TRUE(conversation.ask("one", listener_)->saved);
  EXPECT_EQ(listener_.warnings, std::vector<std::string>{"Conversation expired. Starting fresh."});
  EXPECT_EQ(provider_.seen.at(1).previous_response_id, "");
  ASSERT_EQ(listed(SessionState::trashed).size(), 1U);
  EXPECT_EQ(listed(SessionState::trashed).front().id, session_.info.id);
  const std::vector<SessionInfo> fresh = listed(SessionState::active);
  ASSERT_EQ(fresh.size(), 1U);
  EXPECT_EQ(fresh.front().id, conversation.session().info.id);
  EXPECT_EQ(fresh.front().title, "one");
  EXPECT_EQ(stored_chain(fresh.front().id), (Chain{{"fake", "r2"}}));
}

TEST_F(NoWordsTest, MessagesInMemoryAreSentAgain) {
  provider_.add().started("r1").text("a").ended();
  provider_.add().fails(Code::expired);
  provider_.add().started("r2").text("b").ended();
  Conversation conversation(provider_, store_.get(), session_, {});
  EXPECT_TRUE(conversation.ask("one", listener_));
  EXPECT_TRUE(conversation.ask("two", listener_));
  EXPECT_EQ(spell(provider_.seen.at(2).messages), "user: one | assistant: a | user: two");
  EXPECT_TRUE(listener_.warnings.empty());
  EXPECT_EQ(stored_chain(session_.info.id), (Chain{{"fake", "r1"}, {"fake", "r2"}}));
}

TEST_F(NoWordsTest, NoOtherErrorRemovesAnything) {
  create_with({{"fake", "r1"}});
  for (const Code code : {Code::unauthorized, Code::rate_limited, Code::io, Code::timeout,
                          Code::invalid_argument, Code::not_found, Code::cancelled}) {
    provider_.add().fails(code);
  }
  Conversation conversation(provider_, store_.get(), session_, {});
  for (std::size_t i = provider_.scripts.size(); i > 0; --i) {
    EXPECT_FALSE(conversation.ask("one", listener_));
  }
  EXPECT_EQ(stored_chain(session_.info.id), (Chain{{"fake", "r1"}}));
  EXPECT_EQ(listed(SessionState::active).size(), 1U);
}

TEST_F(NoWordsTest, UnsavedResponsesAreSavedLater) {
  for (const char* const id : {"r1", "r2"}) {
    provider_.add().started(id).text("a").ended();
  }
  Conversation conversation(provider_, store_.get(), session_, {});
  store_->fails = [](int) { return true; };
  EXPECT_FALSE(conversation.ask("one", listener_)->saved);
  EXPECT_EQ(listener_.warnings.size(), 1U);
  store_->fails = [](int) { return false; };
  EXPECT_TRUE(conversation.ask("two", listener_)->saved);
  EXPECT_EQ(stored_chain(session_.info.id), (Chain{{"fake", "r1"}, {"fake", "r2"}}));
}

// A store that cannot hold a question without an answer.
class NoOpenQuestions : public testing::Test {
 protected:
  void SetUp() override {
    store_.capabilities_for_test().open_questions = false;
    ASSERT_TRUE(memory_->create(session_));
    provider_.add().text("1").ended();
  }
  std::string stored() { return spell(*read_all(*memory_, session_.info.id)); }

  std::unique_ptr<Store> memory_ = open_memory_store();
  FaultyStore store_{*memory_};
  Session session_ = make_session("s1");
  FakeProvider provider_;
  RecordingObserver listener_;
};

TEST_F(NoOpenQuestions, AFailedCallAddsNothing) {
  provider_.add().fails(Code::unauthorized);
  provider_.add().text("3").ended();
  Conversation conversation(provider_, &store_, session_, {});
  EXPECT_TRUE(conversation.ask("one", listener_));
  EXPECT_FALSE(conversation.ask("two", listener_));
  EXPECT_EQ(stored(), "user: one | assistant: 1");
  EXPECT_FALSE(memory_->capabilities().partials->find_partial(session_.info.id)->has_value());
  EXPECT_TRUE(conversation.ask("three", listener_)->saved);
  EXPECT_EQ(stored(), "user: one | assistant: 1 | user: three | assistant: 3");
  EXPECT_EQ(spell(provider_.seen.back().messages), "user: one | assistant: 1 | user: three");
}

TEST_F(NoOpenQuestions, ACutAnswerKeepsItsQuestion) {
  provider_.add().text("half").fails(Code::io);
  Conversation conversation(provider_, &store_, session_, {});
  EXPECT_TRUE(conversation.ask("one", listener_));
  EXPECT_TRUE(conversation.ask("two", listener_)->error);
  EXPECT_EQ(read_all(*memory_, session_.info.id)->size(), 4U);
}

}  // namespace
}  // namespace reprise

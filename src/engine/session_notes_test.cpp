// Questions whose call failed: their place in the record and in later requests.

#include "engine/session_notes.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "engine/testing/fake_provider.h"
#include "engine/testing/messages.h"
#include "reprise/conversation.h"
#include "reprise/open_store.h"

namespace reprise {
namespace {

class UnansweredTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(store_->create(session_)); }

  void record(std::vector<Message> messages) {
    for (Message& message : messages) {
      message.created_at = Time{std::chrono::seconds(++seconds_)};
    }
    ASSERT_TRUE(store_->append(session_.info.id, std::move(messages), {}));
  }
  std::vector<Message> stored() { return *read_all(*store_, session_.info.id); }
  // Each question in a separate conversation, as `ask` does.
  Result<Outcome> ask(std::string_view words, ConversationOptions options = {}) {
    Conversation conversation(provider_, store_.get(), *get(*store_, session_.info.id),
                              std::move(options));
    return conversation.ask(words, listener_);
  }
  void refuse(std::string_view words, Code code = Code::unauthorized) {
    provider_.scripts.clear();
    provider_.add().fails(code);
    EXPECT_FALSE(ask(words));
    provider_.scripts.clear();
    provider_.add().text("yes").ended();
  }
  std::string last_sent() { return spell(provider_.seen.back().messages); }

  std::unique_ptr<Store> store_ = open_memory_store();
  Session session_ = make_session("s1");
  FakeProvider provider_;
  RecordingObserver listener_;
  std::int64_t seconds_ = 0;
};

TEST_F(UnansweredTest, AQuestionAskedAgainIsSentOnce) {
  for (int i = 0; i < 3; ++i) {
    refuse("question A");
  }
  ASSERT_TRUE(ask("question A"));
  EXPECT_EQ(last_sent(), "user: question A");
  EXPECT_EQ(spell(stored()),
            "user: question A | user: question A | user: question A | user: question A | "
            "assistant: yes")
      << "the record is what happened";
  ASSERT_TRUE(ask("B"));
  EXPECT_EQ(last_sent(), "user: question A | assistant: yes | user: B");
}

TEST_F(UnansweredTest, ARefusedQuestionIsReplacedByADifferentOne) {
  for (const Code code :
       {Code::unauthorized, Code::invalid_argument, Code::rate_limited, Code::io, Code::timeout}) {
    refuse("A", code);
  }
  ASSERT_TRUE(ask("B"));
  EXPECT_EQ(last_sent(), "user: B");
  EXPECT_EQ(spell(stored()),
            "user: A | user: A | user: A | user: A | user: A | user: B | "
            "assistant: yes");
}

TEST_F(UnansweredTest, InOneConversationToo) {
  for (Store* const store : {store_.get(), static_cast<Store*>(nullptr)}) {
    provider_.seen.clear();
    provider_.scripts.clear();
    provider_.add().fails(Code::unauthorized);
    provider_.add().fails(Code::unauthorized);
    provider_.add().text("yes").ended();
    Conversation conversation(provider_, store, session_, {});
    EXPECT_FALSE(conversation.ask("A", listener_));
    EXPECT_FALSE(conversation.ask("B", listener_));
    ASSERT_TRUE(conversation.ask("C", listener_));
    EXPECT_EQ(last_sent(), "user: C");
  }
}

TEST_F(UnansweredTest, AQuestionWhoseAnswerWasCutKeepsItsPlace) {
  refuse("before the first word", Code::cancelled);
  ASSERT_TRUE(ask("B"));
  EXPECT_TRUE(last_sent().starts_with("user: before the first word B")) << last_sent();
  provider_.scripts.clear();
  provider_.add().text("half").fails(Code::io);
  EXPECT_TRUE(ask("C")->error);
  provider_.scripts.clear();
  provider_.add().text("yes").ended();
  ASSERT_TRUE(ask("D"));
  EXPECT_TRUE(last_sent().ends_with("user: C | assistant: half | user: D")) << last_sent();
}

TEST_F(UnansweredTest, ContinuingAnswersTheLastOne) {
  refuse("A");
  refuse("A");
  refuse("B");
  Conversation conversation(provider_, store_.get(), *get(*store_, session_.info.id), {});
  ASSERT_TRUE(conversation.continue_turn(listener_));
  EXPECT_EQ(last_sent(), "user: B");
  refuse("C");
  Conversation again(provider_, store_.get(), *get(*store_, session_.info.id), {});
  ASSERT_TRUE(again.retry(listener_));
  EXPECT_EQ(last_sent(), "user: B | assistant: yes | user: C");
}

TEST_F(UnansweredTest, ARecordWithoutMarksIsReadByWhatItShows) {
  provider_.add().text("yes").ended();
  record({user("A"), user("A"), user("A"), user("B"), assistant("b"), user("C"), user("D")});
  ASSERT_TRUE(ask("E"));
  EXPECT_EQ(last_sent(), "user: A B | assistant: b | user: C D E");
}

// Such as two pictures.
TEST_F(UnansweredTest, QuestionsWithoutWordsAreNotTheSame) {
  provider_.add().text("yes").ended();
  const auto picture = [](std::string_view url) {
    return message_of(role::kUser, {ImageBlock{"image/png", {}, std::string(url), {}}});
  };
  record({picture("https://x/1.png"), picture("https://x/2.png")});
  ASSERT_TRUE(ask("Which is the older one?"));
  ASSERT_EQ(provider_.seen.back().messages.size(), 1U);
  EXPECT_EQ(provider_.seen.back().messages.front().blocks.size(), 3U) << last_sent();
}

TEST_F(UnansweredTest, TheBudgetDoesNotCountThem) {
  provider_.add().text("yes").ended();
  const std::string long_text(400, 'a');  // 100 tokens
  record({user("old"), assistant("answer"), user(long_text), user(long_text), user(long_text)});
  ASSERT_TRUE(ask("q", {.budget = TokenCount{150}}));
  EXPECT_TRUE(last_sent().starts_with("user: old | assistant: answer | user: a")) << last_sent();
  EXPECT_EQ(refused_questions(get(*store_, session_.info.id)->extra).size(), 0U);
}

TEST_F(UnansweredTest, TheSessionNotesThemBesideWhatItHas) {
  const Extra other = {{"other", *RawJson::parse("1.0")}};
  ASSERT_TRUE(store_->update(session_.info.id, {.extra = other}));
  refuse("A");
  const Extra extra = get(*store_, session_.info.id)->extra;
  ASSERT_EQ(extra.size(), 2U);
  EXPECT_EQ(extra.at(0), other.at(0));
  EXPECT_EQ(refused_questions(extra), RefusedQuestions{stored().at(0).created_at});
}

TEST(RefusedQuestions, WhatIsNoListIsNone) {
  for (const char* const text : {"1", "{}", "[1,\"x\",{}]", "null"}) {
    EXPECT_TRUE(refused_questions({{"refused_questions", *RawJson::parse(text)}}).empty()) << text;
  }
  std::string many;
  for (int i = 0; i < 1'004; ++i) {
    many += cat(many.empty() ? "[\"" : ",\"", format_time(Time{std::chrono::seconds(i)}), "\"");
  }
  const Extra extra = with_refused_question({{"refused_questions", *RawJson::parse(many + "]")}},
                                            Time{std::chrono::seconds(1'004)});
  const RefusedQuestions times = refused_questions(extra);
  EXPECT_EQ(times.size(), 1'000U);
  EXPECT_EQ(*times.begin(), Time{std::chrono::seconds(5)});
}

}  // namespace
}  // namespace reprise

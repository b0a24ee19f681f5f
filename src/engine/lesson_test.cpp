// What a refused request teaches other sessions, and what only its own.

#include "engine/lesson.h"

#include <gtest/gtest.h>

#include <map>

#include "base/json_write.h"
#include "base/text.h"
#include "engine/testing/fake_provider.h"
#include "engine/testing/messages.h"
#include "model/fields.h"
#include "reprise/open_store.h"

namespace reprise {
namespace {

class NotesInMemory final : public ServerNotes {
 public:
  std::string read(std::string_view name) override {
    const auto found = notes.find(name);
    return found == notes.end() ? "" : found->second;
  }
  Result<> write(std::string_view name, std::string_view note) override {
    notes[std::string(name)] = note;
    return {};
  }
  std::map<std::string, std::string, std::less<>> notes;
};

class SettableClock final : public Clock {
 public:
  Time now() override { return time; }
  Time time{std::chrono::hours(500'000)};
};

class LessonTest : public testing::Test {
 protected:
  void SetUp() override {
    provider_.server = "model.test";
    begin("s1");
  }

  // Another session, as of another process.
  void begin(std::string_view id, std::vector<Message> messages = {}) {
    session_ = make_session(id);
    ASSERT_TRUE(store_->create(session_));
    if (!messages.empty()) {
      ASSERT_TRUE(store_->append(session_.info.id, std::move(messages), {}));
    }
    provider_.scripts.clear();
    provider_.add().text("fine").ended();
    provider_.seen.clear();
    listener_ = {};
  }
  void begin_with_tools(std::string_view id) {
    begin(id, {user("a"), assistant({ThinkingBlock{"hm", "sig", {}}, call_of("call-1")}, "other"),
               results({result_of("call-1")}), assistant("b")});
  }
  Result<Outcome> ask(std::string_view question = "now") {
    Conversation conversation(provider_, store_.get(), *get(*store_, session_.info.id),
                              {.model = "m", .clock = clock_, .server_notes = &notes_});
    return conversation.ask(question, listener_);
  }
  void refuse(int times, const Refusal& why, std::string message = "invalid request") {
    provider_.scripts.clear();
    for (int i = 0; i < times; ++i) {
      provider_.add().refuses(why, message);
    }
    provider_.add().text("fine").ended();
  }
  std::string sent(std::size_t request) { return spell(provider_.seen.at(request).messages); }
  std::string warnings() const { return joined(listener_.warnings); }
  Lesson lesson() { return read_lesson(&notes_, {"fake", "model.test", "m"}, clock_.time); }

  static Message summary() {
    Message message = user("in short: this and that");
    json::set_field(message.extra, model::kSummaryMark, json::take("true"));
    json::set_field(message.extra, kInjectedField, json::take("true"));
    return message;
  }
  static std::vector<Message> turns(int count) {
    std::vector<Message> out;
    for (int turn = 0; turn < count; ++turn) {
      out.push_back(user(cat("question ", turn)));
      out.push_back(assistant(std::string(400, 'w')));  // 100 tokens
    }
    return out;
  }

  std::unique_ptr<Store> store_ = open_memory_store();
  Session session_ = make_session("s");
  NotesInMemory notes_;
  SettableClock clock_;
  FakeProvider provider_;
  RecordingObserver listener_;
};

TEST_F(LessonTest, AFormIsKnownInOtherSessions) {
  begin_with_tools("s2");
  refuse(1, {.hint = {.single_calls = true, .tools_as_text = true}});
  ASSERT_TRUE(ask());
  ASSERT_EQ(provider_.seen.size(), 2U);
  begin_with_tools("s3");
  ASSERT_TRUE(ask());
  ASSERT_EQ(provider_.seen.size(), 1U);
  EXPECT_TRUE(provider_.seen.at(0).form.tools_as_text);
  EXPECT_EQ(warnings(), "");
}

TEST_F(LessonTest, OnlyWhatHelpedInTheEndIsRemembered) {
  begin_with_tools("s2");
  refuse(2, {.has_parameters = true});
  ASSERT_TRUE(ask());
  ASSERT_TRUE(provider_.seen.back().form.omits_parameters);
  EXPECT_TRUE(provider_.seen.back().form.tools_as_text);
  EXPECT_EQ(form_names(lesson().form), std::vector<std::string>{"tools_as_text"});
  ASSERT_TRUE(ask("again"));
  EXPECT_TRUE(provider_.seen.back().form.omits_parameters) << "this session goes on as it did";
}

TEST_F(LessonTest, WhatASessionsHistoryNeedsIsNotRemembered) {
  begin("s2", {user("a"), assistant({Block(ThinkingBlock{"hm", "sig", {}}), Block(text_of("b"))})});
  ASSERT_TRUE(ask("made by this model"));
  provider_.scripts.clear();
  provider_.add().thinking("hm", "sig").text("c").ended();
  ASSERT_TRUE(ask("with reasoning"));
  provider_.scripts.clear();
  provider_.seen.clear();
  refuse(1, {});
  ASSERT_TRUE(ask());
  ASSERT_TRUE(provider_.seen.back().form.omits_opaque);
  EXPECT_TRUE(notes_.notes.empty());
}

TEST_F(LessonTest, NothingIsRememberedIfNothingHelps) {
  begin_with_tools("s2");
  provider_.scripts.clear();
  provider_.add().refuses({.has_parameters = true}, "no");
  EXPECT_FALSE(ask());
  EXPECT_TRUE(notes_.notes.empty());
  begin_with_tools("s3");
  provider_.scripts.clear();
  provider_.add().refuses({.hint = {.tools_as_text = true}}, "no");
  provider_.add().fails(Code::unauthorized, "who are you?");
  EXPECT_FALSE(ask());
  ASSERT_TRUE(provider_.seen.back().form.tools_as_text);
  EXPECT_TRUE(notes_.notes.empty()) << "whether it helped is unknown";
}

TEST_F(LessonTest, AFormIsForgottenAfterSomeTime) {
  begin_with_tools("s2");
  refuse(1, {.hint = {.tools_as_text = true}});
  ASSERT_TRUE(ask());
  clock_.time += kLessonAge;
  begin_with_tools("s3");
  ASSERT_TRUE(ask());
  EXPECT_FALSE(provider_.seen.at(0).form.tools_as_text);
}

TEST_F(LessonTest, AFormFromTheFutureIsNotBelieved) {
  begin_with_tools("s2");
  refuse(1, {.hint = {.tools_as_text = true}});
  ASSERT_TRUE(ask());
  clock_.time -= kLessonAge;  // it was set back
  begin_with_tools("s3");
  ASSERT_TRUE(ask());
  EXPECT_FALSE(provider_.seen.at(0).form.tools_as_text);
}

TEST_F(LessonTest, AFormThatIsNoLongerAcceptedIsGivenUp) {
  begin_with_tools("s2");
  refuse(1, {.hint = {.tools_as_text = true}});
  ASSERT_TRUE(ask());
  begin("s3", {user("a"), assistant("b")});
  refuse(1, {}, "no text of tools");
  ASSERT_TRUE(ask());
  EXPECT_EQ(warnings(), "no text of tools; accepted without what earlier sessions needed");
  EXPECT_EQ(lesson().form, RequestForm());
}

TEST_F(LessonTest, ALengthIsKnownInOtherSessions) {
  begin("s2", turns(40));
  refuse(1, {.is_length = true, .size = 8000, .limit = 4000}, "8000 > 4000");
  ASSERT_TRUE(ask());
  ASSERT_EQ(provider_.seen.size(), 2U);
  const TokenCount limit = lesson().limit;
  EXPECT_GT(limit.value, 2000) << "half of 40 times some 110 tokens";
  EXPECT_LT(limit.value, 2400);
  begin("s3", turns(40));
  ASSERT_TRUE(ask());
  ASSERT_EQ(provider_.seen.size(), 1U);
  EXPECT_LT(provider_.seen.at(0).messages.size(), 41U);
  EXPECT_GT(provider_.seen.at(0).messages.size(), 30U);
  EXPECT_TRUE(warnings().starts_with("the oldest turns are left out: m has refused requests"))
      << warnings();
  const std::string first = sent(0).substr(0, 20);
  ASSERT_TRUE(ask("another"));
  EXPECT_EQ(sent(1).substr(0, 20), first) << "so that it is cached";
  EXPECT_EQ(listener_.warnings.size(), 1U);
  begin("s4", turns(10));
  ASSERT_TRUE(ask());
  EXPECT_EQ(provider_.seen.at(0).messages.size(), 21U);
}

TEST_F(LessonTest, WithoutANumberTheLimitIsBelowWhatWasRefused) {
  begin("s2", turns(40));
  refuse(2, {.is_length = true});
  ASSERT_TRUE(ask());
  EXPECT_GT(lesson().limit.value, 2000);
  EXPECT_LT(lesson().limit.value, 2400);
  clock_.time += kLessonAge;
  EXPECT_EQ(lesson().limit.value, 0);
}

TEST_F(LessonTest, ALimitAboveWhatWasRefusedIsNotBelieved) {
  begin("s2", turns(40));
  refuse(1, {.is_length = true, .limit = 100'000}, "at most 100000 tokens");
  ASSERT_TRUE(ask());
  EXPECT_GT(lesson().limit.value, 4000);
  EXPECT_LT(lesson().limit.value, 5000) << "40 times some 110 tokens";
}

TEST_F(LessonTest, ARefusalWithoutANumberDoesNotRaiseTheLimit) {
  provider_.listed = {{.id = "m", .name = {}, .ends_on = {}, .context_tokens = 3000}};
  begin("s2", turns(40));
  refuse(1, {.is_length = true});
  ASSERT_TRUE(ask());
  EXPECT_EQ(lesson().limit.value, 3000);
}

TEST_F(LessonTest, AllRequestsOfATurnBeginAtTheSameMessage) {
  ToolRegistry tools;
  const ToolSpec spec{"t", "Says much.", *RawJson::parse(R"({"type":"object"})")};
  ASSERT_TRUE(tools.add({spec, [](const ToolContext&, const RawJson&) {
                           return Result<ToolOutput>(ToolOutput{std::string(4000, 'x')});
                         }}));
  begin("s2", turns(40));
  provider_.scripts.clear();
  provider_.add().refuses({.is_length = true}, "too long");
  provider_.add().call("c1", "t", "{}").ended(StopReason::tool_use);
  provider_.add().text("fine").ended();
  Conversation conversation(provider_, store_.get(), *get(*store_, session_.info.id),
                            {.model = "m", .tools = &tools});
  ASSERT_TRUE(conversation.ask("now", listener_));
  ASSERT_EQ(provider_.seen.size(), 3U);
  EXPECT_LT(provider_.seen.at(1).messages.size(), 50U);
  EXPECT_EQ(sent(1).substr(0, 20), sent(2).substr(0, 20)) << "so that it is cached";
}

TEST_F(LessonTest, NearTheLimitAnUnclearRefusalIsTakenForLength) {
  begin("s2", turns(40));
  refuse(1, {.is_length = true, .size = 5000, .limit = 4000});
  ASSERT_TRUE(ask());
  begin("s3", turns(20));
  refuse(1, {.has_parameters = true}, "bad request");
  ASSERT_TRUE(ask());
  EXPECT_FALSE(provider_.seen.at(1).form.omits_parameters);
  EXPECT_LT(provider_.seen.at(1).messages.size(), provider_.seen.at(0).messages.size());
  begin("s4", turns(10));
  refuse(1, {.has_parameters = true}, "bad request");
  ASSERT_TRUE(ask());
  EXPECT_TRUE(provider_.seen.at(1).form.omits_parameters) << "far from the limit";
}

TEST_F(LessonTest, TheListOfModelsTellsALimit) {
  provider_.listed = {{.id = "m", .name = {}, .ends_on = {}, .context_tokens = 6000}};
  begin("s2", turns(40));
  refuse(1, {.has_parameters = true}, "bad request");
  ASSERT_TRUE(ask());
  EXPECT_FALSE(provider_.seen.at(1).form.omits_parameters);
  EXPECT_LT(provider_.seen.at(1).messages.size(), provider_.seen.at(0).messages.size());
}

TEST_F(LessonTest, AFormIsTriedIfLengthWasNotTheReason) {
  provider_.listed = {{.id = "m", .name = {}, .ends_on = {}, .context_tokens = 2000}};
  begin("s2", {user("a"), assistant(std::string(8000, 'w'))});
  refuse(2, {.has_parameters = true}, "bad request");
  ASSERT_TRUE(ask());
  EXPECT_EQ(sent(1), "user: now");
  EXPECT_TRUE(provider_.seen.at(2).form.omits_parameters);
}

TEST_F(LessonTest, WhatASummaryReplacedIsLeftOutFirst) {
  std::vector<Message> messages = turns(10);
  messages.push_back(summary());
  std::ranges::move(turns(30), std::back_inserter(messages));
  begin("s2", messages);
  refuse(1, {.is_length = true});
  ASSERT_TRUE(ask());
  EXPECT_TRUE(sent(1).starts_with("user: in short: this and that")) << sent(1).substr(0, 60);
  EXPECT_EQ(provider_.seen.at(1).messages.size(), 61U) << "it is one with the question after it";
  ASSERT_TRUE(ask("and now"));
  EXPECT_TRUE(sent(2).starts_with("user: in short: this and that")) << sent(2).substr(0, 60);
}

TEST_F(LessonTest, WithinAKnownLimitARequestBeginsWithTheSummary) {
  begin("s2", turns(40));
  refuse(1, {.is_length = true, .size = 8000, .limit = 4000});
  ASSERT_TRUE(ask());
  std::vector<Message> messages = turns(20);
  messages.push_back(summary());
  std::ranges::move(turns(10), std::back_inserter(messages));
  begin("s3", messages);
  ASSERT_TRUE(ask());
  EXPECT_TRUE(sent(0).starts_with("user: in short: this and that")) << sent(0).substr(0, 60);
}

// Each cut leaves out turns, and what remains keeps its pictures, up to the question alone.
TEST_F(LessonTest, TheHistoryIsCutBeforeThePicturesInIt) {
  std::vector<Message> messages = turns(20);
  messages.push_back(message_of(
      role::kUser, {text_of("look"), ImageBlock{"image/png", {}, "https://x/y.png", {}}}));
  messages.push_back(assistant("b"));
  std::ranges::move(turns(10), std::back_inserter(messages));
  begin("s2", messages);
  refuse(1, {.is_length = true, .is_only_length = true, .size = 5000, .limit = 4000});
  ASSERT_TRUE(ask());
  ASSERT_EQ(provider_.seen.size(), 2U);
  const auto has_image = [this](std::size_t request) {
    return std::ranges::any_of(provider_.seen.at(request).messages, [](const Message& message) {
      return std::ranges::any_of(message.blocks, [](const Block& block) {
        return std::holds_alternative<ImageBlock>(block);
      });
    });
  };
  EXPECT_LT(provider_.seen.at(1).messages.size(), provider_.seen.at(0).messages.size());
  EXPECT_TRUE(has_image(1));
  EXPECT_FALSE(provider_.seen.at(1).form.omits_media);
  begin("s3", messages);
  refuse(4, {.is_length = true, .is_only_length = true});
  ASSERT_TRUE(ask());
  EXPECT_EQ(sent(4), "user: now");
}

// A tool may store the summary as an answer.
TEST_F(LessonTest, ASummaryMayBeAnAnswer) {
  std::vector<Message> messages = turns(10);
  Message answer = assistant({Block(text_of("in short: this and that"))}, "opencode");
  json::set_field(answer.extra, kInjectedField, json::take("true"));
  json::set_field(answer.extra, model::kSummaryMark, json::take("true"));
  messages.push_back(answer);
  std::ranges::move(turns(5), std::back_inserter(messages));
  begin("s2", messages);
  refuse(1, {.is_length = true});
  ASSERT_TRUE(ask());
  const std::string start = sent(1).substr(0, 200);
  EXPECT_NE(start.find("in short: this and that"), std::string::npos) << start;
  EXPECT_EQ(start.find("question 9"), std::string::npos) << start;
  EXPECT_TRUE(start.starts_with("user: ")) << start;
}

TEST_F(LessonTest, TheStartOfARequestIsNotedInItsAnswer) {
  begin("s2", turns(40));
  refuse(1, {.is_length = true});
  ASSERT_TRUE(ask());
  EXPECT_TRUE(get(*store_, session_.info.id)->extra.empty()) << "no write of its own";
  const Message answer = read_all(*store_, session_.info.id)->back();
  const auto start = start_of(answer);
  ASSERT_TRUE(start);
  EXPECT_EQ(start->seq.value % 2, 0);
  EXPECT_GT(start->seq.value, 30);
}

// Another program has taken out the first turn, so another question is where the request began.
TEST_F(LessonTest, ANotedStartIsThatOfItsQuestionOnly) {
  std::vector<Message> messages = turns(40);
  for (std::size_t i = 0; i < messages.size(); ++i) {
    messages[i].created_at = clock_.time - std::chrono::minutes(messages.size() - i);
  }
  begin("s2", std::move(messages));
  refuse(1, {.is_length = true});
  ASSERT_TRUE(ask());
  messages = *read_all(*store_, session_.info.id);
  ASSERT_TRUE(start_of(messages.back()));
  messages.erase(messages.begin(), messages.begin() + 2);
  notes_.notes.clear();
  begin("s3", messages);
  ASSERT_TRUE(ask());
  EXPECT_EQ(provider_.seen.at(0).messages.size(), messages.size() + 1);
}

TEST_F(LessonTest, NoMoreThanSixRequestsAreMadeForTheLength) {
  begin("s2", turns(200));
  provider_.scripts.clear();
  provider_.add().refuses({.is_length = true, .is_only_length = true}, "too long");
  EXPECT_EQ(ask().error().message.substr(0, 8), "too long");
  EXPECT_LE(provider_.seen.size(), 7U);
  EXPECT_EQ(spell(provider_.seen.back().messages), "user: now");
  EXPECT_TRUE(notes_.notes.empty());
}

TEST(Lesson, NotesOfOtherProgramsAreIgnored) {
  NotesInMemory notes;
  const Maker target{"p", "h", "m"};
  for (const std::string_view note :
       {"", "[]", "{", R"({"form":"strict_ids","form_at":3,"limit":-1,"limit_at":"x"})",
        R"({"form":["?","omits_opaque"],"form_at":"2026-01-01T00:00:00Z"})",
        R"({"limit":-1,"limit_at":"2026-01-01T00:00:00Z"})"}) {
    notes.notes["p h m"] = note;
    const Lesson lesson = read_lesson(&notes, target, *parse_time("2026-01-02T00:00:00Z"));
    EXPECT_EQ(lesson.form, RequestForm()) << note;
    EXPECT_EQ(lesson.limit.value, 0) << note;
  }
}

}  // namespace
}  // namespace reprise

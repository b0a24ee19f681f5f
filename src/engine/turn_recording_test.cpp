// The artefacts that a turn leaves for other programs.

#include <gtest/gtest.h>

#include "base/json_scan.h"
#include "base/text.h"
#include "engine/testing/fake_provider.h"
#include "engine/testing/faulty_store.h"
#include "engine/testing/messages.h"
#include "model/attachment.h"
#include "reprise/capabilities.h"
#include "reprise/conversation.h"
#include "reprise/open_store.h"
#include "store/chatdir/step_recorder.h"

namespace reprise {
namespace {

// Like a chat directory, but into the artefacts of any store.
class StepRecording final : public TurnRecording {
 public:
  explicit StepRecording(Store& store)
      : messages(store), artefacts(store.capabilities().artefacts) {}
  Result<std::unique_ptr<TurnRecorder>> record_turn(const SessionId& id,
                                                    const RecordedTurn& turn) override {
    return store::chatdir::record_step(messages, *artefacts, id, turn,
                                       [&](Step step) { return copy_step(id, step); });
  }
  // Artefacts cannot be moved.
  Result<> copy_step(const SessionId& id, Step step) const {
    REPRISE_ASSIGN(const auto entries, artefacts->list_artefacts(id));
    for (const Artefacts::Entry& entry : entries) {
      if (entry.step == step) {
        REPRISE_ASSIGN(const auto bytes, artefacts->find_artefact(id, step, entry.name));
        REPRISE_TRY(artefacts->save_artefact(id, {0}, cat("replaced/", step.value, "/", entry.name),
                                             bytes.value_or("")));
      }
    }
    return {};
  }
  Source& messages;
  Artefacts* artefacts;
};

class TurnRecordingTest : public testing::Test {
 protected:
  void SetUp() override {
    store_.capabilities_for_test().turn_recording = &recording_;
    ASSERT_TRUE(memory_->create(session_));
  }

  std::optional<std::string> artefact(std::int64_t step, std::string_view name) {
    auto found = memory_->capabilities().artefacts->find_artefact(session_.info.id, {step}, name);
    EXPECT_TRUE(found);
    return found ? *found : std::nullopt;
  }

  std::unique_ptr<Store> memory_ = open_memory_store();
  StepRecording recording_{*memory_};
  FaultyStore store_{*memory_};
  FakeProvider provider_;
  Session session_ = make_session("s");
  RecordingObserver listener_;
};

TEST_F(TurnRecordingTest, OfATurn) {
  provider_.add()
      .started("resp-1", "model-1")
      .thinking("Let me ")
      .thinking("see.")
      .raw("{\"type\":\"odd\",\n\"n\":1.0}")
      .text("Hel")
      .text("lo")
      .usage(100, 10)
      .ended();
  Conversation conversation(provider_, &store_, session_, {.model = "m"});
  ASSERT_TRUE(conversation.ask(
      {TextBlock{"first\n---\nsecond\n \n---\n", {}}, attached_text("a.txt", "the file")},
      listener_));
  EXPECT_EQ(artefact(1, "input.md"), "first\n---\nsecond\n \n---\n");
  EXPECT_EQ(artefact(1, "prompt.md"), "first\n---\nsecond\n \n---\n\n\nFile a.txt:\n\nthe file");
  EXPECT_EQ(artefact(1, "inputs.jsonl"), "\"first\"\n\"second\"\n");
  EXPECT_EQ(artefact(1, "files.jsonl"), "\"a.txt\"\n");
  EXPECT_EQ(artefact(1, "model.json"), "{\n  \"id\": \"m\",\n  \"provider\": \"fake\"\n}");
  EXPECT_EQ(artefact(1, "stream.md"), "Hello");
  EXPECT_EQ(artefact(1, "answer.md"), "Hello");
  EXPECT_EQ(artefact(1, "reason.md"), "Let me see.");
  EXPECT_EQ(artefact(1, "stream.jsonl"),
            "{\"type\":\"reasoning-delta\",\"id\":\"reasoning-0\",\"text\":\"Let me \"}\n"
            "{\"type\":\"reasoning-delta\",\"id\":\"reasoning-0\",\"text\":\"see.\"}\n"
            "{\"type\":\"text-delta\",\"id\":\"txt-0\",\"text\":\"Hel\"}\n"
            "{\"type\":\"text-delta\",\"id\":\"txt-0\",\"text\":\"lo\"}\n"
            "{\"type\":\"usage\",\"usage\":{\"inputTokens\":100,\"reasoningTokens\":0,"
            "\"outputTokens\":10,\"cachedInputTokens\":0,\"limits\":{}}}\n");
  EXPECT_EQ(artefact(1, "unknowns.jsonl"),
            "[\"Unknown chunk.type\",{\"type\":\"odd\", \"n\":1.0}]\n");
  EXPECT_EQ(artefact(1, "usage.json"),
            "{\n  \"inputTokens\": 100,\n  \"reasoningTokens\": 0,\n  \"outputTokens\": 10,\n"
            "  \"cachedInputTokens\": 0,\n  \"limits\": {}\n}");
  EXPECT_EQ(json::find_member(artefact(1, "response.json").value_or(""), "id"), "\"resp-1\"");
  EXPECT_EQ(artefact(1, "fail.json"), std::nullopt);
  for (const char* copy : {"input.md", "prompt.md", "model.json", "files.jsonl", "inputs.jsonl"}) {
    EXPECT_EQ(artefact(0, copy), artefact(1, copy)) << "of the latest step";
  }
}

TEST_F(TurnRecordingTest, AreNumberedByAnswers) {
  for (const char* answer : {"1", "2"}) {
    provider_.add().text(answer).ended();
  }
  Conversation conversation(provider_, &store_, session_, {});
  ASSERT_TRUE(conversation.ask("one", listener_));
  ASSERT_TRUE(conversation.ask("two", listener_));
  EXPECT_EQ(artefact(1, "answer.md"), "1");
  EXPECT_EQ(artefact(2, "answer.md"), "2");
  EXPECT_EQ(artefact(0, "prompt.md"), "two");
  const std::string steps = artefact(0, "steps.jsonl").value_or("");
  EXPECT_EQ(steps,
            "{\"step\":1,\"model\":{\"id\":\"\",\"provider\":\"fake\"},\"prompt\":\"one\"}\n"
            "{\"step\":2,\"model\":{\"id\":\"\",\"provider\":\"fake\"},\"prompt\":\"two\"}\n");
}

// A chat that has lost its messages, with a copy of the newest prompt in its own folder.
TEST_F(TurnRecordingTest, TheCopyOfAnAnsweredPromptIsNotSavedAgain) {
  Artefacts& artefacts = *memory_->capabilities().artefacts;
  const SessionId& id = session_.info.id;
  ASSERT_TRUE(artefacts.save_artefact(id, {1}, "prompt.md", "one"));
  ASSERT_TRUE(artefacts.save_artefact(id, {1}, "answer.md", "1"));
  ASSERT_TRUE(artefacts.save_artefact(id, {0}, "prompt.md", "one"));
  provider_.add().text("new").ended();
  Conversation conversation(provider_, &store_, session_, {});
  ASSERT_TRUE(conversation.ask("again", listener_));
  EXPECT_EQ(artefact(2, "answer.md"), "new");
  EXPECT_EQ(artefact(3, "answer.md"), std::nullopt);
}

TEST_F(TurnRecordingTest, APromptWithoutAnswerOrCopyKeepsItsStep) {
  Artefacts& artefacts = *memory_->capabilities().artefacts;
  ASSERT_TRUE(artefacts.save_artefact(session_.info.id, {3}, "prompt.md", "lost"));
  provider_.add().text("new").ended();
  Conversation conversation(provider_, &store_, session_, {});
  ASSERT_TRUE(conversation.ask("again", listener_));
  EXPECT_EQ(artefact(3, "prompt.md"), "lost");
  EXPECT_EQ(artefact(4, "answer.md"), "new");
}

// A chat that has lost its messages, but not its steps.
TEST_F(TurnRecordingTest, OverwriteNoExistingAnswer) {
  Artefacts& artefacts = *memory_->capabilities().artefacts;
  for (const std::int64_t step : {1, 3}) {
    ASSERT_TRUE(artefacts.save_artefact(session_.info.id, {step}, "answer.md", "precious"));
  }
  provider_.add().text("new").ended();
  provider_.add().text("newer").ended();
  provider_.add().text("newest").ended();
  Conversation conversation(provider_, &store_, session_, {});
  ASSERT_TRUE(conversation.ask("one", listener_));
  ASSERT_TRUE(conversation.ask("two", listener_));
  EXPECT_EQ(artefact(1, "answer.md"), "precious");
  EXPECT_EQ(artefact(3, "answer.md"), "precious");
  EXPECT_EQ(artefact(4, "answer.md"), "new");
  EXPECT_EQ(artefact(5, "answer.md"), "newer");
  ASSERT_TRUE(conversation.retry(listener_));
  EXPECT_EQ(artefact(5, "answer.md"), "newest") << "in the place of the one before";
  EXPECT_EQ(artefact(6, "answer.md"), std::nullopt);
}

// A chat with only prompts left, in a step or in its own folder.
TEST_F(TurnRecordingTest, OverwriteNoOnlyCopyOfAPrompt) {
  Artefacts& artefacts = *memory_->capabilities().artefacts;
  const SessionId& id = session_.info.id;
  ASSERT_TRUE(artefacts.save_artefact(id, {1}, "prompt.md", "the only one"));
  ASSERT_TRUE(artefacts.save_artefact(id, {0}, "prompt.md", "the only one"));
  provider_.add().text("new").ended();
  provider_.add().text("newer").ended();
  Conversation conversation(provider_, &store_, session_, {});
  ASSERT_TRUE(conversation.ask("one", listener_));
  EXPECT_EQ(artefact(1, "prompt.md"), "the only one");
  EXPECT_EQ(artefact(1, "answer.md"), std::nullopt);
  EXPECT_EQ(artefact(2, "prompt.md"), "one");
  EXPECT_EQ(artefact(0, "prompt.md"), "one");
  ASSERT_TRUE(conversation.ask("two", listener_));
  EXPECT_EQ(artefact(3, "prompt.md"), "two");
  EXPECT_EQ(artefact(4, "prompt.md"), std::nullopt);
}

TEST_F(TurnRecordingTest, OfAFlatFolderGetAStep) {
  Artefacts& artefacts = *memory_->capabilities().artefacts;
  const SessionId& id = session_.info.id;
  ASSERT_TRUE(artefacts.save_artefact(id, {0}, "prompt.md", "the only one"));
  ASSERT_TRUE(artefacts.save_artefact(id, {0}, "input.md", "its input"));
  provider_.add().text("new").ended();
  Conversation conversation(provider_, &store_, session_, {});
  ASSERT_TRUE(conversation.ask("one", listener_));
  EXPECT_EQ(artefact(1, "prompt.md"), "the only one");
  EXPECT_EQ(artefact(1, "input.md"), "its input");
  EXPECT_EQ(artefact(2, "prompt.md"), "one");
  EXPECT_EQ(artefact(2, "answer.md"), "new");
  EXPECT_EQ(artefact(0, "prompt.md"), "one");
}

// The original counts the answers: what else is in the step is not overwritten, and not counted.
TEST_F(TurnRecordingTest, OfAChatWithMessagesAreNumberedByAnswersOnly) {
  Artefacts& artefacts = *memory_->capabilities().artefacts;
  const SessionId& id = session_.info.id;
  provider_.add().text("1").ended();
  provider_.add().text("new").ended();
  Conversation conversation(provider_, &store_, session_, {});
  ASSERT_TRUE(conversation.ask("one", listener_));
  ASSERT_TRUE(artefacts.save_artefact(id, {0}, "prompt.md", "of another program"));
  ASSERT_TRUE(artefacts.save_artefact(id, {2}, "prompt.md", "killed"));
  ASSERT_TRUE(artefacts.save_artefact(id, {3}, "answer.md", "rewound"));
  ASSERT_TRUE(conversation.ask("two", listener_));
  EXPECT_EQ(artefact(2, "answer.md"), "new");
  EXPECT_EQ(artefact(0, "prompt.md"), "two");
  EXPECT_EQ(artefact(0, "replaced/0/prompt.md"), "of another program");
  EXPECT_EQ(artefact(0, "replaced/2/prompt.md"), "killed");
  EXPECT_EQ(artefact(0, "replaced/3/answer.md"), "rewound");
}

// A turn that failed is in the record, so the next turn uses its step.
TEST_F(TurnRecordingTest, TakeTheStepOfATurnWithoutAnAnswer) {
  provider_.add().fails(Code::invalid_argument, "no");
  provider_.add().text("yes").ended();
  Conversation conversation(provider_, &store_, session_, {});
  EXPECT_FALSE(conversation.ask("one", listener_));
  EXPECT_EQ(artefact(1, "prompt.md"), "one");
  ASSERT_TRUE(conversation.ask("two", listener_));
  EXPECT_EQ(artefact(1, "prompt.md"), "two");
}

TEST_F(TurnRecordingTest, OfToolRoundsAreOneStep) {
  ToolRegistry tools;
  ASSERT_TRUE(tools.add({{"t", "", *RawJson::parse("{}")},
                         [](const ToolContext&, const RawJson&) -> Result<ToolOutput> {
                           return ToolOutput{"done"};
                         }}));
  provider_.add().call("t1", "t", "{\"a\":\n1}").usage(1, 1).ended();
  provider_.add().text("finally").usage(2, 2).ended();
  Conversation conversation(provider_, &store_, session_, {.tools = &tools});
  ASSERT_TRUE(conversation.ask("go", listener_));
  EXPECT_EQ(artefact(1, "answer.md"), "finally");
  EXPECT_EQ(artefact(2, "prompt.md"), std::nullopt);
  const std::string parts = artefact(1, "stream.jsonl").value_or("");
  EXPECT_NE(parts.find("{\"type\":\"tool-call\",\"toolCallId\":\"t1\",\"toolName\":\"t\","
                       "\"input\":{\"a\": 1}}\n"),
            std::string::npos)
      << parts;
  EXPECT_NE(parts.find("\"type\":\"tool-result\",\"toolCallId\":\"t1\",\"toolName\":\"t\","
                       "\"output\":\"done\""),
            std::string::npos);
  EXPECT_EQ(json::find_member(artefact(1, "usage.json").value_or(""), "inputTokens"), "3");
}

TEST_F(TurnRecordingTest, OfAnInterruptedAnswerAreContinued) {
  provider_.add().text("The beginning ").fails(Code::io);
  provider_.add().text("and the end").ended();
  Conversation conversation(provider_, &store_, session_, {});
  ASSERT_TRUE(conversation.ask("go", listener_));
  EXPECT_EQ(artefact(1, "stream.md"), "The beginning ");
  EXPECT_EQ(json::find_member(artefact(1, "fail.json").value_or(""), "code"), "\"io\"");
  ASSERT_TRUE(conversation.continue_turn(listener_));
  EXPECT_EQ(artefact(1, "stream.md"), "The beginning and the end");
  EXPECT_EQ(artefact(1, "answer.md"), "The beginning and the end");
  EXPECT_EQ(artefact(2, "prompt.md"), std::nullopt);
}

TEST_F(TurnRecordingTest, OfARetryStartAgain) {
  provider_.add().text("first").ended();
  provider_.add().text("second").ended();
  Conversation conversation(provider_, &store_, session_, {});
  ASSERT_TRUE(conversation.ask("go", listener_));
  ASSERT_TRUE(conversation.retry(listener_));
  EXPECT_EQ(artefact(1, "stream.md"), "second");
  EXPECT_EQ(artefact(1, "answer.md"), "second");
  EXPECT_EQ(artefact(1, "prompt.md"), "go");
}

TEST_F(TurnRecordingTest, OfAFailedTurnHaveTheError) {
  provider_.add().fails(Code::unauthorized, "the key is wrong");
  Conversation conversation(provider_, &store_, session_, {});
  EXPECT_FALSE(conversation.ask("go", listener_));
  EXPECT_EQ(artefact(1, "fail.json"),
            "{\n  \"code\": \"unauthorized\",\n  \"message\": \"the key is wrong\"\n}");
  EXPECT_EQ(artefact(1, "prompt.md"), "go");
  EXPECT_EQ(artefact(1, "answer.md"), std::nullopt);
}

// Text is written before the answer has ended, so it survives a crash of the program.
TEST_F(TurnRecordingTest, AreWrittenAsItHappens) {
  const auto wait_for_stream = [this] {
    while (artefact(1, "stream.md").value_or("").empty()) {
      std::this_thread::yield();
    }
  };
  provider_.add().text("so far").then(wait_for_stream).text(" so good").ended();
  Conversation conversation(provider_, &store_, session_, {});
  ASSERT_TRUE(conversation.ask("go", listener_));
  EXPECT_EQ(artefact(1, "stream.md"), "so far so good");
}

TEST_F(TurnRecordingTest, AreNotWrittenWithoutTheCapability) {
  store_.capabilities_for_test().turn_recording = nullptr;
  provider_.add().text("x").ended();
  Conversation conversation(provider_, &store_, session_, {});
  ASSERT_TRUE(conversation.ask("go", listener_));
  const auto all = memory_->capabilities().artefacts->list_artefacts(session_.info.id);
  EXPECT_TRUE(all && all->empty());
}

// A failing store never stops a turn.
TEST_F(TurnRecordingTest, ThatCannotBeStoredAreAWarning) {
  class Refusing final : public Artefacts {
   public:
    Result<> save_artefact(const SessionId&, Step, std::string_view, std::string_view) override {
      return fail(Code::io, "no space left on device");
    }
    Result<> append_artefact(const SessionId&, Step, std::string_view, std::string_view) override {
      return fail(Code::io, "no space left on device");
    }
    Result<std::optional<std::string>> find_artefact(const SessionId&, Step,
                                                     std::string_view) override {
      return fail(Code::io, "no space left on device");
    }
    Result<std::vector<Entry>> list_artefacts(const SessionId&) override {
      return fail(Code::io, "no space left on device");
    }
  };
  Refusing refusing;
  recording_.artefacts = &refusing;
  provider_.add().text("x").ended();
  Conversation conversation(provider_, &store_, session_, {});
  const auto outcome = conversation.ask("go", listener_);
  ASSERT_TRUE(outcome);
  EXPECT_TRUE(outcome->saved) << "the messages are";
  EXPECT_EQ(listener_.warnings.size(), 1U);
}

}  // namespace
}  // namespace reprise

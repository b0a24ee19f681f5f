// Messages that a store did not accept are saved in an outbox and delivered once, whatever happened
// in between.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/encode.h"
#include "base/text.h"
#include "engine/blobs.h"
#include "engine/copy.h"
#include "engine/testing/fake_provider.h"
#include "engine/testing/faulty_store.h"
#include "engine/testing/messages.h"
#include "reprise/capabilities.h"
#include "reprise/conversation.h"
#include "reprise/open_store.h"
#include "store/rules.h"

namespace reprise {
namespace {

using testing::HasSubstr;

class MemoryOutbox final : public Outbox {
 public:
  Result<> add(const Session& session, const OutboxStep& step) override {
    if (is_full) {
      return fail(Code::io, "the disk is full");
    }
    if (!saved) {
      saved = OutboxSession{.session = session, .fork = *SessionId::parse("aside")};
    }
    saved->steps.push_back(step);
    return {};
  }
  void clear() override { saved.reset(); }
  void rotate() override { left = std::exchange(saved, std::nullopt); }
  std::string where() const override { return "WHERE"; }

  bool is_full = false;
  std::optional<OutboxSession> saved;
  std::optional<OutboxSession> left;  // not delivered yet
};

// Has forgotten all operation ids.
class StoreWithoutNames final : public Store, public Rewriting {
 public:
  explicit StoreWithoutNames(Store& inner) : inner_(inner) { capabilities_.rewriting = this; }
  Result<> create(const Session& session) override { return inner_.create(session); }
  Result<std::optional<Session>> find(const SessionId& id) override { return inner_.find(id); }
  Result<> update(const SessionId& id, const SessionPatch& patch) override {
    return inner_.update(id, patch);
  }
  Result<SessionPage> list(const SessionQuery& query) override { return inner_.list(query); }
  Result<ReadReport> read(const SessionId& id, ReadRange range, const MessageSink& sink) override {
    return inner_.read(id, range, sink);
  }
  Result<AppendResult> append(const SessionId& id, std::vector<Message> messages,
                              AppendOptions options) override {
    options.operation.reset();
    durabilities.push_back(options.durability);
    return inner_.append(id, std::move(messages), options);
  }
  Result<AppendResult> replace_suffix(const SessionId& id, Seq from, std::vector<Message> messages,
                                      AppendOptions options) override {
    options.operation.reset();
    return inner_.capabilities().rewriting->replace_suffix(id, from, std::move(messages), options);
  }
  Result<std::int64_t> count_replaced(const SessionId& id) override {
    return inner_.capabilities().rewriting->count_replaced(id);
  }
  Result<ReadReport> read_replaced(const SessionId& id, const MessageSink& sink) override {
    return inner_.capabilities().rewriting->read_replaced(id, sink);
  }
  const Capabilities& capabilities() const override { return capabilities_; }

  std::vector<Durability> durabilities;  // of the appends

 private:
  Store& inner_;
  Capabilities capabilities_ = inner_.capabilities();
};

class OutboxTest : public testing::Test {
 protected:
  // Runs turns with a store that fails as `fails` specifies; rejected messages go to the outbox.
  void conversation(Store* store, const std::vector<std::string_view>& questions) {
    Conversation conversation(provider_, store, session_, {.outbox = &outbox_});
    for (const std::string_view question : questions) {
      provider_.scripts.clear();
      provider_.add().text(cat("re: ", question)).ended();
      ASSERT_TRUE(conversation.ask(question, listener_));
    }
  }
  void conversation(const std::vector<std::string_view>& questions) {
    conversation(&store_, questions);
  }

  CopiedSession replay_outbox() {
    auto copied = reprise::replay_outbox(*outbox_.saved, *memory_);
    EXPECT_TRUE(copied) << copied.error().message;
    return copied ? *copied : CopiedSession{};
  }
  // Delivers again, now and after a long time, which changes nothing.
  void again() {
    StoreWithoutNames late(*memory_);
    for (Store* const target : {memory_.get(), static_cast<Store*>(&late)}) {
      const std::string before = all();
      const auto copied = reprise::replay_outbox(*outbox_.saved, *target);
      ASSERT_TRUE(copied) << copied.error().message;
      EXPECT_EQ(copied->outcome, CopyOutcome::unchanged);
      EXPECT_EQ(copied->messages, 0);
      EXPECT_EQ(all(), before);
    }
  }
  std::string stored(std::string_view id = "s1") {
    const SessionId session = *SessionId::parse(id);
    return memory_->find(session)->has_value() ? spell(*read_all(*memory_, session)) : "none";
  }
  std::string all() { return cat(stored(), " / ", stored("aside")); }
  void others_say(std::string_view text) {
    ASSERT_TRUE(memory_->append(session_.info.id, {user(text)}, {}));
  }

  std::unique_ptr<Store> memory_ = open_memory_store();
  FaultyStore store_{*memory_};
  Session session_ = make_session("s1");
  FakeProvider provider_;
  RecordingObserver listener_;
  MemoryOutbox outbox_;
};

TEST_F(OutboxTest, ANewSessionWithoutAStoreIsDelivered) {
  session_.info.title = "title";
  session_.system_prompt = "brief";
  conversation(nullptr, {"one", "two"});
  EXPECT_THAT(listener_.warnings, testing::ElementsAre("it is saved in WHERE"));
  EXPECT_EQ(replay_outbox().outcome, CopyOutcome::copied);
  EXPECT_EQ(stored(), "user: one | assistant: re: one | user: two | assistant: re: two");
  EXPECT_EQ(get(*memory_, session_.info.id)->system_prompt, "brief");
  again();
}

TEST_F(OutboxTest, ATailContinuesItsSession) {
  ASSERT_TRUE(memory_->create(session_));
  conversation({"one"});
  EXPECT_FALSE(outbox_.saved);
  session_ = *get(*memory_, session_.info.id);
  store_.fails = [](int) { return true; };
  conversation({"two", "three"});
  ASSERT_TRUE(outbox_.saved);
  const CopiedSession copied = replay_outbox();
  EXPECT_EQ(copied.outcome, CopyOutcome::continued);
  EXPECT_EQ(copied.messages, 4);
  EXPECT_EQ(stored(),
            "user: one | assistant: re: one | user: two | assistant: re: two | user: three | "
            "assistant: re: three");
  again();
}

// The server may have removed blobs that no message names when the outbox is delivered.
TEST_F(OutboxTest, BlobsOfMessagesAreDelivered) {
  const std::string output(kInlineBytesMax + 1, 'x');
  ToolRegistry tools;
  ASSERT_TRUE(tools.add({{"t", "", *RawJson::parse("{}")},
                         [&output](const ToolContext&, const RawJson&) -> Result<ToolOutput> {
                           return ToolOutput{output};
                         }}));
  ASSERT_TRUE(memory_->create(session_));
  provider_.add().call("t1", "t", "").ended();
  provider_.add().text("done").ended();
  store_.fails = [](int) { return true; };
  {
    Conversation conversation(provider_, &store_, session_, {.tools = &tools, .outbox = &outbox_});
    std::vector<Block> question = {
        TextBlock{"see", {}},
        ImageBlock{"", {}, cat("data:image/png;base64,", base64_encode("\x89PNG pixels")), {}}};
    ASSERT_TRUE(conversation.ask(std::move(question), listener_));
  }
  ASSERT_TRUE(outbox_.saved);
  memory_ = open_memory_store();  // without the blobs
  ASSERT_TRUE(memory_->create(session_));
  replay_outbox();
  std::vector<std::string> found;
  const auto messages = read_all(*memory_, session_.info.id);
  ASSERT_TRUE(messages);
  for (const Message& message : *messages) {
    for (const BlobHash& hash : store::blobs_in(message.blocks)) {
      found.push_back(read_blob(memory_.get(), hash, 1 << 20).value_or("missing"));
    }
  }
  EXPECT_EQ(found, (std::vector<std::string>{"\x89PNG pixels", output}));
  again();
}

// Stored messages have their blobs in the store.
TEST_F(OutboxTest, BlobsOfStoredMessagesAreNotDelivered) {
  ASSERT_TRUE(memory_->create(session_));
  Conversation conversation(provider_, &store_, session_, {.outbox = &outbox_});
  for (const bool fails : {false, true}) {
    store_.fails = [fails](int) { return fails; };
    provider_.add().text("done").ended();
    ASSERT_TRUE(conversation.ask(
        {TextBlock{"see", {}},
         ImageBlock{"", {}, cat("data:image/png;base64,", base64_encode("\x89PNG pixels")), {}}},
        listener_));
    EXPECT_EQ(outbox_.saved.has_value(), fails);
  }
  ASSERT_EQ(outbox_.saved->steps.front().blobs.size(), 1U);
  EXPECT_EQ(outbox_.saved->steps.front().blobs.front().bytes, "\x89PNG pixels");
}

// The server had applied the step, and only its response was lost.
TEST_F(OutboxTest, AppliedStepsAreNotAppliedAgain) {
  for (int last = 0; last < 12; ++last) {
    memory_ = open_memory_store();
    ASSERT_TRUE(memory_->create(session_));
    FaultyStore store(*memory_);
    store.fails_after_write = true;
    int appends_left = last;
    store.fails = [&](int) {
      store.fails_after_write = appends_left-- > 0;
      return true;
    };
    outbox_.saved.reset();
    conversation(&store, {"one", "two"});
    ASSERT_TRUE(outbox_.saved) << last;
    (void)replay_outbox();
    EXPECT_EQ(all(), "user: one | assistant: re: one | user: two | assistant: re: two / none");
    EXPECT_FALSE(memory_->capabilities().partials->find_partial(session_.info.id)->has_value())
        << last;
    again();
  }
}

TEST_F(OutboxTest, StoredStepsAreRemoved) {
  ASSERT_TRUE(memory_->create(session_));
  bool broken = true;
  store_.fails = [&broken](int) { return broken; };
  Conversation conversation(provider_, &store_, session_, {.outbox = &outbox_});
  provider_.add().text("1").ended();
  provider_.add().text("2").ended();
  ASSERT_TRUE(conversation.ask("one", listener_));
  ASSERT_TRUE(outbox_.saved);
  const OutboxSession saved = *outbox_.saved;
  EXPECT_THAT(listener_.warnings.back(), "it is saved in WHERE");
  broken = false;
  EXPECT_TRUE(conversation.ask("two", listener_)->saved);
  EXPECT_FALSE(outbox_.saved);
  outbox_.saved = saved;  // as if it could not be removed
  again();
}

TEST_F(OutboxTest, AChangedSessionGetsAForkAtThatPlace) {
  ASSERT_TRUE(memory_->create(session_));
  others_say("before");
  session_ = *get(*memory_, session_.info.id);
  store_.fails = [](int) { return true; };
  conversation({"one", "two"});
  others_say("meanwhile");
  const CopiedSession copied = replay_outbox();
  EXPECT_EQ(copied.outcome, CopyOutcome::forked);
  EXPECT_THAT(copied.detail, HasSubstr("aside"));
  EXPECT_EQ(stored(), "user: before | user: meanwhile");
  EXPECT_EQ(stored("aside"),
            "user: before | user: one | assistant: re: one | user: two | assistant: re: two");
  EXPECT_EQ(get(*memory_, *SessionId::parse("aside"))->info.forked_from,
            (ForkOrigin{session_.info.id, Seq{1}}));
  again();
}

TEST_F(OutboxTest, OtherWordsOfTheSameTimeAreNotTakenForDeliveredOnes) {
  ASSERT_TRUE(memory_->create(session_));
  store_.fails = [](int) { return true; };
  conversation({"one"});
  for (const OutboxStep& step : outbox_.saved->steps) {
    for (Message message : step.messages) {
      message.blocks = {text_of("meanwhile")};
      ASSERT_TRUE(memory_->append(session_.info.id, {message}, {}));
    }
  }
  EXPECT_EQ(replay_outbox().outcome, CopyOutcome::forked);
  EXPECT_EQ(all(), "user: meanwhile | assistant: meanwhile / user: one | assistant: re: one");
  again();
}

// The file is removed afterwards.
TEST_F(OutboxTest, IsOnTheDiskOfTheStoreWhenItIsDelivered) {
  ASSERT_TRUE(memory_->create(session_));
  store_.fails = [](int) { return true; };
  conversation({"one"});
  StoreWithoutNames target(*memory_);
  ASSERT_TRUE(reprise::replay_outbox(*outbox_.saved, target));
  EXPECT_THAT(target.durabilities,
              testing::AllOf(testing::Not(testing::IsEmpty()), testing::Each(Durability::disk)));
}

// The first step was applied without an acknowledgement, then another process continued.
TEST_F(OutboxTest, OnlyUnstoredStepsBecomeAFork) {
  ASSERT_TRUE(memory_->create(session_));
  store_.fails = [this](int) {
    store_.fails_after_write = memory_->find(session_.info.id)->value().info.head == Seq{};
    return true;
  };
  conversation({"one"});
  others_say("meanwhile");
  EXPECT_EQ(replay_outbox().outcome, CopyOutcome::forked);
  EXPECT_EQ(all(), "user: one | user: meanwhile / user: one | assistant: re: one");
  again();
}

TEST_F(OutboxTest, AnInterruptedDeliveryIsResumed) {
  for (int failing = 0; failing < 12; ++failing) {
    memory_ = open_memory_store();
    ASSERT_TRUE(memory_->create(session_));
    outbox_.saved.reset();
    FaultyStore broken(*memory_);
    broken.fails = [](int) { return true; };
    conversation(&broken, {"one", "two"});
    others_say("meanwhile");
    FaultyStore store(*memory_);
    store.fails = [failing](int call) { return call == failing; };
    const auto first = reprise::replay_outbox(*outbox_.saved, store);
    EXPECT_EQ(first.has_value(), store.calls <= failing);
    (void)replay_outbox();
    EXPECT_EQ(all(),
              "user: meanwhile / user: one | assistant: re: one | user: two | assistant: re: two");
    again();
  }
}

TEST_F(OutboxTest, ADeletedSessionIsReplacedByANewOne) {
  ASSERT_TRUE(memory_->create(session_));
  others_say("before");
  session_ = *get(*memory_, session_.info.id);
  store_.fails = [](int) { return true; };
  conversation({"one"});
  ASSERT_TRUE(memory_->capabilities().trash->purge(session_.info.id));
  EXPECT_EQ(replay_outbox().outcome, CopyOutcome::forked);
  EXPECT_EQ(all(), "none / user: one | assistant: re: one");
  again();
}

TEST_F(OutboxTest, AContinuedAnswerReplacesTheCutOneOrBecomesAFork) {
  for (const bool has_gone_on : {false, true}) {
    memory_ = open_memory_store();
    outbox_.saved.reset();
    session_ = make_session("s1");
    ASSERT_TRUE(memory_->create(session_));
    ASSERT_TRUE(memory_->append(session_.info.id, {user("q"), incomplete({text_of("ha")})}, {}));
    session_ = *get(*memory_, session_.info.id);
    FaultyStore store(*memory_);
    provider_.scripts.clear();
    provider_.add().text("lf").then([&store] { store.fails = [](int) { return true; }; }).ended();
    {
      Conversation conversation(provider_, &store, session_, {.outbox = &outbox_});
      ASSERT_TRUE(conversation.continue_turn(listener_));
      provider_.scripts.clear();
      provider_.add().text("fine").ended();
      ASSERT_TRUE(conversation.ask("and", listener_));
    }
    ASSERT_TRUE(outbox_.saved);
    if (has_gone_on) {
      others_say("meanwhile");
    }
    (void)replay_outbox();
    EXPECT_EQ(all(), has_gone_on
                         ? "user: q | assistant: ha | user: meanwhile / user: q | "
                           "assistant: half | user: and | assistant: fine"
                         : "user: q | assistant: half | user: and | assistant: fine / none");
    again();
  }
}

TEST_F(OutboxTest, AFullDiskIsReportedAndRetried) {
  ASSERT_TRUE(memory_->create(session_));
  store_.fails = [](int) { return true; };
  outbox_.is_full = true;
  Conversation conversation(provider_, &store_, session_, {.outbox = &outbox_});
  provider_.add().text("1").ended();
  provider_.add().text("2").ended();
  const auto outcome = conversation.ask("one", listener_);
  ASSERT_TRUE(outcome);
  EXPECT_FALSE(outcome->saved);
  EXPECT_THAT(listener_.warnings,
              testing::ElementsAre(HasSubstr("not saved"),
                                   "it could not be saved elsewhere either: the disk is full"));
  outbox_.is_full = false;
  ASSERT_TRUE(conversation.ask("two", listener_));
  (void)replay_outbox();
  EXPECT_EQ(stored(), "user: one | assistant: 1 | user: two | assistant: 2");
}

TEST_F(OutboxTest, AStoreWithoutForksKeepsWhatItHas) {
  ASSERT_TRUE(memory_->create(session_));
  store_.fails = [](int) { return true; };
  conversation({"one"});
  others_say("meanwhile");
  store_.fails = [](int) { return false; };
  store_.capabilities_for_test().forking = nullptr;
  EXPECT_EQ(reprise::replay_outbox(*outbox_.saved, store_).error().code, Code::unsupported);
  EXPECT_EQ(all(), "user: meanwhile / none");
}

}  // namespace
}  // namespace reprise

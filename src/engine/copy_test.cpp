#include "engine/copy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <stop_token>

#include "base/text.h"
#include "engine/blobs.h"
#include "engine/testing/copying.h"
#include "reprise/capabilities.h"
#include "reprise/open_store.h"

namespace reprise {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Its messages from the second one on follow the largest possible gap.
class GappedStore final : public Store {
 public:
  explicit GappedStore(Store& inside)
      : inside_(inside), capabilities_{SourceCapabilities(inside.capabilities())} {}
  Result<> create(const Session& session) override { return inside_.create(session); }
  Result<std::optional<Session>> find(const SessionId& id) override {
    auto found = inside_.find(id);
    if (found && *found) {
      (*found)->info.head.value += kGap;
    }
    return found;
  }
  Result<> update(const SessionId& id, const SessionPatch& patch) override {
    return inside_.update(id, patch);
  }
  Result<SessionPage> list(const SessionQuery& query) override { return inside_.list(query); }
  Result<AppendResult> append(const SessionId& id, std::vector<Message> messages,
                              AppendOptions options) override {
    return inside_.append(id, std::move(messages), std::move(options));
  }
  Result<ReadReport> read(const SessionId& id, ReadRange range, const MessageSink& sink) override {
    ++reads_;
    const auto inner = [](Seq seq) {
      return Seq{seq.value > 1 ? std::max<std::int64_t>(1, seq.value - kGap) : seq.value};
    };
    const auto outer = [&](Message&& message) {
      message.seq.value += message.seq.value > 0 ? kGap : 0;
      return sink(std::move(message));
    };
    return inside_.read(id, {.from = inner(range.from), .to = inner(range.to)}, outer);
  }
  const Capabilities& capabilities() const override { return capabilities_; }
  int reads() const { return reads_; }

 private:
  static constexpr std::int64_t kGap = std::int64_t{1} << 62U;
  Store& inside_;
  Capabilities capabilities_;
  int reads_ = 0;
};

// Some sources know the usage of an answer only later.
TEST_F(Copying, UsageThatWasUnknownIsNoConflict) {
  add(*source_, id_, 0, 2, "text ");
  ASSERT_EQ(copy(*target_).outcome, CopyOutcome::copied);
  source_ = open_memory_store();
  ASSERT_TRUE(source_->create({.info = {.id = id_}}));
  std::vector<Message> messages = {message("user", "text 0", 0), message("assistant", "text 1", 1)};
  messages.back().usage = Usage{.input = {5}};
  ASSERT_TRUE(source_->append(id_, std::move(messages), {}));
  const CopiedSession again = copy(*target_);
  EXPECT_EQ(again.outcome, CopyOutcome::unchanged) << again.detail;
  EXPECT_THAT(again.losses, testing::Contains("the total usage"));
}

TEST_F(Copying, CarriesEverything) {
  add(*source_, id_, 0, 200, "text ");
  ASSERT_TRUE(
      source_->capabilities().todos->edit_todos(id_, [](std::vector<Todo>& todos) -> Result<> {
        todos.emplace_back().content = "write";
        return {};
      }));
  ASSERT_TRUE(source_->capabilities().artefacts->save_artefact(id_, {1}, "prompt.txt", "hello"));
  const CopiedSession copied = copy(*target_);
  EXPECT_EQ(copied.outcome, CopyOutcome::copied);
  EXPECT_EQ(copied.messages, 200);
  EXPECT_THAT(copied.losses, IsEmpty());
  EXPECT_EQ(*get(*target_, id_), *get(*source_, id_));
  EXPECT_EQ(*read_all(*target_, id_), *read_all(*source_, id_));
  EXPECT_EQ(*target_->capabilities().todos->todos(id_), *source_->capabilities().todos->todos(id_));
  EXPECT_EQ(*target_->capabilities().artefacts->find_artefact(id_, {1}, "prompt.txt"), "hello");
}

TEST_F(Copying, ReportsProgress) {
  add(*source_, id_, 0, 2500, "text ");
  std::vector<std::int64_t> done;
  const auto note = [&done](const Progress& progress) {
    EXPECT_EQ(progress.total, 2500);
    done.push_back(progress.done);
  };
  ASSERT_TRUE(copy_session(*source_, *target_, id_, {.progress = note}));
  EXPECT_GT(done.size(), 1U);
  EXPECT_TRUE(std::ranges::is_sorted(done));
}

TEST_F(Copying, RedactsSecretHeaders) {
  constexpr std::string_view kHeaders =
      R"({"headers":{"Set-Cookie":"session=1","x-api-key":"k","Authorization":"Bearer t","a":"b"}})";
  Artefacts& from = *source_->capabilities().artefacts;
  for (const std::string_view name : {"response.json", "sub/response.json", "other.json"}) {
    ASSERT_TRUE(from.save_artefact(id_, {1}, name, kHeaders));
  }
  const CopiedSession copied = copy(*target_);
  constexpr std::string_view kRedacted =
      R"({"headers":{"Set-Cookie":"[redacted]","x-api-key":"[redacted]",)"
      R"("Authorization":"[redacted]","a":"b"}})";
  Artefacts& to = *target_->capabilities().artefacts;
  EXPECT_EQ(*to.find_artefact(id_, {1}, "response.json"), kRedacted);
  EXPECT_EQ(*to.find_artefact(id_, {1}, "sub/response.json"), kRedacted);
  EXPECT_EQ(*to.find_artefact(id_, {1}, "other.json"), kHeaders);
  EXPECT_THAT(copied.losses,
              ElementsAre("artefact response.json of step 1: headers that are secret",
                          "artefact sub/response.json of step 1: headers that are secret"));
  EXPECT_EQ(copy(*target_).losses, copied.losses) << "the same again";
}

TEST_F(Copying, CarriesBlobs) {
  const auto hash = source_->capabilities().blobs->put_blob("pixels");
  ASSERT_TRUE(hash) << hash.error().message;
  Message image = message("user", "look", 0);
  ImageBlock block;
  block.media_type = "image/png";
  block.blob = *hash;
  image.blocks.emplace_back(block);
  ASSERT_TRUE(source_->append(id_, {image}, {}));
  EXPECT_THAT(copy(*target_).losses, IsEmpty());
  std::string bytes;
  ASSERT_TRUE(target_->capabilities().blobs->read_blob(*hash, [&](std::string_view piece) {
    bytes += piece;
    return Flow::proceed;
  }));
  EXPECT_EQ(bytes, "pixels");
}

TEST_F(Copying, EmbedsBlobsInAStoreWithoutBlobs) {
  Blobs& blobs = *source_->capabilities().blobs;
  const std::string output(kInlineBytesMax + 1, 'x');
  Message question = message(role::kUser, "look", 0);
  question.blocks.emplace_back(tool_result_block(source_.get(), "call", output));
  const auto add_image = [&](std::string_view bytes) {
    question.blocks.emplace_back(ImageBlock{
        .media_type = "image/png", .blob = *blobs.put_blob(bytes), .url = {}, .extra = {}});
  };
  add_image("pixels");
  add_image(std::string(6'300'000, 'x'));  // 8.4 million characters
  ASSERT_TRUE(source_->append(id_, {question}, {}));
  SmallStore target(std::move(target_), {});
  EXPECT_THAT(
      copy(target).losses,
      testing::Contains(testing::HasSubstr("6300000 bytes the session would be too large")));
  const auto messages = read_all(target, id_);
  ASSERT_TRUE(messages);
  const std::vector<Block>& blocks = messages->front().blocks;
  ASSERT_EQ(blocks.size(), 4U);
  EXPECT_EQ(std::get<ToolResultBlock>(blocks[1]).text, output);
  EXPECT_EQ(std::get<ImageBlock>(blocks[2]).url, "data:image/png;base64,cGl4ZWxz");
  EXPECT_FALSE(std::get<ImageBlock>(blocks[2]).blob);
  EXPECT_TRUE(std::get<ImageBlock>(blocks[3]).blob);
  EXPECT_EQ(copy(target).outcome, CopyOutcome::unchanged);
}

// As with a target that an earlier version copied to.
TEST_F(Copying, LeavesOutBlobsWithWhichTheTargetWouldBeTooLarge) {
  Message question = message(role::kUser, "look", 0);
  question.blocks.emplace_back(
      ImageBlock{.media_type = "image/png",
                 .blob = *source_->capabilities().blobs->put_blob("pixels"),
                 .url = {},
                 .extra = {}});
  ASSERT_TRUE(source_->append(id_, {question}, {}));
  SmallStore target(std::move(target_), {});
  target.fail_at(1, Code::unsupported);
  const CopiedSession copied = copy(target);
  EXPECT_EQ(copied.outcome, CopyOutcome::copied);
  EXPECT_THAT(copied.losses, testing::Contains(testing::HasSubstr("too large")));
  const auto messages = read_all(target, id_);
  ASSERT_TRUE(messages);
  EXPECT_TRUE(std::get<ImageBlock>(messages->front().blocks.back()).blob);
  // It is the same message, and the session can be continued.
  add(*source_, id_, 1, 2, "text ");
  EXPECT_EQ(copy(target).outcome, CopyOutcome::continued);
  EXPECT_EQ(copy(target).outcome, CopyOutcome::unchanged);
}

TEST_F(Copying, RemovesASessionThatExceedsALimitOfTheTarget) {
  add(*source_, id_, 0, 1500, "text ");
  SmallStore target(std::move(target_), {});
  target.fail_at(2, Code::unsupported);
  EXPECT_EQ(copy_session(*source_, target, id_).error().code, Code::unsupported);
  EXPECT_EQ(target.find(id_).value(), std::nullopt);
  // One that was there before stays.
  EXPECT_EQ(copy(target).messages, 1500);
  add(*source_, id_, 1500, 3000, "text ");
  target.fail_at(2, Code::unsupported);
  EXPECT_EQ(copy_session(*source_, target, id_).error().code, Code::unsupported);
  EXPECT_EQ(target.find(id_).value()->info.head, Seq{2000});
}

// The same messages at the same head, twice.
TEST_F(Copying, ContinuesATargetThatWasRewoundAgain) {
  add(*source_, id_, 0, 6, "text ");
  copy(*target_);
  for (int times = 0; times < 3; ++times) {
    ASSERT_TRUE(target_->capabilities().rewriting->replace_suffix(id_, Seq{4}, {}, {}));
    EXPECT_EQ(copy(*target_).messages, 2);
    EXPECT_EQ(*read_all(*target_, id_), *read_all(*source_, id_));
  }
}

// They are embedded in the artefact: a blob referenced only by it would be purged after a day.
TEST_F(Copying, CarriesBlobsOfReplacedMessages) {
  Blobs& blobs = *source_->capabilities().blobs;
  const std::string output(kInlineBytesMax + 1, 'x');
  Message replaced = message(role::kUser, "look", 0);
  replaced.blocks.emplace_back(tool_result_block(source_.get(), "call", output));
  ASSERT_TRUE(std::get<ToolResultBlock>(replaced.blocks.back()).blob);
  replaced.blocks.emplace_back(ImageBlock{
      .media_type = "image/png", .blob = *blobs.put_blob("pixels"), .url = {}, .extra = {}});
  ASSERT_TRUE(source_->append(id_, {replaced}, {}));
  ASSERT_TRUE(source_->capabilities().rewriting->replace_suffix(id_, Seq{0}, {}, {}));
  EXPECT_THAT(copy(*target_).losses, IsEmpty());
  const auto lines = target_->capabilities().artefacts->find_artefact(id_, {0}, "replaced.jsonl");
  ASSERT_TRUE(lines && *lines);
  const auto there = message_from_json(std::string_view(**lines).substr(0, (*lines)->size() - 1));
  ASSERT_TRUE(there) << there.error().message;
  ASSERT_EQ(there->blocks.size(), 3U);
  EXPECT_EQ(std::get<ToolResultBlock>(there->blocks[1]).text, output);
  EXPECT_FALSE(std::get<ToolResultBlock>(there->blocks[1]).blob);
  EXPECT_EQ(std::get<ImageBlock>(there->blocks[2]).url, "data:image/png;base64,cGl4ZWxz");
  EXPECT_FALSE(std::get<ImageBlock>(there->blocks[2]).blob);
}

// The source is a copy itself, in which messages were replaced later.
TEST_F(Copying, AddsReplacedMessagesToThoseOfTheSourcesSource) {
  ASSERT_TRUE(
      source_->capabilities().artefacts->save_artefact(id_, {0}, "replaced.jsonl", "earlier\n"));
  ASSERT_TRUE(source_->append(id_, {message(role::kUser, "gone", 0)}, {}));
  const Seq last{source_->find(id_)->value().info.head.value - 1};
  ASSERT_TRUE(source_->capabilities().rewriting->replace_suffix(id_, last, {}, {}));
  for (int copies = 0; copies < 2; ++copies) {
    EXPECT_THAT(copy(*target_).losses, IsEmpty());
    const auto lines = target_->capabilities().artefacts->find_artefact(id_, {0}, "replaced.jsonl");
    ASSERT_TRUE(lines && *lines);
    EXPECT_TRUE((*lines)->starts_with("earlier\n"));
    EXPECT_EQ(std::ranges::count(**lines, '\n'), 2);
  }
}

TEST_F(Copying, LeavesOtherReplacedMessagesOfTheTarget) {
  add(*source_, id_, 0, 1, "text ");
  ASSERT_TRUE(source_->capabilities().rewriting->replace_suffix(id_, Seq{0}, {}, {}));
  copy(*target_);
  Artefacts& to = *target_->capabilities().artefacts;
  ASSERT_TRUE(to.save_artefact(id_, {0}, "replaced.jsonl", "others\n"));
  EXPECT_THAT(copy(*target_).losses, ElementsAre("replaced messages: 1: the target has others"));
  EXPECT_EQ(*to.find_artefact(id_, {0}, "replaced.jsonl"), "others\n");
}

// Has replaced messages, one of which is unreadable.
class HalfReplaced final : public Source, public ReplacedReader {
 public:
  explicit HalfReplaced(Source& inside) : inside_(inside) { capabilities_.replaced_reader = this; }
  Result<std::optional<Session>> find(const SessionId& id) override { return inside_.find(id); }
  Result<SessionPage> list(const SessionQuery& query) override { return inside_.list(query); }
  Result<ReadReport> read(const SessionId& id, ReadRange range, const MessageSink& sink) override {
    return inside_.read(id, range, sink);
  }
  Result<std::int64_t> count_replaced(const SessionId& /*id*/) override { return 2; }
  Result<ReadReport> read_replaced(const SessionId& /*id*/, const MessageSink& sink) override {
    sink(message(role::kUser, "readable", 0));
    return ReadReport{.damage = {{"row 7", "not JSON", ""}}};
  }
  const Capabilities& capabilities() const override { return capabilities_; }

 private:
  Source& inside_;
  Capabilities capabilities_;
};

TEST_F(Copying, NamesDamageAmongReplacedMessages) {
  HalfReplaced source(*source_);
  const auto copied = copy_session(source, *target_, id_);
  ASSERT_TRUE(copied) << copied.error().message;
  EXPECT_THAT(copied->damage, testing::ElementsAre("a damaged part: row 7: not JSON"));
  EXPECT_THAT(copied->losses, testing::Contains("a damaged part: row 7: not JSON"));
  const auto lines = target_->capabilities().artefacts->find_artefact(id_, {0}, "replaced.jsonl");
  ASSERT_TRUE(lines && *lines);
  EXPECT_THAT(**lines, testing::HasSubstr("readable"));
}

TEST_F(Copying, IsIdempotent) {
  add(*source_, id_, 0, 3, "text ");
  copy(*target_);
  const Session before = *get(*target_, id_);
  const CopiedSession again = copy(*target_);
  EXPECT_EQ(again.outcome, CopyOutcome::unchanged);
  EXPECT_EQ(again.messages, 0);
  EXPECT_EQ(*get(*target_, id_), before);
}

TEST_F(Copying, ContinuesAGrownSession) {
  add(*source_, id_, 0, 3, "text ");
  copy(*target_);
  add(*source_, id_, 3, 130, "text ");
  ASSERT_TRUE(source_->update(id_, {.response_chain = std::vector<ResponseLink>{
                                        {"openai-responses", "r1"}, {"openai-responses", "r2"}}}));
  const CopiedSession again = copy(*target_);
  EXPECT_EQ(again.outcome, CopyOutcome::continued);
  EXPECT_EQ(again.messages, 127);
  EXPECT_EQ(*read_all(*target_, id_), *read_all(*source_, id_));
  EXPECT_EQ(get(*target_, id_)->response_chain.size(), 2U);
}

TEST_F(Copying, ListsWhatAnUpdateDoesNotCarry) {
  copy(*target_);
  ASSERT_TRUE(source_->update(id_, {.title = "new", .mode = "plan"}));
  EXPECT_THAT(copy(*target_).losses, ElementsAre("the mode", "the title"));
  ASSERT_TRUE(source_->append(id_, {message(role::kUser, "more", 99)}, {}));
  const CopiedSession continued = copy(*target_);
  EXPECT_EQ(continued.outcome, CopyOutcome::continued);
  EXPECT_THAT(continued.losses, ElementsAre("the mode", "the title"));
}

TEST_F(Copying, DoesNotChangeATargetThatIsAhead) {
  add(*source_, id_, 0, 2, "text ");
  copy(*target_);
  add(*target_, id_, 2, 4, "more ");
  const CopiedSession copied = copy(*target_);
  EXPECT_EQ(copied.outcome, CopyOutcome::unchanged);
  EXPECT_THAT(copied.losses, IsEmpty()) << "it has more, and nothing is missing";
  EXPECT_EQ(get(*target_, id_)->info.head, Seq{4});
}

TEST_F(Copying, ADifferenceIsAConflictAndNothingIsOverwritten) {
  add(*source_, id_, 0, 2, "text ");
  copy(*target_);
  add(*source_, id_, 2, 4, "here ");
  add(*target_, id_, 2, 4, "there ");
  const auto before = *read_all(*target_, id_);
  const CopiedSession copied = copy(*target_);
  EXPECT_EQ(copied.outcome, CopyOutcome::conflict);
  EXPECT_EQ(copied.detail, "message 2 differs");
  EXPECT_EQ(*read_all(*target_, id_), before);
}

// About fifty of these are a batch.
const std::string kLongText(10'000, 'x');

TEST_F(Copying, ResumesAfterAFailure) {
  add(*source_, id_, 0, 200, kLongText);
  SmallStore target(std::move(target_), {});
  target.fail_at(3);
  EXPECT_EQ(copy_session(*source_, target, id_).error().message, "the disk is full");
  const CopiedSession again = copy(target);
  EXPECT_EQ(again.outcome, CopyOutcome::continued);
  EXPECT_EQ(*read_all(target, id_), *read_all(*source_, id_));
}

TEST_F(Copying, SyncsOnceWithTheLastMessages) {
  add(*source_, id_, 0, 150, kLongText);
  SmallStore target(std::move(target_), {});
  copy(target);
  EXPECT_THAT(target.durabilities(), ElementsAre(Durability::os, Durability::os, Durability::disk));
  add(*source_, id_, 150, 151, "text ");
  copy(target);
  EXPECT_EQ(target.durabilities().size(), 4U);
  EXPECT_EQ(target.durabilities().back(), Durability::disk);
}

TEST_F(Copying, AppendsShortMessagesInBatchesOfAThousand) {
  add(*source_, id_, 0, 1001, "text ");
  SmallStore target(std::move(target_), {});
  copy(target);
  EXPECT_THAT(target.durabilities(), ElementsAre(Durability::os, Durability::disk));
}

TEST_F(Copying, SkipsGapsInConstantTime) {
  add(*source_, id_, 0, 3, "text ");
  GappedStore gapped(*source_);
  for (const bool words : {true, false}) {
    SmallStore target(open_memory_store(), {.messages = words});
    const auto copied = copy_session(gapped, target, id_);
    ASSERT_TRUE(copied) << copied.error().message;
    EXPECT_EQ(copied->messages, words ? 3 : 0);
  }
  EXPECT_LE(gapped.reads(), 4);
}

TEST_F(Copying, ListsWhatTheTargetChanged) {
  // Messages of other programs lack usage and times.
  Message old = message("user", "old", 0);
  old.created_at = {};
  ASSERT_TRUE(source_->append(id_, {old}, {}));
  ASSERT_TRUE(source_->append(id_, {message("assistant", "answer", 5)}, {}));
  EXPECT_THAT(copy(*target_).losses, IsEmpty());
  EXPECT_EQ(get(*target_, id_)->info.updated_at, Time(std::chrono::seconds(1'700'000'005)));
  class Forgetful final : public Store {
   public:
    explicit Forgetful(Store& inside)
        : inside_(inside), capabilities_{SourceCapabilities(inside.capabilities())} {}
    Result<> create(const Session& session) override {
      Session less = session;
      less.info.title.clear();
      less.info.created_at = {};
      less.info.closed_at = Time(std::chrono::seconds(1));
      less.extra.push_back({"x", RawJson()});
      less.prompt_history = {"y"};
      return inside_.create(less);
    }
    Result<std::optional<Session>> find(const SessionId& id) override { return inside_.find(id); }
    Result<> update(const SessionId& id, const SessionPatch& patch) override {
      return inside_.update(id, patch);
    }
    Result<SessionPage> list(const SessionQuery& query) override { return inside_.list(query); }
    Result<AppendResult> append(const SessionId& id, std::vector<Message> messages,
                                AppendOptions options) override {
      for (Message& one : messages) {
        one.created_at = {};
      }
      return inside_.append(id, std::move(messages), std::move(options));
    }
    Result<ReadReport> read(const SessionId& id, ReadRange range,
                            const MessageSink& sink) override {
      return inside_.read(id, range, sink);
    }
    const Capabilities& capabilities() const override { return capabilities_; }

   private:
    Store& inside_;
    Capabilities capabilities_;
  };
  const auto inside = open_memory_store();
  Forgetful target(*inside);
  EXPECT_THAT(copy(target).losses,
              ElementsAre("fields of other programs", "the closing time", "the creation time",
                          "the prompt history", "the title"));
  EXPECT_EQ(get(target, id_)->info.updated_at, Time(std::chrono::seconds(1'700'000'005)))
      << "messages without a time leave it as it is";
}

// A read-only source can be copied like a store.
TEST_F(Copying, AcceptsASource) {
  class Foreign final : public Source, public TodoReader {
   public:
    explicit Foreign(Source& inside) : inside_(inside) { capabilities_.todo_reader = this; }
    Result<std::optional<Session>> find(const SessionId& id) override { return inside_.find(id); }
    Result<SessionPage> list(const SessionQuery& query) override { return inside_.list(query); }
    Result<ReadReport> read(const SessionId& id, ReadRange range,
                            const MessageSink& sink) override {
      return inside_.read(id, range, sink);
    }
    const SourceCapabilities& capabilities() const override { return capabilities_; }
    Result<std::vector<Todo>> todos(const SessionId&) override {
      return std::vector<Todo>{{"read on", TodoStatus::pending, "", {}}};
    }

   private:
    Source& inside_;
    SourceCapabilities capabilities_;
  };
  ASSERT_TRUE(source_->append(id_, {message("user", "hello", 1)}, {}));
  Foreign source(*source_);
  const auto copied = copy_session(source, *target_, id_);
  ASSERT_TRUE(copied);
  EXPECT_EQ(copied->outcome, CopyOutcome::copied);
  EXPECT_EQ(read_all(*target_, id_)->size(), read_all(source, id_)->size());
  EXPECT_EQ(target_->capabilities().todos->todos(id_)->front().content, "read on");
}

TEST_F(Copying, ListsWhatTheTargetCannotHold) {
  add(*source_, id_, 0, 1, "text ");
  Message thought = message("assistant", "words", 1);
  ThinkingBlock thinking;
  thinking.text = "hm";
  thought.blocks.emplace_back(thinking);
  ASSERT_TRUE(source_->append(id_, {thought}, {}));
  SmallStore target(std::move(target_), {.blocks = false,
                                         .message_details = false,
                                         .config = false,
                                         .modes = false,
                                         .folders = false,
                                         .system_prompt = false});
  const CopiedSession copied = copy(target);
  EXPECT_THAT(copied.losses,
              ElementsAre("blocks that are not text", "the folder", "the messages' models",
                          "the mode", "the session's settings", "the system prompt"));
  EXPECT_EQ(copy(target).outcome, CopyOutcome::unchanged);
}

TEST_F(Copying, CopiesResponseIdsToAStoreWithoutMessages) {
  const auto answered = [](std::string_view provider, std::string_view id, std::int64_t second) {
    Message answer = message(role::kAssistant, "a", second);
    answer.provider = provider;
    answer.response_id = id;
    return answer;
  };
  Message calling = answered("openai-responses", "calls", 3);
  calling.blocks.emplace_back(ToolUseBlock{"t", "n", RawJson(), {}});
  Message cut = answered("openai-responses", "cut", 4);
  cut.state = MessageState::incomplete;
  ASSERT_TRUE(source_->append(
      id_,
      {message(role::kUser, "q", 1), answered("openai-responses", "r2", 2), calling, cut,
       answered("anthropic", "msg_1", 5), answered("openai-responses", "r3", 6)},
      {}));
  SmallStore target(open_memory_store(), {.messages = false});
  EXPECT_THAT(copy(target).losses, testing::Contains("the text of messages"));
  const auto ids = [&target, this] {
    std::vector<std::string> all;
    const auto stored = get(target, id_);
    for (const ResponseLink& link : stored->response_chain) {
      all.push_back(link.response_id);
    }
    return all;
  };
  EXPECT_THAT(ids(), ElementsAre("r1", "r2", "r3")) << "after the one that was noted before";
  ASSERT_TRUE(source_->append(id_, {answered("openai-responses", "r4", 7)}, {}));
  EXPECT_EQ(copy(target).outcome, CopyOutcome::continued);
  EXPECT_EQ(copy(target).outcome, CopyOutcome::unchanged);
  EXPECT_THAT(ids(), ElementsAre("r1", "r2", "r3", "r4"));
}

class CopyingForks : public Copying {
 protected:
  CopyingForks() {
    append(*source_, id_, 0, 4);
    fork(fork_, Seq{2});
    append(*source_, fork_, 4, 6);
    fork(empty_, Seq{4});
  }

  static void append(Store& store, const SessionId& id, int from, int to) {
    for (int i = from; i < to; ++i) {
      Message one = message(i % 2 == 0 ? "user" : "assistant", cat("text ", i), i);
      if (i % 2 != 0) {
        one.usage = Usage{.input = {i}, .output = {1}, .request_id = cat("request ", i)};
      }
      ASSERT_TRUE(store.append(id, {one}, {}));
    }
  }

  void fork(const SessionId& child, Seq at) {
    Session session{.info = {.id = child}};
    session.info.title = "a fork";
    session.info.created_at = session.info.updated_at = Time(std::chrono::seconds(1'700'000'900));
    ASSERT_TRUE(source_->capabilities().forking->fork(id_, at, session));
  }

  void expect_same(const SessionId& id) {
    EXPECT_EQ(*target_->find(id), *source_->find(id));
    EXPECT_EQ(*read_all(*target_, id), *read_all(*source_, id));
  }

  const SessionId fork_ = *SessionId::parse("fork");
  const SessionId empty_ = *SessionId::parse("empty");
};

TEST_F(CopyingForks, ShareTheMessagesOfTheirParent) {
  ASSERT_THAT(copy(*target_).losses, IsEmpty());
  for (const SessionId& id : {fork_, empty_}) {
    SCOPED_TRACE(id.str());
    const auto copied = copy_session(*source_, *target_, id);
    ASSERT_TRUE(copied);
    EXPECT_THAT(copied->losses, IsEmpty());
    EXPECT_EQ(copied->messages, id == fork_ ? 2 : 0);
    expect_same(id);
    EXPECT_EQ(copy_session(*source_, *target_, id)->outcome, CopyOutcome::unchanged);
    append(*source_, id, 6, 8);
    EXPECT_EQ(copy_session(*source_, *target_, id)->outcome, CopyOutcome::continued);
    expect_same(id);
  }
}

// Then everything is copied, and the usage counted with it is reported.
TEST_F(CopyingForks, AreCopiedWholeIfTheirParentDiffersOrIsMissing) {
  Message other = message(role::kUser, "other words", 0);
  for (const bool has_parent : {true, false}) {
    target_ = open_memory_store();
    if (has_parent) {
      ASSERT_TRUE(target_->create(Session{.info = {.id = id_}}));
      ASSERT_TRUE(target_->append(id_, {other, other}, {}));
    }
    const auto copied = copy_session(*source_, *target_, fork_);
    ASSERT_TRUE(copied);
    EXPECT_THAT(copied->losses, ElementsAre("the total usage"));
    EXPECT_EQ(*read_all(*target_, fork_), *read_all(*source_, fork_));
  }
}

// Which may be purged at any time.
TEST_F(CopyingForks, ShareNothingWithAParentInTheTrash) {
  ASSERT_THAT(copy(*target_).losses, IsEmpty());
  ASSERT_TRUE(target_->capabilities().trash->trash(id_, Time{}));
  const auto copied = copy_session(*source_, *target_, fork_);
  ASSERT_TRUE(copied) << copied.error().message;
  EXPECT_EQ(copied->messages, 4);
  EXPECT_EQ(*read_all(*target_, fork_), *read_all(*source_, fork_));
}

// A source may count the usage of shared messages as the fork's own.
TEST_F(CopyingForks, HaveTheUsageOfTheSource) {
  const SessionId own = *SessionId::parse("own");
  Session session{.info = {.id = own, .forked_from = ForkOrigin{id_, Seq{4}}}};
  ASSERT_TRUE(source_->create(session));
  append(*source_, own, 0, 6);
  ASSERT_THAT(copy(*target_).losses, IsEmpty());
  EXPECT_THAT(copy_session(*source_, *target_, own)->losses, IsEmpty());
  expect_same(own);
}

// Elsewhere, another write to the session need not make its messages durable.
TEST_F(Copying, LeavesTheSyncToItsCallerInStoresThatBeginSessions) {
  class Begins final : public DeferredCreation {
   public:
    explicit Begins(Store& store) : store_(store) {}
    Result<> begin(const Session& session) override { return store_.create(session); }

   private:
    Store& store_;
  };
  add(*source_, id_, 0, 3, "text ");
  for (const bool begins : {false, true}) {
    SmallStore target(open_memory_store(), {});
    Begins beginning(target);
    target.set_beginning(begins ? &beginning : nullptr);
    ASSERT_TRUE(copy_session(*source_, target, id_, {.durability = Durability::os}));
    EXPECT_THAT(target.durabilities(), ElementsAre(begins ? Durability::os : Durability::disk));
  }
}

TEST_F(Copying, StopsWhenAsked) {
  add(*source_, id_, 0, 3, "text ");
  const std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(copy_session(*source_, *target_, id_, {.stop = stop.get_token()}).error().code,
            Code::cancelled);
}

TEST_F(Copying, AnUnknownSessionIsAnError) {
  const SessionId other = *SessionId::parse("nobody");
  EXPECT_EQ(copy_session(*source_, *target_, other).error().code, Code::not_found);
}

}  // namespace
}  // namespace reprise

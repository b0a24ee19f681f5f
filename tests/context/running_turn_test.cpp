// A running turn is beside the file, and is added to it as a whole.

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/file.h"
#include "base/testing/temporary_folder.h"
#include "base/text.h"
#include "context/context_fixture.h"
#include "context/original_loader.h"
#include "reprise/capabilities.h"
#include "reprise/open_store.h"
#include "support/build.h"
#include "support/child.h"
#include "support/must.h"

namespace reprise::test {
namespace {

namespace fs = std::filesystem;
using Texts = std::vector<std::string>;

constexpr std::string_view kEnd = "\n  ],\n  \"meta\"";

PartialStart begins(std::string_view answer) {
  return {.answer = operation_id(answer),
          .owner = this_process(),
          .provider = "echo",
          .model = "m",
          .started_at = at(1)};
}

// A turn of the original program: it reads the file, and replaces it when the answer is complete.
std::string with_original_turn(std::string text, std::string_view words) {
  const auto entry = [](std::string_view role, std::string_view content) {
    return cat(",\n    {\n      \"role\": \"", role, "\",\n      \"content\": \"", content,
               "\",\n      \"timestamp\": \"2025-10-22T00:00:00.000Z\"\n    }");
  };
  const auto end = text.rfind(kEnd);
  if (end != std::string::npos) {
    text.insert(end, cat(entry("user", words), entry("assistant", cat("re: ", words))));
  }
  return text;
}

class RunningTurn : public testing::Test {
 protected:
  RunningTurn() { put(kOriginalContext); }

  std::unique_ptr<Store> open() const { return must(open_context_store(file_)); }
  static SessionId only(Store& store) { return must(store.list({})).sessions.at(0).id; }
  static Texts texts_in(Store& store) { return texts(must(read_all(store, only(store)))); }
  std::string bytes() const { return must(read_file(file_)); }
  void put(std::string_view text) const { must(replace_file(file_, text)); }
  bool is_beside() const { return fs::exists(beside_); }
  static AppendResult ask(Store& store, std::string_view words) {
    return must(store.append(only(store), {user(words, at(100))},
                             {.operation = operation_id(cat("ask-", words)),
                              .begin_partial = begins(cat("answer-", words))}));
  }
  static Result<AppendResult> answer(Store& store, std::string_view words) {
    return store.append(only(store), {assistant(cat("re: ", words), at(101))},
                        {.operation = operation_id(cat("end-", words)),
                         .end_partial = operation_id(cat("answer-", words))});
  }
  static Result<AppendResult> cancel_turn(Store& store, std::string_view words, Seq question) {
    return store.capabilities().rewriting->replace_suffix(
        only(store), question, {},
        {.expected_head = question.next(),
         .operation = operation_id(cat("back-", words)),
         .end_partial = operation_id(cat("answer-", words))});
  }

  TemporaryFolder folder_;
  fs::path file_ = folder_.path() / "openai.json";
  fs::path beside_ = folder_.path() / "openai.json.answer";
};

// Its process died between writing the file and removing the turn.
TEST_F(RunningTurn, IsNotAddedTwiceEvenWithoutOperations) {
  const auto store = open();
  const SessionId id = only(*store);
  must(store->append(id, {user("q", at(100))}, {.begin_partial = begins("answer")}));
  const std::string beside = must(read_file(beside_));
  must(store->append(id, {assistant("a", at(101))}, {.end_partial = operation_id("answer")}));
  const Texts expected = texts_in(*store);
  EXPECT_EQ(expected.size(), 6U);
  must(replace_file(beside_, beside));
  EXPECT_EQ(texts_in(*open()), expected);
  ask(*open(), "next");
  EXPECT_EQ(texts_in(*open()).size(), 7U);
}

TEST_F(RunningTurn, IsBesideTheFileUntilItIsComplete) {
  const auto store = open();
  EXPECT_EQ(ask(*store, "q").first, Seq{4});
  EXPECT_EQ(bytes(), kOriginalContext);
  const auto other = open();
  EXPECT_EQ(texts_in(*other).size(), 5U) << "what was acknowledged can be seen";
  EXPECT_EQ(must(other->list({})).sessions.at(0).head, Seq{5});
  EXPECT_TRUE(must(other->list({})).sessions.at(0).answering);
  EXPECT_TRUE(
      fails(other->append(only(*other), {user("x")}, {.begin_partial = begins("b")}), Code::busy));
  must(store->capabilities().partials->add_partial(only(*store), operation_id("answer-q"),
                                                   std::vector<Block>{TextBlock{"re", {}}}));
  EXPECT_EQ(must(other->capabilities().partials->find_partial(only(*other)))->blocks.size(), 1U);
  EXPECT_TRUE(ask(*store, "q").repeated);
  EXPECT_EQ(must(answer(*store, "q")).head, Seq{6});
  EXPECT_TRUE(must(answer(*store, "q")).repeated);
  EXPECT_FALSE(is_beside());
  EXPECT_EQ(texts_in(*other).back(), "re: q");
  EXPECT_EQ(load_as_original(bytes()).refusal, "");
  EXPECT_EQ(load_as_original(bytes()).conversation.size(), 6U);
}

TEST_F(RunningTurn, ARefusedQuestionLeavesTheFileUnchanged) {
  const auto store = open();
  const Seq question = ask(*store, "q").first;
  EXPECT_EQ(must(cancel_turn(*store, "q", question)).head, Seq{4});
  EXPECT_EQ(bytes(), kOriginalContext);
  EXPECT_FALSE(is_beside());
  EXPECT_EQ(texts_in(*store).size(), 4U);
  ask(*store, "again");
  put(with_original_turn(bytes(), "theirs"));
  const std::string theirs = bytes();
  must(cancel_turn(*store, "again", Seq{4}));
  EXPECT_EQ(bytes(), theirs) << "also when another program has written meanwhile";
  EXPECT_EQ(texts_in(*store).size(), 6U);
}

// Another program makes the file while the first question is answered.
TEST_F(RunningTurn, JoinsAConversationThatWasBegunMeanwhile) {
  fs::remove(file_);
  const auto store = open();
  must(store->capabilities().deferred_creation->begin(session("new")));
  ask(*store, "q");
  put(kOriginalContext);
  must(
      store->append(session_id("new"), {assistant("re: q", at(101))},
                    {.operation = operation_id("end-q"), .end_partial = operation_id("answer-q")}));
  EXPECT_EQ(texts_in(*open()).size(), 6U);
  EXPECT_EQ(texts_in(*open()).back(), "re: q");
  EXPECT_EQ(must(open()->list({})).sessions.size(), 1U);
  EXPECT_EQ(only(*open()), session_id("new"));
  EXPECT_FALSE(is_beside());
  EXPECT_EQ(load_as_original(bytes()).refusal, "");
}

// But it is seen before the first question is stored.
TEST_F(RunningTurn, HasNoRoomBesideAnotherConversation) {
  fs::remove(file_);
  const auto store = open();
  must(store->capabilities().deferred_creation->begin(session("new")));
  put(kOriginalContext);
  EXPECT_TRUE(fails(store->append(session_id("new"), {user("q")}, {.begin_partial = begins("a")}),
                    Code::unsupported));
  EXPECT_EQ(bytes(), kOriginalContext);
  EXPECT_FALSE(is_beside());
}

TEST_F(RunningTurn, ARefusedContinuationChangesNothing) {
  const auto store = open();
  must(store->append(only(*store), {},
                     {.operation = operation_id("on"), .begin_partial = begins("a")}));
  must(store->append(only(*store), {},
                     {.operation = operation_id("off"), .end_partial = operation_id("a")}));
  EXPECT_EQ(bytes(), kOriginalContext);
  EXPECT_FALSE(must(store->capabilities().partials->find_partial(only(*store))));
}

TEST_F(RunningTurn, ItsAnswerFollowsItsQuestion) {
  const auto store = open();
  ask(*store, "ours");
  put(with_original_turn(bytes(), "theirs"));
  const auto other = open();
  EXPECT_EQ(texts_in(*other), (Texts{"10 + 11", "10 + 11 equals 21.", "describe", "A \"fish\".\n",
                                     "theirs", "re: theirs", "ours"}));
  EXPECT_EQ(must(answer(*store, "ours")).head, Seq{8});
  EXPECT_EQ(texts_in(*open()).at(6), "ours");
  EXPECT_EQ(texts_in(*open()).at(7), "re: ours");
  EXPECT_EQ(load_as_original(bytes()).refusal, "");
}

TEST_F(RunningTurn, AProcessThatDiesLeavesItsQuestion) {
  const auto child = in_child([this] {
    const auto store = open();
    ask(*store, "lost");
    must(store->capabilities().partials->add_partial(only(*store), operation_id("answer-lost"),
                                                     std::vector<Block>{TextBlock{"half", {}}}));
    ::_exit(0);
    return 0;
  });
  EXPECT_EQ(exit_code_of(child), 0);
  const auto store = open();
  EXPECT_EQ(texts_in(*store).back(), "lost");
  const auto running = must(store->capabilities().partials->find_partial(only(*store)));
  ASSERT_TRUE(running);
  Message half = assistant("half", at(102));
  half.state = MessageState::incomplete;
  EXPECT_EQ(running->blocks, half.blocks);
  must(store->append(only(*store), {half}, {.end_partial = running->answer}));
  EXPECT_EQ(load_as_original(bytes()).conversation.back().content, "half");
  EXPECT_FALSE(is_beside());
}

TEST_F(RunningTurn, AStoredTurnIsNotDuplicated) {
  const auto store = open();
  ask(*store, "q");
  const std::string left = must(read_file(beside_));
  must(answer(*store, "q"));
  must(replace_file(beside_, left));  // the process was killed before removing it
  const auto after = open();
  EXPECT_EQ(texts_in(*after).size(), 6U);
  EXPECT_FALSE(must(after->capabilities().partials->find_partial(only(*after))));
  ask(*after, "next");
  must(answer(*after, "next"));
  EXPECT_EQ(texts_in(*after).size(), 8U);
}

TEST_F(RunningTurn, IsMovedToTheTrash) {
  const auto store = open();
  ask(*store, "q");
  const SessionId id = only(*store);
  must(store->capabilities().trash->trash(id, at(200)));
  must(store->create(session("another")));
  EXPECT_EQ(must(read_all(*store, id)).size(), 5U);
  must(store->append(session_id("another"), {user("b", at(300))}, {.begin_partial = begins("b")}));
  EXPECT_EQ(texts(must(read_all(*open(), id))).back(), "q");
}

TEST_F(RunningTurn, AnUnreadableTurnIsQuarantined) {
  must(replace_file(beside_, "{\"turn\":[1]}\n"));
  const auto store = open();
  EXPECT_EQ(texts_in(*store).size(), 4U);
  std::vector<Damage> damage =
      must(store->read(only(*store), {}, [](Message&&) { return Flow::proceed; })).damage;
  EXPECT_EQ(damage.size(), 1U);
  ask(*store, "q");
  must(answer(*store, "q"));
  EXPECT_EQ(must(read_file(fs::path(beside_) += ".bak")), "{\"turn\":[1]}\n");
}

Message call(std::string_view preface) {
  Message message = assistant("", at(101));
  message.blocks = {TextBlock{std::string(preface), {}},
                    ToolUseBlock{"t1", "list", *RawJson::parse("{\"n\":1.0}"), {}}};
  return message;
}

Message result() {
  Message message = user("", at(102));
  message.role = role::kTool;
  message.blocks = {ToolResultBlock{"t1", "a\nb", false, {}, {}}};
  return message;
}

TEST_F(RunningTurn, AToolTurnIsAQuestionAndAnAnswerInTheFile) {
  const auto store = open();
  const SessionId id = only(*store);
  ask(*store, "q");
  must(store->append(id, {call("Let me look.")},
                     {.end_partial = operation_id("answer-q"), .begin_partial = begins("b")}));
  must(store->append(id, {result()}, {}));
  EXPECT_EQ(bytes(), kOriginalContext);
  must(store->append(id, {assistant("done", at(103))}, {.end_partial = operation_id("b")}));
  const OriginalFile original = load_as_original(bytes());
  EXPECT_EQ(original.refusal, "") << bytes();
  ASSERT_EQ(original.conversation.size(), 6U);
  EXPECT_EQ(original.conversation.at(4).content, "q");
  EXPECT_EQ(original.conversation.at(5).content, "done");
  const auto again = must(read_all(*open(), id));
  ASSERT_EQ(again.size(), 8U);
  EXPECT_EQ(again, must(read_all(*store, id)));
  EXPECT_EQ(again.at(5).blocks, call("Let me look.").blocks);
  EXPECT_EQ(again.at(6).blocks, result().blocks);
  const std::string before = bytes();
  must(open()->update(id, {.title = "t"}));
  EXPECT_EQ(must(read_all(*open(), id)), again);
  EXPECT_EQ(load_as_original(bytes()).refusal, "");
}

// The original refuses empty entries and two questions in a row.
TEST_F(RunningTurn, AQuestionWithAnEmptyAnswerWaitsForTheNextEntry) {
  for (const char* const nothing : {"", " \n"}) {
    const auto store = open();
    const SessionId id = only(*store);
    const auto before = must(read_all(*store, id)).size();
    const auto entries = load_as_original(bytes()).conversation.size();
    must(store->append(id, {user("q", at(100)), assistant(nothing, at(101))}, {}));
    EXPECT_EQ(load_as_original(bytes()).refusal, "") << bytes();
    must(open()->append(id, {user("again", at(102)), assistant("done", at(103))}, {}));
    EXPECT_EQ(load_as_original(bytes()).refusal, "") << bytes();
    EXPECT_EQ(load_as_original(bytes()).conversation.size(), entries + 2);
    const auto whole = must(read_all(*open(), id));
    ASSERT_EQ(whole.size(), before + 4);
    EXPECT_EQ(plain_text(whole.at(before)), "q");
    EXPECT_EQ(plain_text(whole.at(before + 1)), nothing);
  }
}

TEST_F(RunningTurn, CallsWithoutAnAnswerWaitForTheNextEntry) {
  const auto store = open();
  const SessionId id = only(*store);
  must(store->append(id, {user("q", at(100)), call(""), result()}, {}));
  EXPECT_EQ(load_as_original(bytes()).refusal, "") << bytes();
  EXPECT_EQ(must(read_all(*open(), id)).size(), 7U);
  must(open()->append(id, {assistant("done", at(103))}, {}));
  EXPECT_EQ(load_as_original(bytes()).refusal, "") << bytes();
  EXPECT_EQ(load_as_original(bytes()).conversation.size(), 6U);
  const auto whole = must(read_all(*open(), id));
  ASSERT_EQ(whole.size(), 8U);
  EXPECT_EQ(whole.at(5).blocks, call("").blocks);
  EXPECT_EQ(whole.at(6).blocks, result().blocks);
  EXPECT_EQ(plain_text(whole.at(7)), "done");
}

TEST_F(RunningTurn, EntriesOfAnotherProgramMayFollowCalls) {
  const SessionId id = only(*open());
  must(open()->append(id, {user("q", at(100)), call(""), result()}, {}));
  put(with_original_turn(bytes(), "theirs"));
  const auto whole = must(read_all(*open(), id));
  ASSERT_EQ(whole.size(), 9U);
  EXPECT_EQ(whole.at(5).blocks, call("").blocks);
  EXPECT_EQ(plain_text(whole.at(8)), "re: theirs");
  EXPECT_EQ(whole.at(8).seq, Seq{8});
  must(open()->append(id, {user("next", at(200)), assistant("re: next", at(201))}, {}));
  const auto later = must(read_all(*open(), id));
  ASSERT_EQ(later.size(), 11U);
  EXPECT_EQ(later.at(6).blocks, result().blocks);
  EXPECT_NE(bytes().find("\"total_turns\": 6"), std::string::npos) << bytes();
  EXPECT_EQ(load_as_original(bytes()).conversation.size(), 9U);
}

// Like the original: reads the file, waits for the answer, reads again, and replaces it without a
// lock.
int run_original(const fs::path& file, int turns) {
  for (int i = 0; i < turns; ++i) {
    ::usleep(2'000);
    const auto text = read_file(file);
    const fs::path temporary = cat(file.native(), ".tmp");
    if (!text || !replace_file(temporary, with_original_turn(*text, cat("theirs ", i)))) {
      return 1;
    }
    fs::rename(temporary, file);
  }
  return 0;
}

constexpr std::string_view kNoConversation =
    "{\n\t\"model\": \"tiny\",   \"conversation\": [],\n\"other\": 1.0 }";

// A new conversation: the file has only settings, in the user's formatting.
class StartedConversation : public RunningTurn {
 protected:
  StartedConversation() { put(kNoConversation); }
  Session begin(Store& store) {
    Session session = full_session(id_.str());
    session.info.state = SessionState::active;
    must(store.capabilities().deferred_creation->begin(session));
    return session;
  }
  SessionId id_ = session_id("b0416d7c-2e49-4408-9615-e32c41d08738");
};

TEST_F(StartedConversation, ARefusedFirstQuestionLeavesTheFileUnchanged) {
  const auto store = open();
  const Session created = begin(*store);
  EXPECT_EQ(must(get(*store, id_)).info.title, created.info.title);
  EXPECT_TRUE(fails(store->capabilities().deferred_creation->begin(created), Code::conflict));
  must(store->update(id_, {.title = "new"}));
  ask(*store, "q");
  must(cancel_turn(*store, "q", Seq{0}));
  EXPECT_EQ(bytes(), kNoConversation);
  EXPECT_FALSE(is_beside());
  EXPECT_EQ(must(open()->list({})).sessions.size(), 0U);
  ask(*store, "again");
  EXPECT_EQ(bytes(), kNoConversation);
  EXPECT_EQ(must(answer(*store, "again")).head, Seq{2});
  EXPECT_FALSE(is_beside());
  const auto other = open();
  EXPECT_EQ(must(get(*other, id_)).info.title, "new");
  EXPECT_EQ(texts_in(*other), (Texts{"again", "re: again"}));
  EXPECT_NE(bytes().find("\"other\": 1.0"), std::string::npos);
}

TEST_F(StartedConversation, SurvivesIfItsProcessDiesInTheFirstTurn) {
  Session created = begin(*open());
  {
    const auto store = open();
    created = begin(*store);
    ask(*store, "q");
  }
  EXPECT_EQ(bytes(), kNoConversation);
  const auto reader = must(open_context_store(file_, {.access = Access::read}));
  EXPECT_EQ(texts_in(*reader), Texts{"q"});
  const auto store = open();
  Session found = must(get(*store, id_));
  EXPECT_EQ(found.info.head, Seq{1});
  EXPECT_TRUE(found.info.answering);
  found.info.head = created.info.head;
  found.info.answering.reset();
  found.info.updated_at = created.info.updated_at;
  found.config = created.config;
  found.usage = created.usage;
  EXPECT_EQ(found, created);
  EXPECT_TRUE(fails(store->capabilities().deferred_creation->begin(full_session("other")),
                    Code::unsupported))
      << "what was asked is not lost for another";
  must(answer(*store, "q"));
  EXPECT_FALSE(is_beside());
  EXPECT_EQ(texts_in(*open()), (Texts{"q", "re: q"}));
}

TEST_F(StartedConversation, MayBeTheFirstThingInANewFile) {
  fs::remove(file_);
  const auto store = open();
  begin(*store);
  ask(*store, "q");
  EXPECT_FALSE(fs::exists(file_));
  EXPECT_EQ(texts_in(*must(open_context_store(file_, {.access = Access::read}))), Texts{"q"});
  must(answer(*store, "q"));
  EXPECT_EQ(texts_in(*open()).size(), 2U);
}

TEST_F(StartedConversation, AnUnreadableOneIsReportedAsDamage) {
  for (const bool is_folder : {false, true}) {
    fs::remove_all(beside_);
    if (is_folder) {
      fs::create_directory(beside_);
    } else {
      must(replace_file(beside_, R"({"answer":"a","session":"s","turn":[1]})"));
    }
    const auto reader = must(open_context_store(file_, {.access = Access::read}));
    const SessionPage page = must(reader->list({}));
    EXPECT_EQ(page.sessions.size(), 0U);
    ASSERT_EQ(page.damage.size(), 1U) << is_folder;
    EXPECT_EQ(page.damage.front().where, beside_.native());
  }
}

// It is in the trash, and another conversation may be started.
TEST_F(StartedConversation, ATrashedOneDoesNotBlockOthers) {
  {
    const auto store = open();
    begin(*store);
    ask(*store, "q");
    must(store->capabilities().trash->trash(id_, at(200)));
  }
  const auto store = open();
  Session other = full_session("other");
  other.info.state = SessionState::active;
  must(store->capabilities().deferred_creation->begin(other));
  must(store->append(session_id("other"), {user("b", at(300))}, {.begin_partial = begins("b")}));
  must(store->append(session_id("other"), {assistant("re: b", at(301))},
                     {.end_partial = operation_id("b")}));
  EXPECT_EQ(texts(must(read_all(*open(), session_id("other")))), (Texts{"b", "re: b"}));
  EXPECT_EQ(texts(must(read_all(*open(), id_))), Texts{"q"});
}

TEST_F(StartedConversation, IsGoneWhenDeleted) {
  const auto store = open();
  begin(*store);
  must(store->capabilities().trash->purge(id_));
  EXPECT_EQ(must(store->find(id_)), std::nullopt);
  begin(*store);
  ask(*store, "q");
  must(store->capabilities().trash->purge(id_));
  EXPECT_FALSE(is_beside());
  EXPECT_EQ(bytes(), kNoConversation);
}

TEST_F(RunningTurn, IsVerifiedAndBackedUpWithItsFile) {
  const auto store = open();
  const std::int64_t before = must(store->capabilities().verifier->verify()).messages;
  ask(*store, "q");
  EXPECT_EQ(must(store->capabilities().verifier->verify()).messages, before + 1);
  const fs::path copy = folder_.path() / "copy" / "kept.json";
  must(store->capabilities().backup->backup(copy));
  const auto reopened = must(open_context_store(copy, {.access = Access::read}));
  EXPECT_EQ(texts_in(*reopened), texts_in(*store));
  const fs::path repaired = folder_.path() / "mended" / "kept.json";
  EXPECT_EQ(must(store->capabilities().repair->repair_into(repaired)).messages, before + 1);
  EXPECT_EQ(texts_in(*must(open_context_store(repaired))), texts_in(*store));
  must(replace_file(beside_, "{\"answer\":\"a\",\"turn\":7}\n"));
  const VerifyReport report = must(store->capabilities().verifier->verify());
  ASSERT_EQ(report.damage.size(), 1U);
  EXPECT_EQ(report.damage.at(0).where, beside_.native());
}

TEST_F(RunningTurn, TwoProcessesDoNotSplitTurns) {
  constexpr int kTurns = 60;
  const pid_t original = in_child([this] { return run_original(file_, kTurns); });
  const auto store = open();
  for (int i = 0; i < kTurns; ++i) {
    ask(*store, cat("ours-", i));
    ::usleep(1'000);
    must(answer(*store, cat("ours-", i)));
  }
  EXPECT_EQ(exit_code_of(original), 0);
  ask(*store, "last");
  must(answer(*store, "last"));
  const OriginalFile file = load_as_original(bytes());
  EXPECT_EQ(file.refusal, "");
  std::size_t ours = 0;
  for (std::size_t i = 4; i + 1 < file.conversation.size(); i += 2) {
    EXPECT_EQ(file.conversation[i + 1].content, cat("re: ", file.conversation[i].content));
    ours += file.conversation[i].content.starts_with("ours") ? 1U : 0U;
  }
  EXPECT_EQ(ours, static_cast<std::size_t>(kTurns)) << "each of ours once";
}

}  // namespace
}  // namespace reprise::test

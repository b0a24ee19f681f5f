// Imports of sessions that have changed, and of those that fail.

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>

#include "base/file.h"
#include "base/text.h"
#include "export/exported.h"
#include "reprise/capabilities.h"
#include "reprise/open_source.h"
#include "source/import_fixture.h"
#include "support/child.h"
#include "support/must.h"

namespace reprise::test::imports {
namespace {

const std::string kSession = "projects/x/0a1b2c3d-0000-4000-8000-000000000001";

std::string claude_line(std::string_view type, std::string_view uuid, std::string_view parent,
                        std::string_view more) {
  return cat("{'type':'", type, "','uuid':'", uuid,
             "','parentUuid':", parent.empty() ? "null" : cat("'", parent, "'"),
             ",'sessionId':'s','timestamp':'2026-11-20T10:00:00.000Z',", more, "}");
}
std::string question(std::string_view uuid, std::string_view parent) {
  return claude_line("user", uuid, parent, cat("'message':{'content':'", uuid, "'}"));
}
std::string call(std::string_view uuid, std::string_view parent, std::string_view answer) {
  return claude_line(
      "assistant", uuid, parent,
      cat("'requestId':'r", answer, "','message':{'id':'", answer,
          "','model':'x','content':[{'type':'tool_use','id':'", uuid,
          "','name':'Bash','input':{}}],'usage':{'input_tokens':1,'output_tokens':1}}"));
}
std::string result(std::string_view uuid, std::string_view parent, std::string_view of) {
  return claude_line("user", uuid, parent,
                     cat("'message':{'content':[{'type':'tool_result','tool_use_id':'", of,
                         "','content':'", uuid, "'}]}"));
}

class ChangesTest : public ImportTest {
 protected:
  // The number of blocks of each message.
  std::vector<std::size_t> blocks_of(const SessionInfo& info) {
    std::vector<std::size_t> counts;
    for (const Message& message : must(read_all(*store_, info.id))) {
      counts.push_back(message.blocks.size());
    }
    return counts;
  }
  std::vector<SessionInfo> sessions_that_are(SessionState state) {
    return must(store_->list({.states = {state}})).sessions;
  }
  std::string new_chats(std::string_view options = "") {
    return cat("chatdir:", (own_.path() / cat("chats", chats_++)).native(), options);
  }

 private:
  int chats_ = 0;
};

// The results of parallel calls come between the pieces of an answer.
TEST_F(ChangesTest, AnAnswerBeforeAResultGrows) {
  const std::string file = kSession + ".jsonl";
  write(file, {question("q", ""), call("a1", "q", "m1"), result("r1", "a1", "a1")});
  open("claude");
  EXPECT_EQ(import_all(), Lines{"copied 3"});
  write(file, {call("a2", "r1", "m1")});
  EXPECT_EQ(import_all(), Lines{"continued 2"});
  write(file, {call("a3", "a2", "m1")});
  EXPECT_EQ(import_all(), Lines{"continued 2"});
  write(file, {result("r2", "a3", "a2"), result("r3", "r2", "a3"), call("b", "r3", "m2")});
  EXPECT_EQ(import_all(), Lines{"continued 3"});
  const auto active = sessions_that_are(SessionState::active);
  ASSERT_EQ(active.size(), 1U);
  EXPECT_EQ(blocks_of(active[0]), (std::vector<std::size_t>{1, 3, 1, 1, 1, 1}));
  EXPECT_EQ(import_all(), Lines{"unchanged 0"});
}

TEST_F(ChangesTest, AnAnswerBeforeAResultGrowsInALongSubAgent) {
  constexpr int kRounds = 800;
  const std::string file = kSession + "/subagents/agent-7.jsonl";
  write(kSession + ".jsonl", {question("q", "")});
  write(file, {question("q1", ""), call("a0", "q1", "m0"), result("r0", "a0", "a0")});
  open("claude");
  import_all();
  Lines more = {call("again", "r0", "m0")};
  std::string last = "again";
  for (int i = 1; i < kRounds; ++i) {
    more.push_back(call(cat("a", i), last, cat("m", i)));
    last = cat("r", i);
    more.push_back(result(last, cat("a", i), cat("a", i)));
  }
  write(file, more);
  import_all();
  const auto archived = sessions_that_are(SessionState::archived);
  ASSERT_EQ(archived.size(), 1U);
  const std::vector<std::size_t> blocks = blocks_of(archived[0]);
  EXPECT_EQ(blocks.size(), 1U + 2 * kRounds);
  EXPECT_EQ(blocks.at(1), 2U);
}

TEST_F(ChangesTest, AnAnswerThatGrowsIsNotTakenOverWhereTheSessionWentOn) {
  const std::string file = kSession + ".jsonl";
  write(file, {question("q", ""), call("a1", "q", "m1"), result("r1", "a1", "a1")});
  open("claude");
  import_all();
  const SessionId id = sessions_that_are(SessionState::active).at(0).id;
  must(store_->append(id, {{.role = "user", .blocks = {text_block("Here")}}}, {}));
  write(file, {call("a2", "r1", "m1")});
  EXPECT_EQ(import_all(), Lines{"forked 2"});
  EXPECT_EQ(plain_text(must(read_all(*store_, id)).back()), "Here");
}

TEST_F(ChangesTest, UsageOfSharedMessagesIsNotAddedToAFork) {
  constexpr std::string_view kUsage = ",'usage':{'input':7,'output':1}";
  write(kFile, {std::string(kHeader), named(1, 0, "user", "One"),
                named(2, 1, "assistant", "1", kUsage), named(3, 2, "user", "Two")});
  open("pi");
  import_all();
  write(kFile, {named(4, 2, "user", "Three"), named(5, 4, "assistant", "3", kUsage)});
  EXPECT_EQ(import_all(), Lines{"forked 2"});
  const SessionInfo fork = sessions_that_are(SessionState::active).at(0);
  ASSERT_TRUE(fork.forked_from);
  EXPECT_EQ(origin_of(must(get(*store_, fork.id)))->usage, std::nullopt);
}

// Several sessions are imported at the same time.
TEST_F(ChangesTest, SubAgentsWithFilesOfTheirOwnAreImportedOnce) {
  constexpr int kRounds = 10;
  write(kSession + ".jsonl", {question("q", ""), question("left", "q"), question("used", "q")});
  write(kSession + "/subagents/agent-00.jsonl", {question("q0", ""), question("q1", "q0")});
  write(kSession + "/subagents/agent-01.jsonl",
        {question("q2", ""), question("q3", "q2"), question("q4", "q2")});
  open("claude");
  SessionQuery query;
  query.children = true;
  const std::vector<SessionInfo> listed = must(source().list(query)).sessions;
  ASSERT_EQ(listed.size(), 3U);
  for (int round = 0; round < kRounds; ++round) {
    store_ = must(open_store(new_chats()));
    std::vector<std::int64_t> counts;
    import_sessions({source(), "claude", listed}, *store_,
                    [&](const SessionInfo& /*info*/, const Result<ImportedSession>& imported) {
                      ASSERT_TRUE(works(imported));
                      counts.push_back(imported->messages);
                    });
    ASSERT_THAT(counts, testing::UnorderedElementsAre(4, 2, 4)) << round;
    ASSERT_EQ(sessions_that_are(SessionState::active).size(), 1U);
    ASSERT_EQ(sessions_that_are(SessionState::archived).size(), 4U);
  }
}

TEST_F(ChangesTest, AnOriginalThatBecameShorterIsExportedAsItIs) {
  const std::string file = kSession + ".jsonl";
  const Lines lines = {question("q", ""), question("again", "q")};
  write(file, {claude_line("api-request-shape", "shape", "",
                           cat("'shape':'", std::string(std::size_t{6} << 20U, 'x'), "'"))});
  write(file, lines);
  open("claude");
  SessionInfo info = must(source().list({})).sessions.at(0);
  const SessionId id = must(import_session(source(), "claude", *store_, info)).id;
  std::filesystem::remove(location() / file);
  write(file, lines);
  info = must(source().list({})).sessions.at(0);
  EXPECT_EQ(must(import_session(source(), "claude", *store_, info)).outcome,
            CopyOutcome::unchanged);
  EXPECT_TRUE(exported_as("claude", *store_, id.str()).text == must(read_file(location() / file)));
}

// A source whose reader does something else first.
class Intercepted final : public Source {
 public:
  Intercepted(Source& source, std::function<void()> before)
      : source_(source), before_(std::move(before)) {}
  Result<std::optional<Session>> find(const SessionId& id) override { return source_.find(id); }
  Result<SessionPage> list(const SessionQuery& query) override { return source_.list(query); }
  Result<ReadReport> read(const SessionId& id, ReadRange range, const MessageSink& sink) override {
    before_();
    return source_.read(id, range, sink);
  }
  const SourceCapabilities& capabilities() const override { return source_.capabilities(); }

 private:
  Source& source_;
  std::function<void()> before_;
};

TEST_F(ChangesTest, AnotherProcessMayImportMoreOfTheSameSession) {
  write(kFile, {std::string(kHeader), named(1, 0, "user", "One")});
  open("pi");
  import_all();
  write(kFile, {named(2, 1, "assistant", "1")});
  int reads = 0;
  Intercepted intercepted(source(), [&] {
    if (++reads == 2) {  // after the stored session was found
      write(kFile, {named(3, 2, "user", "Two")});
      import_all();
    }
  });
  const SessionInfo info = must(source().list({})).sessions.at(0);
  EXPECT_TRUE(works(import_session(intercepted, "pi", *store_, info)));
  EXPECT_EQ(stored(), std::vector<Lines>{(Lines{"One", "1", "Two"})});
}

// A sub-agent whose session was archived.
class ArchivedTest : public ChangesTest {
 protected:
  static constexpr std::string_view kLimit = "?messages=4";

  void import_first(const std::string& url) {
    write(kSession + ".jsonl", {question("q", "")});
    write(file_, {question("q1", ""), question("q2", "q1"), question("q3", "q2")});
    open("claude");
    store_ = must(open_store(url));
    EXPECT_EQ(import_agent().value().messages, 3);
    expect_archived(3);
  }
  void grow() { write(file_, {question("q4", "q3"), question("q5", "q4"), question("q6", "q5")}); }
  SessionInfo agent() {
    SessionQuery query{.id_prefix = "0a1b2c3d-0000-4000-8000-000000000001:"};
    query.children = true;
    return must(source().list(query)).sessions.at(0);
  }
  Result<ImportedSession> import_agent() {
    return import_session(source(), "claude", *store_, agent());
  }
  void expect_archived(int messages) {
    EXPECT_TRUE(sessions_that_are(SessionState::active).empty());
    const auto archived = sessions_that_are(SessionState::archived);
    ASSERT_EQ(archived.size(), 1U);
    EXPECT_EQ(archived[0].head, Seq{messages});
  }

  const std::string file_ = kSession + "/subagents/agent-7.jsonl";
};

TEST_F(ArchivedTest, StaysArchivedIfAnImportFails) {
  const std::string url = new_chats();
  import_first(cat(url, kLimit));
  grow();
  EXPECT_FALSE(import_agent());
  expect_archived(3);
  store_ = must(open_store(url));
  EXPECT_EQ(must(import_agent()).messages, 3);
  expect_archived(6);
}

TEST_F(ArchivedTest, IsArchivedByTheNextImportIfOneIsKilled) {
  const std::string url = new_chats();
  import_first(url);
  grow();
  const SessionInfo info = agent();
  const pid_t child = in_child([&] {
    const auto claude = must(open_source(cat("claude:", location().native())));
    const auto store = must(open_store(url));
    Intercepted intercepted(*claude, [] { ::_exit(7); });
    return import_session(intercepted, "claude", *store, info) ? 0 : 1;
  });
  EXPECT_EQ(exit_code_of(child), 7);
  store_ = must(open_store(url));
  EXPECT_EQ(sessions_that_are(SessionState::active).size(), 1U);
  EXPECT_EQ(must(import_agent()).messages, 3);
  expect_archived(6);
}

TEST_F(ArchivedTest, IsArchivedByTheNextImportIfOneIsKilledBeforeItArchives) {
  import_first(new_chats());
  must(store_->capabilities().archives->unarchive(sessions_that_are(SessionState::archived)[0].id));
  EXPECT_EQ(must(import_agent()).messages, 0);
  expect_archived(3);
}

TEST_F(ArchivedTest, MayBeArchivedByAnotherImportMeanwhile) {
  import_first(new_chats());
  grow();
  Intercepted intercepted(source(), [&] { must(import_agent()); });
  EXPECT_TRUE(works(import_session(intercepted, "claude", *store_, agent())));
  expect_archived(6);
}

TEST_F(ArchivedTest, StaysRestoredIfAPersonRestoredIt) {
  import_first(new_chats());
  must(restore_archived(*store_, sessions_that_are(SessionState::archived).at(0).id));
  EXPECT_FALSE(must(import_agent()).was_read);
  grow();
  EXPECT_EQ(must(import_agent()).messages, 3);
  EXPECT_EQ(sessions_that_are(SessionState::active).size(), 1U);
}

TEST_F(ChangesTest, ANameOutsideTheSessionsFileIsTakenOver) {
  const std::string id = "019a0000-0000-7000-8000-000000000001";
  write(cat("sessions/2026/11/20/rollout-2026-11-20T10-00-00-", id, ".jsonl"),
        {cat("{'timestamp':'2026-11-20T10:00:00.000Z','type':'session_meta','payload':{'id':'", id,
             "','cwd':'/x'}}"),
         "{'timestamp':'2026-11-20T10:00:01.000Z','type':'response_item','payload':"
         "{'type':'message','role':'user','content':[{'type':'input_text','text':'Go'}],"
         "'internal_chat_message_metadata_passthrough':{'content_item_kinds':['user.text']}}}"});
  open("codex");
  import_all();
  EXPECT_EQ(sessions_that_are(SessionState::active).at(0).title, "Go");
  write("session_index.jsonl", {cat("{'id':'", id, "','thread_name':'Named'}")});
  EXPECT_EQ(import_all(), Lines{"unchanged 0"});
  EXPECT_EQ(sessions_that_are(SessionState::active).at(0).title, "Named");
}

}  // namespace
}  // namespace reprise::test::imports

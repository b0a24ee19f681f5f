#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <ostream>
#include <thread>

#include "base/file.h"
#include "base/text.h"
#include "reprise/open_source.h"
#include "reprise/sessions.h"
#include "source/import_fixture.h"
#include "sqlite/sqlite_support.h"
#include "support/child.h"
#include "support/must.h"

namespace reprise::test::imports {
namespace {

TEST_F(ImportTest, TodosComeAlong) {
  write("storage/session/p/ses_1.json",
        {"{'title':'Files','time':{'created':1763600000000,'updated':1763600000000}}"});
  write("storage/message/ses_1/msg_1.json", {"{'role':'user'}"});
  write("storage/part/msg_1/prt_1.json", {"{'type':'text','text':'Why?'}"});
  write("storage/todo/ses_1.json", {"[{'content':'Do','status':'completed'}]"});
  open("opencode");
  EXPECT_EQ(import_all(), Lines{"copied 1"});
  EXPECT_EQ(import_all(), Lines{"unchanged 0"});
  const SessionId id = must(imported_id("pi", "ses_1"));
  EXPECT_EQ(must(store_->capabilities().todos->todos(id)).at(0).content, "Do");
}

TEST_F(ImportTest, TwiceIsOnce) {
  write(kFile, {std::string(kHeader), named(1, 0, "user", "One"),
                named(2, 1, "assistant", "1", ",'usage':{'input':7}")});
  open("pi");
  EXPECT_EQ(import_all(), Lines{"copied 2"});
  EXPECT_EQ(import_all(), Lines{"unchanged 0"});
  EXPECT_EQ(stored(), std::vector<Lines>{(Lines{"One", "1"})});
  const Session found = must(get(*store_, must(imported_id("pi", "one"))));
  EXPECT_EQ(found.info.title, "One");
  EXPECT_EQ(found.info.working_dir, "/home/a/x");
  EXPECT_EQ(found.info.state, SessionState::active);
  EXPECT_EQ(found.usage.input.value, 7);
  EXPECT_EQ(origin_of(found)->tool, "pi");
  EXPECT_EQ(origin_of(found)->id, "one");
}

TEST_F(ImportTest, AStoreWithoutMessagesIsRefused) {
  write(kFile, {std::string(kHeader), named(1, 0, "user", "One")});
  open("pi");
  const auto chain = must(open_store("chain:" + (own_.path() / "chain.json").native()));
  const SessionInfo info = must(source().list({})).sessions.at(0);
  const auto refused = import_session(source(), "pi", *chain, info);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::unsupported);
  EXPECT_TRUE(must(chain->list({})).sessions.empty());
}

TEST_F(ImportTest, WhatHasGrownIsContinued) {
  write(kFile, {std::string(kHeader), named(1, 0, "user", "One")});
  open("pi");
  EXPECT_EQ(import_all(), Lines{"copied 1"});
  write(kFile, {named(2, 1, "assistant", "1")});
  EXPECT_EQ(import_all(), Lines{"continued 1"});
  EXPECT_EQ(stored(), std::vector<Lines>{(Lines{"One", "1"})});
}

TEST_F(ImportTest, WhatWasRewoundBecomesAForkAndStaysOne) {
  write(kFile, {std::string(kHeader), named(1, 0, "user", "One"), named(2, 1, "assistant", "1"),
                named(3, 2, "user", "Two")});
  open("pi");
  import_all();
  write(kFile, {named(4, 2, "user", "Three")});
  EXPECT_EQ(import_all(), Lines{"forked 1"});
  EXPECT_EQ(stored(), (std::vector<Lines>{{"One", "1", "Three"}, {"One", "1", "Two"}}));
  EXPECT_EQ(import_all(), Lines{"unchanged 0"});
  write(kFile, {named(5, 4, "assistant", "3")});
  EXPECT_EQ(import_all(), Lines{"forked 1"});
  EXPECT_EQ(stored(), (std::vector<Lines>{{"One", "1", "Three", "3"}, {"One", "1", "Two"}}));
  const SessionInfo fork = must(store_->list({})).sessions.front();
  EXPECT_EQ(fork.forked_from, (ForkOrigin{must(imported_id("pi", "one")), Seq{2}}));
  // Once more, within the fork.
  write(kFile, {named(6, 4, "assistant", "3 again")});
  EXPECT_EQ(import_all(), Lines{"forked 1"});
  EXPECT_EQ(stored().size(), 3U);
  EXPECT_EQ(stored().front(), (Lines{"One", "1", "Three", "3 again"}));
  // What was imported is known after a change that was not.
  write(kFile, {named(7, 6, "user", "Four")});
  ImportedMessages imported(*store_, "pi", source());
  EXPECT_EQ(must(imported.count(must(SessionId::parse("one")))), Seq{4});
}

TEST_F(ImportTest, WhatHasGoneOnHereIsNotOverwritten) {
  write(kFile, {std::string(kHeader), named(1, 0, "user", "One"), named(2, 1, "assistant", "1")});
  open("pi");
  import_all();
  const SessionId id = must(imported_id("pi", "one"));
  must(store_->append(id, {{.role = "user", .blocks = {text_block("Here")}}}, {}));
  write(kFile, {named(3, 2, "user", "There")});
  EXPECT_EQ(import_all(), Lines{"forked 1"});
  EXPECT_EQ(must(read_all(*store_, id)).size(), 3U);
  EXPECT_EQ(plain_text(must(read_all(*store_, id)).back()), "Here");
}

TEST_F(ImportTest, AnInterruptedImportGoesOn) {
  write(kFile, {std::string(kHeader), named(1, 0, "user", "One"), named(2, 1, "assistant", "1")});
  open("pi");
  std::stop_source stopped;
  stopped.request_stop();
  const SessionInfo info = must(source().list({})).sessions.front();
  EXPECT_TRUE(
      fails(import_session(source(), "pi", *store_, info, stopped.get_token()), Code::cancelled));
  EXPECT_EQ(import_all(), Lines{"continued 2"});
  EXPECT_EQ(import_all(), Lines{"unchanged 0"});
  // Of a source that knows neither times nor revisions.
  SessionInfo bare = info;
  bare.revision.clear();
  bare.updated_at = Time{};
  store_ = open_memory_store();
  EXPECT_TRUE(
      fails(import_session(source(), "pi", *store_, bare, stopped.get_token()), Code::cancelled));
  EXPECT_EQ(must(import_session(source(), "pi", *store_, bare)).messages, 2);
}

// One that was exported to the tool under its own id, and has not gone on there.
TEST_F(ImportTest, AnOwnSessionIsImportedOnceItIsInTheTrash) {
  write(kFile, {std::string(kHeader), named(1, 0, "user", "One"), named(2, 1, "assistant", "1")});
  const SessionId own = must(SessionId::parse("one"));
  must(store_->create({.info = {.id = own}}));
  must(store_->append(own,
                      {{.role = "user", .blocks = {text_block("One")}},
                       {.role = "assistant", .blocks = {text_block("1")}}},
                      {}));
  open("pi");
  EXPECT_EQ(import_all(), Lines{"unchanged 0"});
  must(store_->capabilities().trash->trash(own, Time{}));
  EXPECT_EQ(import_all(), Lines{"copied 2"});
  EXPECT_EQ(stored(), std::vector<Lines>{(Lines{"One", "1"})});
}

TEST_F(ImportTest, ADamagedCopyCountsForNothing) {
  write(kFile, {std::string(kHeader), named(1, 0, "user", "One"), named(2, 1, "assistant", "1")});
  open("pi");
  import_all();
  write(kFile, {named(3, 2, "user", "Two")});
  PlainDatabase(own_.path() / "own.db").run("UPDATE messages SET content = '[{' WHERE seq = 1");
  ImportedMessages imported(*store_, "pi", source());
  EXPECT_EQ(must(imported.count(must(SessionId::parse("one")))), Seq{0});
}

TEST_F(ImportTest, WhatIsInTheTrashStaysThere) {
  write(kFile, {std::string(kHeader), named(1, 0, "user", "One")});
  open("pi");
  import_all();
  must(store_->capabilities().trash->trash(must(imported_id("pi", "one")), Time{}));
  write(kFile, {named(2, 1, "assistant", "1")});
  EXPECT_EQ(import_all(), Lines{"unchanged 0"});
  EXPECT_TRUE(stored().empty());
}

TEST_F(ImportTest, AForkGoesOnWhileTheEarlierSessionIsInTheTrash) {
  write(kFile, {std::string(kHeader), named(1, 0, "user", "One"), named(2, 1, "assistant", "1"),
                named(3, 2, "user", "Two")});
  open("pi");
  import_all();
  write(kFile, {named(4, 2, "user", "Three")});
  import_all();
  must(store_->capabilities().trash->trash(must(imported_id("pi", "one")), Time{}));
  EXPECT_EQ(import_all(), Lines{"unchanged 0"});
  write(kFile, {named(5, 4, "assistant", "3")});
  ImportedMessages imported(*store_, "pi", source());
  EXPECT_EQ(must(imported.count(must(SessionId::parse("one")))), Seq{3});
  EXPECT_EQ(import_all(), Lines{"continued 1"});
  EXPECT_EQ(stored(), std::vector<Lines>{(Lines{"One", "1", "Three", "3"})});
  EXPECT_EQ(import_all(), Lines{"unchanged 0"});
  must(store_->capabilities().trash->trash(must(store_->list({})).sessions.front().id, Time{}));
  write(kFile, {named(6, 5, "user", "Four")});
  EXPECT_EQ(import_all(), Lines{"unchanged 0"});
}

// The tool went on with the earlier messages, so the fork is another session.
TEST_F(ImportTest, AForkThatWasLeftIsNotUsedForASessionInTheTrash) {
  write(kFile, {std::string(kHeader), named(1, 0, "user", "One"), named(2, 1, "assistant", "1"),
                named(3, 2, "user", "Two")});
  open("pi");
  import_all();
  write(kFile, {named(4, 2, "user", "Three")});
  EXPECT_EQ(import_all(), Lines{"forked 1"});
  write(kFile, {named(5, 3, "assistant", "2")});
  import_all();
  must(store_->capabilities().trash->trash(must(imported_id("pi", "one")), Time{}));
  write(kFile, {named(6, 5, "user", "Four")});
  EXPECT_EQ(import_all(), Lines{"unchanged 0"});
  EXPECT_EQ(stored(), std::vector<Lines>{(Lines{"One", "1", "Three"})});
}

TEST_F(ImportTest, ADifferenceElsewhereBeginsAForkThere) {
  write(kFile, {std::string(kHeader), named(1, 0, "user", "One"), named(2, 1, "assistant", "1"),
                named(3, 2, "user", "Two"), named(4, 3, "assistant", "2")});
  open("pi");
  import_all();
  write(kFile, {named(5, 2, "user", "Three")});
  EXPECT_EQ(import_all(), Lines{"forked 1"});
  write(kFile, {named(6, 3, "assistant", "another")});
  import_all();
  const std::vector<SessionInfo> sessions = must(store_->list({})).sessions;
  EXPECT_EQ(std::ranges::count(sessions, ForkOrigin{must(imported_id("pi", "one")), Seq{3}},
                               &SessionInfo::forked_from),
            1);
}

TEST_F(ImportTest, AnotherSessionWithTheSameIdIsNotAFork) {
  write(kFile, {std::string(kHeader), named(1, 0, "user", "One")});
  open("pi");
  import_all();
  std::filesystem::remove(location() / kFile);
  write(kFile, {std::string(kHeader), named(2, 0, "user", "Other")});
  EXPECT_EQ(import_all(), Lines{"copied 1"});
  EXPECT_EQ(import_all(), Lines{"unchanged 0"});
  EXPECT_EQ(must(get(*store_, must(imported_id("pi", "one")))).info.title, "One");
  const SessionInfo other = must(store_->list({})).sessions.front();
  EXPECT_EQ(other.title, "Other");
  EXPECT_EQ(other.forked_from, std::nullopt);
}

TEST_F(ImportTest, BranchesThatWereLeftComeIntoTheArchiveAndShareWhatTheyCan) {
  write(kFile, {std::string(kHeader), named(1, 0, "user", "One"), named(2, 1, "assistant", "1"),
                named(3, 2, "user", "Left"), named(4, 3, "assistant", "2"),
                named(5, 2, "user", "Used"), named(6, 5, "assistant", "3")});
  open("pi");
  EXPECT_EQ(import_all(), Lines{"copied 6"});
  EXPECT_EQ(stored(), std::vector<Lines>{(Lines{"One", "1", "Used", "3"})});
  const std::vector<SessionState> archive = {SessionState::archived};
  EXPECT_EQ(stored(archive), std::vector<Lines>{(Lines{"One", "1", "Left", "2"})});
  const SessionInfo branch = must(store_->list({.states = archive})).sessions.front();
  EXPECT_EQ(branch.forked_from, (ForkOrigin{must(imported_id("pi", "one")), Seq{2}}));
  EXPECT_EQ(branch.title, "One (fork)") << "the title alone names the session in use";
  EXPECT_EQ(import_all(), Lines{"unchanged 0"});
  // Another branch is abandoned, and the first one has not changed.
  write(kFile, {named(7, 6, "user", "More"), named(8, 6, "user", "Else")});
  EXPECT_EQ(import_all(), Lines{"continued 2"});
  EXPECT_EQ(stored(archive),
            (std::vector<Lines>{{"One", "1", "Used", "3", "More"}, {"One", "1", "Left", "2"}}));
}

// The branch went on here and there, which made a fork of it.
TEST_F(ImportTest, AForkOfABranchGoesOnWhenItIsRestoredFromTheTrash) {
  write(kFile, {std::string(kHeader), named(1, 0, "user", "One"), named(2, 1, "assistant", "1"),
                named(3, 2, "user", "Left"), named(4, 2, "user", "Used")});
  open("pi");
  import_all();
  const SessionId branch =
      must(store_->list({.states = {SessionState::archived}})).sessions.front().id;
  must(restore_archived(*store_, branch));
  must(store_->append(branch, {{.role = "user", .blocks = {text_block("Here")}}}, {}));
  write(kFile, {named(5, 3, "assistant", "2"), named(6, 4, "assistant", "3")});
  import_all();
  std::vector<SessionInfo> sessions = must(store_->list({})).sessions;
  std::erase_if(sessions, [&](const SessionInfo& info) {
    return plain_text(must(read_all(*store_, info.id)).back()) != "2";
  });
  ASSERT_EQ(sessions.size(), 1U);
  const SessionId fork = sessions.front().id;
  Trash& trash = *store_->capabilities().trash;
  must(trash.trash(fork, Time{}));
  write(kFile, {named(7, 5, "user", "There"), named(8, 6, "user", "On")});
  EXPECT_EQ(import_all(), Lines{"continued 1"});
  must(trash.restore(fork));
  EXPECT_EQ(import_all(), Lines{"unchanged 1"}) << "it was not noted as imported meanwhile";
  EXPECT_EQ(plain_text(must(read_all(*store_, fork)).back()), "There");
}

// Archived chats are read-only.
TEST_F(ImportTest, BranchesComeIntoTheArchiveOfAChatDirectory) {
  store_ = must(open_store("chatdir:" + (own_.path() / "chats").native()));
  write(kFile, {std::string(kHeader), named(1, 0, "user", "One"), named(2, 1, "assistant", "1"),
                named(3, 1, "assistant", "left"), named(4, 1, "assistant", "used")});
  open("pi");
  EXPECT_EQ(import_all(), Lines{"copied 6"});
  EXPECT_EQ(import_all(), Lines{"unchanged 0"});
  write(kFile, {named(5, 4, "user", "Two")});
  EXPECT_EQ(import_all(), Lines{"continued 1"});
  EXPECT_EQ(stored(), std::vector<Lines>{(Lines{"One", "used", "Two"})});
  EXPECT_THAT(stored({SessionState::archived}),
              testing::UnorderedElementsAre(Lines{"One", "1"}, Lines{"One", "left"}));
}

TEST_F(ImportTest, BranchesOfAnInterruptedImportComeTheNextTime) {
  class Interrupted final : public Source {
   public:
    Interrupted(Source& source, std::stop_source stop) : source_(source), stop_(std::move(stop)) {}
    Result<std::optional<Session>> find(const SessionId& id) override { return source_.find(id); }
    Result<SessionPage> list(const SessionQuery& query) override {
      stop_.request_stop();  // the branches are listed when the session has been copied
      return source_.list(query);
    }
    Result<ReadReport> read(const SessionId& id, ReadRange range,
                            const MessageSink& sink) override {
      return source_.read(id, range, sink);
    }
    const SourceCapabilities& capabilities() const override { return source_.capabilities(); }

   private:
    Source& source_;
    std::stop_source stop_;
  };
  write(kFile, {std::string(kHeader), named(1, 0, "user", "One"), named(2, 1, "assistant", "left"),
                named(3, 1, "assistant", "used")});
  open("pi");
  const SessionInfo info = must(source().list({})).sessions.at(0);
  const std::stop_source stop;
  Interrupted interrupted(source(), stop);
  EXPECT_TRUE(
      fails(import_session(interrupted, "pi", *store_, info, stop.get_token()), Code::cancelled));
  must(import_session(source(), "pi", *store_, info));
  EXPECT_EQ(stored(), std::vector<Lines>{(Lines{"One", "used"})});
  EXPECT_EQ(stored({SessionState::archived}), std::vector<Lines>{(Lines{"One", "left"})});
}

// Each takes time for itself only, not for the whole history.
TEST_F(ImportTest, ThousandsOfBranchesComeInTheirTime) {
  constexpr int kBranches = 2000;
  Lines lines = {std::string(kHeader), named(1, 0, "user", "One")};
  for (int i = 0; i < kBranches; ++i) {
    std::string line = named(2, 1, "assistant", cat("answer ", i));
    lines.push_back(line.replace(line.find("'2'"), 3, cat("'b", i, "'")));
  }
  write(kFile, lines);
  open("pi");
  store_ = must(open_store("memory:"));
  EXPECT_EQ(import_all(), Lines{cat("copied ", 1 + kBranches)});
  EXPECT_EQ(stored(), std::vector<Lines>{(Lines{"One", cat("answer ", kBranches - 1)})});
  const FoundSessions left =
      must(find_all_sessions(*store_, {.states = {SessionState::archived}, .limit = 1000}));
  EXPECT_EQ(left.sessions.size(), std::size_t{kBranches - 1});
}

TEST_F(ImportTest, WhatWasRewoundIsNotThereTwice) {
  write(kFile, {std::string(kHeader), named(1, 0, "user", "One"), named(2, 1, "assistant", "1"),
                named(3, 2, "user", "Two")});
  open("pi");
  import_all();
  write(kFile, {named(4, 2, "user", "Three")});
  import_all();
  EXPECT_TRUE(stored({SessionState::archived}).empty());
}

TEST_F(ImportTest, SubAgentsComeIntoTheArchive) {
  const std::string session = "projects/x/0a1b2c3d-0000-4000-8000-000000000001";
  const std::string agent =
      "{'type':'user','uuid':'u1','sessionId':'s','timestamp':'2026-11-20T10:00:00.000Z',"
      "'isSidechain':true,'message':{'content':'Task'}}";
  write(session + ".jsonl",
        {"{'type':'user','uuid':'u','sessionId':'s','timestamp':'2026-11-20T10:00:00.000Z',"
         "'message':{'content':'Go'}}"});
  write(session + "/subagents/agent-7.jsonl", {agent});
  open("claude");
  EXPECT_EQ(import_all().size(), 2U);
  EXPECT_EQ(stored(), std::vector<Lines>{Lines{"Go"}});
  EXPECT_EQ(stored({SessionState::archived}), std::vector<Lines>{Lines{"Task"}});
  EXPECT_EQ(import_all(), (Lines{"unchanged 0", "unchanged 0"}));
}

// A stopped session may end with a question, which nobody is answering here.
TEST_F(ImportTest, WhatEndsWithAQuestionIsNotInterrupted) {
  write(kFile, {std::string(kHeader), named(1, 0, "user", "One")});
  open("pi");
  import_all();
  SessionPage page = must(store_->list({}));
  mark_incomplete_answers(*store_, page);
  EXPECT_FALSE(is_interrupted(page.sessions.at(0)));
  // A question of ours is different.
  must(store_->append(page.sessions[0].id, {{.role = "user", .blocks = {text_block("Two")}}}, {}));
  page = must(store_->list({}));
  mark_incomplete_answers(*store_, page);
  EXPECT_TRUE(is_interrupted(page.sessions.at(0)));
}

TEST_F(ImportTest, GoingOnWithASessionBeginsOneForkUntilItIsUsed) {
  write(kFile, {std::string(kHeader), named(1, 0, "user", "One"), named(2, 1, "assistant", "1")});
  open("pi");
  const SessionInfo info = must(source().list({})).sessions.front();
  const SessionId fork = must(continue_imported(source(), "pi", *store_, info)).id;
  must(store_->update(must(imported_id("pi", "one")), {.title = "Renamed"}));
  EXPECT_EQ(must(continue_imported(source(), "pi", *store_, info)).id, fork);
  EXPECT_EQ(stored().size(), 2U);
  EXPECT_EQ(must(get(*store_, fork)).info.state, SessionState::active);
  must(store_->append(fork, {{.role = "user", .blocks = {text_block("Two")}}}, {}));
  EXPECT_NE(must(continue_imported(source(), "pi", *store_, info)).id, fork);
}

TEST_F(ImportTest, ImagesBecomeBlobs) {
  write(kFile, {std::string(kHeader),
                "{'type':'message','id':'1','parentId':null,'message':{'role':'user','content':["
                "{'type':'image','mimeType':'image/png','data':'iVBORw0KGgo='}]}}"});
  open("pi");
  EXPECT_EQ(import_all(), Lines{"copied 1"});
  const Message message = must(read_all(*store_, must(imported_id("pi", "one")))).front();
  EXPECT_TRUE(std::get<ImageBlock>(message.blocks.front()).blob);
  EXPECT_EQ(import_all(), Lines{"unchanged 0"});
}

TEST_F(ImportTest, IdsAreUuidsThatTellToolsApart) {
  EXPECT_NE(must(imported_id("pi", "one")), must(imported_id("claude", "one")));
  EXPECT_TRUE(is_imported_id(must(imported_id("pi", "one"))));
  EXPECT_FALSE(is_imported_id(make_session_id(system_clock(), system_entropy())));
  EXPECT_FALSE(is_imported_id(make_session_id(system_clock(), system_entropy(), UuidVersion::v4)));
}

// The original program of session files resumes only sessions with ids of version 4.
TEST_F(ImportTest, SessionFilesGetIdsOfVersion4) {
  write(kFile,
        {std::string(kHeader),
         "{'type':'message','id':'1','parentId':null,'message':{'role':'user','content':'Hi'}}"});
  open("pi");
  store_ = must(open_store("sessions:" + (own_.path() / "sessions").native()));
  EXPECT_EQ(import_all(), Lines{"copied 1"});
  const SessionId id = must(imported_id("pi", "one", UuidVersion::v4));
  EXPECT_EQ(must(get(*store_, id)).info.head, Seq{1});
  EXPECT_EQ(id.str()[14], '4');
  EXPECT_TRUE(is_imported_id(id));
  EXPECT_EQ(import_all(), Lines{"unchanged 0"});
}

// An answer that the tool writes in several blocks is imported in between.
TEST_F(ImportTest, AnAnswerThatWasBeingWrittenIsCompleted) {
  const std::string file = "projects/x/0a1b2c3d-0000-4000-8000-000000000001.jsonl";
  const auto line = [](std::string_view uuid, std::string_view parent, std::string_view block) {
    return cat("{'type':'assistant','uuid':'", uuid, "','parentUuid':'", parent,
               "','sessionId':'s','timestamp':'2026-11-20T10:00:0", uuid.substr(1),
               ".000Z','message':{'id':'m','model':'x','content':[", block, "]}}");
  };
  write(file, {"{'type':'user','uuid':'u','sessionId':'s','timestamp':'2026-11-20T10:00:00.000Z',"
               "'message':{'content':'Go'}}",
               line("a1", "u", "{'type':'text','text':'So'}")});
  open("claude");
  EXPECT_EQ(import_all(), Lines{"copied 2"});
  write(file, {line("a2", "a1", "{'type':'text','text':'that'}")});
  EXPECT_EQ(import_all(), Lines{"continued 1"});
  EXPECT_EQ(stored(), std::vector<Lines>{(Lines{"Go", "So\n\nthat"})});
}

TEST_F(ImportTest, ABranchThatHasNoIdIsReported) {
  constexpr std::size_t kNearlyTooLong = 195;
  const auto line = [](std::string_view uuid, std::string_view parent) {
    return cat("{'type':'user','uuid':'", uuid, "','parentUuid':", parent,
               ",'sessionId':'s','timestamp':'2026-11-20T10:00:00.000Z','message':{'content':'",
               uuid, "'}}");
  };
  write(cat("projects/x/", std::string(kNearlyTooLong, 'a'), ".jsonl"),
        {line("u1", "null"), line("left", "'u1'"), line("used", "'u1'")});
  open("claude");
  const SessionInfo info = must(source().list({})).sessions.at(0);
  const ImportedSession done = must(import_session(source(), "claude", *store_, info));
  EXPECT_EQ(done.messages, 2);
  ASSERT_EQ(done.damage.size(), 1U);
  EXPECT_NE(done.damage.front().find(".jsonl: "), std::string::npos) << done.damage.front();
}

TEST_F(ImportTest, DamageThatBranchesShareIsReportedOnceAndTheRestComes) {
  write(kFile, {std::string(kHeader), named(1, 0, "user", "One"), named(2, 1, "assistant", "1"),
                named(3, 2, "user", "Left"), "no JSON", named(4, 2, "user", "Left, too"),
                named(5, 2, "user", "Used")});
  open("pi");
  const SessionInfo info = must(source().list({})).sessions.at(0);
  const ImportedSession done = must(import_session(source(), "pi", *store_, info));
  ASSERT_EQ(done.damage.size(), 1U);
  EXPECT_NE(done.damage.front().find("line 5: not JSON"), std::string::npos) << done.damage.front();
  EXPECT_EQ(stored(), std::vector<Lines>{(Lines{"One", "1", "Used"})});
  std::vector<Lines> left = stored({SessionState::archived});
  std::ranges::sort(left);
  EXPECT_EQ(left, (std::vector<Lines>{{"One", "1", "Left"}, {"One", "1", "Left, too"}}));
}

TEST_F(ImportTest, WhatIsAddedAtAnEarlierTimeIsNoticed) {
  write(kFile, {std::string(kHeader), named(2, 0, "user", "One")});
  open("pi");
  EXPECT_EQ(import_all(), Lines{"copied 1"});
  write(kFile, {named(1, 2, "assistant", "1")});
  EXPECT_EQ(import_all(), Lines{"continued 1"});
  EXPECT_EQ(stored(), std::vector<Lines>{(Lines{"One", "1"})});
}

TEST_F(ImportTest, ARenameInTheToolIsTakenOverUnlessItWasRenamedHere) {
  const auto name = [](std::string_view title) {
    return cat(
        "{'type':'session_info','id':'n','parentId':'1','timestamp':"
        "'2026-11-20T10:11:00.000Z','name':'",
        title, "'}");
  };
  write(kFile, {std::string(kHeader), named(1, 0, "user", "One")});
  open("pi");
  import_all();
  const SessionId id = must(imported_id("pi", "one"));
  write(kFile, {name("Renamed")});
  EXPECT_EQ(import_all(), Lines{"unchanged 0"});
  EXPECT_EQ(must(get(*store_, id)).info.title, "Renamed");
  write(kFile, {name("Renamed again")});
  import_all();
  EXPECT_EQ(must(get(*store_, id)).info.title, "Renamed again");
  must(store_->update(id, {.title = "Mine"}));
  write(kFile, {name("Once more")});
  import_all();
  EXPECT_EQ(must(get(*store_, id)).info.title, "Mine");
}

TEST_F(ImportTest, ARenameAfterARewindIsTakenOverByTheFork) {
  write(kFile, {std::string(kHeader), named(1, 0, "user", "One"), named(2, 1, "user", "Two")});
  open("pi");
  import_all();
  write(kFile, {named(3, 1, "user", "Three")});
  import_all();
  write(kFile, {"{'type':'session_info','id':'n','parentId':'3','timestamp':"
                "'2026-11-20T10:11:00.000Z','name':'Renamed'}"});
  EXPECT_EQ(import_all(), Lines{"unchanged 0"});
  EXPECT_EQ(must(get(*store_, must(imported_id("pi", "one")))).info.title, "One");
  EXPECT_EQ(must(store_->list({.title_contains = "Renamed"})).sessions.size(), 1U);
}

// Enough sessions for several imports at the same time.
class ManyImportsTest : public ImportTest {
 protected:
  static constexpr int kSessions = 6;
  static constexpr int kTurns = 400;

  void make_sessions() {
    const std::string words(700, 'w');
    for (int session = 0; session < kSessions; ++session) {
      Lines lines;
      std::string parent = "null";
      for (int turn = 0; turn < kTurns; ++turn) {
        const std::string uuid = cat("s", session, "-", turn);
        lines.push_back(cat("{'type':'user','uuid':'", uuid, "','parentUuid':", parent,
                            ",'sessionId':'s','timestamp':'2026-11-20T10:0", session,
                            ":00.000Z','message':{'content':'", uuid, " ", words, "'}}"));
        parent = cat("'", uuid, "'");
        lines.push_back(cat("{'type':'assistant','uuid':'a", uuid, "','parentUuid':", parent,
                            ",'requestId':'r','timestamp':'2026-11-20T10:0", session,
                            ":00.000Z','message':{'id':'m", uuid,
                            "','model':'x','content':[{'type':'text','text':'", words,
                            "'}],'usage':{'input_tokens':1,'output_tokens':1}}}"));
        parent = cat("'a", uuid, "'");
      }
      write(cat("projects/x/0a1b2c3d-0000-4000-8000-00000000000", session, ".jsonl"), lines);
    }
    open("claude");
    listed_ = must(source().list({})).sessions;
    ASSERT_EQ(std::ssize(listed_), kSessions);
  }

  static SessionId id_of(const SessionInfo& info) {
    return must(imported_id("claude", info.id.str()));
  }

  void expect_whole(Store& store, const SessionInfo& info) {
    const Session there = must(get(store, id_of(info)));
    EXPECT_EQ(there.usage.output.value, kTurns);
    EXPECT_EQ(origin_of(there)->head, there.info.head);
    std::vector<Message> ours = must(read_all(store, id_of(info)));
    const std::vector<Message> theirs = must(read_all(source(), info.id));
    ASSERT_EQ(ours.size(), theirs.size());
    for (std::size_t i = 0; i < ours.size(); ++i) {
      ASSERT_EQ(ours[i].blocks, theirs[i].blocks) << i;
    }
  }

  std::vector<SessionInfo> listed_;
};

TEST_F(ManyImportsTest, ComeInTheirOrder) {
  make_sessions();
  std::vector<SessionId> reported;
  import_sessions({source(), "claude", listed_}, *store_,
                  [&](const SessionInfo& info, const Result<ImportedSession>& imported) {
                    EXPECT_EQ(must(imported).messages, 2 * kTurns);
                    reported.push_back(info.id);
                  });
  EXPECT_TRUE(std::ranges::equal(reported, listed_, {}, {}, &SessionInfo::id));
  for (const SessionInfo& info : listed_) {
    expect_whole(*store_, info);
  }
}

TEST_F(ManyImportsTest, NobodyIsToldOfMoreOnceTheyAreStopped) {
  make_sessions();
  std::stop_source stopped;
  int reported = 0;
  import_sessions(
      {source(), "claude", listed_}, *store_,
      [&](const SessionInfo& /*info*/, const Result<ImportedSession>& imported) {
        EXPECT_TRUE(works(imported));
        stopped.request_stop();
        ++reported;
      },
      stopped.get_token());
  EXPECT_EQ(reported, 1);
  expect_whole(*store_, listed_.front());
}

// kill -9 at any time: reported sessions are complete, and importing again adds the remaining ones,
// without duplicates.
TEST_F(ManyImportsTest, KilledOnesGoOn) {
  make_sessions();
  constexpr int kAttemptsMax = 60'000;
  for (int round = 0; round < kSessions; round += 2) {
    const std::string url = cat("sqlite:", (own_.path() / cat("killed", round, ".db")).native());
    std::array<int, 2> pipe{};
    ASSERT_EQ(::pipe2(pipe.data(), O_CLOEXEC), 0);
    const pid_t child = in_child([&] {
      const auto claude = must(open_source(cat("claude:", location().native())));
      const auto store = must(open_store(url));
      import_sessions({*claude, "claude", listed_}, *store, [&](const auto&, const auto& done) {
        must(write_all(pipe[1], done ? "+" : "-", "the pipe"));
      });
      return 0;
    });
    ::close(pipe[1]);
    const auto store = must(open_store(url));
    // Just begun, the last of these sessions is incomplete.
    for (int tries = 0; tries < kAttemptsMax && std::ssize(must(store->list({})).sessions) <= round;
         ++tries) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    ::kill(child, SIGKILL);
    EXPECT_GE(exit_code_of(child), 0);  // it may have finished before
    std::string reported(kSessions, ' ');
    const ssize_t got = ::read(pipe[0], reported.data(), reported.size());
    ASSERT_GE(got, 0);
    ::close(pipe[0]);
    EXPECT_EQ(reported.find('-'), std::string::npos);
    for (ssize_t i = 0; i < got; ++i) {
      expect_whole(*store, listed_[static_cast<std::size_t>(i)]);
    }
    import_sessions({source(), "claude", listed_}, *store,
                    [](const SessionInfo& /*info*/, const Result<ImportedSession>& imported) {
                      EXPECT_TRUE(works(imported));
                    });
    for (const SessionInfo& info : listed_) {
      expect_whole(*store, info);
    }
    EXPECT_EQ(std::ssize(must(store->list({})).sessions), kSessions);
  }
}

}  // namespace
}  // namespace reprise::test::imports

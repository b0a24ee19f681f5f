// Imports of sessions that were rewound, into stores of several kinds: what becomes a fork, what
// is the same one, and forks that a person archived, closed or moved to the trash.

#include <gmock/gmock.h>

#include <filesystem>

#include "base/encode.h"
#include "base/text.h"
#include "reprise/capabilities.h"
#include "session/imported_copies.h"
#include "source/import_fixture.h"
#include "support/must.h"

namespace reprise::test::imports {
namespace {

const std::vector<SessionState> kAllStates = {SessionState::active, SessionState::closed,
                                              SessionState::archived, SessionState::trashed};

class ForksTest : public ImportTest, public testing::WithParamInterface<std::string> {
 protected:
  ForksTest() {
    const std::string place = GetParam() == "memory" ? "" : (own_.path() / GetParam()).native();
    store_ = must(open_store(cat(GetParam(), ":", place)));
  }

  SessionId first() { return must(reprise::imports::id_in(*store_, "pi", "one")); }
  // The only other session, in any state.
  SessionInfo fork() {
    std::vector<SessionInfo> others = must(store_->list({.states = kAllStates})).sessions;
    std::erase_if(others, [&](const SessionInfo& info) { return info.id == first(); });
    EXPECT_EQ(others.size(), 1U);
    return others.at(0);
  }
  std::vector<Lines> everything() {
    std::vector<Lines> all = stored(kAllStates);
    std::ranges::sort(all);
    return all;
  }
  void begin() {
    write(kFile, {std::string(kHeader), named(1, 0, "user", "One"), named(2, 1, "assistant", "1"),
                  named(3, 2, "user", "Two")});
    open("pi");
    import_all();
  }
  void begin_fork() {
    begin();
    write(kFile, {named(4, 2, "user", "Three")});
    expect_forked(1);
  }
  // Without forks, the messages before are stored twice.
  void expect_forked(int messages) {
    constexpr int kBefore = 2;
    const bool shares = store_->capabilities().forking != nullptr;
    EXPECT_EQ(import_all(), Lines{cat("forked ", messages + (shares ? 0 : kBefore))});
  }

  const Time kTimeOfThree = parse_time("2026-11-20T10:14:00Z").value_or(Time{});
};

// The messages of this tool have no times.
TEST_P(ForksTest, AreAsManyAsTheTimesThatASessionWasRewoundAtOnePlace) {
  const std::string file = "sessions/s1.json";
  const auto ask = [&](const Lines& texts) {
    std::string history;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      history += cat(i == 0 ? "" : ",", "{'message':{'role':'", i % 2 == 0 ? "user" : "assistant",
                     "','content':'", texts[i], "'},'contextItems':[]}");
    }
    std::filesystem::remove(location() / file);
    write(file, {cat("{'sessionId':'s1','title':'T','workspaceDirectory':'/x','history':[", history,
                     "]}")});
  };
  ask({"q1", "a1", "q2", "a2"});
  open("continue");
  EXPECT_EQ(import_all(), Lines{"copied 4"});
  ask({"q1", "a1", "q3", "a3"});
  expect_forked(2);
  ask({"q1", "a1", "q4", "a4"});
  expect_forked(2);
  EXPECT_EQ(import_all(), Lines{"unchanged 0"});
  ask({"q1", "a1", "q4", "a4", "q5", "a5"});
  EXPECT_EQ(import_all(), Lines{"forked 2"});
  ask({"q1", "a1", "q3", "a3"});
  EXPECT_EQ(import_all(), Lines{"unchanged 0"}) << "what was there before is not there twice";
  EXPECT_EQ(everything(), (std::vector<Lines>{{"q1", "a1", "q2", "a2"},
                                              {"q1", "a1", "q3", "a3"},
                                              {"q1", "a1", "q4", "a4", "q5", "a5"}}));
}

TEST_P(ForksTest, AreTheSameForTheSameMessageAtAnotherTime) {
  begin_fork();
  write(kFile, {named(5, 2, "user", "Three"), named(6, 5, "assistant", "3")});
  EXPECT_EQ(import_all(), Lines{"forked 1"});
  EXPECT_EQ(everything(), (std::vector<Lines>{{"One", "1", "Three", "3"}, {"One", "1", "Two"}}));
}

TEST_P(ForksTest, OfEarlierVersionsAreRecognisedByTheirContent) {
  begin();
  const std::uint64_t hash = fnv1a(cat("user", format_time(kTimeOfThree)));
  const SessionId named_by_time =
      must(reprise::imports::id_in(*store_, "pi", cat("one from 2 ", hash)));
  Session session = must(get(*store_, first()));
  session.info.id = named_by_time;
  session.extra = {};
  must(store_->create(session));
  std::vector<Message> messages = must(read_all(*store_, first(), {.to = Seq{2}}));
  Message& third = messages.emplace_back(messages.front());
  third.created_at = kTimeOfThree;
  third.blocks = {text_block("Three")};
  must(store_->append(named_by_time, messages, {}));
  write(kFile, {named(4, 2, "user", "Three"), named(5, 4, "assistant", "3")});
  EXPECT_EQ(import_all(), Lines{"forked 1"});
  EXPECT_EQ(fork().id, named_by_time);
  EXPECT_EQ(fork().head, Seq{4});
}

// At that time, it begins with another message.
TEST_P(ForksTest, OfEarlierVersionsWithAnotherContentAreLeftAlone) {
  begin();
  const std::uint64_t hash = fnv1a(cat("user", format_time(kTimeOfThree)));
  Session session = must(get(*store_, first()));
  session.info.id = must(reprise::imports::id_in(*store_, "pi", cat("one from 2 ", hash)));
  session.extra = {};
  must(store_->create(session));
  must(store_->append(session.info.id, must(read_all(*store_, first())), {}));
  write(kFile, {named(4, 2, "user", "Three")});
  expect_forked(1);
  EXPECT_EQ(everything(),
            (std::vector<Lines>{{"One", "1", "Three"}, {"One", "1", "Two"}, {"One", "1", "Two"}}));
}

TEST_P(ForksTest, ThatWereRewoundHereAreNotOverwritten) {
  begin_fork();
  Rewriting* const rewriting = store_->capabilities().rewriting;
  if (rewriting == nullptr) {
    return;
  }
  Message mine = must(read_all(*store_, fork().id)).back();
  mine.blocks = {text_block("Mine")};
  must(rewriting->replace_suffix(fork().id, Seq{2}, {mine}, {}));
  write(kFile, {named(5, 4, "assistant", "3")});
  expect_forked(2);
  EXPECT_EQ(import_all(), Lines{"unchanged 0"});
  EXPECT_EQ(
      everything(),
      (std::vector<Lines>{{"One", "1", "Mine"}, {"One", "1", "Three", "3"}, {"One", "1", "Two"}}));
}

TEST_P(ForksTest, GoOnInTheArchive) {
  begin_fork();
  Archives* const archives = store_->capabilities().archives;
  if (archives == nullptr) {
    return;
  }
  must(archives->archive(fork().id, Time{}));
  write(kFile, {named(5, 4, "assistant", "3")});
  EXPECT_EQ(import_all(), Lines{"forked 1"});
  EXPECT_EQ(fork().state, SessionState::archived);
  EXPECT_EQ(fork().head, Seq{4});
  EXPECT_EQ(must(get(*store_, first())).info.state, SessionState::active);
  EXPECT_EQ(import_all(), Lines{"unchanged 0"});
  // An import was killed before it archived the fork again.
  must(archives->unarchive(fork().id));
  write(kFile, {named(6, 5, "user", "Four")});
  EXPECT_EQ(import_all(), Lines{"forked 1"});
  EXPECT_EQ(fork().state, SessionState::archived);
  must(restore_archived(*store_, fork().id));
  write(kFile, {named(7, 6, "assistant", "4")});
  EXPECT_EQ(import_all(), Lines{"forked 1"});
  EXPECT_EQ(fork().state, SessionState::active);
}

TEST_P(ForksTest, OfAnArchivedSessionStayInUse) {
  begin_fork();
  Archives* const archives = store_->capabilities().archives;
  if (archives == nullptr) {
    return;
  }
  must(archives->archive(first(), Time{}));
  write(kFile, {named(5, 4, "assistant", "3")});
  EXPECT_EQ(import_all(), Lines{"forked 1"});
  EXPECT_EQ(fork().state, SessionState::active);
  EXPECT_EQ(must(get(*store_, first())).info.state, SessionState::archived);
}

TEST_P(ForksTest, GoOnWhenTheyAreClosed) {
  begin_fork();
  must(store_->update(fork().id, {.state = SessionState::closed}));
  write(kFile, {named(5, 4, "assistant", "3")});
  EXPECT_EQ(import_all(), Lines{"forked 1"});
  EXPECT_EQ(fork().head, Seq{4});
}

TEST_P(ForksTest, StayInTheTrashAndGoOnWhenTheyAreRestored) {
  begin_fork();
  Trash* const trash = store_->capabilities().trash;
  if (trash == nullptr) {
    return;
  }
  must(trash->trash(fork().id, Time{}));
  write(kFile, {named(5, 4, "assistant", "3")});
  EXPECT_EQ(import_all(), Lines{"unchanged 0"});
  EXPECT_EQ(fork().head, Seq{3});
  must(trash->restore(fork().id));
  EXPECT_EQ(import_all(), Lines{"forked 1"}) << "it was not noted as imported meanwhile";
  EXPECT_EQ(fork().head, Seq{4});
}

INSTANTIATE_TEST_SUITE_P(Stores, ForksTest,
                         testing::Values("sqlite", "chatdir", "sessions", "memory"),
                         [](const auto& kind) { return kind.param; });

// A tool that writes an answer block by block.
TEST_F(ImportTest, AForkWhoseFirstAnswerGrowsIsOne) {
  const std::string file = "projects/x/0a1b2c3d-0000-4000-8000-000000000001.jsonl";
  const auto line = [](std::string_view type, std::string_view uuid, std::string_view parent,
                       std::string_view message) {
    return cat("{'type':'", type, "','uuid':'", uuid, "','parentUuid':", parent,
               ",'sessionId':'s','timestamp':'2026-11-20T10:00:0", uuid.substr(1),
               ".000Z','message':{", message, "}}");
  };
  const auto answer = [&](std::string_view uuid, std::string_view parent, std::string_view id,
                          std::string_view text) {
    return line("assistant", uuid, parent,
                cat("'id':'", id, "','model':'x','content':[{'type':'text','text':'", text, "'}]"));
  };
  write(file, {line("user", "u1", "null", "'content':'Go'"), answer("a2", "'u1'", "m", "No")});
  open("claude");
  import_all();
  write(file, {answer("a3", "'u1'", "n", "So")});
  EXPECT_EQ(import_all(), Lines{"forked 1"});
  write(file, {answer("a4", "'a3'", "n", "that")});
  EXPECT_EQ(import_all(), Lines{"forked 1"});
  std::vector<Lines> all = stored();
  std::ranges::sort(all);
  EXPECT_EQ(all, (std::vector<Lines>{{"Go", "No"}, {"Go", "So\n\nthat"}}));
}

// What cannot be compared is not different: no second copy of it is stored.
class Unreliable final : public Source {
 public:
  explicit Unreliable(Source& source) : source_(source) {}
  Result<std::optional<Session>> find(const SessionId& id) override {
    ++finds;
    return finds == missing_find ? std::optional<Session>() : source_.find(id);
  }
  Result<SessionPage> list(const SessionQuery& query) override {
    auto page = source_.list(query);
    if (page && fails_to_list) {
      page->sessions.clear();
      page->damage.push_back({"a.jsonl", "input/output error", ""});
    }
    return page;
  }
  Result<ReadReport> read(const SessionId& id, ReadRange range, const MessageSink& sink) override {
    return source_.read(id, range, sink);
  }
  const SourceCapabilities& capabilities() const override { return source_.capabilities(); }

  bool fails_to_list = false;
  int missing_find = 0;
  int finds = 0;

 private:
  Source& source_;
};

TEST_F(ImportTest, BranchesThatCouldNotBeListedAreNotNotedAsImported) {
  write(kFile, {std::string(kHeader), named(1, 0, "user", "One"), named(2, 1, "assistant", "left"),
                named(3, 1, "assistant", "used")});
  open("pi");
  const SessionInfo info = must(source().list({})).sessions.at(0);
  Unreliable unreliable(source());
  unreliable.fails_to_list = true;
  const ImportedSession first = must(import_session(unreliable, "pi", *store_, info));
  EXPECT_EQ(first.damage, Lines{"a.jsonl: input/output error"});
  EXPECT_EQ(import_all(), Lines{"unchanged 1"});
  EXPECT_EQ(stored({SessionState::archived}), std::vector<Lines>{(Lines{"One", "left"})});
  EXPECT_FALSE(must(import_session(source(), "pi", *store_, info)).was_read);
}

TEST_F(ImportTest, ASessionThatIsMovedMeanwhileIsFoundAgain) {
  write(kFile, {std::string(kHeader), named(1, 0, "user", "One")});
  open("pi");
  const SessionInfo info = must(source().list({})).sessions.at(0);
  for (int missing = 1; missing <= 4; ++missing) {
    store_ = must(open_store("memory:"));
    Unreliable unreliable(source());
    unreliable.missing_find = missing;
    EXPECT_TRUE(works(import_session(unreliable, "pi", *store_, info))) << missing;
    EXPECT_EQ(stored(), std::vector<Lines>{Lines{"One"}}) << missing;
  }
}

// As an earlier version stored it when the store failed.
TEST_F(ImportTest, AnImageWithinAMessageIsTheSameAsItsBlob) {
  write(kFile, {std::string(kHeader),
                "{'type':'message','id':'1','parentId':null,'timestamp':'2026-11-20T10:11:00.000Z',"
                "'message':{'role':'user','content':["
                "{'type':'image','mimeType':'image/png','data':'iVBORw0KGgo='}]}}"});
  open("pi");
  const SessionId id = must(imported_id("pi", "one"));
  Session session = must(get(source(), must(SessionId::parse("one"))));
  session.info.id = id;
  session.info.state = SessionState::active;
  must(store_->create(session));
  must(store_->append(id, must(read_all(source(), must(SessionId::parse("one")))), {}));
  write(kFile, {named(2, 1, "assistant", "1")});
  EXPECT_EQ(import_all(), Lines{"continued 1"});
  EXPECT_EQ(must(store_->list({})).sessions.size(), 1U);
}

// A message that cannot be built is missing: the session is not the tool's, byte for byte.
TEST_F(ImportTest, FewerMessagesThanTheToolHasAreNotAllOfThem) {
  class Shorter final : public Source {
   public:
    explicit Shorter(Source& source) : source_(source) {}
    Result<std::optional<Session>> find(const SessionId& id) override { return source_.find(id); }
    Result<SessionPage> list(const SessionQuery& query) override { return source_.list(query); }
    Result<ReadReport> read(const SessionId& id, ReadRange range,
                            const MessageSink& sink) override {
      return source_.read(id, range, [&](Message&& message) {
        return message.seq == Seq{1} ? Flow::proceed : sink(std::move(message));
      });
    }
    const SourceCapabilities& capabilities() const override { return source_.capabilities(); }

   private:
    Source& source_;
  };
  write(kFile, {std::string(kHeader), named(1, 0, "user", "One"), named(2, 1, "assistant", "1")});
  open("pi");
  Shorter shorter(source());
  const SessionInfo info = must(source().list({})).sessions.at(0);
  EXPECT_EQ(must(import_session(shorter, "pi", *store_, info)).messages, 1);
  const SessionId id = must(imported_id("pi", "one"));
  EXPECT_EQ(origin_of(must(get(*store_, id)))->head, Seq{0});
  EXPECT_TRUE(must(store_->capabilities().artefacts->list_artefacts(id)).empty());
}

}  // namespace
}  // namespace reprise::test::imports

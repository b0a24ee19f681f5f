// Databases of the original program: read without changes, and migrated with all data.

#include <gtest/gtest.h>

#include <algorithm>
#include <system_error>

#include "base/file.h"
#include "base/testing/temporary_folder.h"
#include "base/text.h"
#include "engine/copy.h"
#include "reprise/capabilities.h"
#include "reprise/open_store.h"
#include "sqlite/sqlite_support.h"
#include "support/build.h"
#include "support/child.h"
#include "support/must.h"

namespace reprise::test {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFill = R"(
INSERT INTO sessions(id, title, model, working_dir, system_prompt, created_at, updated_at)
VALUES ('s-1', 'First', 'm', '/work', 'Be kind.', '2026-01-18 20:00:00', '2026-01-18 20:00:05'),
       ('s-2', 'Later', 'm', '/other', '', '2026-01-18 21:00:00', '2026-01-18 21:00:00'),
       ('s-3', '', 'm', '', '', 1768770000, '2026-01-18T22:30:00.25+01:00'),
       ('../bad', '', 'm', '', '', '2026-01-18 20:00:00', '2026-01-18 20:00:00'),
       ('s-4', 'When?', 'm', '', '', 'yesterday', '0001-01-01');
INSERT INTO messages(session_id, seq, role, content, created_at) VALUES
 ('s-1', 0, 'user', '[{"type":"text","text":"Hello!"}]', '2026-01-18 20:00:01'),
 ('s-1', 1, 'assistant', '[{"type":"thinking","text":"a \u003c b"},{"type":"tool_use","id":"t",'
   || '"name":"file","input":{"n":1.0,"big":12345678901234567890}}]', '2026-01-18T20:00:02Z'),
 ('s-1', 2, 'user', '[{"type":"tool_result","text":"exit status 1","tool_use_id":"t",'
   || '"is_error":true}]', 1768766403),
 ('s-1', 3, 'assistant', '[{"type":"tex', '2026-01-18 20:00:04'),
 ('s-1', 4, 'critic', 'null', '2026-01-18 20:00:05.5'),
 ('s-1', 7, 'system', '[]', 'not a time'),
 ('s-1', 8, 'user', CAST('[{"type":"text","text":"blob"}]' AS BLOB), '2026-01-18 20:00:09'),
 ('s-1', 9, 'user', '[{"type":"image","source":{"x":1.50},"cache_control":{}}]',
   '2026-01-18 20:00:10'),
 ('s-1', 10, 'user', '[{"type":"text","text":"n' || char(0) || 'l"}]', '2026-01-18 20:00:11');
)";

class OriginalDatabase : public testing::TestWithParam<bool> {
 protected:
  OriginalDatabase() {
    PlainDatabase plain(file_);
    plain.run(std::string(kFirstRelease));
    if (GetParam()) {
      plain.run(std::string(kLaterForm));
      plain.run("UPDATE sessions SET forked_from = 's-1' WHERE id = 's-2'");
      plain.run("INSERT INTO session_snapshots VALUES('s-1', '[]', 3, '2026-01-18 23:00:00')");
    }
    plain.run(std::string(kFill));
    // Text with a NUL inside, as another program might write it.
    plain.run("INSERT INTO sessions(id, model) VALUES('s-5', 'm')");
  }

  std::size_t copies() const {
    std::size_t count = 0;
    for (const auto& entry : fs::directory_iterator(folder_.path())) {
      if (entry.path().string().ends_with(".bak")) {
        ++count;
      }
    }
    return count;
  }

  void expect_oddities(Store& store);

  TemporaryFolder folder_;
  fs::path file_ = folder_.path() / "old.db";
};

void OriginalDatabase::expect_oddities(Store& store) {
  std::vector<Message> found;
  const auto report = must(store.read(session_id("s-1"), {}, [&](Message&& message) {
    found.push_back(std::move(message));
    return Flow::proceed;
  }));
  ASSERT_EQ(found.size(), 7U);
  EXPECT_EQ(plain_text(found[0]), "Hello!");
  EXPECT_EQ(found[0].created_at, at(1));
  EXPECT_EQ(std::get<ThinkingBlock>(found[1].blocks[0]).text, "a < b");
  EXPECT_EQ(std::get<ToolUseBlock>(found[1].blocks[1]).input.text(),
            R"({"n":1.0,"big":12345678901234567890})");
  EXPECT_TRUE(std::get<ToolResultBlock>(found[2].blocks[0]).is_error);
  EXPECT_EQ(found[2].created_at, at(3));
  EXPECT_EQ(found[3].role, "critic");
  EXPECT_TRUE(found[3].blocks.empty());
  EXPECT_EQ(found[3].created_at, at(5, 500'000));
  EXPECT_EQ(found[4].seq, Seq{7});
  EXPECT_EQ(found[4].created_at, Time{});
  EXPECT_EQ(plain_text(found[5]), "blob");
  EXPECT_EQ(std::get<UnknownBlock>(found[6].blocks[0]).json.text(),
            R"({"type":"image","source":{"x":1.50},"cache_control":{}})");
  // The torn content, the invalid date, and the control character inside a JSON string.
  ASSERT_EQ(report.damaged, 3);
  EXPECT_TRUE(report.damage[0].where.ends_with(": messages row 4"));
  EXPECT_EQ(report.damage[0].excerpt, R"([{"type":"tex)");
  EXPECT_TRUE(report.damage[1].where.ends_with(": messages row 6"));
  EXPECT_EQ(report.damage[1].excerpt, "not a time");
  EXPECT_TRUE(report.damage[2].where.ends_with(": messages row 9"));
  EXPECT_NE(report.damage[2].excerpt.find('\0'), std::string::npos);
}

TEST_P(OriginalDatabase, IsReadWithoutChangingAByte) {
  const std::string before = bytes_of(file_);
  const auto written = fs::last_write_time(file_);
  {
    const auto store = open_at(file_, {.access = Access::read});
    const SessionPage page = must(store->list({.limit = 10}));
    std::vector<std::string> ids;
    for (const SessionInfo& info : page.sessions) {
      ids.push_back(info.id.str());
    }
    EXPECT_EQ(ids, (std::vector<std::string>{"s-5", "s-3", "s-2", "s-1", "s-4"}));
    EXPECT_EQ(page.damage.size(), 2U);  // "../bad", and the session without times
    const Session first = must(get(*store, session_id("s-1")));
    EXPECT_EQ(first.info.head, Seq{11});
    EXPECT_EQ(first.system_prompt, "Be kind.");
    EXPECT_EQ(must(get(*store, session_id("s-3"))).info.updated_at, at(5400, 250'000));
    EXPECT_EQ(must(get(*store, session_id("s-3"))).info.created_at, at(3600));
    EXPECT_EQ(must(store->list({.working_dir = "/work"})).sessions.size(), 1U);
    expect_oddities(*store);
    EXPECT_TRUE(fails(store->create(session("new")), Code::unsupported));
    EXPECT_TRUE(works(store->capabilities().repair->verify()));
    EXPECT_TRUE(must(store->capabilities().todos->todos(session_id("s-1"))).empty());
  }
  EXPECT_EQ(bytes_of(file_), before);
  EXPECT_EQ(fs::last_write_time(file_), written);
  std::size_t files = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(folder_.path())) {
    ++files;
  }
  EXPECT_EQ(files, 1U);
}

// The original counts tokens without saying of which request.
TEST_P(OriginalDatabase, TokensThatItCountedAreCopied) {
  const SessionId id = session_id("s-1");
  PlainDatabase(file_).run("UPDATE sessions SET token_count = 40 WHERE id = 's-1'");
  const auto source = open_at(file_, {.access = Access::read});
  const fs::path target = folder_.path() / "copy.db";
  const auto tokens = [&] {
    return PlainDatabase(target).rows("SELECT token_count FROM sessions WHERE id = 's-1'").front();
  };
  const auto store = open_at(target);
  const auto losses = must(copy_session(*source, *store, id)).losses;
  EXPECT_EQ(std::ranges::find(losses, "fields of other programs"), losses.end());
  EXPECT_EQ(tokens(), "40");
  EXPECT_EQ(must(get(*store, id)).extra, must(get(*source, id)).extra);
  Message answer = assistant("more");
  answer.usage = usage("req-1", 5, 2);
  must(store->append(id, {answer}, {}));
  must(store->update(id, {.title = "Another"}));
  EXPECT_EQ(tokens(), "47");
  const Session session = must(get(*store, id));
  ASSERT_EQ(session.extra.size(), 1U);
  EXPECT_EQ(session.extra.front().value.text(), "40");
}

TEST_P(OriginalDatabase, IsMigratedAfterACopy) {
  for (int time = 0; time < 2; ++time) {  // the second time, nothing is to be done
    const auto store = open_at(file_);
    if (time == 0) {
      expect_oddities(*store);
    }
    EXPECT_EQ(must(get(*store, session_id("s-1"))).info.head, Seq{11 + time});
    EXPECT_EQ(must(store->append(session_id("s-1"), {user("more", at(100))}, {})).first,
              Seq{11 + time});
    EXPECT_EQ(must(store->list({.title_contains = "first", .limit = 1})).sessions.size(), 1U);
  }
  EXPECT_EQ(copies(), 1U);
  for (const auto& entry : fs::directory_iterator(folder_.path())) {
    if (entry.path().string().ends_with(".bak")) {
      EXPECT_EQ(mode_of(entry.path()), 0600U);
      const auto copy = open_at(entry.path(), {.access = Access::read});
      expect_oddities(*copy);
      EXPECT_EQ(must(get(*copy, session_id("s-1"))).info.head, Seq{11});
    }
  }
  PlainDatabase plain(file_);
  EXPECT_EQ(plain.rows("SELECT name FROM skill_state"), std::vector<std::string>{"s"});
  EXPECT_EQ(plain.rows("PRAGMA integrity_check"), std::vector<std::string>{"ok"});
}

TEST_P(OriginalDatabase, AcceptsTheOriginalsStatementsAfterwards) {
  const auto store = open_at(file_);
  PlainDatabase plain(file_);
  plain.run(
      "INSERT INTO sessions (id, title, model, working_dir, system_prompt, token_count,"
      " created_at, updated_at) VALUES ('own', 'T', 'm', '/w', 'sp', 0, datetime('now'),"
      " datetime('now'))");
  const std::string append =
      "INSERT INTO messages (session_id, seq, role, content, created_at) VALUES ('own',"
      " COALESCE((SELECT MAX(seq) FROM messages WHERE session_id = 'own'), -1) + 1, 'user',"
      " '[{\"type\":\"text\",\"text\":\"hi\"}]', datetime('now'))";
  plain.run(append);
  plain.run(append);
  const SessionId own = session_id("own");
  EXPECT_EQ(must(get(*store, own)).info.head, Seq{2});
  EXPECT_EQ(must(store->append(own, {assistant("ours")}, {})).first, Seq{2});
  plain.run(append);
  EXPECT_EQ(must(store->append(own, {assistant("again")}, {})).first, Seq{4});
  EXPECT_EQ(texts(must(read_all(*store, own))),
            (std::vector<std::string>{"hi", "hi", "ours", "hi", "again"}));
  plain.run(
      "UPDATE sessions SET title = 'New', token_count = 5, updated_at = '2099-01-01 00:00:00'"
      " WHERE id = 'own'");
  EXPECT_EQ(must(store->list({.limit = 1})).sessions[0].title, "New");
  EXPECT_EQ(plain
                .rows("SELECT id, session_id, seq, role, content, created_at FROM messages"
                      " WHERE session_id = 'own' ORDER BY seq")
                .size(),
            5U);
  EXPECT_FALSE(
      plain.try_run("INSERT INTO messages(session_id, seq, role, content)"
                    " VALUES('nobody', 0, 'user', '[]')"));
  plain.run("DELETE FROM sessions WHERE id = 'own'");
  EXPECT_FALSE(must(store->find(own)));
  EXPECT_EQ(plain.rows("SELECT count(*) FROM messages WHERE session_id = 'own'"),
            std::vector<std::string>{"0"});
}

// The original finds a session's messages in its rows only.
TEST_P(OriginalDatabase, AForkHasRowsForTheOriginal) {
  const SessionId parent = session_id("s-1");
  const SessionId fork = session_id("fork");
  const auto store = open_at(file_);
  const auto before = must(read_all(*store, parent, {.to = Seq{3}}));
  must(store->capabilities().forking->fork(parent, Seq{3}, session("fork")));
  must(store->capabilities().forking->fork(fork, Seq{2}, session("again")));
  EXPECT_EQ(must(read_all(*store, fork)), before);
  PlainDatabase plain(file_);
  const auto rows_of = [&plain](std::string_view id) {
    return plain.rows(
        cat("SELECT seq, role, content, created_at FROM messages WHERE session_id = '", id,
            "' AND seq < 2 ORDER BY seq"));
  };
  EXPECT_EQ(rows_of("fork").size(), 2U);
  EXPECT_EQ(rows_of("fork"), rows_of("s-1"));
  EXPECT_EQ(rows_of("again"), rows_of("s-1"));
  plain.run(
      "INSERT INTO messages (session_id, seq, role, content, created_at) VALUES ('fork',"
      " COALESCE((SELECT MAX(seq) FROM messages WHERE session_id = 'fork'), -1) + 1, 'user',"
      " '[{\"type\":\"text\",\"text\":\"hi\"}]', datetime('now'))");
  EXPECT_EQ(must(read_all(*store, fork)).back().seq, Seq{3});
  EXPECT_EQ(must(get(*store, fork)).info.head, Seq{4});
  plain.run("DELETE FROM sessions WHERE id = 's-1'");
  EXPECT_EQ(must(read_all(*store, fork)).size(), 4U);
}

INSTANTIATE_TEST_SUITE_P(Forms, OriginalDatabase, testing::Bool(),
                         [](const auto& form) { return form.param ? "Later" : "FirstRelease"; });

TEST(OriginalDatabases, AreMigratedOnceByTenProcesses) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "old.db";
  {
    PlainDatabase plain(file);
    plain.run(std::string(kFirstRelease));
    plain.run(std::string(kFill));
  }
  std::vector<pid_t> children;
  for (int i = 0; i < 10; ++i) {
    children.push_back(in_child([&] {
      const auto store = open_sqlite_store(file);
      return store && (*store)->append(session_id("s-2"), {user("x")}, {}) ? 0 : 1;
    }));
  }
  for (const pid_t child : children) {
    EXPECT_EQ(exit_code_of(child), 0);
  }
  EXPECT_EQ(must(get(*open_at(file), session_id("s-2"))).info.head, Seq{10});
  int copies = 0;
  for (const auto& entry : fs::directory_iterator(folder.path())) {
    copies += entry.path().string().ends_with(".bak") ? 1 : 0;
  }
  EXPECT_EQ(copies, 1);
}

TEST(ForeignDatabases, AreRefusedAndLeftAlone) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "x.db";
  {
    PlainDatabase plain(file);
    plain.run("CREATE TABLE cookies(a)");
  }
  const std::string before = bytes_of(file);
  EXPECT_TRUE(fails(open_sqlite_store(file), Code::unsupported));
  EXPECT_TRUE(fails(open_sqlite_store(file, {.access = Access::read}), Code::unsupported));
  EXPECT_EQ(bytes_of(file), before);
}

TEST(NewerDatabases, AreRefusedAndLeftAlone) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "x.db";
  {
    const auto store = open_at(file);
  }
  {
    PlainDatabase plain(file);
    plain.run("PRAGMA user_version = 99");
    plain.run("PRAGMA wal_checkpoint(TRUNCATE)");
  }
  EXPECT_TRUE(fails(open_sqlite_store(file), Code::unsupported));
  const auto refused = open_sqlite_store(file, {.access = Access::read});
  EXPECT_TRUE(fails(refused, Code::unsupported));
  EXPECT_NE(refused.error().message.find("newer"), std::string::npos);
}

TEST(UnreleasedDatabases, AreRefusedAndLeftAlone) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "x.db";
  {
    const auto store = open_at(file);
  }
  for (const std::string version : {"1", "2", "3", "4"}) {
    {
      PlainDatabase plain(file);
      plain.run("PRAGMA user_version = " + version);
      plain.run("PRAGMA wal_checkpoint(TRUNCATE)");
    }
    const std::string before = bytes_of(file);
    for (const Access access : {Access::write, Access::read}) {
      const auto refused = open_sqlite_store(file, {.access = access});
      ASSERT_TRUE(fails(refused, Code::unsupported)) << version;
      EXPECT_EQ(refused.error().message,
                file.string() +
                    " was written by a build of Reprise before its first release;"
                    " `reprise copy` of that build brings it over");
    }
    EXPECT_EQ(bytes_of(file), before) << version;
  }
}

TEST(Garbage, IsNoDatabase) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "x.db";
  must(replace_file(file, std::string(10'000, 'x')));
  EXPECT_TRUE(fails(open_sqlite_store(file), Code::corrupt));
  EXPECT_TRUE(fails(open_sqlite_store(folder.path()), Code::invalid_argument));
  EXPECT_TRUE(
      fails(open_sqlite_store(folder.path() / "none", {.access = Access::read}), Code::not_found));
  EXPECT_FALSE(fs::exists(folder.path() / "none"));
}

}  // namespace
}  // namespace reprise::test

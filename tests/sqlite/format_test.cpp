// Statements of docs/formats/sqlite.md about the database and its files, checked with plain SQL.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/file.h"
#include "base/testing/temporary_folder.h"
#include "base/text.h"
#include "reprise/capabilities.h"
#include "reprise/open_store.h"
#include "sqlite/sqlite_support.h"
#include "support/build.h"
#include "support/must.h"

namespace reprise::test {
namespace {

namespace fs = std::filesystem;
using Rows = std::vector<std::string>;

class SqliteFormat : public testing::Test {
 protected:
  Rows rows(const std::string& sql) const { return PlainDatabase(file_).rows(sql); }
  Rows columns(std::string_view table) const {
    return rows(cat("SELECT name FROM pragma_table_info('", table, "') ORDER BY name"));
  }

  TemporaryFolder folder_;
  fs::path file_ = folder_.path() / "reprise.db";
  SessionId id_ = session_id("s");
  std::unique_ptr<Store> store_ = open_at(file_);
};

TEST_F(SqliteFormat, TheHeaderHasItsVersion) {
  EXPECT_EQ(rows("PRAGMA application_id"), Rows{std::to_string(0x52505253)});
  EXPECT_EQ(rows("PRAGMA user_version"), Rows{"5"});
  EXPECT_EQ(rows("PRAGMA journal_mode"), Rows{"wal"});
  EXPECT_EQ(rows("SELECT name FROM sqlite_schema WHERE type = 'trigger' ORDER BY name"),
            (Rows{"reprise_blob_unnamed", "reprise_message_copied", "reprise_message_inserted",
                  "reprise_session_deleted", "reprise_session_inserted", "reprise_session_updated",
                  "reprise_slot_inserted", "reprise_slot_updated"}));
}

TEST_F(SqliteFormat, TablesHaveTheDocumentedColumns) {
  EXPECT_EQ(columns("sessions"), (Rows{"ahead_us",
                                       "base",
                                       "base_count",
                                       "cached_tokens",
                                       "closed_us",
                                       "config",
                                       "cost_nanos",
                                       "created_at",
                                       "created_us",
                                       "extra",
                                       "forked_at",
                                       "forked_from",
                                       "generation",
                                       "head",
                                       "id",
                                       "input_tokens",
                                       "mode",
                                       "model",
                                       "output_tokens",
                                       "pinned",
                                       "price_source",
                                       "provider",
                                       "reasoning_tokens",
                                       "response_chain",
                                       "state",
                                       "state_before_trash",
                                       "system_prompt",
                                       "title",
                                       "token_count",
                                       "trashed_us",
                                       "updated_at",
                                       "updated_slot",
                                       "updated_us",
                                       "working_dir"}));
  EXPECT_EQ(columns("messages"),
            (Rows{"author", "content", "created_at", "created_us", "extra", "id", "model",
                  "provider", "response_id", "role", "seq", "session_id", "state", "usage"}));
  EXPECT_EQ(columns("reprise_once"), (Rows{"first", "head", "name", "session_id"}));
  EXPECT_EQ(columns("reprise_answers"), (Rows{"body", "n", "session_id"}));
  EXPECT_EQ(columns("reprise_todos"), (Rows{"items", "session_id"}));
  EXPECT_EQ(columns("reprise_prompts"), (Rows{"prompts", "session_id"}));
  EXPECT_EQ(columns("reprise_artefacts"), (Rows{"bytes", "id", "n", "name", "session_id", "step"}));
  EXPECT_EQ(columns("reprise_blobs"), (Rows{"bytes", "hash", "id", "n"}));
  EXPECT_EQ(columns("reprise_blob_refs"), (Rows{"hash", "session_id"}));
  EXPECT_EQ(columns("reprise_kept"), (Rows{"base", "base_count", "head", "id", "kept_for"}));
  EXPECT_EQ(
      columns("reprise_kept_messages"),
      (Rows{"author", "content", "created_at", "created_us", "extra", "id", "message", "model",
            "provider", "response_id", "role", "seq", "session_id", "state", "usage"}));
  EXPECT_EQ(columns("reprise_pins"), (Rows{"hash", "put_us"}));
  EXPECT_EQ(rows("SELECT count(*) FROM sqlite_schema WHERE name = 'reprise_damage'"), Rows{"0"});
}

TEST_F(SqliteFormat, ASessionIsARow) {
  Session whole = full_session("s");
  whole.info.updated_at = Time{std::chrono::microseconds{90'000'000'123'456}};
  must(store_->create(whole));
  EXPECT_EQ(rows("SELECT created_at = strftime('%Y-%m-%d %H:%M:%S', created_us / 1000000,"
                 " 'unixepoch'), updated_at, updated_us, updated_slot = updated_us >> 26,"
                 " json_valid(config), json_valid(response_chain), json_valid(extra), head,"
                 " generation, base IS NULL FROM sessions"),
            Rows{"1|1972-11-07 16:00:00|90000000123456|1|1|1|1|0|0|1"});
  EXPECT_EQ(rows("SELECT json_valid(prompts) FROM reprise_prompts"), Rows{"1"});
  must(store_->capabilities().trash->trash(id_, at(7)));
  EXPECT_EQ(
      rows("SELECT state, state_before_trash, trashed_us FROM sessions"),
      Rows{cat("trashed|", to_string(whole.info.state), "|", at(7).time_since_epoch().count())});
}

TEST_F(SqliteFormat, AMessageStoresOnlyNonDefaultDetails) {
  must(store_->create(session("s")));
  Message tool = user("");
  tool.role = role::kTool;
  tool.blocks = {ToolResultBlock{"t1", "done", false, {}, {}}};
  Message cut = assistant("half");
  cut.state = MessageState::incomplete;
  must(store_->append(id_, {user("q"), tool, cut}, {.operation = operation_id("op")}));
  EXPECT_EQ(rows("SELECT seq, role, coalesce(state, '-'), provider IS NULL, usage IS NULL, extra IS"
                 " NULL, json_valid(content) FROM messages ORDER BY seq"),
            (Rows{"0|user|-|1|1|1|1", "1|user|tool|1|1|1|1", "2|assistant|incomplete|1|1|1|1"}));
  EXPECT_EQ(rows("SELECT name, first, head FROM reprise_once"), Rows{"operation:op|0|3"});
  PlainDatabase(file_).run("UPDATE messages SET role = 'tool', state = NULL WHERE seq = 1");
  EXPECT_EQ(must(read_all(*open_at(file_), id_)).at(1), must(read_all(*store_, id_)).at(1));
  EXPECT_EQ(must(read_all(*store_, id_)).at(1).role, role::kTool)
      << "as another program may write it";
  EXPECT_EQ(rows("SELECT role FROM messages WHERE seq = 1"), Rows{"tool"});
}

TEST_F(SqliteFormat, UsageIsSummedInTheSessionsRow) {
  must(store_->create(session("s")));
  Message answer = assistant("a");
  answer.usage = usage("req-1", 10, 3);
  answer.usage->cached = {4};
  answer.usage->cache_written = {5};
  answer.usage->cost = Money{7};
  must(store_->append(id_, {answer, answer}, {}));
  EXPECT_EQ(rows("SELECT input_tokens, output_tokens, reasoning_tokens, cached_tokens, cost_nanos,"
                 " token_count FROM sessions"),
            Rows{"10|3|0|4|7|13"});
  EXPECT_EQ(rows("SELECT name, coalesce(first, '-') FROM reprise_once ORDER BY name"),
            (Rows{"request:req-1|-", "sum:cache_written|5"}));
}

TEST_F(SqliteFormat, TheSumOfTokensDoesNotOverflow) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  must(store_->create(session("s")));
  Message answer = assistant("a");
  for (const char* const request : {"req-1", "req-2"}) {
    answer.usage = usage(request, kMax, kMax);
    must(store_->append(id_, {answer}, {}));
  }
  EXPECT_EQ(rows("SELECT token_count FROM sessions"), Rows{std::to_string(kMax)});
}

TEST_F(SqliteFormat, RowsAreRemovedWithTheirAnswer) {
  must(store_->create(session("s")));
  must(store_->append(id_, {user("q")}, {.begin_partial = running_answer("a")}));
  for (const char* piece : {"one", "two"}) {
    must(store_->capabilities().partials->add_partial(id_, operation_id("a"),
                                                      std::vector<Block>{TextBlock{piece, {}}}));
  }
  EXPECT_EQ(rows("SELECT n, json_valid(body) FROM reprise_answers ORDER BY n"),
            (Rows{"0|1", "1|1", "2|1"}));
  must(store_->append(id_, {assistant("onetwo")}, {.end_partial = operation_id("a")}));
  EXPECT_EQ(rows("SELECT count(*) FROM reprise_answers"), Rows{"0"});
}

TEST_F(SqliteFormat, LargeBlobsAreStoredInPieces) {
  must(store_->create(session("s")));
  const std::string bytes(600'000, 'b');
  const BlobHash hash = must(store_->capabilities().blobs->put_blob(bytes));
  EXPECT_EQ(rows("SELECT n, length(bytes) FROM reprise_blobs ORDER BY n"),
            (Rows{"0|262144", "1|262144", "2|75712"}));
  Message named = user("see");
  named.blocks.emplace_back(ImageBlock{"image/png", hash, {}, {}});
  must(store_->append(id_, {named}, {}));
  EXPECT_EQ(rows("SELECT session_id, hash FROM reprise_blob_refs"), Rows{cat("s|", hash.str())});
  Artefacts& artefacts = *store_->capabilities().artefacts;
  must(artefacts.append_artefact(id_, {1}, "log", "one"));
  must(artefacts.append_artefact(id_, {1}, "log", "two"));
  EXPECT_EQ(rows("SELECT step, name, n, bytes FROM reprise_artefacts ORDER BY n"),
            (Rows{"1|log|0|one", "1|log|1|two"}));
}

TEST_F(SqliteFormat, AForkIsOneRowAndAReplacedSuffixARetainedSession) {
  must(store_->create(session("s")));
  must(store_->append(id_, {user("1"), assistant("2"), user("3")}, {}));
  must(store_->capabilities().forking->fork(id_, Seq{2}, session("child")));
  EXPECT_EQ(rows("SELECT base, base_count, head, forked_from, forked_at FROM sessions"
                 " WHERE id = 'child'"),
            Rows{"s|2|2|s|2"});
  EXPECT_EQ(rows("SELECT count(*) FROM messages WHERE session_id = 'child'"), Rows{"0"});
  must(store_->capabilities().rewriting->replace_suffix(id_, Seq{1}, {assistant("new")}, {}));
  EXPECT_EQ(rows("SELECT id, kept_for, base, base_count, head FROM reprise_kept"),
            Rows{"s~0|s|s|1|3"});
  EXPECT_EQ(rows("SELECT seq, role FROM reprise_kept_messages ORDER BY seq"),
            (Rows{"1|assistant", "2|user"}));
  EXPECT_EQ(rows("SELECT id FROM sessions ORDER BY id"), (Rows{"child", "s"}))
      << "the original lists only what the user has";
  EXPECT_EQ(rows("SELECT generation FROM sessions WHERE id = 's'"), Rows{"1"});
  EXPECT_EQ(must(store_->list({.states = {SessionState::active, SessionState::closed,
                                          SessionState::archived, SessionState::trashed}}))
                .sessions.size(),
            2U)
      << "what was kept is never listed";
  EXPECT_EQ(texts(must(read_all(*store_, session_id("child")))), (Rows{"1", "2"}));
  PlainDatabase plain(file_);
  EXPECT_FALSE(plain.try_run("DELETE FROM sessions WHERE id = 's'"));
  // The original counts only the fork's own rows; its message must be appended at the end.
  plain.run(
      "INSERT INTO messages (session_id, seq, role, content, created_at) VALUES ('child',"
      " COALESCE((SELECT MAX(seq) FROM messages WHERE session_id = 'child'), -1) + 1, 'user',"
      " '[{\"type\":\"text\",\"text\":\"hi\"}]', datetime('now'))");
  EXPECT_EQ(must(read_all(*store_, session_id("child"))).back().seq, Seq{2});
  EXPECT_EQ(must(get(*store_, session_id("child"))).info.head, Seq{3});
}

TEST_F(SqliteFormat, ARepairFindsARetainedSessionByItsMessages) {
  must(store_->create(session("s")));
  must(store_->append(id_, {user("1"), assistant("2"), user("3")}, {}));
  must(store_->capabilities().rewriting->replace_suffix(id_, Seq{1}, {}, {}));
  {
    PlainDatabase plain(file_);
    plain.run("PRAGMA foreign_keys = OFF");
    plain.run("DELETE FROM reprise_kept");
    plain.run("DELETE FROM sessions");
  }
  EXPECT_FALSE(must(store_->capabilities().repair->verify()).damage.empty());
  const fs::path copy = folder_.path() / "copy.db";
  must(store_->capabilities().repair->repair_into(copy));
  const auto repaired = open_at(copy);
  EXPECT_EQ(must(repaired->list({})).sessions.size(), 1U);
  Rows replaced;
  must(repaired->capabilities().rewriting->read_replaced(id_, [&](Message&& message) {
    replaced.push_back(plain_text(message));
    return Flow::proceed;
  }));
  EXPECT_EQ(replaced, (Rows{"2", "3"}));
}

TEST_F(SqliteFormat, TheLockFileNamesItsHolderAndReservesSpace) {
  must(store_->create(session("s")));
  const fs::path lock = folder_.path() / "reprise.db-lock";
  const std::string bytes = must(read_file(lock));
  ASSERT_EQ(bytes.size(), 24U);
  EXPECT_EQ(trimmed(std::string_view(bytes).substr(8)), std::to_string(::getpid()));
  struct stat status{};
  ASSERT_EQ(::stat(lock.c_str(), &status), 0);
  EXPECT_LE(status.st_size, 24);
  EXPECT_GE(status.st_blocks * 512, 256 << 10) << "blocks beyond the end";
}

TEST_F(SqliteFormat, ARepairedCopyListsUnreadableData) {
  must(store_->create(session("s")));
  must(store_->append(id_, {user("good"), user("bad")}, {}));
  PlainDatabase(file_).run("UPDATE messages SET content = 'no JSON' WHERE seq = 1");
  const fs::path copy = folder_.path() / "copy.db";
  must(store_->capabilities().repair->repair_into(copy));
  EXPECT_THAT(PlainDatabase(copy).rows("SELECT place, bytes FROM reprise_damage"),
              testing::ElementsAre(testing::HasSubstr("no JSON")));
}

}  // namespace
}  // namespace reprise::test

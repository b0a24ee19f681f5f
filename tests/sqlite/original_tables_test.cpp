// The original program can continue with a database written by us: it finds tool results under its
// role, its token counts, and the contents of its own tables.

#include <gtest/gtest.h>

#include "base/encode.h"
#include "base/testing/temporary_folder.h"
#include "base/text.h"
#include "engine/copy.h"
#include "reprise/capabilities.h"
#include "reprise/open_store.h"
#include "sqlite/sqlite_support.h"
#include "support/build.h"
#include "support/must.h"

namespace reprise::test {
namespace {

namespace fs = std::filesystem;
using Rows = std::vector<std::string>;

constexpr std::string_view kSnapshot = R"([{"Role":"user","Content":[{"type":"text"}]}])";

Message result_of(std::string_view call) {
  Message message{.role = "tool", .created_at = at(3)};
  message.blocks = {ToolResultBlock{std::string(call), "output", false, {}, {}}};
  return message;
}

Message call_of(std::string_view id) {
  Message message{.role = "assistant", .created_at = at(2)};
  message.blocks = {ToolUseBlock{std::string(id), "file", raw("{}"), {}}};
  return message;
}

class OriginalTables : public testing::Test {
 protected:
  OriginalTables() {
    PlainDatabase plain(file_);
    plain.run(std::string(kFirstRelease));
    plain.run(std::string(kLaterForm));
    plain.run(
        "INSERT INTO sessions(id, title, model, token_count, created_at, updated_at)"
        " VALUES('a', 'A', 'm', 40, '2026-01-18 20:00:00', '2026-01-18 20:00:05');"
        "INSERT INTO messages(session_id, seq, role, created_at, content)"
        " VALUES('a', 0, 'user', '2026-01-18 20:00:05',"
        " '[{\"type\":\"tool_result\",\"text\":\"[Tool result stored \xE2\x80\x94 9000 bytes from"
        " \\\"shell\\\".\\nFirst 200 chars: xxx...]\\nUse the \\\"read_result\\\" tool with"
        " ref_id=\\\"blob-1\\\" to read specific portions.\",\"tool_use_id\":\"t\"}]');"
        "INSERT INTO tool_result_blobs VALUES('blob-1', 'a', 'shell', printf('%.9000c', 'x'), 9000,"
        " '2026-01-18 20:00:00');"
        "INSERT INTO tool_result_blobs VALUES('blob-2', 'a', 'shell', printf('%.300000c', 'y'),"
        " 300000, '2026-01-18 20:00:00')");
    plain.run(cat("INSERT INTO session_snapshots VALUES('a', '", kSnapshot,
                  "', 12, '2026-01-18 20:00:05')"));
  }

  static std::string blob(Store& store, const BlobHash& hash) {
    std::string bytes;
    must(store.capabilities().blobs->read_blob(hash, [&](std::string_view piece) {
      bytes += piece;
      return Flow::proceed;
    }));
    return bytes;
  }

  static const ToolResultBlock& result_in(const std::vector<Message>& messages) {
    return std::get<ToolResultBlock>(messages.at(0).blocks.at(0));
  }

  TemporaryFolder folder_;
  fs::path file_ = folder_.path() / "old.db";
  SessionId a_ = session_id("a");
};

TEST_F(OriginalTables, ResultsOfToolsAreFoundByTheOriginalsRule) {
  const auto store = open_at(file_);
  Message cut = result_of("c3");
  cut.state = MessageState::incomplete;
  const std::vector<Message> written = {call_of("c1"),   result_of("c1"), call_of("c2"),
                                        result_of("c2"), call_of("c3"),   cut,
                                        user("next")};
  must(store->append(a_, written, {}));
  // It omits calls without a result in a message of the user.
  PlainDatabase plain(file_);
  EXPECT_EQ(plain.rows("SELECT b.value ->> 'id' FROM messages, json_each(content) AS b"
                       " WHERE role = 'assistant' AND b.value ->> 'type' = 'tool_use'"
                       " AND b.value ->> 'id' NOT IN (SELECT r.value ->> 'tool_use_id'"
                       " FROM messages, json_each(content) AS r WHERE role = 'user'"
                       " AND r.value ->> 'type' = 'tool_result')"),
            Rows{});
  EXPECT_EQ(plain.rows("SELECT DISTINCT role FROM messages ORDER BY role"),
            (Rows{"assistant", "user"}));
  EXPECT_EQ(must(read_all(*store, a_, {.from = Seq{1}})), numbered(written, Seq{1}));
  // As another program may write them.
  plain.run("UPDATE messages SET role = 'tool', state = NULL WHERE seq = 2");
  plain.run("UPDATE messages SET state = NULL WHERE seq = 4");
  const auto again = must(read_all(*store, a_));
  EXPECT_EQ(again.at(2).role, "tool");
  EXPECT_EQ(again.at(4).role, "user");
}

TEST_F(OriginalTables, TokensAreCounted) {
  const auto store = open_at(file_);
  Message answer = assistant("b");
  answer.usage = usage("r1", 10, 5);
  must(store->append(a_, {user("a"), answer}, {}));
  must(store->append(a_, {answer}, {}));  // the same request
  const Seq head = must(get(*store, a_)).info.head;
  must(store->capabilities().forking->fork(a_, head, session("whole")));
  must(store->capabilities().forking->fork(a_, Seq{1}, session("part")));
  EXPECT_EQ(PlainDatabase(file_).rows("SELECT id, token_count FROM sessions ORDER BY id"),
            (Rows{"a|55", "part|0", "whole|55"}));
}

TEST_F(OriginalTables, AForkOfTheOriginalsKeepsItsParentFromBeingPurged) {
  {
    PlainDatabase plain(file_);
    plain.run("INSERT INTO sessions(id, model, forked_from) VALUES('b', 'm', 'a')");
    plain.run(
        "INSERT INTO messages(session_id, seq, role, content)"
        " SELECT 'b', seq, role, content FROM messages WHERE session_id = 'a'");
  }
  const auto store = open_at(file_);
  Trash& trash = *store->capabilities().trash;
  const auto refused = trash.purge(a_);
  ASSERT_TRUE(fails(refused, Code::conflict));
  EXPECT_NE(refused.error().message.find("with b"), std::string::npos);
  const auto messages = must(read_all(*store, session_id("b")));
  EXPECT_EQ(blob(*store, result_in(messages).blob.value()), std::string(9000, 'x'));
  must(trash.purge(session_id("b")));
  // A fork of ours that shares nothing does not prevent a purge.
  must(store->capabilities().forking->fork(a_, Seq{0}, session("empty")));
  must(store->append(session_id("empty"), {user("x")}, {}));
  EXPECT_TRUE(works(trash.purge(a_)));
}

TEST_F(OriginalTables, LargeResultsAndSnapshotsAreReadAndCopied) {
  const auto source = open_at(file_, {.access = Access::read});
  const auto messages = must(read_all(*source, a_));
  const auto hash = result_in(messages).blob;
  EXPECT_EQ(hash, must(sha256(std::string(9000, 'x'))));
  EXPECT_EQ(blob(*source, *hash), std::string(9000, 'x'));
  EXPECT_EQ(blob(*source, must(sha256(std::string(300'000, 'y')))), std::string(300'000, 'y'));
  EXPECT_TRUE(fails(source->capabilities().blobs->read_blob(must(sha256("z")),
                                                            [](auto) { return Flow::proceed; }),
                    Code::not_found));

  const auto target = open_at(folder_.path() / "new.db");
  EXPECT_EQ(must(copy_session(*source, *target, a_)).losses, Rows{});
  EXPECT_EQ(must(read_all(*target, a_)), messages);
  EXPECT_EQ(blob(*target, *hash), std::string(9000, 'x'));
  EXPECT_EQ(must(copy_session(*source, *target, a_)).outcome, CopyOutcome::unchanged);
  EXPECT_TRUE(must(target->capabilities().verifier->verify()).damage.empty());

  // And back into a database of the original program.
  const fs::path back = folder_.path() / "back.db";
  {
    PlainDatabase plain(back);
    plain.run(std::string(kFirstRelease));
    plain.run(std::string(kLaterForm));
  }
  must(copy_session(*target, *open_at(back), a_));
  EXPECT_EQ(PlainDatabase(back).rows("SELECT * FROM session_snapshots"),
            Rows{cat("a|", kSnapshot, "|12|2026-01-18 20:00:05")});
}

// The original program would resume from it without the new messages.
TEST_F(OriginalTables, AStaleSnapshotIsSetAside) {
  const auto store = open_at(file_);
  Artefacts& artefacts = *store->capabilities().artefacts;
  const auto before = must(artefacts.find_artefact(a_, Step{0}, "session_snapshot.json"));
  ASSERT_TRUE(before);
  must(store->append(a_, messages(1), {}));
  EXPECT_EQ(PlainDatabase(file_).rows("SELECT session_id FROM session_snapshots"), Rows{});
  EXPECT_EQ(must(artefacts.find_artefact(a_, Step{0}, "session_snapshot.json")), before);
}

TEST_F(OriginalTables, ArePurgedWithTheirSession) {
  const auto store = open_at(file_);
  must(store->create(session("other")));
  PlainDatabase plain(file_);
  plain.run(
      "INSERT INTO tool_result_blobs VALUES('blob-3', 'other', 'shell', 'z', 1, '2026-01-18')");
  must(store->capabilities().trash->purge(a_));
  EXPECT_EQ(plain.rows("SELECT id FROM tool_result_blobs"), Rows{"blob-3"}) << "not named yet";
  EXPECT_EQ(plain.rows("SELECT session_id FROM session_snapshots"), Rows{});
}

// Tables of another program may allow them.
TEST_F(OriginalTables, MissingTimesStayUnknownInARepairedCopy) {
  const fs::path file = folder_.path() / "loose.db";
  {
    std::string tables(kFirstRelease);
    constexpr std::string_view kStrict = "DATETIME NOT NULL";
    for (std::size_t at = 0; (at = tables.find(kStrict, at)) != std::string::npos;) {
      tables.replace(at, kStrict.size(), "DATETIME");
    }
    PlainDatabase plain(file);
    plain.run(tables);
    plain.run(
        "INSERT INTO sessions(id, model, created_at, updated_at) VALUES('a', 'm', NULL, NULL)");
    plain.run(
        "INSERT INTO messages(session_id, seq, role, content, created_at)"
        " VALUES('a', 0, 'user', '[{\"type\":\"text\",\"text\":\"hi\"}]', NULL)");
  }
  must(open_at(file, {.access = Access::read})
           ->capabilities()
           .repair->repair_into(folder_.path() / "repaired.db"));
  const auto store = open_at(folder_.path() / "repaired.db");
  const SessionInfo info = must(get(*store, a_)).info;
  EXPECT_EQ(info.created_at, Time{});
  EXPECT_EQ(info.updated_at, Time{});
  const auto messages = must(read_all(*store, a_));
  ASSERT_EQ(messages.size(), 1U);
  EXPECT_EQ(messages.front().created_at, Time{});
}

TEST_F(OriginalTables, AreInARepairedCopy) {
  const auto store = open_at(file_);
  must(store->capabilities().repair->repair_into(folder_.path() / "repaired.db"));
  PlainDatabase plain(folder_.path() / "repaired.db");
  EXPECT_EQ(plain.rows("SELECT id, length(content) FROM tool_result_blobs ORDER BY id"),
            (Rows{"blob-1|9000", "blob-2|300000"}));
  EXPECT_EQ(plain.rows("SELECT session_id FROM session_snapshots"), Rows{"a"});
}

}  // namespace
}  // namespace reprise::test

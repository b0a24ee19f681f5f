// The damage that `verify` must find: one kind at a time, made without the store.

#include <gtest/gtest.h>

#include <ostream>

#include "base/testing/temporary_folder.h"
#include "base/text.h"
#include "reprise/capabilities.h"
#include "sqlite/sqlite_support.h"
#include "support/build.h"
#include "support/must.h"

namespace reprise::test {
namespace {

struct Fault {
  std::string_view name;
  std::string_view statement;  // the change by another program
  std::string_view where;      // the end of the reported place
  std::string_view reason;     // a part of it
};

void PrintTo(const Fault& fault, std::ostream* out) {
  *out << fault.name;
}

constexpr Fault kFaults[] = {
    {"BadTime", "UPDATE sessions SET created_us = 0, created_at = 'some day' WHERE id = 's'",
     "sessions row 1", "date-time cannot be read"},
    {"BadId", "UPDATE sessions SET id = 'a b' WHERE id = 'lonely'", "sessions row 3",
     "id cannot be used"},
    {"BadAnswer", "INSERT INTO reprise_answers VALUES('s', 0, 'no json')", "sessions row 1",
     "running answer cannot be read"},
    {"BadContent", "UPDATE messages SET content = '[{' WHERE session_id = 's' AND seq = 1",
     "messages row 2", "not valid JSON"},
    {"BadUsage", "UPDATE messages SET usage = 'much' WHERE session_id = 's' AND seq = 1",
     "messages row 2", "usage cannot be read"},
    {"BadPlace", "UPDATE messages SET seq = -7 WHERE session_id = 's' AND seq = 1",
     "messages row 2", "the position -7 is out of range"},
    {"PositionOutOfRange",
     "UPDATE messages SET seq = 9223372036854775807 WHERE session_id = 's' AND seq = 1",
     "messages row 2", "the position 9223372036854775807 is out of range"},
    {"HeadOutOfRange", "UPDATE sessions SET head = 9223372036854775807 WHERE id = 's'",
     "sessions row 1", "the head 9223372036854775807 is out of range"},
    {"OriginOutOfRange", "UPDATE sessions SET forked_at = -9 WHERE id = 'f'", "sessions row 2",
     "the position -9 is out of range"},
    {"BeyondTheHead", "UPDATE sessions SET head = 2 WHERE id = 's'", "sessions row 1",
     "messages beyond its head 2"},
    {"BaseIsGone", "UPDATE sessions SET base = 'nowhere' WHERE id = 'f'", "sessions row 2",
     "it shares with nowhere are missing"},
    {"NoSuchSession",
     "INSERT INTO messages(session_id, seq, role, content, created_us)"
     " VALUES('nobody', 0, 'user', '[]', 1)",
     "messages row 4", "refers to nothing in sessions"},
    {"BlobIsGone", "DELETE FROM reprise_blobs", "", "messages name it, but it is missing"},
    {"BlobIsAnother", "UPDATE reprise_blobs SET bytes = CAST('other' AS BLOB)", "",
     "its bytes do not match its name"},
};

class SqliteVerify : public testing::TestWithParam<Fault> {
 protected:
  // Sessions s with three messages, f that shares two of them, and lonely; a blob that s
  // references.
  void SetUp() override {
    const auto store = open_at(file_);
    must(store->create(session("s")));
    const BlobHash blob = must(store->capabilities().blobs->put_blob("the picture"));
    Message with_image = user("look");
    ImageBlock image;
    image.media_type = "image/png";
    image.blob = blob;
    with_image.blocks.emplace_back(image);
    must(store->append(session_id("s"), {with_image, assistant("a"), user("more")}, {}));
    must(store->capabilities().forking->fork(session_id("s"), Seq{2}, session("f")));
    must(store->create(session("lonely")));
  }

  TemporaryFolder folder_;
  std::filesystem::path file_ = folder_.path() / "verified.db";
};

TEST_P(SqliteVerify, NamesTheFaultAndItsPlace) {
  ASSERT_TRUE(must(open_at(file_)->capabilities().repair->verify()).damage.empty());
  PlainDatabase plain(file_);
  plain.run("PRAGMA foreign_keys = OFF");
  plain.run(std::string(GetParam().statement));
  const VerifyReport report = must(open_at(file_)->capabilities().repair->verify());
  std::string all;
  for (const Damage& damage : report.damage) {
    all += cat(damage.where, ": ", damage.reason, "\n");
    if (damage.where.ends_with(GetParam().where) &&
        damage.reason.find(GetParam().reason) != std::string::npos) {
      return;
    }
  }
  FAIL() << "not found in:\n" << all;
}

INSTANTIATE_TEST_SUITE_P(Faults, SqliteVerify, testing::ValuesIn(kFaults),
                         [](const auto& fault) { return std::string(fault.param.name); });

// SQLite's own report has many lines for one broken page, and each query that meets the page fails.
TEST(SqliteVerifyPages, EachFindingIsReportedOnceInPlainWords) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "s.db";
  {
    const auto store = open_at(file);
    must(store->create(session("s")));
    const std::vector<Message> batch(2000, user("some longer text to fill the pages with"));
    must(store->append(session_id("s"), batch, {}));
    PlainDatabase(file).run("PRAGMA wal_checkpoint(TRUNCATE)");
  }
  std::string bytes = bytes_of(file);
  constexpr std::size_t kPage = 4096;
  bytes.replace(50 * kPage, 2 * kPage, std::string(2 * kPage, '\xEE'));
  must(replace_file(file, bytes));
  const auto store = open_at(file);
  const VerifyReport report = must(store->capabilities().repair->verify());
  ASSERT_EQ(report.damage.size(), 2U);
  EXPECT_EQ(report.damage[0].where, "s.db");
  EXPECT_TRUE(report.damage[0].reason.starts_with("its structure is damaged (SQLite: "))
      << report.damage[0].reason;
  EXPECT_EQ(report.damage[0].reason.find("***"), std::string::npos) << report.damage[0].reason;
  EXPECT_EQ(report.damage[1], (Damage{"s.db: messages", "some of its rows cannot be read", ""}));
  const auto backup = store->capabilities().backup->backup(folder.path() / "backup.db");
  ASSERT_FALSE(backup);
  EXPECT_TRUE(backup.error().message.ends_with(
      cat("run `reprise --store sqlite:", file.string(), " verify --repair`")))
      << backup.error().message;
}

// Numbers near the limit of integers are damage for readers and refused by writers, and repair
// sets the head again.
TEST(SqliteRepair, HeadsAndPositionsOutOfRangeAreDamage) {
  for (const char* const change :
       {"UPDATE sessions SET head = 9223372036854775807", "UPDATE sessions SET head = -5",
        "UPDATE sessions SET head = 1099511627777",
        "INSERT INTO messages(session_id, seq, role, content, created_at)"
        " VALUES('s', 9223372036854775807, 'user', 'far', '2026-01-01 00:00:00')"}) {
    SCOPED_TRACE(change);
    const TemporaryFolder folder;
    const auto file = folder.path() / "s.db";
    must(open_at(file)->create(session("s")));
    must(open_at(file)->append(session_id("s"), {user("a"), assistant("b")}, {}));
    PlainDatabase(file).run(change);
    const auto store = open_at(file);
    for (const bool newest_first : {false, true}) {
      const ReadReport report = must(store->read(session_id("s"), {.newest_first = newest_first},
                                                 [](Message&&) { return Flow::proceed; }));
      EXPECT_EQ(report.damaged, 1);
    }
    EXPECT_EQ(must(store->list({})).damage.size(), 1U);
    EXPECT_TRUE(fails(store->append(session_id("s"), {user("c")}, {}), Code::corrupt));
    must(store->capabilities().repair->repair_into(folder.path() / "repaired.db"));
    const auto repaired = open_at(folder.path() / "repaired.db");
    EXPECT_EQ(must(repaired->append(session_id("s"), {user("c")}, {})).first, Seq{2});
    EXPECT_TRUE(must(repaired->capabilities().repair->verify()).damage.empty());
  }
}

// A database of the original program with such a message can be migrated.
TEST(SqliteRepair, APositionOutOfRangeOfTheOriginalIsNoHead) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "s.db";
  {
    PlainDatabase plain(file);
    plain.run(std::string(kFirstRelease));
    plain.run("INSERT INTO sessions(id, title, model) VALUES('s', 't', 'm')");
    plain.run("INSERT INTO messages(session_id, seq, role, content) VALUES('s', 0, 'user', '[]')");
    plain.run(
        "INSERT INTO messages(session_id, seq, role, content)"
        " VALUES('s', 9223372036854775807, 'user', '[]')");
  }
  for (const Access access : {Access::read, Access::write}) {
    const auto store = open_at(file, {.access = access});
    EXPECT_EQ(must(get(*store, session_id("s"))).info.head, Seq{1});
    EXPECT_EQ(
        must(store->read(session_id("s"), {}, [](Message&&) { return Flow::proceed; })).damaged, 1);
    EXPECT_FALSE(must(store->capabilities().repair->verify()).damage.empty());
  }
  EXPECT_EQ(must(open_at(file)->append(session_id("s"), {user("next")}, {})).first, Seq{1});
}

// The columns of a table that another program has made may be without a NOT NULL.
TEST(SqliteRepair, ANullCostsNoSession) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "nulls.db";
  {
    const auto store = open_at(file);
    must(store->create(session("s")));
    must(store->append(session_id("s"), {user("question"), assistant("answer")}, {}));
  }
  PlainDatabase plain(file);
  plain.run("PRAGMA writable_schema = ON");
  plain.run(
      "UPDATE sqlite_schema SET sql = replace(sql, ' NOT NULL', '')"
      " WHERE name IN ('sessions', 'messages')");
  plain.run("PRAGMA writable_schema = RESET");
  for (const char* const column :
       {"title", "model", "working_dir", "created_at", "updated_at", "token_count", "forked_from",
        "state", "state_before_trash", "mode", "provider", "config", "response_chain", "extra",
        "input_tokens", "price_source", "system_prompt", "updated_slot"}) {
    plain.run(cat("UPDATE sessions SET ", column, " = NULL"));
  }
  plain.run("UPDATE messages SET role = NULL, created_at = NULL WHERE seq = 0");
  const auto repaired = folder.path() / "mended.db";
  const VerifyReport report = must(open_at(file)->capabilities().repair->repair_into(repaired));
  EXPECT_EQ(report.sessions, 1);
  EXPECT_EQ(report.messages, 2);
  const auto store = open_at(repaired);
  EXPECT_EQ(must(get(*store, session_id("s"))).info.head, Seq{2});
  EXPECT_EQ(must(store->list({})).sessions.size(), 1U);
  const auto messages = must(read_all(*store, session_id("s")));
  ASSERT_EQ(messages.size(), 2U);
  EXPECT_EQ(plain_text(messages[0]), "question");
  EXPECT_EQ(plain_text(messages[1]), "answer");
  EXPECT_TRUE(must(store->capabilities().repair->verify()).damage.empty());
}

}  // namespace
}  // namespace reprise::test

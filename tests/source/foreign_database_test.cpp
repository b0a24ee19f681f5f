#include <fstream>
#include <thread>

#include "base/testing/temporary_folder.h"
#include "base/text.h"
#include "sqlite/sqlite_support.h"
#include "store/sqlite/foreign.h"
#include "support/must.h"
#include "support/small_disk.h"

namespace reprise::test {
namespace {

using sqlite::ForeignDatabase;

constexpr std::array<std::string_view, 2> kTables = {"a", "b"};

class ForeignDatabaseTest : public testing::Test {
 protected:
  std::filesystem::path file() const { return folder_.path() / "x.db"; }
  static std::vector<std::string> rows(ForeignDatabase& database, std::string_view tail = "") {
    std::vector<std::string> found;
    auto row = must(database.select("a", {"x", "missing"}, tail));
    while (must(row.step())) {
      found.push_back(cat(row.text("x"), row.is_null("missing") ? "" : "!"));
    }
    return found;
  }
  TemporaryFolder folder_;
};

using Found = std::vector<std::string>;

TEST_F(ForeignDatabaseTest, ColumnsAreFoundByName) {
  PlainDatabase(file()).run("CREATE TABLE a(y, X); INSERT INTO a VALUES(1, 2)");
  const auto database = must(ForeignDatabase::open(file(), kTables));
  EXPECT_TRUE(database->has_column("a", "x"));
  EXPECT_FALSE(database->has_table("b"));
  EXPECT_EQ(rows(*database), Found{"2"});
}

TEST_F(ForeignDatabaseTest, MayBeOnAnotherFileSystem) {
  const SmallDisk disk(folder_.path());
  if (!disk.is_mounted()) {
    GTEST_SKIP() << "mounting a small disk needs root";
  }
  PlainDatabase(file()).run("CREATE TABLE a(x); INSERT INTO a VALUES('far')");
  EXPECT_EQ(rows(*must(ForeignDatabase::open(file(), kTables))), Found{"far"});
}

TEST_F(ForeignDatabaseTest, WhatIsInTheLogIsThereAndTheLogStays) {
  PlainDatabase writer(file());
  (void)writer.rows("PRAGMA journal_mode=WAL");
  writer.run("CREATE TABLE a(x); INSERT INTO a VALUES('in the log')");
  const std::string before =
      bytes_of(file()) + bytes_of(file().native() + "-wal") + bytes_of(file().native() + "-shm");
  EXPECT_EQ(rows(*must(ForeignDatabase::open(file(), kTables))), Found{"in the log"});
  EXPECT_EQ(
      bytes_of(file()) + bytes_of(file().native() + "-wal") + bytes_of(file().native() + "-shm"),
      before);
  writer.run("INSERT INTO a VALUES('more')");
}

TEST_F(ForeignDatabaseTest, ViewsVirtualTablesAndOtherTablesAreNotRead) {
  PlainDatabase(file()).run(
      "CREATE TABLE secret(x); INSERT INTO secret VALUES('key');"
      "CREATE VIEW a AS SELECT x FROM secret; CREATE VIRTUAL TABLE b USING fts5(x)");
  const auto database = must(ForeignDatabase::open(file(), kTables));
  EXPECT_FALSE(database->has_table("a"));
  EXPECT_FALSE(database->has_table("b"));
  EXPECT_FALSE(database->select("a", {"x"}, "").has_value());
  EXPECT_FALSE(database->select("secret", {"x"}, "").has_value());
  EXPECT_FALSE(database->select("b", {"x"}, "").has_value());
}

// Some versions of SQLite refuse functions in a database's definitions that may be unsafe.
TEST_F(ForeignDatabaseTest, OnlyItsTablesMatter) {
  for (const std::string_view other :
       {"CREATE INDEX i ON a(json_extract(x, '$.y'))", "CREATE INDEX i ON a(x) WHERE x > 'a'",
        "CREATE INDEX i ON a(x) WHERE json_extract(x, '$.y') > 'a'",
        "CREATE VIEW v AS SELECT x FROM a",
        "CREATE TRIGGER t AFTER INSERT ON a BEGIN SELECT json_extract(x, '$') FROM a; END",
        "CREATE VIRTUAL TABLE f USING fts5(x)",
        "CREATE TABLE g(x, y AS (json_extract(x, '$.y')))"}) {
    std::filesystem::remove(file());
    PlainDatabase(file()).run(
        cat("CREATE TABLE a(x); ", other, R"(; INSERT INTO a VALUES('{"y":1}'))"));
    const auto database = ForeignDatabase::open(file(), kTables);
    ASSERT_TRUE(database) << other << ": " << database.error().message;
    EXPECT_EQ(rows(**database), Found{R"({"y":1})"}) << other;
    EXPECT_EQ(rows(**database, R"(WHERE x = '{"y":1}')"), Found{R"({"y":1})"}) << other;
  }
}

TEST_F(ForeignDatabaseTest, NoOtherTableIsReadByAStatementOfATableThatIs) {
  PlainDatabase(file()).run(
      "CREATE TABLE secret(x); INSERT INTO secret VALUES('key');"
      "CREATE TABLE a(x); INSERT INTO a VALUES(1)");
  const auto database = must(ForeignDatabase::open(file(), kTables));
  EXPECT_FALSE(database->select("a", {"x"}, "UNION SELECT x, x, x FROM secret").has_value());
  EXPECT_EQ(rows(*database), Found{"1"});
}

TEST_F(ForeignDatabaseTest, AHotJournalIsRolledBackInTheCopy) {
  {
    PlainDatabase writer(file());
    writer.run("CREATE TABLE a(x); INSERT INTO a VALUES('old')");
    writer.run(
        "PRAGMA cache_size=1; BEGIN; UPDATE a SET x = 'new';"
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)"
        " INSERT INTO a SELECT hex(randomblob(500)) FROM n");
    const auto killed = folder_.path() / "killed.db";
    std::filesystem::copy_file(file(), killed);
    std::filesystem::copy_file(file().native() + "-journal", killed.native() + "-journal");
    writer.run("ROLLBACK");
  }
  const auto killed = folder_.path() / "killed.db";
  const std::string journal = bytes_of(killed.native() + "-journal");
  ASSERT_FALSE(journal.empty());
  EXPECT_EQ(rows(*must(ForeignDatabase::open(killed, kTables))), Found{"old"});
  EXPECT_EQ(bytes_of(killed.native() + "-journal"), journal);
}

TEST_F(ForeignDatabaseTest, AJournalThatNamesAFileDeletesNothing) {
  PlainDatabase(file()).run("CREATE TABLE a(x)");
  const auto victim = folder_.path() / "victim";
  std::ofstream(victim) << "words";
  std::ofstream(file().native() + "-journal", std::ios::binary)
      << "\xD9\xD5\x05\xF9\x20\xA1\x63\xD7" << std::string(504, '\0') << victim.native()
      << "\xD9\xD5\x05\xF9\x20\xA1\x63\xD7";
  EXPECT_TRUE(fails(ForeignDatabase::open(file(), kTables), Code::corrupt));
  EXPECT_TRUE(std::filesystem::exists(victim));
}

TEST_F(ForeignDatabaseTest, ACopyMadeWhileItIsWrittenIsOneState) {
  PlainDatabase setup(file());
  (void)setup.rows("PRAGMA journal_mode=WAL");
  setup.run("CREATE TABLE a(x); CREATE TABLE b(x)");
  std::jthread writer([this](const std::stop_token& stop) {
    PlainDatabase other(file());
    for (int i = 0; i < 3000 && !stop.stop_requested(); ++i) {
      other.run(cat("BEGIN; INSERT INTO a VALUES(hex(randomblob(900))); INSERT INTO b VALUES(", i,
                    "); COMMIT"));
    }
  });
  for (int i = 0; i < 15; ++i) {
    const auto database = ForeignDatabase::open(file(), kTables);
    if (!database) {
      EXPECT_EQ(database.error().code, Code::busy) << database.error().message;
      continue;
    }
    auto row = must((*database)->select("b", {"x"}, ""));
    std::size_t count = 0;
    while (must(row.step())) {
      ++count;
    }
    EXPECT_EQ(rows(**database).size(), count);
  }
}

TEST_F(ForeignDatabaseTest, WhatIsNoDatabaseIsAnError) {
  std::ofstream(file()) << std::string(5000, 'x');
  EXPECT_TRUE(fails(ForeignDatabase::open(file(), kTables), Code::corrupt));
  EXPECT_TRUE(fails(ForeignDatabase::open(folder_.path() / "none", kTables), Code::not_found));
}

}  // namespace
}  // namespace reprise::test

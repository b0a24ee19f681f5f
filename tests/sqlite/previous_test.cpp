// Databases of version 1: read without changes, migrated once, and usable if migration is
// impossible.

#include <gtest/gtest.h>
#include <sys/types.h>

#include <fstream>
#include <set>

#include "base/file.h"
#include "base/lock_file.h"
#include "base/testing/temporary_folder.h"
#include "reprise/capabilities.h"
#include "reprise/open_store.h"
#include "sqlite/sqlite_support.h"
#include "store/sqlite/schema.h"
#include "support/build.h"
#include "support/child.h"
#include "support/must.h"
#include "support/small_disk.h"

namespace reprise::test {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

constexpr int kMinute = 60;
const SessionId kLeagues = session_id("01990000-0000-7000-8000-000000000001");

std::vector<std::string> listed(Store& store, const SessionQuery& query = {.limit = 50}) {
  std::vector<std::string> ids;
  for (const SessionInfo& info : must(store.list(query)).sessions) {
    ids.push_back(info.id.str());
  }
  return ids;
}

// Inserts a session like version 1, without slots.
std::string insert(const std::string& id, Time updated_at) {
  const std::string time = std::to_string(updated_at.time_since_epoch().count());
  return "INSERT INTO sessions(id, model, created_us, updated_us) VALUES('" + id + "', '', " +
         time + ", " + time + ")";
}

class PreviousDatabase : public testing::Test {
 protected:
  PreviousDatabase() {
    PlainDatabase plain(file_);
    plain.run(must(read_file(fs::path(RPR_GOLDEN) / "sqlite-1/reprise.sql")));
    plain.run("PRAGMA foreign_keys = ON; PRAGMA journal_mode = WAL");
    plain.run("DELETE FROM sessions WHERE title != 'Leagues'");
    plain.run("UPDATE sessions SET updated_us = 0, updated_at = 0");
    plain.run(insert("b", at(1)) + ";" + insert("a", at(10 * kMinute)) + ";" +
              insert("c", at(5 * kMinute)) + ";" + insert("d", at(5 * kMinute + 1)));
  }

  std::string one(const std::string& sql) const {
    PlainDatabase plain(file_);
    return plain.rows(sql).at(0);
  }
  std::vector<fs::path> copies() const {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(folder_.path())) {
      if (entry.path().string().find(".v1-") != std::string::npos) {
        found.push_back(entry.path());
      }
    }
    return found;
  }
  std::string version() const { return one("PRAGMA user_version"); }
  std::string stale() const {
    return one("SELECT count(*) FROM sessions WHERE updated_slot IS NOT updated_us >> 26");
  }

  TemporaryFolder folder_;
  fs::path file_ = folder_.path() / "previous.db";
  const std::vector<std::string> in_order_ = {"a", "d", "c", "b", kLeagues.str()};
};

TEST_F(PreviousDatabase, IsReadWithoutChangingAByte) {
  const std::string before = bytes_of(file_);
  {
    const auto store = open_at(file_, {.access = Access::read});
    EXPECT_EQ(listed(*store), in_order_);
    EXPECT_EQ(must(read_all(*store, kLeagues)).size(), 6U);
  }
  EXPECT_EQ(bytes_of(file_), before);
}

TEST_F(PreviousDatabase, IsMigratedOnceByTenProcessesAfterACopy) {
  std::vector<pid_t> children;
  children.reserve(10);
  for (int i = 0; i < 10; ++i) {
    children.push_back(in_child([&] {
      const auto store = open_sqlite_store(file_);
      return store && (*store)->append(kLeagues, {user("x", at(kMinute))}, {}) ? 0 : 1;
    }));
  }
  for (const pid_t child : children) {
    EXPECT_EQ(exit_code_of(child), 0);
  }
  EXPECT_EQ(version(), "2");
  EXPECT_EQ(stale(), "0");
  const auto store = open_at(file_);
  EXPECT_EQ(listed(*store), (std::vector<std::string>{"a", "d", "c", kLeagues.str(), "b"}));
  EXPECT_EQ(must(get(*store, kLeagues)).info.head, Seq{16});
  EXPECT_TRUE(must(store->capabilities().repair->verify()).damage.empty());
  ASSERT_EQ(copies().size(), 1U);
  const auto copy = open_at(copies().front(), {.access = Access::read});
  EXPECT_EQ(listed(*copy), in_order_);
  EXPECT_EQ(must(get(*copy, kLeagues)).info.head, Seq{6});
}

TEST_F(PreviousDatabase, IsUsableIfItCannotBeMigrated) {
  auto lock = must(LockFile::open(file_.string() + "-lock"));
  std::unique_ptr<Store> store;
  {
    const auto hold = must(lock->acquire(std::chrono::steady_clock::now()));
    store = open_at(file_, {.busy_timeout = milliseconds(50)});
  }
  EXPECT_EQ(listed(*store), in_order_);
  must(store->append(kLeagues, {user("x", at(20 * kMinute))}, {}));
  must(store->create(session("e", at(15 * kMinute))));
  EXPECT_EQ(version(), "1");
  EXPECT_EQ(listed(*store), (std::vector<std::string>{kLeagues.str(), "e", "a", "d", "c", "b"}));

  const auto other = open_at(file_);
  EXPECT_EQ(version(), "2");
  must(store->append(session_id("b"), {user("y", at(30 * kMinute))}, {}));
  must(other->append(session_id("c"), {user("z", at(40 * kMinute))}, {}));
  EXPECT_EQ(stale(), "0");
  const std::vector<std::string> now = {"c", "b", kLeagues.str(), "e", "a", "d"};
  EXPECT_EQ(listed(*store), now);
  EXPECT_EQ(listed(*other), now);
}

TEST_F(PreviousDatabase, AcceptsAuthorsEvenIfItCannotBeMigrated) {
  auto lock = must(LockFile::open(file_.string() + "-lock"));
  std::unique_ptr<Store> store;
  {
    const auto hold = must(lock->acquire(std::chrono::steady_clock::now()));
    store = open_at(file_, {.busy_timeout = milliseconds(50)});
  }
  EXPECT_EQ(must(read_all(*store, kLeagues)).size(), 6U);
  Message question = user("x", at(20 * kMinute));
  question.author = must(Author::parse("Ann"));
  must(store->append(kLeagues, {question}, {}));
  EXPECT_EQ(version(), "1");
  EXPECT_EQ(must(read_all(*store, kLeagues)).back().author, question.author);
  EXPECT_EQ(listed(*store, {.author = question.author}), std::vector<std::string>{kLeagues.str()});
  const auto other = open_at(file_);
  EXPECT_EQ(version(), "2");
  EXPECT_EQ(must(read_all(*other, kLeagues)).back().author, question.author);
}

TEST_F(PreviousDatabase, LeavesNoCopyIfItCannotBeChanged) {
  PlainDatabase(file_).run("DROP INDEX reprise_by_folder");
  for (int time = 0; time < 2; ++time) {
    const auto store = open_at(file_);
    EXPECT_EQ(listed(*store), in_order_);
    must(store->append(session_id("a"), {user("x", at(20 * kMinute))}, {}));
  }
  EXPECT_EQ(version(), "1");
  EXPECT_TRUE(copies().empty());
}

TEST_F(PreviousDatabase, IsUsableWithoutSpaceForACopy) {
  const TemporaryFolder folder;
  const SmallDisk disk(folder.path());
  if (!disk.is_mounted()) {
    GTEST_SKIP() << "mounting a small disk needs root";
  }
  const fs::path file = folder.path() / "previous.db";
  fs::copy_file(file_, file);
  const std::uintmax_t room = fs::file_size(file) - 1;
  std::ofstream(folder.path() / "rest")
      << std::string(fs::space(folder.path()).available - room, 'x');
  const auto store = open_at(file);
  EXPECT_EQ(listed(*store), in_order_);
  must(store->append(session_id("b"), {user("x", at(20 * kMinute))}, {}));
  EXPECT_EQ(listed(*store, {.limit = 1}), std::vector<std::string>{"b"});
  EXPECT_EQ(PlainDatabase(file).rows("PRAGMA user_version").at(0), "1");
}

TEST_F(PreviousDatabase, MayBeWrittenByOthersAfterwards) {
  const auto store = open_at(file_);
  PlainDatabase plain(file_);
  plain.run(insert("e", at(7 * kMinute)));
  plain.run("UPDATE sessions SET updated_us = updated_us + 3600000000 WHERE id = 'b'");
  EXPECT_EQ(stale(), "0");
  EXPECT_EQ(listed(*store), (std::vector<std::string>{"b", "a", "e", "d", "c", kLeagues.str()}));
}

TEST_F(PreviousDatabase, IsRepairedIntoACurrentOne) {
  {
    const auto store = open_at(file_, {.access = Access::read});
    must(store->capabilities().repair->repair_into(folder_.path() / "whole.db"));
  }
  file_ = folder_.path() / "whole.db";
  EXPECT_EQ(version(), "2");
  EXPECT_EQ(stale(), "0");
  EXPECT_EQ(listed(*open_at(file_)), in_order_);
}

// The schema of a database: tables with their columns, indexes and triggers.
std::set<std::string> parts_of(const fs::path& file) {
  PlainDatabase plain(file);
  std::set<std::string> parts;
  for (const std::string& part :
       plain.rows("SELECT s.type, s.name, c.name FROM sqlite_schema AS s LEFT JOIN"
                  " pragma_table_info(s.name) AS c ON s.type = 'table' WHERE s.name NOT LIKE "
                  "'sqlite_%'")) {
    parts.insert(part);
  }
  return parts;
}

TEST_F(PreviousDatabase, OfAnyVersionGetsTheSchemaOfANewOne) {
  const fs::path fresh = folder_.path() / "new.db";
  must(open_at(fresh)->create(session("a")));
  for (std::size_t steps = 0; steps <= sqlite::migrations().size(); ++steps) {
    const fs::path file = folder_.path() / ("step-" + std::to_string(steps) + ".db");
    fs::copy_file(file_, file);
    for (const sqlite::Migration& migration : sqlite::migrations().first(steps)) {
      PlainDatabase(file).run(migration.statements(1) +
                              "PRAGMA user_version = " + std::to_string(migration.version));
    }
    EXPECT_EQ(listed(*open_at(file, {.access = Access::read})), in_order_) << steps;
    const auto store = open_at(file);
    EXPECT_EQ(parts_of(file), parts_of(fresh)) << steps;
    EXPECT_EQ(listed(*store), in_order_) << steps;
    must(store->create(session("e", at(15 * kMinute))));
    EXPECT_EQ(listed(*store, {.limit = 1}), std::vector<std::string>{"e"}) << steps;
    EXPECT_TRUE(must(store->capabilities().repair->verify()).damage.empty()) << steps;
  }
}

}  // namespace
}  // namespace reprise::test

// A program killed in a transaction leaves a rollback journal beside the database, and uncommitted
// pages in the database. Readers must see what SQLite makes of the two.

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>

#include "base/file.h"
#include "base/testing/temporary_folder.h"
#include "base/text.h"
#include "base/variable.h"
#include "reprise/capabilities.h"
#include "reprise/open_store.h"
#include "sqlite/sqlite_support.h"
#include "store/sqlite/private_folder.h"
#include "support/build.h"
#include "support/child.h"
#include "support/must.h"

namespace reprise::test {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMany =
    "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n "
    "WHERE i < ";

std::string insert_messages(std::string_view session, int first, int last) {
  return cat(kMany, last,
             ") INSERT INTO messages(session_id, seq, role, content, created_at)"
             " SELECT '",
             session,
             "', i, 'user', '[{\"type\":\"text\",\"text\":\"' || i || ' ' ||"
             " hex(zeroblob(700)) || '\"}]', '2026-01-18 20:00:00' FROM n WHERE i >= ",
             first);
}

// The name and bytes of every file.
std::map<std::string, std::string> files_in(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    files[entry.path().filename()] = bytes_of(entry.path());
  }
  return files;
}

class HotJournal : public testing::Test {
 protected:
  enum class Death : std::uint8_t {
    in_transaction,  // with most changed pages already written, because of a small cache
    in_commit,       // while the first pages are written and the file grows
  };
  // Runs `statements` in one transaction of a program that is killed before it ends.
  void die_in(const std::vector<std::string>& statements, Death death) const {
    std::array<int, 2> pipe{};
    ASSERT_EQ(::pipe(pipe.data()), 0);
    const pid_t child = in_child([&] {
      PlainDatabase plain(file_);
      plain.run("PRAGMA journal_mode=DELETE");
      plain.run(death == Death::in_commit ? "PRAGMA cache_spill=0" : "PRAGMA cache_size=4");
      plain.run("BEGIN");
      for (const std::string& statement : statements) {
        plain.run(statement);
      }
      if (death == Death::in_commit) {
        const rlimit no_core{0, 0};
        const rlimit no_more{fs::file_size(file_), fs::file_size(file_)};
        ::setrlimit(RLIMIT_CORE, &no_core);
        ::setrlimit(RLIMIT_FSIZE, &no_more);
        plain.run("COMMIT");  // SIGXFSZ
        return 1;
      }
      if (::write(pipe[1], "x", 1) != 1) {
        return 1;
      }
      while (true) {
        ::pause();
      }
    });
    ::close(pipe[1]);
    char ready = 0;
    const bool waits = ::read(pipe[0], &ready, 1) == 1;
    ::close(pipe[0]);
    ASSERT_EQ(waits, death == Death::in_transaction);
    if (waits) {
      ::kill(child, SIGKILL);
    }
    ASSERT_EQ(exit_code_of(child), 128 + (waits ? SIGKILL : SIGXFSZ));
    ASSERT_TRUE(fs::exists(journal_));
    ASSERT_NE(bytes_of(journal_).front(), 0) << "the journal is not hot";
  }

  // The result of SQLite itself with a copy of database and journal.
  std::vector<std::string> expected(const std::string& sql) const {
    const TemporaryFolder copy;
    must(replace_file(copy.path() / "x.db", bytes_of(file_)));
    if (fs::exists(journal_)) {
      must(replace_file(copy.path() / "x.db-journal", bytes_of(journal_)));
    }
    return PlainDatabase(copy.path() / "x.db").rows(sql);
  }

  // The sessions and messages of the store, one line each.
  static std::vector<std::string> all_of(Store& store) {
    std::vector<std::string> lines;
    for (const SessionInfo& info : must(store.list({})).sessions) {
      lines.push_back(cat(info.id.str(), "|", info.title));
      std::vector<Damage> damage;
      const auto report = must(store.read(info.id, {}, [&](Message&& message) {
        lines.push_back(cat(info.id.str(), "|", message.seq.value, "|", plain_text(message)));
        return Flow::proceed;
      }));
      EXPECT_EQ(report.damaged, 0);
    }
    std::ranges::sort(lines);
    return lines;
  }

  std::vector<std::string> expected_of_all() const {
    auto lines = expected("SELECT id, title FROM sessions");
    for (std::string& line : expected("SELECT session_id, seq, content ->> '$[0].text'"
                                      " FROM messages")) {
      lines.push_back(std::move(line));
    }
    std::ranges::sort(lines);
    return lines;
  }

  void expect_as_the_library_says();

  TemporaryFolder folder_;
  fs::path file_ = folder_.path() / "r.db";
  fs::path journal_ = folder_.path() / "r.db-journal";
};

void HotJournal::expect_as_the_library_says() {
  const auto before = files_in(folder_.path());
  const auto lines = expected_of_all();
  ASSERT_FALSE(lines.empty());
  const TemporaryFolder copies;
  const std::string usual = variable("TMPDIR");
  ::setenv("TMPDIR", copies.path().c_str(), 1);
  {
    const auto store = open_at(file_, {.access = Access::read});
    EXPECT_EQ(all_of(*store), lines);
    EXPECT_TRUE(must(store->capabilities().verifier->verify()).damage.empty());
    const TemporaryFolder target;
    must(store->capabilities().backup->backup(target.path() / "copy.db"));
    const auto copy = open_at(target.path() / "copy.db", {.access = Access::read});
    EXPECT_EQ(all_of(*copy), lines);
    EXPECT_TRUE(must(copy->capabilities().verifier->verify()).damage.empty());
  }
  EXPECT_EQ(files_in(folder_.path()), before) << "reading changed something";
  EXPECT_TRUE(fs::is_empty(copies.path())) << "a private copy stays";
  usual.empty() ? ::unsetenv("TMPDIR") : ::setenv("TMPDIR", usual.c_str(), 1);
  // Writers roll back in place.
  const auto store = open_at(file_);
  EXPECT_EQ(all_of(*store), lines);
  EXPECT_FALSE(fs::exists(journal_));
}

TEST(PrivateFolder, OfAKilledProcessIsRemovedByTheNext) {
  const TemporaryFolder parent;
  const std::string usual = variable("TMPDIR");
  ::setenv("TMPDIR", parent.path().c_str(), 1);
  const fs::path unlocked = parent.path() / "reprise-copy-older0";  // of a version without locks
  fs::create_directory(unlocked);
  {
    const auto in_use = must(sqlite::PrivateFolder::make());
    const pid_t child = in_child([] {
      const auto folder = must(sqlite::PrivateFolder::make());
      must(replace_file(folder.path() / "copy.db", "private"));
      return ::kill(::getpid(), SIGKILL);
    });
    EXPECT_EQ(exit_code_of(child), 128 + SIGKILL);
    EXPECT_EQ(std::distance(fs::directory_iterator(parent.path()), {}), 3);
    const auto next = must(sqlite::PrivateFolder::make());
    EXPECT_EQ(std::distance(fs::directory_iterator(parent.path()), {}), 3)
        << "not the killed one's";
    EXPECT_TRUE(fs::exists(in_use.path()));
    EXPECT_TRUE(fs::exists(next.path()));
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(parent.path()), {}), 1);
  usual.empty() ? ::unsetenv("TMPDIR") : ::setenv("TMPDIR", usual.c_str(), 1);
}

TEST_F(HotJournal, OfTheOriginalProgramIsRolledBackInAPrivateCopy) {
  for (int round = 0; round < 6; ++round) {
    fs::remove(file_);
    {
      PlainDatabase plain(file_);
      plain.run(std::string(kFirstRelease));
      plain.run(std::string(kLaterForm));
      for (int i = 0; i < 5; ++i) {
        plain.run(cat("INSERT INTO sessions(id, title, model) VALUES('s-", i, "', 'T', 'm')"));
        plain.run(insert_messages(cat("s-", i), 0, 10 + 10 * round));
      }
    }
    // Deleted, new and changed rows, one after the other.
    std::vector<std::string> statements = {insert_messages("s-1", 200, 400)};
    if (round % 2 == 1) {
      statements.emplace_back("DELETE FROM messages WHERE session_id <> 's-1'");
    }
    if (round % 3 == 2) {
      statements.emplace_back("UPDATE sessions SET title = 'Never'");
      statements.push_back(insert_messages("s-2", 1000, 1100 + 50 * round));
    }
    die_in(statements, round % 2 == 0 ? Death::in_commit : Death::in_transaction);
    expect_as_the_library_says();
    fs::remove_all(folder_.path() / "r.db-lock");
    fs::remove(folder_.path() / "r.db-wal");
    fs::remove(folder_.path() / "r.db-shm");
  }
}

TEST_F(HotJournal, OfOneOfOursIsRolledBackInAPrivateCopy) {
  {
    const auto store = open_at(file_);
    must(store->create(session("s")));
    for (int i = 0; i < 30; ++i) {
      must(store->append(session_id("s"), {user(cat("message ", i))}, {}));
    }
  }
  for (const Death death : {Death::in_transaction, Death::in_commit}) {
    die_in({"UPDATE sessions SET head = 229", insert_messages("s", 30, 228)}, death);
    expect_as_the_library_says();
  }
}

// Killed between the changes of a migration and its end, and while switching to WAL mode.
TEST_F(HotJournal, OfAMigrationIsRolledBack) {
  {
    PlainDatabase plain(file_);
    plain.run(std::string(kFirstRelease));
    plain.run("INSERT INTO sessions(id, title, model) VALUES('s', 'T', 'm')");
    plain.run(insert_messages("s", 0, 300));
  }
  die_in(
      {"ALTER TABLE sessions ADD COLUMN head INTEGER NOT NULL DEFAULT 0",
       "ALTER TABLE messages ADD COLUMN created_us INTEGER",
       "CREATE TABLE reprise_blobs(id INTEGER PRIMARY KEY)", "UPDATE messages SET created_us = 5",
       "PRAGMA application_id=1380995923", "PRAGMA user_version=5", insert_messages("s", 301, 900)},
      Death::in_commit);
  std::string bytes = bytes_of(file_);
  bytes[18] = bytes[19] = 2;  // like while the journal mode is changed
  must(replace_file(file_, bytes));
  expect_as_the_library_says();
}

TEST_F(HotJournal, BesideAnEmptyDatabaseIsNoStoreYet) {
  {
    PlainDatabase(file_).run("PRAGMA cache_size=4");
  }
  must(replace_file(file_, ""));
  die_in({std::string(kFirstRelease), "INSERT INTO sessions(id, model) VALUES('s', 'm')",
          insert_messages("s", 0, 300)},
         Death::in_transaction);
  const auto before = files_in(folder_.path());
  const auto none = open_sqlite_store(file_, {.access = Access::read});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, Code::not_found);
  EXPECT_EQ(files_in(folder_.path()), before);
  EXPECT_TRUE(must(open_at(file_)->list({})).sessions.empty());
}

TEST_F(HotJournal, RemovalIsNoticedByAnOpenStore) {
  {
    PlainDatabase plain(file_);
    plain.run(std::string(kFirstRelease));
    plain.run("INSERT INTO sessions(id, title, model) VALUES('s', 'T', 'm')");
    plain.run(insert_messages("s", 0, 20));
  }
  die_in({"UPDATE sessions SET title = 'Never'", insert_messages("s", 21, 300)}, Death::in_commit);
  const auto store = open_at(file_, {.access = Access::read});
  EXPECT_EQ(must(read_all(*store, session_id("s"))).size(), 21U);
  EXPECT_EQ(must(read_all(*store, session_id("s"))).size(), 21U);
  {
    PlainDatabase plain(file_);
    plain.run(insert_messages("s", 21, 24));
  }
  EXPECT_EQ(must(read_all(*store, session_id("s"))).size(), 25U);
}

TEST_F(HotJournal, OfARunningTransactionIsNotTouched) {
  PlainDatabase plain(file_);
  plain.run(std::string(kFirstRelease));
  plain.run("INSERT INTO sessions(id, title, model) VALUES('s', 'T', 'm')");
  plain.run("BEGIN IMMEDIATE");
  plain.run("UPDATE sessions SET title = 'Not yet'");
  ASSERT_TRUE(fs::exists(journal_));
  const auto store = open_at(file_, {.access = Access::read});
  EXPECT_EQ(must(store->list({})).sessions.at(0).title, "T");
  plain.run("COMMIT");
  EXPECT_EQ(must(store->list({})).sessions.at(0).title, "Not yet");
}

}  // namespace
}  // namespace reprise::test

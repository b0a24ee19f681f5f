// The index is derived: whatever happens to its content, a search finds what is in the store, and a
// purge leaves no word.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <random>

#include "base/file.h"
#include "base/lock_file.h"
#include "base/text.h"
#include "reprise/capabilities.h"
#include "search/search_fixture.h"
#include "store/sqlite/connection.h"
#include "support/build.h"
#include "support/must.h"

namespace reprise {
namespace {

using test::assistant;
using test::at;
using test::HitIds;
using test::must;
using test::user;

constexpr int kNeedles = 48;
constexpr std::size_t kIndexPage = 4096;

class SearchDamageTest : public test::SearchFileTest {
 protected:
  // Messages of two sessions in turn, the last of them with a word of its own.
  SearchDamageTest() {
    for (int i = 0; i < kNeedles; ++i) {
      std::string text = "needle";
      for (int j = 0; j < 40; ++j) {
        text += cat(" filler", i * 40 + j);
      }
      add(i % 2 == 0 ? "a" : "b", {user(text, at(i))});
    }
    add("c", {user("zanzibar", at(kNeedles))});
    check();
  }

  static std::string id_of(int i) { return cat(i % 2 == 0 ? "a#" : "b#", i / 2); }

  // The newest match before the time of each message.
  void check() {
    for (int i = 1; i <= kNeedles; ++i) {
      ASSERT_EQ(find({.terms = must(parse_search("needle")), .until = at(i), .limit = 1}),
                (HitIds{id_of(i - 1)}))
          << "until " << i;
    }
    EXPECT_EQ(find("zanzibar").size(), 1U);
    EXPECT_EQ(find("needle filler85"), (HitIds{id_of(2)}));
  }

  // With all content in the file, and no log.
  void close() {
    index_.reset();
    const auto db = open_plain(sqlite::OpenMode::write);
    auto checkpoint = must(db->query("PRAGMA wal_checkpoint(TRUNCATE)"));
    must(checkpoint.run());
  }
  std::unique_ptr<sqlite::Connection> open_plain(sqlite::OpenMode mode) const {
    return must(
        sqlite::Connection::open(file(), mode, std::chrono::seconds(1), sqlite::Pages::checked));
  }
  void restore(const std::string& content, std::string_view log = {}) {
    for (const std::string_view part : {"-wal", "-shm"}) {
      std::filesystem::remove(cat(file().native(), part));
    }
    must(replace_file(file(), content));
    if (!log.empty()) {
      must(replace_file(cat(file().native(), "-wal"), log));
    }
  }
  void reopen() { index_ = must(SearchIndex::open(file())); }
};

TEST_F(SearchDamageTest, RebuildsAnIndexWithOtherTables) {
  close();
  const std::string whole = must(read_file(file()));
  std::vector<std::string> changes = {"UPDATE sessions SET id = 'x y' WHERE key = 1",
                                      "UPDATE sessions SET source = 99",
                                      "UPDATE docs SET session = 99",
                                      "DELETE FROM docs WHERE id % 2 = 0",
                                      "UPDATE shards SET docs = docs + 1",
                                      "UPDATE shards SET source = 99",
                                      "UPDATE runs SET last = last - 1",
                                      "DELETE FROM words_1_data",
                                      "DELETE FROM words_1_config",
                                      "PRAGMA writable_schema=ON;UPDATE sqlite_schema SET"
                                      " sql = replace(sql, 'bytes', 'size') WHERE name = 'docs'",
                                      "PRAGMA user_version=1"};
  for (const std::string& name :
       must(open_plain(sqlite::OpenMode::read)
                ->texts("SELECT name FROM sqlite_schema WHERE name NOT LIKE 'sqlite%'"))) {
    changes.push_back(
        cat("PRAGMA writable_schema=ON;DELETE FROM sqlite_schema WHERE name = '", name, "'"));
    if (!name.contains('_')) {
      changes.push_back(cat("DELETE FROM ", name));
    }
  }
  EXPECT_GT(changes.size(), 30U);
  for (const std::string& change : changes) {
    SCOPED_TRACE(change);
    restore(whole);
    must(open_plain(sqlite::OpenMode::write)->script(change));
    reopen();
    check();
    index_.reset();
  }
}

TEST_F(SearchDamageTest, RebuildsAnIndexWithOtherBytes) {
  index_.reset();
  const std::string old = must(read_file(file()));
  const std::string log = must(read_file(file().native() + "-wal"));
  close();
  const std::string whole = must(read_file(file()));
  ASSERT_GT(whole.size(), 8 * kIndexPage);
  std::mt19937 random(7);  // NOLINT(cert-msc51-cpp): the same damages each time
  const auto below = [&random](std::size_t count) { return random() % count; };
  const auto reopen_and_check = [this] {
    reopen();
    check();
    index_.reset();
  };
  for (std::size_t at = 0; at < 100; ++at) {  // of the header
    SCOPED_TRACE(cat("header byte ", at));
    std::string bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] ^ static_cast<char>(1 + below(255)));
    restore(bytes);
    reopen();
    EXPECT_EQ(find("zanzibar").size(), 1U);
    index_.reset();
  }
  for (int i = 0; i < 60; ++i) {
    std::string bytes = whole;
    const std::size_t at = below(bytes.size());
    const std::size_t size = std::min(i % 4 == 3 ? kIndexPage : 1 + below(3), bytes.size() - at);
    SCOPED_TRACE(cat("case ", i, ": ", size, " bytes at ", at));
    if (i % 4 == 0) {
      bytes.resize(at);
    } else {
      for (std::size_t j = at; j < at + size; ++j) {
        bytes[j] = i % 4 == 3 ? '\0' : static_cast<char>(~bytes[j]);
      }
    }
    restore(bytes);
    reopen_and_check();
  }
  for (int i = 0; i < 15; ++i) {
    const std::size_t at = below(log.size());
    SCOPED_TRACE(cat("log byte ", at));
    std::string bytes = log;
    bytes[at] = static_cast<char>(~bytes[at]);
    restore(old, bytes);
    reopen_and_check();
  }
}

TEST_F(SearchDamageTest, APurgeLeavesNoWordInADamagedIndex) {
  close();
  const std::string whole = must(read_file(file()));
  must(store_->capabilities().trash->purge(test::session_id("c")));
  const std::vector purged{test::session_id("c")};
  for (std::size_t page = 0; page < whole.size() / kIndexPage; ++page) {
    SCOPED_TRACE(cat("page ", page));
    std::string bytes = whole;
    bytes.replace(page * kIndexPage + 40, 200, 200, '\x5A');
    restore(bytes);
    reopen();
    must(index_->forget(url_, purged));
    index_.reset();
    EXPECT_EQ(this->bytes().find("anzibar"), std::string::npos);
  }
  restore(whole);
  must(SearchIndex::remove(file()));
  EXPECT_EQ(this->bytes().find("anzibar"), std::string::npos);
  reopen();
  EXPECT_EQ(find("needle filler85"), (HitIds{id_of(2)}));
}

// Between an update and a search, another process purges a session.
TEST_F(SearchDamageTest, ASearchFindsWhatAPurgeRemovedFromTheIndexWithIt) {
  EXPECT_TRUE(must(index_->update_index(source())));
  must(store_->capabilities().trash->purge(test::session_id("c")));
  must(must(SearchIndex::open(file()))->forget(url_, std::vector{test::session_id("c")}));
  const SearchSource sources[] = {source()};
  EXPECT_EQ(hit_ids(must(index_->search(sources, {.terms = must(parse_search("filler85"))}))),
            (HitIds{id_of(2)}));
  // The same if the index was removed as a whole.
  must(SearchIndex::remove(file()));
  EXPECT_EQ(hit_ids(must(index_->search(sources, {.terms = must(parse_search("filler85"))}))),
            (HitIds{id_of(2)}));
}

TEST_F(SearchDamageTest, AnUpdateWaitsWhilePartsAreMissing) {
  must(store_->capabilities().trash->purge(test::session_id("c")));
  must(index_->forget(url_, std::vector{test::session_id("c")}));
  const auto lock = must(LockFile::open(file().native() + ".lock"));
  std::optional<LockFile::Hold> hold = must(lock->acquire(std::chrono::steady_clock::now()));
  int waits = 0;
  const auto waiting =
      must(SearchIndex::open(file(), {.on_progress = [&](const Progress& progress) {
                               waits += progress.total == 0 ? 1 : 0;
                               hold.reset();
                               return Flow::proceed;
                             }}));
  EXPECT_TRUE(must(waiting->update_index(source())));
  EXPECT_EQ(waits, 1);
  const SearchSource sources[] = {source()};
  EXPECT_EQ(hit_ids(must(waiting->search(sources, {.terms = must(parse_search("filler85"))}))),
            (HitIds{id_of(2)}));
}

}  // namespace
}  // namespace reprise

// Damaged databases: the results of repair and readers are compared with what was stored.

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <ostream>
#include <random>

#include "base/file.h"
#include "base/testing/temporary_folder.h"
#include "base/text.h"
#include "reprise/capabilities.h"
#include "reprise/store.h"
#include "sqlite/sqlite_support.h"
#include "support/build.h"
#include "support/must.h"

namespace reprise::test {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kDiskPage = 4096;
constexpr int kStoredSessions = 60;

struct Loss {
  std::string_view name;
  void (*damage)(std::string& bytes);
  double messages_min;  // the fraction of messages that must be recovered
  bool is_all_there = false;
  bool is_in_log = false;
  bool is_harmless = false;  // the log has an intact copy of the page
};

void PrintTo(const Loss& loss, std::ostream* out) {
  *out << loss.name;
}

void cut(std::string& bytes, double part) {
  bytes.resize(static_cast<std::size_t>(static_cast<double>(bytes.size()) * part));
}
void wipe(std::string& bytes, std::size_t first_page, std::size_t count) {
  bytes.replace((first_page - 1) * kDiskPage, count * kDiskPage,
                std::string(count * kDiskPage, '\0'));
}
void flip_header(std::string& bytes) {
  bytes[3] = '?';
}
void flip_size_and_count(std::string& bytes) {
  bytes[16] = '\2';
  bytes[28] = '\x7F';
}

// Leaves the schema's rows readable, with a statement that fails and one that creates no table.
void flip_statements(std::string& bytes) {
  constexpr std::string_view kCreate = "CREATE TABLE";
  std::string_view with = "CREATE TABLX";
  for (std::size_t at = 0; (at = bytes.find(kCreate, at)) != std::string::npos; ++at) {
    bytes.replace(at, kCreate.size(), with);
    with = "SELECT 12 --";
  }
}

// Adds a page that no table uses any more, with rows from before a change.
void add_old_rows(std::string& bytes) {
  constexpr std::string_view kNow = "question 0";
  std::string page = bytes.substr(bytes.find(kNow) / kDiskPage * kDiskPage, kDiskPage);
  for (std::size_t at = 0; (at = page.find(kNow, at)) != std::string::npos; ++at) {
    page[at + kNow.size() - 1] = '9';
  }
  bytes += page;
}

constexpr Loss kLosses[] = {
    {"CutAtNineTenths", [](std::string& b) { cut(b, 0.9); }, 0.7},
    {"CutInHalf", [](std::string& b) { cut(b, 0.5); }, 0.35},
    {"CutInAPage", [](std::string& b) { b.resize(b.size() - 10 * kDiskPage - 1000); }, 0.7},
    {"PagesAreZero", [](std::string& b) { wipe(b, 40, 5); }, 0.7},
    {"FirstPageIsZero", [](std::string& b) { wipe(b, 1, 1); }, 1, true},
    {"HeaderIsFlipped", flip_header, 1, true},
    {"PageSizeIsFlipped", flip_size_and_count, 1, true},
    {"StatementsAreFlipped", flip_statements, 1, true},
    {"OldRowsAreOnAnUnusedPage", [](std::string& b) { add_old_rows(b), flip_header(b); }, 1, true},
    {"HeaderIsFlippedAndTheRestInTheLog", flip_header, 1, true, true, true},
    {"CutToAHundredthWithTheRestInTheLog", [](std::string& b) { cut(b, 0.01); }, 0.3, false, true},
};

class SqliteDamage : public testing::TestWithParam<Loss> {
 protected:
  void SetUp() override {
    const auto store = open_at(file_);
    for (int i = 0; i < kStoredSessions; ++i) {
      const SessionId id = session_id(cat("s", i));
      must(store->create(session(id.str())));
      stored_[id.str()] = {};
    }
    // Alternately, so that each session's messages are in many pages.
    for (int turn = 0; turn < 6; ++turn) {
      for (auto& [id, messages] : stored_) {
        const std::string words(static_cast<std::size_t>(turn == 5 ? 9'000 : 300), 'w');
        must(store->append(session_id(id),
                           {user(cat("question ", turn, " ", id)), assistant(cat(id, words))}, {}));
      }
    }
    must(store->capabilities().todos->edit_todos(
        session_id("s7"), [](std::vector<Todo>& todos) -> Result<> {
          todos.emplace_back().content = "write the report";
          return {};
        }));
    must(store->capabilities().artefacts->save_artefact(session_id("s7"), Step{1}, "empty", ""));
    for (auto& [id, messages] : stored_) {
      messages = must(read_all(*store, session_id(id)));
    }
    if (GetParam().is_in_log) {
      const auto log = bytes_of(fs::path(file_) += "-wal");
      const auto main = bytes_of(file_);
      ASSERT_GT(log.size(), 0U);
      log_ = log;
      main_ = main;
    }
  }

  // The damaged database, with no other file than its log.
  fs::path damaged() {
    std::string bytes = GetParam().is_in_log ? main_ : whole();
    GetParam().damage(bytes);
    const fs::path file = folder_.path() / "damaged.db";
    must(replace_file(file, bytes));
    if (GetParam().is_in_log) {
      must(replace_file(fs::path(file) += "-wal", log_));
    }
    bytes_ = bytes;
    return file;
  }

  std::string whole() {
    PlainDatabase plain(file_);
    plain.run("PRAGMA wal_checkpoint(TRUNCATE)");
    return bytes_of(file_);
  }

  std::size_t count_stored() const {
    std::size_t count = 0;
    for (const auto& [id, messages] : stored_) {
      count += messages.size();
    }
    return count;
  }

  // Checks that every message is equal to the stored one with the same seq; returns their number.
  std::size_t compare(Store& store) {
    std::size_t count = 0;
    SessionQuery query;
    query.limit = 200;
    const SessionPage page = must(store.list(query));
    for (const SessionInfo& info : page.sessions) {
      const auto known = stored_.find(info.id.str());
      EXPECT_NE(known, stored_.end()) << info.id.str();
      for (const Message& message : must(read_all(store, info.id))) {
        const auto place = static_cast<std::size_t>(message.seq.value);
        EXPECT_LT(place, known->second.size());
        EXPECT_EQ(message, known->second.at(place));
        ++count;
      }
    }
    sessions_ = page.sessions.size();
    return count;
  }

  TemporaryFolder folder_;
  fs::path file_ = folder_.path() / "whole" / "r.db";
  std::map<std::string, std::vector<Message>> stored_;
  std::string log_;
  std::string main_;
  std::string bytes_;
  std::size_t sessions_ = 0;
};

TEST_P(SqliteDamage, RepairRecoversReadableMessages) {
  const fs::path file = damaged();
  const fs::path target = folder_.path() / "repaired.db";
  VerifyReport report;
  {
    const auto store = open_at(file, {.access = Access::read});
    EXPECT_EQ(must(store->capabilities().repair->verify()).damage.empty(), GetParam().is_harmless);
    report = must(store->capabilities().repair->repair_into(target));
  }
  EXPECT_EQ(bytes_of(file), bytes_);  // the original is not changed
  EXPECT_EQ(report.damage.empty(), GetParam().is_harmless);
  const auto store = open_at(target);
  EXPECT_TRUE(must(store->capabilities().repair->verify()).damage.empty());
  const std::size_t count = compare(*store);
  EXPECT_EQ(static_cast<std::size_t>(report.messages), count);
  EXPECT_EQ(static_cast<std::size_t>(report.sessions), sessions_);
  EXPECT_GE(static_cast<double>(count),
            GetParam().messages_min * static_cast<double>(count_stored()));
  if (GetParam().is_all_there) {
    EXPECT_EQ(sessions_, stored_.size());
    EXPECT_EQ(report.messages_lost, 0);
    EXPECT_EQ(must(store->capabilities().todos->todos(session_id("s7"))).size(), 1U);
    EXPECT_EQ(
        must(store->capabilities().artefacts->find_artefact(session_id("s7"), Step{1}, "empty")),
        "");
  } else {
    EXPECT_GT(report.messages_lost, 0);
  }
  // The result is a normal store.
  must(store->append(session_id("s3"), {user("after the repair")}, {}));
}

TEST_P(SqliteDamage, ReadersDeliverTheSameAndReportDamage) {
  const fs::path file = damaged();
  const fs::path target = folder_.path() / "repaired.db";
  const auto store = open_at(file, {.access = Access::read});
  const std::size_t count = compare(*store);
  EXPECT_EQ(bytes_of(file), bytes_);
  const auto backup = store->capabilities().backup->backup(folder_.path() / "backup.db");
  EXPECT_EQ(backup.has_value(), GetParam().is_harmless);
  must(store->capabilities().repair->repair_into(target));
  EXPECT_EQ(count, compare(*open_at(target)));
  std::size_t reported = 0;
  for (const auto& [id, messages] : stored_) {
    if (const auto read = store->read(session_id(id), {}, [](Message&&) { return Flow::proceed; });
        read) {
      reported += read->damage.size();
    }
  }
  EXPECT_EQ(reported > 0, !GetParam().is_harmless);
}

INSTANTIATE_TEST_SUITE_P(Losses, SqliteDamage, testing::ValuesIn(kLosses),
                         [](const auto& loss) { return std::string(loss.param.name); });

fs::path small_store(const fs::path& file) {
  {
    const auto store = open_at(file);
    for (const char* const id : {"a", "b", "c"}) {
      must(store->create(session(id)));
      must(store->append(session_id(id), {user("question"), assistant(std::string(6'000, 'x'))},
                         {}));
    }
    must(store->capabilities().forking->fork(session_id("a"), Seq{1}, session("f")));
  }
  PlainDatabase(file).run("PRAGMA wal_checkpoint(TRUNCATE)");
  return file;
}

// A repair without any recovered rows fails.
TEST(SqliteDamaged, AnEmptyResultIsNoRepair) {
  const TemporaryFolder folder;
  const fs::path file = small_store(folder.path() / "r.db");
  std::string bytes = bytes_of(file);
  for (std::size_t at = kDiskPage; at < bytes.size(); at += kDiskPage) {
    if (bytes.substr(at, kDiskPage).find("CREATE ") == std::string::npos) {
      wipe(bytes, (at / kDiskPage) + 1, 1);  // only the schema remains
    }
  }
  must(replace_file(file, bytes));
  must(remove_if_exists(fs::path(file) += "-wal"));
  must(remove_if_exists(fs::path(file) += "-shm"));
  const fs::path target = folder.path() / "repaired.db";
  {
    const auto store = open_at(file, {.access = Access::read});
    const auto listed = store->list({});
    ASSERT_TRUE(fails(listed, Code::corrupt));
    EXPECT_NE(listed.error().message.find("nothing can be recovered"), std::string::npos);
    const auto repaired = store->capabilities().repair->repair_into(target);
    ASSERT_TRUE(fails(repaired, Code::corrupt));
    EXPECT_NE(repaired.error().message.find("nothing can be recovered"), std::string::npos);
    EXPECT_FALSE(fs::exists(target));
  }
  must(replace_file(file, "this is a letter, and no database at all\n"));
  const auto letter = open_sqlite_store(file, {.access = Access::read});
  ASSERT_TRUE(fails(letter, Code::corrupt));
  EXPECT_NE(letter.error().message.find("not an SQLite database"), std::string::npos);
}

// Hostile bytes: reading terminates, with the stored messages or fewer. The parameter is the seed.
class SqliteRandomDamage : public testing::TestWithParam<unsigned> {};

TEST_P(SqliteRandomDamage, NeitherCrashesNorLoops) {
  const TemporaryFolder folder;
  const std::string whole = bytes_of(small_store(folder.path() / "whole.db"));
  std::mt19937 random(GetParam());
  const auto below = [&random](std::size_t limit) {
    return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random);
  };
  int repaired = 0;
  for (int round = 0; round < 25; ++round) {
    std::string bytes = whole;
    for (std::size_t faults = 1 + below(12); faults != 0; --faults) {
      const std::size_t page = below(bytes.size() / kDiskPage);
      // Changes headers and pointers of pages more often than their contents.
      const std::size_t at = (page * kDiskPage) + (below(2) == 0 ? below(64) : below(kDiskPage));
      bytes[at] = static_cast<char>(below(4) == 0 ? 0xFF : below(256));
      if (below(20) == 0) {
        bytes.replace(page * kDiskPage, kDiskPage,
                      bytes.substr(below(bytes.size() / kDiskPage) * kDiskPage, kDiskPage));
      }
    }
    if (below(5) == 0) {
      bytes.resize(below(bytes.size()));
    }
    const fs::path file = folder.path() / cat("r", round, ".db");
    must(replace_file(file, bytes));
    const auto store = open_sqlite_store(file, {.access = Access::read});
    if (!store) {
      continue;
    }
    (void)(*store)->list({});  // this and the following calls may fail
    (void)read_all(**store, session_id("a"));
    (void)(*store)->capabilities().repair->verify();
    const fs::path target = folder.path() / cat("repaired", round, ".db");
    if (const auto report = (*store)->capabilities().repair->repair_into(target); report) {
      ++repaired;
      EXPECT_GT(report->sessions + report->messages, 0);
      EXPECT_TRUE(open_sqlite_store(target, {}));
    }
    EXPECT_EQ(bytes_of(file), bytes);
  }
  EXPECT_GT(repaired, 10);
}

INSTANTIATE_TEST_SUITE_P(Seeds, SqliteRandomDamage, testing::Range(20260118U, 20260123U));

// A backup in several steps is a snapshot, whatever is written in between.
TEST(SqliteProgress, IsReportedAndABackupIsASnapshot) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "r.db";
  must(open_at(file)->create(session("s")));
  must(open_at(file)->append(session_id("s"), {user(std::string(9'000'000, 'x'))}, {}));
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> expected;
  int steps = 0;
  const auto store = open_at(file, {.on_progress = [&](const Progress& progress) {
                               auto& [done, total] = expected[std::string(progress.work)];
                               EXPECT_GE(progress.done, done);
                               done = progress.done;
                               total = progress.total;
                               if (progress.work == "backing up" && ++steps == 1) {
                                 must(open_at(file)->append(session_id("s"), {user("later")}, {}));
                               }
                             }});
  must(store->capabilities().backup->backup(folder.path() / "copy.db"));
  EXPECT_GT(steps, 1);
  EXPECT_EQ(must(read_all(*open_at(folder.path() / "copy.db"), session_id("s"))).size(), 1U);
  must(store->capabilities().repair->verify());
  must(store->capabilities().repair->repair_into(folder.path() / "repaired.db"));
  EXPECT_EQ(expected["backing up"].first, expected["backing up"].second);
  EXPECT_TRUE(expected.contains("verifying"));
  EXPECT_EQ(expected["recovering messages"].second, 2);
}

}  // namespace
}  // namespace reprise::test

// Steps from one version of a database to the next, with made-up ones.

#include <gtest/gtest.h>
#include <sys/types.h>

#include <fstream>
#include <span>

#include "base/testing/temporary_folder.h"
#include "base/text.h"
#include "reprise/open_store.h"
#include "sqlite/sqlite_support.h"
#include "store/sqlite/migrate.h"
#include "store/sqlite/schema.h"
#include "store/sqlite/writer.h"
#include "support/build.h"
#include "support/child.h"
#include "support/must.h"
#include "support/small_disk.h"

namespace reprise::test {
namespace {

namespace fs = std::filesystem;
using Files = std::vector<fs::path>;

// Fails if it is run twice.
std::string add_colour(std::int64_t now_us) {
  return cat("ALTER TABLE sessions ADD COLUMN colour TEXT;",
             "UPDATE sessions SET title = title || '!', colour = ", now_us, ";");
}
std::string add_shape(std::int64_t /*now_us*/) {
  return "ALTER TABLE sessions ADD COLUMN shape TEXT; UPDATE sessions SET shape = colour || 'o';";
}
std::string fail_at_the_end(std::int64_t now_us) {
  return add_colour(now_us) + "DROP TABLE nothing;";
}

constexpr sqlite::Migration kSteps[] = {{sqlite::kVersion + 1, true, add_colour},
                                        {sqlite::kVersion + 2, false, add_shape}};
constexpr sqlite::Migration kBroken[] = {{sqlite::kVersion + 1, true, fail_at_the_end}};

Result<> migrate(const fs::path& file, std::span<const sqlite::Migration> steps) {
  sqlite::Writer writer(file, std::chrono::seconds(20));
  return writer.run_exclusively([&](sqlite::Connection& connection) {
    return sqlite::make_current(connection, Time{std::chrono::microseconds{5}}, steps);
  });
}

std::string one(const fs::path& file, const std::string& sql) {
  return PlainDatabase(file).rows(sql).at(0);
}
std::string version_of(const fs::path& file) {
  return one(file, "PRAGMA user_version");
}

class SqliteMigration : public testing::Test {
 protected:
  SqliteMigration() {
    const auto store = open_at(file_);
    must(store->create(session("a")));
    must(store->update(session_id("a"), {.title = "Leagues"}));
  }

  Files copies() const {
    Files found;
    for (const auto& entry : fs::directory_iterator(folder_.path())) {
      if (entry.path().string().find(cat("r.db.v", sqlite::kVersion, "-")) != std::string::npos) {
        found.push_back(entry.path());
      }
    }
    return found;
  }

  TemporaryFolder folder_;
  fs::path file_ = folder_.path() / "r.db";
  const std::string before_ = std::to_string(sqlite::kVersion);
};

TEST_F(SqliteMigration, RunsOnceInTenProcessesAfterACopy) {
  std::vector<pid_t> children;
  for (int i = 0; i < 10; ++i) {
    children.push_back(in_child([&] { return migrate(file_, kSteps) ? 0 : 1; }));
  }
  for (const pid_t child : children) {
    EXPECT_EQ(exit_code_of(child), 0);
  }
  EXPECT_EQ(one(file_, "SELECT title, colour, shape FROM sessions"), "Leagues!|5|5o");
  EXPECT_EQ(version_of(file_), std::to_string(sqlite::kVersion + 2));
  EXPECT_TRUE(fails(open_sqlite_store(file_), Code::unsupported)) << "without these steps";
  ASSERT_EQ(copies().size(), 1U);
  EXPECT_EQ(version_of(copies().front()), before_);
  EXPECT_EQ(
      must(get(*open_at(copies().front(), {.access = Access::read}), session_id("a"))).info.title,
      "Leagues");
}

TEST_F(SqliteMigration, RunsOnlyTheStepsThatAreMissing) {
  must(migrate(file_, std::span(kSteps).first(1)));
  ASSERT_EQ(copies().size(), 1U);
  must(migrate(file_, kSteps));
  EXPECT_EQ(one(file_, "SELECT title, shape FROM sessions"), "Leagues!|5o");
  Files all;
  for (const auto& entry : fs::directory_iterator(folder_.path())) {
    if (entry.path().extension() == ".bak") {
      all.push_back(entry.path());
    }
  }
  EXPECT_EQ(all, copies()) << "the second step does not need one";
}

TEST_F(SqliteMigration, LeavesNoCopyIfAStepFails) {
  for (int time = 0; time < 2; ++time) {
    EXPECT_FALSE(migrate(file_, kBroken));
    EXPECT_EQ(version_of(file_), before_);
    EXPECT_EQ(copies(), Files{});
    EXPECT_EQ(must(get(*open_at(file_), session_id("a"))).info.title, "Leagues");
  }
}

TEST_F(SqliteMigration, IsRefusedWithoutRoomForTheCopy) {
  const TemporaryFolder folder;
  const SmallDisk disk(folder.path());
  if (!disk.is_mounted()) {
    GTEST_SKIP() << "mounting a small disk needs root";
  }
  const fs::path file = folder.path() / "r.db";
  fs::copy_file(file_, file);
  const std::uintmax_t room = fs::file_size(file) - 1;
  std::ofstream(folder.path() / "rest")
      << std::string(fs::space(folder.path()).available - room, 'x');
  const auto refused = migrate(file, kSteps);
  ASSERT_TRUE(fails(refused, Code::io));
  EXPECT_EQ(refused.error().message, "no room for a copy of " + file.string());
  EXPECT_EQ(version_of(file), before_);
}

}  // namespace
}  // namespace reprise::test

// A full disk: nothing is lost, and sessions can be read and deleted.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include "base/file.h"
#include "base/testing/temporary_folder.h"
#include "reprise/capabilities.h"
#include "reprise/open_store.h"
#include "support/build.h"
#include "support/child.h"
#include "support/must.h"
#include "support/small_disk.h"

namespace reprise::test {
namespace {

namespace fs = std::filesystem;

std::unique_ptr<Store> open_at(const fs::path& folder, StoreOptions options = {}) {
  return must(open_sessions_store(folder / "sessions", options));
}

// The folders that have the session's file.
std::vector<fs::path> places_of(const fs::path& folder) {
  std::vector<fs::path> places;
  for (const auto& entry : fs::recursive_directory_iterator(folder / "sessions")) {
    if (entry.path().extension() == ".json") {
      places.push_back(entry.path());
    }
  }
  return places;
}

TEST(SessionsOnAFullDisk, FailAndCanBeReadDeletedAndKept) {
  const TemporaryFolder folder;
  const SmallDisk disk(folder.path());
  if (!disk.is_mounted()) {
    GTEST_SKIP() << "mounting a small disk needs root";
  }
  const auto store = open_at(folder.path());
  const SessionId id = session_id("s");
  must(store->create(session("s")));
  must(store->append(id, {user("first")}, {}));
  const SessionId closed = session_id("closed");
  must(store->create(session("closed")));
  must(store->update(closed, {.state = SessionState::closed, .closed_at = at(1)}));
  const std::string before = must(read_file(folder.path() / "sessions" / "closed.json"));
  disk.fill();
  EXPECT_TRUE(fails(store->append(id, {user(std::string(50'000, 'x'))}, {}), Code::io));
  EXPECT_TRUE(fails(store->update(closed, {.state = SessionState::active}), Code::io));
  EXPECT_EQ(must(read_file(folder.path() / "sessions" / "closed.json")), before)
      << "a failed resume leaves the file as it was";
  EXPECT_EQ(places_of(folder.path()).size(), 3U) << "with what the original may drop";
  const auto reader = open_at(folder.path(), {.access = Access::read});
  EXPECT_EQ(must(reader->list({})).sessions.size(), 2U);
  EXPECT_EQ(must(read_all(*reader, id)).size(), 1U);
  must(store->capabilities().trash->trash(closed, at(2)));
  EXPECT_EQ(must(reader->list({})).sessions.size(), 1U);
  must(store->capabilities().trash->restore(closed));
  must(store->capabilities().trash->purge(closed));
  EXPECT_EQ(places_of(folder.path()).size(), 1U);
  fs::remove(folder.path() / "filler");
  EXPECT_TRUE(works(store->append(id, {user("second")}, {})));
}

TEST(SessionsWithAFileSizeLimit, FailTheWriteAndKeepTheRest) {
  const TemporaryFolder folder;
  must(open_at(folder.path())->create(session("s")));
  const SessionId id = session_id("s");
  const pid_t child = in_child([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{100'000, 100'000};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) {
      return 2;
    }
    const auto store = open_at(folder.path());
    for (std::int64_t head = 0; head < 100; ++head) {
      const auto done = store->append(id, {user(std::string(5'000, 'x'))}, {});
      if (!done) {
        const auto there = read_all(*store, id);
        const bool good = done.error().code == Code::io && there && head > 5 &&
                          static_cast<std::int64_t>(there->size()) == head;
        return good && places_of(folder.path()).size() == 1 ? 0 : 3;
      }
    }
    return 4;
  });
  EXPECT_EQ(exit_code_of(child), 0);
  EXPECT_TRUE(works(open_at(folder.path())->append(id, {user("x")}, {})));
}

}  // namespace
}  // namespace reprise::test

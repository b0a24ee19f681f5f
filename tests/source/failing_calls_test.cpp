// Each call of the system fails once while a history is listed and read: what is missing then is
// reported, and nothing is missing afterwards.

#include <gtest/gtest.h>

#include <cerrno>
#include <map>
#include <ostream>

#include "base/file.h"
#include "base/testing/temporary_folder.h"
#include "base/text.h"
#include "calls.h"
#include "reprise/capabilities.h"
#include "reprise/open_source.h"
#include "source/database_copy.h"
#include "source/histories.h"
#include "sqlite/sqlite_support.h"
#include "support/must.h"

namespace reprise::test {

void PrintTo(const History& history, std::ostream* out) {  // NOLINT(readability-identifier-naming)
  *out << history.name;
}

namespace {

namespace fs = std::filesystem;

// What can be read, and what is reported to be missing.
struct Contents {
  std::map<std::string, std::string> sessions;
  std::vector<std::string> reports;
};

void take(Contents& contents, const std::vector<Damage>& damage) {
  for (const Damage& part : damage) {
    contents.reports.push_back(cat(part.where, ": ", part.reason));
  }
}

std::string spell(Contents& contents, Source& source, const SessionInfo& info) {
  std::string text = cat(info.title, "|", info.model, "|", info.working_dir, "|", info.head.value,
                         "|", format_time(info.created_at), "|", to_string(info.state), "\n");
  const auto found = source.find(info.id);
  if (!found) {
    contents.reports.push_back(found.error().message);
  } else {
    text += *found ? (*found)->info.title : "not found";
  }
  const auto report = source.read(info.id, {}, [&text](Message&& message) {
    text += message_to_json(message) + "\n";
    return Flow::proceed;
  });
  if (report) {
    take(contents, report->damage);
  } else {
    contents.reports.push_back(report.error().message);
  }
  if (TodoReader* const reader = source.capabilities().todo_reader; reader != nullptr) {
    const auto todos = reader->todos(info.id);
    text += todos ? cat(todos->size(), " todos\n") : "";
    if (!todos) {
      contents.reports.push_back(todos.error().message);
    }
  }
  return text;
}

Contents contents_of(const History& history, const fs::path& folder, const fs::path& cache) {
  Contents contents;
  const auto source =
      open_source(cat(history.source, ":", folder.native()), {.cache_folder = cache});
  if (!source) {
    contents.reports.push_back(source.error().message);
    return contents;
  }
  SessionQuery query;
  query.states.push_back(SessionState::archived);
  const auto page = (*source)->list(query);
  if (!page) {
    contents.reports.push_back(page.error().message);
    return contents;
  }
  take(contents, page->damage);
  for (const SessionInfo& info : page->sessions) {
    contents.sessions[info.id.str()] = spell(contents, **source, info);
  }
  return contents;
}

class FailingCalls : public testing::TestWithParam<History> {};

TEST_P(FailingCalls, AreReported) {
  const TemporaryFolder work;
  const fs::path folder = work.path() / "history";
  fs::create_directories(folder);
  GetParam().write(folder, 2);
  rel::watch(folder.native());
  const Contents whole = contents_of(GetParam(), folder, "");
  rel::unwatch();
  const std::int64_t calls = rel::call_counts().all;
  ASSERT_FALSE(whole.sessions.empty());
  ASSERT_EQ(whole.reports, std::vector<std::string>{});
  ASSERT_GT(calls, 1);
  for (std::int64_t at = 1; at <= calls; ++at) {
    const fs::path cache = work.path() / cat("cache", at);
    rel::watch(folder.native(), {.what = rel::Trap::What::fail, .at = at, .error = EIO});
    const Contents seen = contents_of(GetParam(), folder, cache);
    rel::unwatch();
    if (seen.reports.empty()) {
      EXPECT_EQ(seen.sessions, whole.sessions) << "call " << at << " of " << calls;
    }
    EXPECT_EQ(contents_of(GetParam(), folder, cache).sessions, whole.sessions)
        << "after call " << at;
  }
}

std::vector<std::string> ids_in(Source& source, bool& is_whole) {
  SessionQuery query;
  query.states.push_back(SessionState::archived);
  std::vector<std::string> ids;
  const auto page = source.list(query);
  is_whole = page && page->damage.empty();
  for (const SessionInfo& info : page ? page->sessions : std::vector<SessionInfo>()) {
    ids.push_back(info.id.str());
  }
  return ids;
}

// The same source does not take what it could read before a failure for all there is.
TEST_P(FailingCalls, AreNotRemembered) {
  const TemporaryFolder work;
  const fs::path folder = work.path() / "history";
  fs::create_directories(folder);
  GetParam().write(folder, 2);
  const auto opened = [&] {
    return must(open_source(cat(GetParam().source, ":", folder.native())));
  };
  bool is_whole = false;
  const auto usual = opened();
  rel::watch(folder.native());
  const std::vector<std::string> ids = ids_in(*usual, is_whole);
  rel::unwatch();
  ASSERT_TRUE(is_whole);
  const std::int64_t calls = rel::call_counts().all;
  for (std::int64_t at = 1; at <= calls; ++at) {
    const auto source = opened();
    rel::watch(folder.native(), {.what = rel::Trap::What::fail, .at = at, .error = EIO});
    (void)ids_in(*source, is_whole);
    rel::unwatch();
    EXPECT_EQ(ids_in(*source, is_whole), ids) << "after call " << at << " of " << calls;
    EXPECT_TRUE(is_whole) << "after call " << at << " of " << calls;
  }
}

constexpr source::TableSignature kMarks[] = {{"a", "of_a_tool"}};

TEST(RecognisedDatabase, IsNotTakenForAnotherFileWhenACallFails) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "x.db";
  PlainDatabase(file).run("CREATE TABLE a(of_a_tool)");
  rel::watch(folder.path().native());
  ASSERT_TRUE(must(source::is_database_with(file, kMarks)));
  rel::unwatch();
  const std::int64_t calls = rel::call_counts().all;
  ASSERT_GT(calls, 1);
  for (std::int64_t at = 1; at <= calls; ++at) {
    rel::watch(folder.path().native(), {.what = rel::Trap::What::fail, .at = at, .error = EIO});
    const auto found = source::is_database_with(file, kMarks);
    rel::unwatch();
    EXPECT_TRUE(!found || *found) << "call " << at << " of " << calls;
  }
}

TEST(RecognisedDatabase, IsNotADamagedOne) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "x.db";
  must(replace_file(file, std::string("SQLite format 3") + std::string(5'000, 'x') + "of_a_tool"));
  EXPECT_FALSE(must(source::is_database_with(file, kMarks)));
  EXPECT_FALSE(must(source::is_database_with(folder.path() / "none.db", kMarks)));
}

INSTANTIATE_TEST_SUITE_P(Histories, FailingCalls, testing::ValuesIn(histories()),
                         [](const auto& history) { return std::string(history.param.name); });

}  // namespace
}  // namespace reprise::test

// Running answers: the cost of their pieces for the server, and the loss after its crash.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <thread>

#include "base/file.h"
#include "base/testing/temporary_folder.h"
#include "base/text.h"
#include "postgres/server_support.h"
#include "reprise/capabilities.h"
#include "reprise/open_store.h"
#include "reprise/store_statistics.h"
#include "store/postgres/running_answers.h"
#include "store/postgres/sessions.h"
#include "support/build.h"
#include "support/must.h"
#include "support/postgres_server.h"

namespace reprise::test {
namespace {

using std::chrono::steady_clock;

class PostgresDeltas : public testing::Test {
 protected:
  explicit PostgresDeltas(std::string url = new_database()) : url_(std::move(url)) {}

  // Creates a session with a running answer.
  void begin(Store& store, std::string_view name = "s") const {
    must(store.create(session(std::string(name))));
    must(store.append(session_id(std::string(name)), messages(1),
                      {.begin_partial = PartialStart{answer_, this_process(), "p", "m"}}));
  }
  Result<> add(Store& store, const std::string& text, std::string_view name = "s") const {
    const std::vector<Block> delta = {TextBlock{text, {}}};
    return store.capabilities().partials->add_partial(session_id(std::string(name)), answer_,
                                                      delta);
  }
  std::string stored(Store& store) const {
    const auto partial = must(store.capabilities().partials->find_partial(session_id("s")));
    return partial->blocks.empty() ? "" : std::get<TextBlock>(partial->blocks.front()).text;
  }
  std::string count(std::string_view what) const {
    return query(url_, cat("SELECT count(", what, ") FROM reprise_deltas"));
  }

  const std::string url_;
  const OperationId answer_ = operation_id("a");
};

// This server's commits wait for a standby that does not exist.
TEST_F(PostgresDeltas, DoNotWaitForTheDisk) {
  const auto store = must(open_store(url_));
  begin(*store);
  const auto strict = must(open_store(cat(url_, "&options=-c%20synchronous_commit%3Don"),
                                      {.busy_timeout = std::chrono::seconds(1)}));
  EXPECT_TRUE(works(add(*strict, "at once")));
  EXPECT_TRUE(works(strict->capabilities().partials->renew_lease(session_id("s"), answer_, {})));
  EXPECT_EQ(stored(*store), "at once");
  EXPECT_FALSE(strict->append(session_id("s"), messages(1), {.end_partial = answer_}));
}

// What is written in it is known from the beginning of the answer.
TEST_F(PostgresDeltas, ALeaseIsRenewedInOneRoundTrip) {
  StoreStatistics statistics;
  const auto store = must(open_store(url_, {.statistics = &statistics}));
  begin(*store);
  const std::int64_t before = statistics.counts().round_trips.count;
  EXPECT_TRUE(works(store->capabilities().partials->renew_lease(session_id("s"), answer_, {})));
  EXPECT_EQ(statistics.counts().round_trips.count, before + 1);
}

// Their nodes get settings from other statements.
TEST_F(PostgresDeltas, OfDistributedTablesDoNotWaitForTheDiskEither) {
  const auto store = must(open_store(url_));
  begin(*store);
  distribute(url_);
  const auto strict = must(open_store(cat(url_, "&options=-c%20synchronous_commit%3Don"),
                                      {.busy_timeout = std::chrono::seconds(1)}));
  EXPECT_TRUE(works(add(*strict, "at once")));
  EXPECT_EQ(stored(*store), "at once");
  EXPECT_TRUE(fails(open_store(cat(url_, "&set_tenant=yes")), Code::unsupported));
}

TEST_F(PostgresDeltas, PiecesLostInACrashAreWrittenAgain) {
  const auto store = must(open_store(url_));
  begin(*store);
  for (const char* const text : {"one ", "two ", "three "}) {
    must(add(*store, text));
  }
  run(url_, "DELETE FROM reprise_deltas WHERE n > 1");
  must(add(*store, "four"));
  EXPECT_EQ(stored(*store), "one two three four");
}

TEST_F(PostgresDeltas, PiecesAfterAGapAreNotShown) {
  const auto store = must(open_store(url_));
  begin(*store);
  for (const char* const text : {"one ", "two ", "three "}) {
    must(add(*store, text));
  }
  run(url_, "DELETE FROM reprise_deltas WHERE n = 2");
  EXPECT_EQ(stored(*store), "one ");
}

TEST_F(PostgresDeltas, OfManyAnswersShareATransaction) {
  constexpr int kAnswers = 32;
  constexpr int kPieces = 5;
  const auto store = must(open_store(url_));
  std::vector<std::unique_ptr<Store>> tenants;
  for (int i = 0; i < kAnswers; ++i) {
    tenants.push_back(must(store->capabilities().tenants->of(cat("t", i))));
    begin(*tenants.back());
  }
  {
    std::vector<std::jthread> threads;
    for (const auto& tenant : tenants) {
      threads.emplace_back([&] {
        for (int i = 0; i < kPieces; ++i) {
          EXPECT_TRUE(works(add(*tenant, std::to_string(i))));
        }
      });
    }
  }
  for (const auto& tenant : tenants) {
    EXPECT_EQ(stored(*tenant), "01234");
  }
  EXPECT_EQ(count("*"), std::to_string(kAnswers * kPieces));
  EXPECT_LE(std::stoi(count("DISTINCT xmin::text")), 4 * kPieces);
}

// One that is not running, and one whose session is locked.
TEST_F(PostgresDeltas, OfOthersContinueWhenOneFails) {
  const auto store = must(open_store(url_, {.busy_timeout = std::chrono::seconds(10)}));
  begin(*store, "held");
  begin(*store, "good");
  must(store->create(session("idle")));
  const Holder holder(url_, "SELECT 1 FROM reprise_heads WHERE session_id = 'held' FOR UPDATE");
  std::vector<std::jthread> threads;
  threads.emplace_back([&] { EXPECT_TRUE(fails(add(*store, "x", "held"), Code::busy)); });
  threads.emplace_back([&] { EXPECT_TRUE(fails(add(*store, "x", "idle"), Code::conflict)); });
  threads.emplace_back([&] { EXPECT_TRUE(fails(add(*store, "x", "none"), Code::not_found)); });
  const auto start = steady_clock::now();
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(works(add(*store, "x", "good")));
  }
  EXPECT_LT(steady_clock::now() - start, std::chrono::seconds(8)) << "less than the busy time-out";
}

// A writer whose lock is not free runs apart from the others for some seconds.
TEST(PostgresGatherer, AHeldLockDelaysOthersOnlyOnce) {
  postgres::GroupCommit gatherer;
  std::atomic<int> undone = 0;
  std::atomic<int> shared = 0;
  const auto run = [&](const std::vector<postgres::Query>& queries,
                       postgres::GroupCommit::Wait wait) -> Result<std::vector<postgres::Rows>> {
    const bool is_held = std::ranges::any_of(
        queries, [](const postgres::Query& query) { return query.text == "held"; });
    if (queries.size() > 1) {
      EXPECT_EQ(wait, postgres::GroupCommit::Wait::brief);
      ++shared;
      undone += is_held ? 1 : 0;
    }
    if (is_held) {
      return fail(Code::busy, "it is held");
    }
    return std::vector<postgres::Rows>();
  };
  {
    std::vector<std::jthread> threads;
    for (const std::string_view name : {"a", "b", "c", "d", "held"}) {
      threads.emplace_back([&, name] {
        for (int i = 0; i < 20; ++i) {
          EXPECT_EQ(gatherer.run(name, {{name}}, run).has_value(), name != "held");
        }
      });
    }
  }
  EXPECT_GT(shared, 0);
  EXPECT_LE(undone, 1);
}

// An exception of the caller's functions, which would otherwise stop all answers of the process.
TEST(PostgresGatherer, AnExceptionStopsOnlyItsWriter) {
  postgres::GroupCommit gatherer;
  const auto throws = [](const std::vector<postgres::Query>&,
                         postgres::GroupCommit::Wait) -> Result<std::vector<postgres::Rows>> {
    throw std::runtime_error("of a callback");
  };
  EXPECT_THROW((void)gatherer.run("a", {}, throws), std::runtime_error);
  const auto works = [](const std::vector<postgres::Query>&, postgres::GroupCommit::Wait) {
    return Result<std::vector<postgres::Rows>>();
  };
  EXPECT_TRUE(gatherer.run("b", {}, works));
}

TEST(PostgresPieces, TheNewestIsKeptHoweverLargeItIs) {
  const std::string tenant = "t";
  const SessionId id = session_id("s");
  const postgres::Key key{tenant, id};
  postgres::RunningAnswers answers;
  answers.add(key, "a", {.n = 1, .name = "first", .bodies = {"x"}});
  answers.add(key, "a", {.n = 2, .name = "second", .bodies = {std::string(5 << 20, 'x')}});
  const auto pieces = answers.between(key, "a", 0, 3);
  ASSERT_EQ(pieces.size(), 1);
  EXPECT_EQ(pieces.front().name, "second");
}

// The server is killed before it has synced asynchronous commits, and restarted.
TEST(PostgresCrash, NoAnswerHasAGapAfterwards) {
  const TemporaryFolder folder;
  const std::string server = cat(PROJECT_POSTGRES_SERVER, " ");
  const std::string place = (folder.path() / "server").string();
  const auto script = [&](std::string_view words) {
    // NOLINTNEXTLINE(cert-env33-c): the project's own script.
    ASSERT_EQ(std::system(cat(server, words).c_str()), 0);
  };
  script(cat("start ", place, " ", ::getpid(), " wal_writer_delay=10s synchronous_standby_names="));
  const std::string url = must(read_file(folder.path() / "server/url"));
  const auto store = must(open_store(url));
  const SessionId id = session_id("s");
  const OperationId answer = operation_id("a");
  must(store->create(session("s")));
  must(store->append(id, messages(1),
                     {.begin_partial = PartialStart{answer, this_process(), "p", "m"}}));
  Partials& partials = *store->capabilities().partials;
  const auto add = [&](const char* text) {
    const std::vector<Block> delta = {TextBlock{text, {}}};
    must(partials.add_partial(id, answer, delta));
  };
  const auto stored = [&] {
    const auto blocks = must(partials.find_partial(id))->blocks;
    return blocks.empty() ? "" : std::get<TextBlock>(blocks.front()).text;
  };
  add("one ");
  add("two ");
  EXPECT_EQ(stored(), "one two ");
  script(cat("crash ", place));
  EXPECT_EQ(stored(), "") << "the server has synced it all the same: nothing is tried here";
  add("three");
  EXPECT_EQ(stored(), "one two three");
  script(cat("stop ", place));
}

}  // namespace
}  // namespace reprise::test

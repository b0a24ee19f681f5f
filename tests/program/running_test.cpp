// Commands that would remove a session with a running answer refuse, with a message and exit code
// 1.

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "base/file.h"
#include "base/text.h"
#include "program/program_fixture.h"
#include "reprise/capabilities.h"
#include "reprise/open_store.h"
#include "store/sqlite/connection.h"
#include "support/build.h"
#include "support/must.h"

namespace reprise::test {
namespace {

const std::string kRunning = "01990000-0000-7000-8000-000000000001";

class RunningTest : public ProgramTest, public testing::WithParamInterface<std::string> {
 protected:
  std::string url() const { return store_url(GetParam(), "running"); }

  std::unique_ptr<Store> open() { return must(open_store(url(), {})); }

  void begin() {
    store_ = open();
    Session running = session(kRunning);
    running.info.working_dir = project();
    must(store_->create(running));
    must(store_->append(session_id(kRunning), {user("a question")},
                        {.begin_partial = PartialStart{operation_id("running"), this_process(),
                                                       "echo", "m", at(2)}}));
  }

  Store& store() { return *store_; }

 private:
  std::unique_ptr<Store> store_;
};

TEST_P(RunningTest, IsNotTakenAway) {
  begin();
  const std::vector<std::vector<std::string>> takings = {
      {"delete", kRunning},  {"delete", kRunning, "--purge"},
      {"archive", kRunning}, {"clear"},
      {"clear", "--purge"},  {"close", kRunning},
  };
  for (const auto& taking : takings) {
    std::vector<std::string> words = {"--store", url(), "--yes"};
    words.insert(words.end(), taking.begin(), taking.end());
    SCOPED_TRACE(cat(taking[0], " ", taking.back()));
    const Done done = run(words);
    const bool has_nothing_to_take =
        taking[0] == "clear" && store().capabilities().archives != nullptr;  // needs archived ones
    if (!has_nothing_to_take) {
      EXPECT_EQ(done.code, 1) << done.err;
      EXPECT_NE(done.err, "");
    }
    const Session now = must(get(store(), session_id(kRunning)));
    EXPECT_EQ(now.info.state, SessionState::active);
    EXPECT_TRUE(now.info.answering);
    EXPECT_EQ(must(read_all(store(), session_id(kRunning))).size(), 1U);
  }
  // The answer ends normally.
  must(store().append(session_id(kRunning), {assistant("an answer")},
                      {.end_partial = operation_id("running")}));
  EXPECT_EQ(run({"--store", url(), "--yes", "delete", kRunning}).code, 0);
}

// Three days ago, so that blobs put then are only kept by references.
class EarlierClock final : public Clock {
 public:
  Time now() override { return system_clock().now() - std::chrono::hours(72); }
};

// A process waiting for a slow answer has already put its image, and references it later.
TEST_F(ProgramTest, AnImageThatWaitsStaysWhenAnotherSessionOfItIsPurged) {
  const std::string file = project() / "store";
  const std::string url = cat("sqlite:", file);
  const std::string png = cat("\x89PNG\r\n\x1a\n", std::string(3000, 'x'));
  must(replace_file(project() / "img.png", png));
  EarlierClock earlier;
  BlobHash hash = *BlobHash::parse(std::string(64, '0'));
  {
    const auto store = must(open_store(url, {.clock = &earlier}));
    hash = must(store->capabilities().blobs->put_blob(png));
    Message showing = user("see");
    showing.blocks.emplace_back(ImageBlock{"image/png", hash, "", {}});
    must(store->create(session("other")));
    must(store->append(session_id("other"), {showing}, {}));
  }
  const auto store = must(open_store(url));
  Session slow = session(kRunning);
  slow.info.working_dir = project();
  must(store->create(slow));
  must(store->append(session_id(kRunning), {user("a question")},
                     {.begin_partial = PartialStart{operation_id("running"), this_process(), "echo",
                                                    "m", at(2)}}));
  Done done;
  std::jthread waiting(
      [&] { done = run({"--store", url, "ask", "-r", kRunning, "-f", "img.png", "what is it?"}); });
  const auto put_us = [&] {
    const auto connection =
        must(sqlite::Connection::open(file, sqlite::OpenMode::read, std::chrono::seconds(1)));
    return must(connection->integer("SELECT coalesce(max(put_us), 0) FROM reprise_pins"));
  };
  const std::int64_t before = put_us();
  while (put_us() == before) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  must(store->capabilities().trash->purge(session_id("other")));
  must(store->append(session_id(kRunning), {assistant("an answer")},
                     {.end_partial = operation_id("running")}));
  waiting.join();
  EXPECT_EQ(done.code, 0) << done.err;
  std::string bytes;
  must(store->capabilities().blobs->read_blob(hash, [&](std::string_view piece) {
    bytes += piece;
    return Flow::proceed;
  }));
  EXPECT_EQ(bytes, png);
  EXPECT_EQ(run({"--store", url, "verify"}).code, 0);
}

INSTANTIATE_TEST_SUITE_P(Stores, RunningTest, testing::ValuesIn(kinds_with_running_answers()),
                         [](const auto& one) { return one.param; });

}  // namespace
}  // namespace reprise::test

// The primary dies while two clients use it, its standby takes over, and they continue without
// intervention.

#include <gtest/gtest.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/testing/temporary_folder.h"
#include "base/text.h"
#include "postgres/server_support.h"
#include "reprise/open_store.h"
#include "support/build.h"
#include "support/child.h"
#include "support/must.h"

namespace reprise::test {
namespace {

namespace fs = std::filesystem;

constexpr int kWriters = 2;
constexpr int kOfEach = 300;         // appends of each writer
constexpr int kBeforeTheCrash = 40;  // acknowledged to each writer

int failovers() {
  const char* const is_long = std::getenv("REPRISE_LONG");
  return is_long != nullptr && std::string_view(is_long) == "1" ? 50 : 3;
}

// A primary whose commits wait for its standby.
class Pair {
 public:
  Pair() { run_script(cat("start ", folder(), " ", ::getpid())); }
  ~Pair() {
    // NOLINTNEXTLINE(cert-env33-c): the project's own script.
    std::system(cat(PROJECT_POSTGRES_PAIR, " stop ", folder()).c_str());
  }
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;

  std::string primary() const { return must(read_file(folder_.path() / "pair/primary/url")); }
  std::string standby() const { return must(read_file(folder_.path() / "pair/standby/url")); }
  // The URL of both servers, for a writer.
  std::string url() const {
    const std::string second = standby();
    const std::size_t host = second.find('@') + 1;
    const std::size_t end = second.find('/', host);
    std::string both = primary();
    both.insert(both.rfind('/'), cat(",", second.substr(host, end - host)));
    return cat(both, "?target_session_attrs=read-write");
  }

  void end_standby() const { run_script(cat("end-standby ", folder())); }
  void crash_primary() const { run_script(cat("crash ", folder())); }

  // The promoted server still has itself configured as the synchronous standby, and would wait
  // forever.
  void promote_standby() const {
    query(standby(), "SELECT pg_promote()");
    EXPECT_EQ(query(standby(), "SELECT current_setting('synchronous_standby_names')"), "standby");
    run(standby(), "ALTER SYSTEM SET synchronous_standby_names = ''");
    query(standby(), "SELECT pg_reload_conf()");
  }

 private:
  std::string folder() const { return (folder_.path() / "pair").string(); }
  static void run_script(std::string_view words) {
    // NOLINTNEXTLINE(cert-env33-c): the project's own script.
    if (std::system(cat(PROJECT_POSTGRES_PAIR, " ", words).c_str()) != 0) {
      throw std::runtime_error("no pair of PostgreSQL servers: see above");
    }
  }

  TemporaryFolder folder_;
};

// Appends messages and reports the duration of each. Only the first client uses operation ids.
int run_writer(const std::string& url, int client, int acknowledgements) {
  const auto store = must(open_store(url, {.busy_timeout = std::chrono::minutes(2)}));
  for (int number = 0; number < kOfEach; ++number) {
    AppendOptions options;
    if (client == 0) {
      options.operation = operation_id(cat("operation-", number));
    }
    const auto begin = std::chrono::steady_clock::now();
    const auto appended =
        store->append(session_id("shared"), {user(cat(client, " ", number))}, options);
    if (!appended) {
      std::fprintf(stderr, "%s\n", appended.error().message.c_str());
      return 1;
    }
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    const double ms = took.count();
    if (::write(acknowledgements, &ms, sizeof ms) != sizeof ms) {
      return 2;
    }
  }
  return 0;
}

// A client, and what was acknowledged to it.
class Writer {
 public:
  Writer(const std::string& url, int number) {
    std::array<int, 2> pipe{};
    if (::pipe(pipe.data()) != 0) {
      throw std::runtime_error("no pipe");
    }
    process_ = in_child([&] {
      ::close(pipe[0]);
      return run_writer(url, number, pipe[1]);
    });
    ::close(pipe[1]);
    acknowledgements_ = pipe[0];
  }
  ~Writer() { ::close(acknowledgements_); }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  // Waits for `count` acknowledgements, or the end of the writer.
  void wait_for(int count) {
    double ms = 0;
    while (acknowledged_ < count && ::read(acknowledgements_, &ms, sizeof ms) == sizeof ms) {
      ++acknowledged_;
      longest_ms_ = std::max(longest_ms_, ms);
    }
  }
  int acknowledged() const { return acknowledged_; }
  double longest_ms() const { return longest_ms_; }
  int exit_code() const { return exit_code_of(process_); }

 private:
  pid_t process_ = 0;
  int acknowledgements_ = -1;
  int acknowledged_ = 0;
  double longest_ms_ = 0;
};

void expect_each_once(const std::string& url) {
  const auto store = must(open_store(url));
  const auto all = must(read_all(*store, session_id("shared")));
  std::map<std::string, int> next;
  for (std::size_t place = 0; place < all.size(); ++place) {
    ASSERT_EQ(all[place].seq.value, static_cast<std::int64_t>(place));
    const std::string text = plain_text(all[place]);
    const std::string client = text.substr(0, text.find(' '));
    ASSERT_EQ(text, cat(client, " ", next[client]++)) << "each once and in its client's order";
  }
  EXPECT_EQ(all.size(), static_cast<std::size_t>(kWriters * kOfEach));
  EXPECT_EQ(must(get(*store, session_id("shared"))).info.head.value,
            static_cast<std::int64_t>(all.size()));
}

class PostgresFailover : public testing::TestWithParam<int> {};

TEST_P(PostgresFailover, ClientsContinueAndNothingIsLostOrDuplicated) {
  const Pair pair;
  must(must(open_store(pair.url()))->create(session("shared")));
  {
    std::array<Writer, kWriters> clients = {Writer(pair.url(), 0), Writer(pair.url(), 1)};
    for (Writer& client : clients) {
      client.wait_for(kBeforeTheCrash);
    }
    pair.crash_primary();
    pair.promote_standby();
    for (Writer& client : clients) {
      client.wait_for(kOfEach);
      EXPECT_EQ(client.acknowledged(), kOfEach);
      EXPECT_EQ(client.exit_code(), 0);
    }
    RecordProperty("longest_append_ms",
                   static_cast<int>(std::max(clients[0].longest_ms(), clients[1].longest_ms())));
  }
  expect_each_once(pair.standby());
}

struct Ask {
  std::string text;
  int code = 0;
  std::chrono::steady_clock::duration took = {};
};

// Runs `reprise ask` repeatedly, each in a separate process, in one session: a new one, or the
// given one.
class Asker {
 public:
  Asker(const std::string& url, const fs::path& home, std::string name, std::string session = "")
      : name_(std::move(name)), home_(home / name_), url_(url), session_(std::move(session)) {
    fs::create_directories(home_);
    thread_ = std::jthread([this](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        ask();
      }
    });
  }

  // Waits until a process started from now on has ended, or with `is_started` only until it is
  // started.
  void wait(bool is_started) const {
    const std::size_t from = started_;
    while ((is_started ? started_ : ended_) <= from) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  void end() {
    thread_.request_stop();
    thread_.join();
  }
  const std::string& name() const { return name_; }
  const std::vector<Ask>& asks() const { return asks_; }  // after end()
  std::string output() const { return must(read_file(home_ / "said")); }
  // Imports what it could not save.
  int bring_in() const { return run("copy spill: \"$REPRISE_STORE\""); }

 private:
  int run(const std::string& words) const {
    // NOLINTNEXTLINE(cert-env33-c,concurrency-mt-unsafe): the project's own program.
    const int status =
        std::system(cat("cd '", home_.native(),
                        "' && export HOME=\"$PWD\" REPRISE_PROVIDER=echo REPRISE_STORE='", url_,
                        "' && '", REPRISE_PROGRAM, "' ", words, " >/dev/null 2>>said")
                        .c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
  }

  void ask() {
    Ask one{.text = cat(name_, " ", asks_.size())};
    const auto begin = std::chrono::steady_clock::now();
    ++started_;
    const std::string which = !session_.empty() ? cat("-r ", session_) : asks_.empty() ? "" : "-c";
    one.code = run(cat("ask -q ", which, " '", one.text, "'"));
    one.took = std::chrono::steady_clock::now() - begin;
    asks_.push_back(std::move(one));
    ++ended_;
  }

  std::string name_;
  fs::path home_;
  std::string url_;
  std::string session_;
  std::vector<Ask> asks_;
  std::atomic<std::size_t> started_ = 0;
  std::atomic<std::size_t> ended_ = 0;
  std::jthread thread_;
};

// How often each text was asked, and how often answered; an unanswered one may precede it.
std::map<std::string, std::pair<int, int>> count_texts(const std::string& url) {
  std::map<std::string, std::pair<int, int>> counts;
  const auto store = must(open_store(url));
  for (const SessionInfo& info : must(store->list({})).sessions) {
    const Seq own = info.forked_from ? info.forked_from->at : Seq{};
    for (const Message& message : must(read_all(*store, info.id, {.from = own}))) {
      const std::string text = plain_text(message);
      auto& [asked, answered] = counts[text.substr(text.rfind('\n') + 1)];
      (message.role == role::kUser ? asked : answered) += 1;
      EXPECT_EQ(message.state, MessageState::complete) << text;
    }
  }
  return counts;
}

// Everything that exited with 0 is on the promoted server; processes that gave up have waited for
// it first, and have written their messages to the outbox.
TEST(PostgresFailoverOfPrograms, WaitsForTheStandby) {
  const Pair pair;
  const TemporaryFolder home;
  const std::string id = "01990000-0000-7000-8000-000000000001";
  must(must(open_store(pair.url(), {}))->create(session(id)));
  std::array<Asker, 3> askers = {Asker(pair.url(), home.path(), "one"),
                                 Asker(pair.url(), home.path(), "two"),
                                 Asker(pair.url(), home.path(), "named", id)};
  for (const Asker& asker : askers) {
    asker.wait(false);
  }
  pair.crash_primary();
  for (const Asker& asker : askers) {
    asker.wait(true);  // finds no server
  }
  askers[2].wait(false);
  pair.promote_standby();
  for (const Asker& asker : askers) {
    asker.wait(false);
  }
  for (Asker& asker : askers) {
    asker.end();
    if (std::ranges::any_of(asker.asks(), [](const Ask& ask) { return ask.code != 0; })) {
      EXPECT_EQ(asker.bring_in(), 0) << asker.output();
    }
  }
  const auto counts = count_texts(pair.standby());
  for (const Asker& asker : askers) {
    for (const Ask& ask : asker.asks()) {
      SCOPED_TRACE(cat(ask.text, ": ", asker.output()));
      ASSERT_TRUE(counts.contains(ask.text)) << "lost";
      EXPECT_EQ(counts.at(ask.text), std::pair(1, 1));
      if (ask.code != 0) {
        EXPECT_EQ(ask.code, 2);
        EXPECT_GE(ask.took, StoreOptions{}.busy_timeout) << "gave up at once";
      }
    }
  }
  EXPECT_NE(std::ranges::count(askers[2].asks(), 2, &Ask::code), 0);
}

// Writes from now on are not visible on the standby.
void stop_replay(const std::string& standby) {
  query(standby, "SELECT pg_wal_replay_pause()");
  while (query(standby, "SELECT pg_get_wal_replay_pause_state()") != "paused") {
    std::this_thread::yield();
  }
}

std::size_t count_listed(Store& store) {
  return must(store.list({})).sessions.size();
}

TEST(PostgresLists, ComeFromTheStandbyWhileItRunsAndEverythingElseFromThePrimary) {
  const Pair pair;
  must(must(open_store(pair.url()))->create(session("old")));  // applied there, too
  const auto store = must(
      open_store(cat(pair.url(), "&list_from=standby&options=-c%20synchronous_commit%3Dlocal")));
  stop_replay(pair.standby());
  must(store->create(session("new")));
  must(store->append(session_id("new"), {user("hello")}, {}));
  EXPECT_EQ(must(get(*store, session_id("new"))).info.head, Seq{1});
  EXPECT_EQ(count_listed(*store), 1U);
  EXPECT_EQ(count_listed(*must(open_store(pair.url()))), 2U);
  query(pair.standby(), "SELECT pg_wal_replay_resume()");
  while (count_listed(*store) != 2) {
    std::this_thread::yield();
  }
  pair.end_standby();
  must(store->create(session("newest")));
  EXPECT_EQ(count_listed(*store), 3U);
}

INSTANTIATE_TEST_SUITE_P(Again, PostgresFailover, testing::Range(0, failovers()));

}  // namespace
}  // namespace reprise::test

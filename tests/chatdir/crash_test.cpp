// Acknowledged messages survive kill -9 at any time, other processes, and full disks. A chat is
// complete and in one place. REPRISE_LONG=1 kills ten times as often.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <map>
#include <random>
#include <thread>

#include "base/file.h"
#include "base/lock_file.h"
#include "base/testing/temporary_folder.h"
#include "base/text.h"
#include "base/variable.h"
#include "chatdir/chatdir_fixture.h"
#include "reprise/capabilities.h"
#include "reprise/open_store.h"
#include "store/chatdir/layout.h"
#include "support/build.h"
#include "support/child.h"
#include "support/must.h"
#include "support/small_disk.h"

namespace reprise::test {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kCut = "the end was cut off in writing";
const std::vector<SessionState> kEverywhere = {SessionState::active, SessionState::closed,
                                               SessionState::archived, SessionState::trashed};

// Appends messages, creates chats, archives and restores them, in an endless loop, and reports what
// is done: "chat ID" for a new chat, "said ID TEXT" for a message.
class Life {
 public:
  Life(const fs::path& root, int out, unsigned seed)
      : store_(must(open_chatdir_store(root))), out_(out), random_(seed), seed_(seed) {}

  int run() {
    for (int number = 0;; ++number) {
      const auto current = must(store_->capabilities().current_session->current());
      const auto dice = random_() % 8;
      if (!current || dice == 0) {
        begin(current);
      } else if (dice == 1) {
        unpack();
      } else {
        conversation(*current, number);
      }
    }
  }

 private:
  // Like --new.
  void begin(const std::optional<SessionId>& before) {
    const SessionId id = make_session_id(system_clock(), system_entropy());
    must(store_->create(session(id.str())));
    say(cat("chat ", id.str()));
    must(store_->capabilities().current_session->set_current(id));
    if (before) {
      must(store_->capabilities().archives->archive(*before, at(1)));
    }
  }

  void unpack() {
    const auto archived = must(store_->list({.states = {SessionState::archived}})).sessions;
    if (!archived.empty()) {
      must(store_->capabilities().archives->unarchive(archived[random_() % archived.size()].id));
    }
  }

  void conversation(const SessionId& id, int number) {
    const std::string name = cat(seed_, ".", number);
    const OperationId answer = operation_id(name);
    const std::string question = cat("question ", name);
    AppendOptions options{.begin_partial = PartialStart{answer, this_process(), "", ""}};
    if (const auto running = must(store_->capabilities().partials->find_partial(id)); running) {
      options.end_partial = running->answer;  // of a killed process
    }
    must(store_->append(id, {user(question)}, options));
    say(cat("said ", id.str(), " ", question));
    const std::vector<Block> delta = {TextBlock{"ans", {}}};
    must(store_->capabilities().partials->add_partial(id, answer, delta));
    must(store_->capabilities().artefacts->append_artefact(id, {1}, "stream", "ans"));
    const std::string text = cat("answer ", name, " ", std::string(random_() % 20'000, 'x'));
    must(store_->append(id, {assistant(text)}, {.end_partial = answer}));
    say(cat("said ", id.str(), " ", text));
  }

  void say(const std::string& line) const { must(write_all(out_, line + "\n", "the pipe")); }

  std::unique_ptr<Store> store_;
  int out_;
  std::minstd_rand random_;
  unsigned seed_;
};

class KilledChats : public testing::Test {
 protected:
  void kill_once(unsigned seed) {
    std::array<int, 2> pipe{};
    ASSERT_EQ(::pipe2(pipe.data(), O_CLOEXEC), 0);
    const pid_t child = in_child([&] { return Life(directory_.root(), pipe[1], seed).run(); });
    ::close(pipe[1]);
    std::string stored(65536, '\0');
    // Waits for the first report, then kills at any time.
    const ssize_t got = ::read(pipe[0], stored.data(), stored.size());
    ASSERT_GT(got, 0);
    stored.resize(static_cast<std::size_t>(got));
    const std::chrono::microseconds wait(random_() % 120'000);
    std::thread killer([&] {
      std::this_thread::sleep_for(wait);
      ::kill(child, SIGKILL);
    });
    std::array<char, 65536> piece{};
    while (const ssize_t more = ::read(pipe[0], piece.data(), piece.size())) {
      ASSERT_GT(more, 0);
      stored.append(piece.data(), static_cast<std::size_t>(more));
    }
    killer.join();
    ::close(pipe[0]);
    EXPECT_EQ(exit_code_of(child), 128 + SIGKILL);
    take(stored);
  }

  // Every acknowledged message exists, in order; one more may exist from the time of the kill.
  void check() {
    const auto store = directory_.open();
    for (const Damage& damage : must(store->capabilities().repair->verify()).damage) {
      EXPECT_EQ(damage.reason, kCut) << damage.where;
    }
    std::map<std::string, int> listed;
    const SessionPage page = must(store->list({.states = kEverywhere, .limit = kPageMax}));
    EXPECT_EQ(page.damage, std::vector<Damage>{});
    for (const SessionInfo& info : page.sessions) {
      ++listed[info.id.str()];
      record_.try_emplace(info.id.str());  // created at the time of the kill
    }
    for (auto& [name, stored] : record_) {
      const SessionId id = session_id(name);
      EXPECT_EQ(listed[name], 1) << name;
      EXPECT_EQ(places_of(id), 1) << name;
      const auto there = texts_of(*store, id);
      ASSERT_GE(there.size(), stored.size()) << name;
      ASSERT_LE(there.size(), stored.size() + 1) << name;
      for (std::size_t i = 0; i < stored.size(); ++i) {
        ASSERT_EQ(there[i], stored[i]) << name << " " << i;
      }
      stored = there;
    }
  }

  std::size_t messages() const {
    std::size_t count = 0;
    for (const auto& [name, stored] : record_) {
      count += stored.size();
    }
    return count;
  }

  ChatDirectory directory_;
  std::map<std::string, std::vector<std::string>> record_;
  std::minstd_rand random_{11};

 private:
  int places_of(const SessionId& id) const {
    const fs::path archive =
        directory_.root() / "archive" / store::chatdir::archive_name(id).value();
    return int{fs::exists(directory_.chat(id))} + int{fs::exists(archive)};
  }

  // Only whole lines: a truncated one was not acknowledged.
  void take(std::string_view stored) {
    for (std::size_t end = stored.find('\n'); end != std::string_view::npos;
         end = stored.find('\n')) {
      const std::string_view line = stored.substr(0, end);
      stored.remove_prefix(end + 1);
      const std::string_view rest = line.substr(5);
      const std::size_t blank = rest.find(' ');
      auto& texts = record_[std::string(rest.substr(0, blank))];
      if (line.starts_with("said ")) {
        texts.emplace_back(rest.substr(blank + 1));
      }
    }
  }
};

TEST_F(KilledChats, LoseNothingAndAreInOnePlace) {
  const unsigned rounds = variable("REPRISE_LONG").empty() ? 20 : 200;
  for (unsigned round = 0; round < rounds; ++round) {
    kill_once(round + 1);
    check();
    if (HasFatalFailure()) {
      FAIL() << "in round " << round;
    }
  }
  EXPECT_GT(messages(), rounds);
  EXPECT_GT(record_.size(), 1U);
}

constexpr int kTurns = 200;

// 0 if everything read was consistent: an increasing number of pairs of questions and answers.
int read_all_the_time(const ChatDirectory& directory, const SessionId& id) {
  const auto lasting = directory.open({.access = Access::read});
  std::size_t seen = 0;
  for (bool anew = true; seen < 4 * kTurns; anew = !anew) {
    const auto other = anew ? directory.open({.access = Access::read}) : nullptr;
    Store& store = anew ? *other : *lasting;
    std::vector<std::string> there;
    const auto report = store.read(id, {}, [&there](Message&& message) {
      there.push_back(plain_text(message));
      return Flow::proceed;
    });
    const auto page = store.list({});
    if (!report || report->damaged != 0 || !page || page->sessions.size() != 1 ||
        !page->damage.empty() || there.size() < seen || there.size() % 2 != 0) {
      return 1;
    }
    for (std::size_t i = seen; i < there.size(); i += 2) {
      if (there[i + 1] != cat("answer to ", there[i])) {
        return 2;
      }
    }
    seen = there.size();
  }
  return 0;
}

// Each turn is one batch, like a turn of the engine without streaming.
TEST(TwoProcesses, AddTheirTurnsToOneChatWhileAThirdReads) {
  const ChatDirectory directory;
  const SessionId id = chat_id(1);
  must(directory.open()->create(chat_session(1)));
  std::array<pid_t, 2> writers{};
  for (std::size_t who = 0; who < writers.size(); ++who) {
    writers.at(who) = in_child([&] {
      const auto store = directory.open({.busy_timeout = std::chrono::minutes(2)});
      for (int turn = 0; turn < kTurns; ++turn) {
        const std::string question = cat(who, " ", turn);
        const std::string answer = cat("answer to ", question);
        if (!store->append(id, {user(question), assistant(answer)}, {})) {
          return 1;
        }
      }
      return 0;
    });
  }
  const pid_t reader = in_child([&] { return read_all_the_time(directory, id); });
  for (const pid_t writer : writers) {
    EXPECT_EQ(exit_code_of(writer), 0);
  }
  EXPECT_EQ(exit_code_of(reader), 0);
  const auto there = texts_of(*directory.open(), id);
  ASSERT_EQ(there.size(), 4U * kTurns);
  std::array<int, 2> next{};
  for (std::size_t i = 0; i < there.size(); i += 2) {
    const auto who = static_cast<std::size_t>(there[i][0] - '0');
    EXPECT_EQ(there[i], cat(who, " ", next.at(who)++)) << "each one's own in its order";
    EXPECT_EQ(there[i + 1], cat("answer to ", there[i]));
  }
}

TEST(TwoProcesses, WaitForEachOtherForABoundedTime) {
  const ChatDirectory directory;
  const OperationId answer = operation_id("answer");
  must(directory.open()->create(chat_session(1)));
  must(directory.open()->append(
      chat_id(1), {user("first")},
      {.begin_partial = PartialStart{answer, this_process(), "p", "m", at(1)}}));
  const auto lock = must(LockFile::open(directory.chat(chat_id(1)) / ".lock"));
  const auto hold = must(lock->acquire(std::chrono::steady_clock::now()));
  const auto store = directory.open({.busy_timeout = std::chrono::milliseconds(20)});
  EXPECT_TRUE(fails(store->append(chat_id(1), {user("x")}, {}), Code::busy));
  EXPECT_TRUE(fails(store->update(chat_id(1), {.title = "x"}), Code::busy));
  // The holder may be ending this answer.
  Partials& partials = *store->capabilities().partials;
  EXPECT_TRUE(fails(partials.add_partial(chat_id(1), answer, user("x").blocks), Code::busy));
  EXPECT_TRUE(fails(partials.renew_lease(chat_id(1), answer, {}), Code::busy));
  EXPECT_TRUE(fails(store->capabilities().archives->archive(chat_id(1), at(1)), Code::busy));
  EXPECT_TRUE(fails(store->capabilities().trash->trash(chat_id(1), at(1)), Code::busy));
  EXPECT_TRUE(works(read_all(*store, chat_id(1)))) << "readers wait for nobody";
  EXPECT_TRUE(works(store->list({})));
}

TEST(ChatsOnAFullDisk, FailAndCanBeReadAndDeleted) {
  const TemporaryFolder folder;
  const SmallDisk disk(folder.path());
  if (!disk.is_mounted()) {
    GTEST_SKIP() << "mounting a small disk needs root";
  }
  const auto store = must(open_chatdir_store(folder.path() / "d"));
  must(store->create(chat_session(1)));
  must(store->append(chat_id(1), {user("first")}, {}));
  must(store->create(chat_session(2)));
  must(get(*store, chat_id(1)));  // closes the reprise.json that the append has replaced
  disk.fill();
  EXPECT_TRUE(fails(store->append(chat_id(1), {user(std::string(50'000, 'x'))}, {}), Code::io));
  EXPECT_TRUE(fails(store->capabilities().archives->archive(chat_id(1), at(1)), Code::io));
  EXPECT_TRUE(fails(store->create(chat_session(3)), Code::io));
  const auto reader = must(open_chatdir_store(folder.path() / "d", {.access = Access::read}));
  EXPECT_EQ(texts_of(*reader, chat_id(1)), std::vector<std::string>{"first"});
  EXPECT_EQ(must(reader->list({})).sessions.size(), 2U);
  EXPECT_EQ(must(reader->capabilities().repair->verify()).damage, std::vector<Damage>{});
  must(store->capabilities().trash->purge(chat_id(2)));
  fs::remove(folder.path() / "filler");
  must(store->append(chat_id(1), {user("second")}, {}));
  must(store->capabilities().archives->archive(chat_id(1), at(1)));
  EXPECT_EQ(texts_of(*reader, chat_id(1)), (std::vector<std::string>{"first", "second"}));
}

TEST(ChatsWithAFileSizeLimit, FailTheWriteAndKeepTheRest) {
  const ChatDirectory directory;
  const SessionId id = chat_id(1);
  must(directory.open()->create(chat_session(1)));
  const pid_t child = in_child([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{100'000, 100'000};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) {
      return 2;
    }
    const auto store = directory.open();
    for (std::size_t head = 0; head < 100; ++head) {
      const auto done = store->append(id, {user(std::string(5'000, 'x'))}, {});
      if (!done) {
        const bool good = done.error().code == Code::io && head > 10 &&
                          texts_of(*store, id).size() == head &&
                          must(store->capabilities().repair->verify()).damage.empty();
        return good ? 0 : 3;
      }
    }
    return 4;
  });
  EXPECT_EQ(exit_code_of(child), 0);
  EXPECT_TRUE(works(directory.open()->append(id, {user("x")}, {})));
}

}  // namespace
}  // namespace reprise::test

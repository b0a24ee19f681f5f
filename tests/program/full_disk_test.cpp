// A full disk: the user is told that the answer is not saved, and only stored messages are shown as
// such.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "base/file.h"
#include "base/text.h"
#include "cli/commands/command.h"
#include "program/program_fixture.h"
#include "reprise/capabilities.h"
#include "reprise/open_store.h"
#include "support/child.h"
#include "support/must.h"
#include "support/small_disk.h"

namespace reprise::test {
namespace {

namespace fs = std::filesystem;

std::size_t count(std::string_view text, std::string_view what) {
  std::size_t count = 0;
  for (auto at = text.find(what); at != std::string_view::npos; at = text.find(what, at + 1)) {
    ++count;
  }
  return count;
}

class FullDiskTest : public ProgramTest, public testing::WithParamInterface<const char*> {
 protected:
  fs::path folder() const { return home() / "disk"; }
  std::string url() const { return cat(GetParam(), ":", (folder() / "store").native()); }

  std::int64_t stored() {
    const auto store = must(open_store(url(), {.access = Access::read}));
    const SessionPage page = must(store->list({}));
    return page.sessions.empty() ? 0 : page.sessions.front().head.value;
  }
};

TEST_P(FullDiskTest, OnlyWhatIsStoredIsShownAsAMessage) {
  fs::create_directories(folder());
  const SmallDisk disk(folder());
  if (!disk.is_mounted()) {
    GTEST_SKIP() << "mounting a small disk needs root";
  }
  ASSERT_EQ(run({"--store", url(), "ask", "hello"}).code, 0);
  const std::int64_t before = stored();
  disk.fill();
  // More than fits into the remainder of a file's last block.
  const Done done = run({"--store", url(), "--json", "ask", "-c", std::string(100'000, 'x')});
  EXPECT_EQ(done.code, 2) << done.err;
  EXPECT_EQ(static_cast<std::int64_t>(count(done.out, R"("event":"message")")), stored() - before);
  EXPECT_EQ(count(done.out, R"("event":"done")"), 1U);
  EXPECT_NE(done.err, "");
  fs::remove(folder() / "filler");
  EXPECT_EQ(run({"--store", url(), "ask", "-c", "and now"}).code, 0);
  EXPECT_EQ(run({"--store", url(), "verify"}).code, 0);
}

// The received text is saved and can be continued, or is reported as not saved.
TEST_P(FullDiskTest, AStoppedAnswerIsSavedOrSaidNotToBe) {
  fs::create_directories(folder());
  const SmallDisk disk(folder());
  if (!disk.is_mounted()) {
    GTEST_SKIP() << "mounting a small disk needs root";
  }
  ASSERT_EQ(run({"--store", url(), "ask", "hello"}).code, 0);
  const fs::path output = project() / "said";
  const pid_t child = in_child([&] {
    ::setenv("REPRISE_ECHO_DELAY_MS", "20", 1);
    std::string words = "begin";
    for (int i = 0; i < 2000; ++i) {
      words += cat(" word-", i);
    }
    const Done done = run({"--store", url(), "ask", "-c", words});
    return replace_file(output, done.err) ? done.code : 99;
  });
  const auto has_started = [&] {
    const auto store = must(open_store(url(), {.access = Access::read}));
    const SessionInfo info = must(store->list({})).sessions.at(0);
    const auto running = must(store->capabilities().partials->find_partial(info.id));
    return running && !running->blocks.empty();
  };
  while (!has_started()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  disk.fill();
  ASSERT_EQ(::kill(child, SIGINT), 0);
  Done done;
  done.code = exit_code_of(child);
  done.err = must(read_file(output));
  const bool is_promised = done.err.find("--go-on") != std::string::npos;
  EXPECT_EQ(done.code, is_promised ? 130 : 2) << done.err;
  fs::remove(folder() / "filler");
  EXPECT_EQ(run({"--store", url(), "verify"}).code, 0);
  if (is_promised) {
    EXPECT_NE(run({"--store", url(), "show", "last"}).out.find("begin"), std::string::npos);
    const Done on = run({"--store", url(), "ask", "-c", "--go-on"});
    EXPECT_EQ(on.code, 0) << on.err;
  } else {
    EXPECT_NE(done.err.find("not saved"), std::string::npos) << done.err;
    EXPECT_EQ(run({"--store", url(), "ask", "-c", "and now"}).code, 0);
  }
}

void write_pi_session(const fs::path& home, int number) {
  const fs::path history = home / ".pi/agent/sessions/--x--";
  fs::create_directories(history);
  std::ofstream(history / cat(number, ".jsonl"))
      << R"({"type":"session","version":3,"id":"s)" << number
      << R"(","timestamp":"2026-01-20T10:00:00Z","cwd":"/x"})" << '\n'
      << R"({"type":"message","id":"1","parentId":null,"timestamp":"2026-01-20T10:00:00Z",)"
      << R"("message":{"role":"user","content":")" << std::string(10'000, 'x') << "\"}}\n";
}

// Not one warning for each session.
TEST_P(FullDiskTest, AnImportStopsAndContinuesLater) {
  if (std::string_view(GetParam()) == "context") {
    GTEST_SKIP() << "the store has room for one session";
  }
  fs::create_directories(folder());
  const SmallDisk disk(folder());
  if (!disk.is_mounted()) {
    GTEST_SKIP() << "mounting a small disk needs root";
  }
  constexpr int kSessions = 8;
  for (int i = 0; i < kSessions; ++i) {
    write_pi_session(home(), i);
  }
  ASSERT_EQ(run({"--store", url(), "ask", "hello"}).code, 0);
  disk.fill();
  const Done full = run({"--store", url(), "import", "pi:"});
  EXPECT_NE(full.code, 0);
  EXPECT_EQ(count(full.err, "cannot import"), 1U) << full.err;
  EXPECT_NE(full.err.find("as the disk is full; `reprise import` continues"), std::string::npos)
      << full.err;
  fs::remove(folder() / "filler");
  const Done done = run({"--store", url(), "import", "pi:"});
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_NE(done.err.find(" 0 failed"), std::string::npos) << done.err;
  EXPECT_EQ(count(run({"--store", url(), "list", "--all", "--json"}).out, R"("messages":1,)"),
            static_cast<std::size_t>(kSessions));
}

class WatchedImportTest : public ProgramTest {
 protected:
  fs::path messages() const { return home() / "messages"; }

  // Imports as the program does, with its messages in a file.
  int watch(const std::string& store) const {
    const auto err = must(open_file(messages(), O_WRONLY | O_CREAT, 0600));
    cli::Output standard(err.get(), "standard output");
    cli::Output error(err.get(), "standard error");
    return static_cast<int>(cli::run_program({"--store", store, "import", "--watch", "pi:"},
                                             cli::ProcessEnvironment({{"HOME", home().native()}}),
                                             standard, error));
  }

  bool await(std::string_view text) const {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (read_file(messages()).value_or("").find(text) == std::string::npos) {
      if (std::chrono::steady_clock::now() > end) {
        return false;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return true;
  }
};

TEST_F(WatchedImportTest, ContinuesWhenTheDiskHasRoomAgain) {
  fs::create_directories(home() / "disk");
  const SmallDisk disk(home() / "disk");
  if (!disk.is_mounted()) {
    GTEST_SKIP() << "mounting a small disk needs root";
  }
  write_pi_session(home(), 1);
  const std::string store = cat("sqlite:", (home() / "disk/store.db").native());
  const pid_t child = in_child([&] { return watch(store); });
  EXPECT_TRUE(await("watching"));
  disk.fill();
  write_pi_session(home(), 2);
  EXPECT_TRUE(await("as the disk is full"));
  fs::remove(home() / "disk/filler");
  write_pi_session(home(), 3);
  EXPECT_TRUE(await("pi: 2 new, 0 continued, 1 unchanged, 0 failed"))
      << read_file(messages()).value_or("");
  ASSERT_EQ(::kill(child, SIGINT), 0);
  EXPECT_EQ(exit_code_of(child), 0);
}

class DoctorsDiskTest : public ProgramTest {};

// At each limit, and one block below it, in addition to the 64 KiB that it tries to write.
TEST_F(DoctorsDiskTest, SaysHowMuchRoomIsTooLittle) {
  struct Room {
    const char* size;
    bool is_ok;
    bool is_plenty;
  };
  for (const Room& room : {Room{"size=16444k", false, false}, Room{"size=16448k", true, false},
                           Room{"size=262204k", true, false}, Room{"size=262208k", true, true}}) {
    SCOPED_TRACE(room.size);
    fs::create_directories(home() / "disk");
    const SmallDisk disk(home() / "disk", room.size);
    if (!disk.is_mounted()) {
      GTEST_SKIP() << "mounting a small disk needs root";
    }
    const Done done =
        run({"--store", cat("sqlite:", (home() / "disk/s.db").native()), "doctor", "--json"});
    const std::size_t at = done.out.find(R"({"name":"space")");
    ASSERT_NE(at, std::string::npos) << done.out << done.err;
    const std::string output = done.out.substr(at, done.out.find('}', at) - at);
    EXPECT_EQ(output.find(R"("ok":true)") != std::string::npos, room.is_ok) << output;
    EXPECT_EQ(output.ends_with(R"("fix":null)"), room.is_plenty) << output;
    EXPECT_EQ(done.code, room.is_ok ? 0 : 1) << done.err;
  }
}

TEST_F(DoctorsDiskTest, NamesFoldersAndGivesAdviceThatHelps) {
  fs::create_directories(home() / "disk");
  const SmallDisk disk(home() / "disk");
  if (!disk.is_mounted()) {
    GTEST_SKIP() << "mounting a small disk needs root";
  }
  const std::string url = cat("sqlite:", (home() / "disk/s.db").native());
  ASSERT_EQ(run({"--store", url, "ask", "hello"}).code, 0);
  disk.fill();
  const Done full = run({"--store", url, "doctor"});
  EXPECT_EQ(full.code, 1);
  EXPECT_EQ(full.out.find("reprise-doctor"), std::string::npos) << full.out;
  EXPECT_NE(full.out.find("-> free some space, or name another store"), std::string::npos)
      << full.out;
  fs::remove(home() / "disk/filler");
  ASSERT_TRUE(disk.make_read_only());
  const Done read_only = run({"--store", url, "doctor"});
  EXPECT_EQ(read_only.code, 1);
  EXPECT_EQ(read_only.out.find("chmod"), std::string::npos) << read_only.out;
  EXPECT_NE(read_only.out.find("remount"), std::string::npos) << read_only.out;
}

// The backup is prepared under a temporary name.
TEST_P(FullDiskTest, ABackupThatDoesNotFitIsNamed) {
  fs::create_directories(folder());
  const std::string url = cat(GetParam(), ":", (home() / "store").native());
  ASSERT_EQ(run({"--store", url, "ask", std::string(100'000, 'x')}).code, 0);
  const SmallDisk disk(folder());
  if (!disk.is_mounted()) {
    GTEST_SKIP() << "mounting a small disk needs root";
  }
  disk.fill();
  const fs::path target = folder() / "backup";
  const Done done = run({"--store", url, "backup", target.native()});
  EXPECT_EQ(done.code, 1);
  EXPECT_NE(done.err.find(target.native()), std::string::npos) << done.err;
  EXPECT_EQ(done.err.find(".tmp"), std::string::npos) << done.err;
  EXPECT_EQ(done.err.find(".making"), std::string::npos) << done.err;
  EXPECT_FALSE(fs::exists(target));
}

INSTANTIATE_TEST_SUITE_P(Stores, FullDiskTest,
                         testing::Values("sqlite", "sessions", "chatdir", "context"),
                         [](const auto& one) { return std::string(one.param); });

}  // namespace
}  // namespace reprise::test

#include "reprise/mode.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "base/testing/temporary_folder.h"
#include "base/text.h"
#include "engine/command.h"

namespace reprise {
namespace {

namespace fs = std::filesystem;

class ModeTest : public testing::Test {
 protected:
  void SetUp() override {
    std::ofstream(folder_ / "a.md") << "A";
    std::ofstream(folder_ / "b.md") << "B\xFF";
    fs::create_directory(folder_ / "c.md");
  }

  Result<std::string> load(std::vector<std::string> context, std::stop_token stop = {}) {
    const Mode mode{"draft", "be brief", "", std::move(context), PathPolicy::none};
    return load_context(
        mode, folder_,
        {.on_note = [this](std::string_view line) { notes_.emplace_back(line); },
         .on_warning = [this](std::string_view line) { warnings_.emplace_back(line); }},
        std::move(stop));
  }
  Result<std::string> command(const std::string& line, std::chrono::milliseconds timeout,
                              std::stop_token stop = {}) {
    return run_command(line, {folder_, timeout, 1000, std::move(stop)});
  }

  const test::TemporaryFolder temporary_;
  fs::path folder_ = temporary_.path();
  std::vector<std::string> notes_;
  std::vector<std::string> warnings_;
};

TEST_F(ModeTest, FilesPatternsAndCommands) {
  const auto loaded = load({"file:a.md", "glob:*.md", "cmd:pwd; echo to-stderr >&2"});
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(*loaded,
            "be brief\n\n## a.md\n\nA\n\n## a.md\n\nA\n\n## b.md\n\nB\xEF\xBF\xBD\n\n"
            "## $ pwd; echo to-stderr >&2\n\n" +
                folder_.native() + "\n");
  ASSERT_EQ(notes_.size(), 4U);
  EXPECT_EQ(notes_.at(0), "context: a.md, 1 bytes");
  EXPECT_EQ(*load_context({"x", {}, {}, {"file:a.md"}, PathPolicy::none}, folder_), "## a.md\n\nA");
}

TEST_F(ModeTest, UnavailableContextIsAnError) {
  EXPECT_EQ(load({"file:none"}).error().code, Code::not_found);
  EXPECT_EQ(load({"glob:*.none"}).error().code, Code::not_found);
  EXPECT_EQ(load({"cmd:exit 3"}).error().code, Code::io);
  EXPECT_EQ(load({"cmd:exit 3"}).error().message,
            "mode draft: cmd:exit 3: the command failed with exit code 3");
  EXPECT_EQ(load({"cmd:kill -9 $$"}).error().code, Code::io);
  EXPECT_EQ(load({"file:c.md"}).error().code, Code::invalid_argument);
  for (const std::string item : {"what:x", "file:", "file", ""}) {
    EXPECT_EQ(load({item}).error().code, Code::invalid_argument) << item;
  }
  EXPECT_EQ(load({"cmd:yes"}).error().code, Code::invalid_argument);
  folder_ /= "gone";
  EXPECT_EQ(load({"cmd:true"}).error().code, Code::not_found);
  folder_ = folder_.parent_path();
}

// The contents of a cloned folder must not decide which file is read.
TEST_F(ModeTest, LinksBelowTheFolderAreNotFollowed) {
  const fs::path outside = folder_.native() + "-outside";
  fs::create_directory(outside);
  std::ofstream(outside / "id_key") << "SECRET";
  fs::create_symlink(outside / "id_key", folder_ / "README.md");
  fs::create_directory(folder_ / "docs");
  fs::create_symlink(outside / "id_key", folder_ / "docs" / "a.md");
  fs::create_symlink(outside, folder_ / "docs" / "h");
  for (const std::string item : {"file:README.md", "file:docs/a.md", "file:docs/h/id_key",
                                 "file:docs/../README.md", "file:./README.md"}) {
    EXPECT_EQ(load({item}).error().code, Code::invalid_argument) << item;
  }
  notes_.clear();
  for (const std::string item : {"glob:docs/*.md", "glob:docs/h/id*", "glob:docs/*/id*"}) {
    EXPECT_EQ(*load({item}), "be brief") << item;
  }
  EXPECT_EQ(notes_, std::vector<std::string>());
  EXPECT_EQ(warnings_,
            (std::vector<std::string>{
                "context: of glob:docs/*.md, 1 file with a link in the path left out",
                "context: of glob:docs/h/id*, 1 file with a link in the path left out",
                "context: of glob:docs/*/id*, 1 file with a link in the path left out"}));
  EXPECT_EQ(*load({"glob:*.md"}), "be brief\n\n## a.md\n\nA\n\n## b.md\n\nB\xEF\xBF\xBD");
  // Paths outside the folder, and the folder itself, are the user's own.
  const std::string name = outside.filename().native();
  fs::create_symlink(outside / "id_key", outside / "link");
  EXPECT_EQ(*load({"file:../" + name + "/link"}), "be brief\n\n## ../" + name + "/link\n\nSECRET");
  EXPECT_TRUE(load({"file:" + (outside / "link").native(), "glob:../" + name + "/li*"}));
  const fs::path linked = outside / "linked";
  fs::create_directory_symlink(folder_, linked);
  const Mode mode{"x", {}, {}, {"file:a.md", "glob:a.*"}, PathPolicy::none};
  EXPECT_EQ(*load_context(mode, linked), "## a.md\n\nA\n\n## a.md\n\nA");
  fs::remove_all(outside);
}

// The folder's name is not a pattern.
TEST_F(ModeTest, PatternsMatchBelowTheFolderOnly) {
  for (const char* name : {"a[1]", "a1", "b?", "bc", "c*\\", "c*d"}) {
    fs::create_directory(folder_ / name);
    std::ofstream(folder_ / name / "n.txt") << name;
  }
  const Mode mode{"x", {}, {}, {"glob:*.txt"}, PathPolicy::none};
  for (const char* name : {"a[1]", "b?", "c*\\"}) {
    EXPECT_EQ(*load_context(mode, folder_ / name), cat("## n.txt\n\n", name));
  }
}

TEST_F(ModeTest, ACommandHasBoundedTime) {
  const auto start = std::chrono::steady_clock::now();
  const std::chrono::milliseconds brief(60);
  EXPECT_EQ(command("sleep 60 | sleep 60", brief).error().code, Code::timeout);
  EXPECT_EQ(command("exec >&-; sleep 60", brief).error().code, Code::timeout);
  EXPECT_EQ(*command("(sleep 60 >/dev/null 2>&1 &) ; echo done", std::chrono::seconds(30)),
            "done\n");
  const std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(command("sleep 60", std::chrono::seconds(30), stop.get_token()).error().code,
            Code::cancelled);
  EXPECT_EQ(load({"file:a.md"}, stop.get_token()).error().code, Code::cancelled);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

TEST_F(ModeTest, CommandsDoNotInheritIgnoredOrBlockedSignals) {
  const auto before = ::signal(SIGPIPE, SIG_IGN);
  sigset_t blocked;
  sigset_t unblocked;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGWINCH);
  ::pthread_sigmask(SIG_BLOCK, &blocked, &unblocked);
  const auto killed = command("kill -PIPE $$; echo ignored", std::chrono::seconds(30));
  ASSERT_FALSE(killed);
  EXPECT_EQ(killed.error().message, "the command was killed by signal 13");
  EXPECT_EQ(*command("trap 'echo resized' WINCH; kill -WINCH $$; :", std::chrono::seconds(30)),
            "resized\n");
  ::pthread_sigmask(SIG_SETMASK, &unblocked, nullptr);
  (void)::signal(SIGPIPE, before);
}

}  // namespace
}  // namespace reprise

// The REPL as a person meets it: the program itself, on a pseudo-terminal.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "reprise/error.h"

namespace reprise::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kPatience{30};

class TerminalTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "reprise-terminal-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    home_ = name;
  }

  void TearDown() override {
    if (child_ > 0) {
      ::kill(child_, SIGKILL);
      ::waitpid(child_, nullptr, 0);
    }
    std::error_code ignored;
    fs::remove_all(home_, ignored);
  }

  // Runs `reprise WORDS…` on a terminal of 80 columns.
  void start(std::vector<std::string> words, std::string_view delay_ms = "0") {
    screen_.clear();
    seen_ = 0;
    master_ = Fd(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
    ASSERT_EQ(::grantpt(master_.get()), 0);
    ASSERT_EQ(::unlockpt(master_.get()), 0);
    std::array<char, 100> name{};
    ASSERT_EQ(::ptsname_r(master_.get(), name.data(), name.size()), 0);
    words.insert(words.begin(), REPRISE_PROGRAM);
    std::vector<std::string> variables = {cat("HOME=", home_.string()),
                                          "TERM=xterm",
                                          "LC_ALL=C.UTF-8",
                                          "PATH=/usr/bin:/bin",
                                          "REPRISE_PROVIDER=echo",
                                          cat("REPRISE_ECHO_DELAY_MS=", delay_ms)};
    std::vector<char*> argv = pointers(words);
    std::vector<char*> envp = pointers(variables);
    const std::string folder = home_.string();
    child_ = ::fork();
    ASSERT_GE(child_, 0);
    if (child_ == 0) {
      ::setsid();
      const int terminal = ::open(name.data(), O_RDWR);  // becomes the controlling one
      const winsize size{.ws_row = 24, .ws_col = 80, .ws_xpixel = 0, .ws_ypixel = 0};
      ::ioctl(terminal, TIOCSWINSZ, &size);
      for (const int fd : {0, 1, 2}) {
        ::dup2(terminal, fd);
      }
      if (::chdir(folder.c_str()) == 0) {
        ::execve(argv[0], argv.data(), envp.data());
      }
      ::_exit(127);
    }
  }

  void type(std::string_view keys) { ASSERT_TRUE(write_all(master_.get(), keys, "terminal")); }

  // Waits until `text` is shown after what was awaited before.
  void await(std::string_view text) {
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    while (screen_.find(text, seen_) == std::string::npos) {
      ASSERT_LT(std::chrono::steady_clock::now(), deadline) << "no " << text << " in: " << screen_;
      ASSERT_TRUE(read_more()) << "ended without " << text << ": " << screen_;
    }
    seen_ = screen_.find(text, seen_) + text.size();
  }

  // The editor asks the terminal to mark pastes whenever it begins to read.
  void await_prompt() { await("\x1b[?2004h"); }

  // The exit code, when all has been shown.
  int end() {
    while (read_more()) {
    }
    int status = 0;
    EXPECT_EQ(::waitpid(child_, &status, 0), child_);
    child_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

  // What a command prints without a terminal.
  std::string printed(std::string_view words) const {
    const std::string line = cat("cd '", home_.string(), "' && HOME='", home_.string(), "' '",
                                 REPRISE_PROGRAM, "' ", words, " 2>&1");
    std::string out;
    if (FILE* const pipe = ::popen(line.c_str(), "r"); pipe != nullptr) {
      std::array<char, 4096> chunk{};
      for (std::size_t count = 1; count > 0;) {
        count = std::fread(chunk.data(), 1, chunk.size(), pipe);
        out.append(chunk.data(), count);
      }
      ::pclose(pipe);
    }
    return out;
  }

  const std::string& screen() const { return screen_; }
  pid_t child() const { return child_; }

 private:
  static std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> out;
    out.reserve(texts.size() + 1);
    for (std::string& text : texts) {
      out.push_back(text.data());
    }
    out.push_back(nullptr);
    return out;
  }

  // False at the end.
  bool read_more() {
    pollfd watched{.fd = master_.get(), .events = POLLIN, .revents = 0};
    if (::poll(&watched, 1, 30'000) <= 0) {
      ADD_FAILURE() << "nothing more is shown: " << screen_;
      ::kill(child_, SIGKILL);  // or the wait for its end would last
      return false;
    }
    std::array<char, 4096> chunk{};
    const ssize_t count = ::read(master_.get(), chunk.data(), chunk.size());
    if (count > 0) {
      screen_.append(chunk.data(), static_cast<std::size_t>(count));
    }
    return count > 0;
  }

  fs::path home_;
  Fd master_;
  pid_t child_ = -1;
  std::string screen_;
  std::size_t seen_ = 0;
};

TEST_F(TerminalTest, TakesAPasteOfThreeLinesAsOneMessage) {
  start({"chat"});
  await_prompt();
  type("\x1b[200~first\rsecond\nthird\n\x1b[201~");
  await("third");
  type("!\r");
  await("third!\r\n");
  await_prompt();  // a Ctrl-D that comes before is nobody's
  type("\x04");
  EXPECT_EQ(end(), 0);
  const std::string shown = printed("show last --json");
  EXPECT_NE(shown.find(R"("text":"first\nsecond\nthird!")"), std::string::npos) << shown;
  EXPECT_NE(shown.find(R"("messages":2)"), std::string::npos) << shown;
}

TEST_F(TerminalTest, JoinsLinesAfterABackslashAltEnterAndInAFence) {
  start({"chat"});
  await_prompt();
  type("a\\\rb\x1b\r```\rc\r```\r");
  await("\x1b[?2004l");
  await_prompt();
  type("\x04");
  EXPECT_EQ(end(), 0);
  const std::string shown = printed("show last --json");
  EXPECT_NE(shown.find(R"("text":"a\nb\n```\nc\n```")"), std::string::npos) << shown;
}

TEST_F(TerminalTest, GivesUpTheLineAtCtrlCAndLeavesAtTheSecond) {
  start({"chat"});
  await_prompt();
  type("never sent");
  await("never sent");
  type("\x03");
  await("Ctrl-C once more leaves");
  await_prompt();
  type("\x03");
  EXPECT_EQ(end(), 130);
  // The terminal is as it was: pastes are no longer marked.
  EXPECT_GT(screen().rfind("\x1b[?2004l"), screen().rfind("\x1b[?2004h"));
  EXPECT_EQ(printed("list --json"), "[]\n");
}

TEST_F(TerminalTest, KeepsWhatCameWhenCtrlCStopsAnAnswerAndContinuesIt) {
  start({"chat"}, "100");
  await_prompt();
  type("one two three four five six seven eight nine ten eleven twelve\r");
  await("one two three four five six seven eight nine ten eleven twelve");  // as it is typed
  await("one two");
  type("\x03");
  await("stopped; what came is kept, /go-on continues it");
  await_prompt();
  type("\x04");
  EXPECT_EQ(end(), 0);
  const std::string shown = printed("show last --json");
  EXPECT_NE(shown.find(R"("state":"incomplete")"), std::string::npos) << shown;
  EXPECT_EQ(shown.find("twelve", shown.find("assistant")), std::string::npos) << shown;
  start({"chat", "-c"});
  await("that answer was cut; /go-on continues it");
  await_prompt();
  type("/go-on\r");
  await_prompt();
  type("/quit\r");
  EXPECT_EQ(end(), 0);
  EXPECT_EQ(printed("show last --json").find(R"("state":"incomplete")"), std::string::npos);
}

TEST_F(TerminalTest, LeavesAtTheSecondCtrlCAfterStoppingAnAnswer) {
  start({"chat"}, "300");
  await_prompt();
  type("one two three four five six\r");
  await("one two three four five six");
  await("one");
  type("\x03");
  await("stopped; what came is kept");
  type("\x03");
  EXPECT_EQ(end(), 130);
  const std::string shown = printed("show last --json");
  EXPECT_NE(shown.find(R"("state":"incomplete")"), std::string::npos) << shown;
}

TEST_F(TerminalTest, KeepsWhatCameWhenItIsTerminated) {
  start({"chat"}, "300");
  await_prompt();
  type("one two three four five six\r");
  await("one two three four five six");
  await("one");
  ASSERT_EQ(::kill(child(), SIGTERM), 0);
  EXPECT_EQ(end(), 130);
  const std::string shown = printed("show last --json");
  EXPECT_NE(shown.find(R"("state":"incomplete")"), std::string::npos) << shown;
  EXPECT_NE(shown.find("Untitled (interrupted)"), std::string::npos) << shown;
}

TEST_F(TerminalTest, BringsEarlierPromptsBackOnResume) {
  start({"chat"});
  await_prompt();
  type("remember me\r");
  await("remember me\r\n");
  await_prompt();
  type("\x04");
  EXPECT_EQ(end(), 0);
  start({"resume"});
  await("1. remember me  (just now)");
  await("Enter number to resume, or 'q' to cancel: ");
  await_prompt();
  type("7\r");
  await("a number from 1 to 1, or q");
  await_prompt();
  type("1\r");
  await("you said: remember me");
  await_prompt();
  type("\x1b[A");
  await("remember me");
  type(" again\r");
  await("remember me again\r\n");
  await_prompt();
  type("\x04");
  EXPECT_EQ(end(), 0);
}

TEST_F(TerminalTest, LetsNoEscapeSequenceThrough) {
  const std::string hostile = "\\033]0;owned\\007\\033[2J";
  printed(cat("--store sqlite:e.db ask --provider echo \"$(printf 'a", hostile, "b')\""));
  start({"--store", "sqlite:e.db", "resume"});
  await("Enter number");
  await_prompt();
  type("1\r");
  await_prompt();
  type("/retry\r");
  await_prompt();
  type("\x04");
  EXPECT_EQ(end(), 0);
  EXPECT_EQ(screen().find("\x1b]0;"), std::string::npos) << screen();
  EXPECT_EQ(screen().find("\x1b[2J"), std::string::npos) << screen();
  EXPECT_EQ(screen().find("owned\x07"), std::string::npos) << screen();
}

}  // namespace
}  // namespace reprise::cli

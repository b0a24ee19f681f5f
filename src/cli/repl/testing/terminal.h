#pragma once

// Runs the program itself, named by REPRISE_PROGRAM, on a pseudo-terminal.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "base/file.h"
#include "base/testing/temporary_folder.h"
#include "base/text.h"

namespace reprise::cli {

// Under a sanitizer on a busy machine, the program takes this long.
inline constexpr std::chrono::milliseconds kTerminalPatience{120'000};

class TerminalTest : public testing::Test {
 protected:
  void TearDown() override {
    if (child_ > 0) {
      ::kill(child_, SIGKILL);
      ::waitpid(child_, nullptr, 0);
    }
  }

  // Runs `reprise WORDS…` on a terminal of 80 columns.
  void start(std::vector<std::string> words, std::string_view delay_ms = "0",
             const std::vector<std::string>& more_variables = {}) {
    words.insert(words.begin(), REPRISE_PROGRAM);
    run(std::move(words), delay_ms, more_variables);
  }

  // Runs a shell command on it.
  void start_shell(std::string line) { run({"/bin/sh", "-c", std::move(line)}, "0", {}); }

  void run(std::vector<std::string> words, std::string_view delay_ms,
           const std::vector<std::string>& more_variables) {
    screen_.clear();
    seen_ = 0;
    master_ = Fd(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
    ASSERT_EQ(::grantpt(master_.get()), 0);
    ASSERT_EQ(::unlockpt(master_.get()), 0);
    std::array<char, 100> name{};
    ASSERT_EQ(::ptsname_r(master_.get(), name.data(), name.size()), 0);
    std::vector<std::string> variables = {cat("HOME=", home_.string()),
                                          "TERM=xterm",
                                          "LC_ALL=C.UTF-8",
                                          "PATH=/usr/bin:/bin",
                                          "REPRISE_PROVIDER=echo",
                                          "REPRISE_LOCAL_PORTS=none",
                                          cat("REPRISE_ECHO_DELAY_MS=", delay_ms)};
    // The first of two variables with the same name wins.
    variables.insert(variables.begin(), more_variables.begin(), more_variables.end());
    std::vector<char*> argv = pointers(words);
    std::vector<char*> envp = pointers(variables);
    const std::string folder = home_.string();
    child_ = ::fork();
    ASSERT_GE(child_, 0);
    if (child_ == 0) {
      ::setsid();
      const int terminal = ::open(name.data(), O_RDWR);  // becomes the controlling terminal
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

  // Waits for `text` after the previously awaited text.
  void await(std::string_view text) {
    const auto deadline = std::chrono::steady_clock::now() + kTerminalPatience;
    while (screen_.find(text, seen_) == std::string::npos) {
      ASSERT_LT(std::chrono::steady_clock::now(), deadline) << "no " << text << " in: " << screen_;
      ASSERT_TRUE(read_more()) << "ended without " << text << ": " << screen_;
    }
    seen_ = screen_.find(text, seen_) + text.size();
  }

  // The editor turns on bracketed paste mode whenever it begins to read.
  void await_prompt() { await("\x1b[?2004h"); }

  // The exit code, after all output was read.
  int end() {
    while (read_more()) {
    }
    int status = 0;
    EXPECT_EQ(::waitpid(child_, &status, 0), child_);
    child_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

  // The output of a command without a terminal.
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
  const std::filesystem::path& home() const { return home_; }

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
    if (::poll(&watched, 1, static_cast<int>(kTerminalPatience.count())) <= 0) {
      ADD_FAILURE() << "nothing more is shown: " << screen_;
      ::kill(child_, SIGKILL);  // otherwise the wait for its end would hang
      return false;
    }
    std::array<char, 4096> chunk{};
    const ssize_t count = ::read(master_.get(), chunk.data(), chunk.size());
    if (count > 0) {
      screen_.append(chunk.data(), static_cast<std::size_t>(count));
    }
    return count > 0;
  }

  const test::TemporaryFolder temporary_;
  const std::filesystem::path home_ = temporary_.path();
  Fd master_;
  pid_t child_ = -1;
  std::string screen_;
  std::size_t seen_ = 0;
};

}  // namespace reprise::cli

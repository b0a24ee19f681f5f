// The response times of the terminal app: the first screen and keys of the picker with 100,000
// sessions, and keys while an answer streams into a long session. Row 14.
//
// usage: app_bench FOLDER GROWN_FOLDER PROGRAM [--smoke|--full]

#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "grown_store.h"
#include "instant_server.h"
#include "measure.h"
#include "spawn.h"

namespace bench {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

struct Scale {
  std::int64_t sessions = 100'000;
  std::int64_t messages = 10'000;
  int starts = 21;
  int keys = 200;
};

constexpr int kTimeoutMs = 20'000;

// A program on a pseudo-terminal of 80x24, to measure the time until text is shown.
class Terminal {
 public:
  // `command[0]` is a path.
  Terminal(const Words& command, const Words& environment);
  ~Terminal();  // kills the program if it is running
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  // Milliseconds from the start, or from the last type(), until it has written `text`. Ends the
  // benchmark on a timeout.
  double until(std::string_view text);
  // The same until it writes anything.
  double until_any() { return until(""); }
  double until_end();
  // Waits until there is no output for `milliseconds`.
  void settle(int milliseconds);
  void type(std::string_view keys);
  // Its peak memory so far.
  double peak_mb() const;

 private:
  // False on a timeout, or if it has ended.
  bool read_some(int milliseconds);

  pid_t pid_ = -1;
  int terminal_ = -1;
  Clock::time_point begin_;
  std::string shown_;  // since the start or the last type()
};

Terminal::Terminal(const Words& command, const Words& environment) {
  const std::vector<char*> arguments = pointers(command);
  const std::vector<char*> variables = pointers(environment);
  const winsize size{.ws_row = 24, .ws_col = 80, .ws_xpixel = 0, .ws_ypixel = 0};
  begin_ = Clock::now();
  pid_ = ::forkpty(&terminal_, nullptr, nullptr, &size);
  require(pid_ >= 0, "no pseudo-terminal");
  if (pid_ == 0) {
    ::execve(arguments[0], arguments.data(), variables.data());
    ::_exit(127);
  }
}

Terminal::~Terminal() {
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  ::close(terminal_);
}

double Terminal::until(std::string_view text) {
  while (shown_.empty() || shown_.find(text) == std::string::npos) {
    require(read_some(kTimeoutMs), "the terminal does not show \"" + std::string(text) + "\"");
  }
  return micros_between(begin_, Clock::now()) / 1000;
}

double Terminal::until_end() {
  while (read_some(kTimeoutMs)) {
  }
  return micros_between(begin_, Clock::now()) / 1000;
}

void Terminal::settle(int milliseconds) {
  while (read_some(milliseconds)) {
  }
}

void Terminal::type(std::string_view keys) {
  shown_.clear();
  begin_ = Clock::now();
  require(::write(terminal_, keys.data(), keys.size()) == static_cast<ssize_t>(keys.size()),
          "cannot type");
}

double Terminal::peak_mb() const {
  std::ifstream status("/proc/" + std::to_string(pid_) + "/status");
  for (std::string word; status >> word;) {
    if (word == "VmHWM:") {
      double kilobytes = 0;
      status >> kilobytes;
      return kilobytes / 1024;
    }
  }
  give_up("the kernel reports no memory");
}

bool Terminal::read_some(int milliseconds) {
  pollfd descriptor{terminal_, POLLIN, 0};
  if (::poll(&descriptor, 1, milliseconds) <= 0) {
    return false;
  }
  char bytes[65536];
  const ssize_t count = ::read(terminal_, bytes, sizeof bytes);
  if (count <= 0) {
    return false;  // it has ended
  }
  shown_.append(bytes, static_cast<std::size_t>(count));
  return true;
}

struct Paths {
  fs::path folder;
  fs::path grown;
  std::string program;
  Words environment;
};

// Typed text that is nowhere else on the screen: a lower-case Cyrillic letter.
std::string letter(int number) {
  return {'\xD0', static_cast<char>(0xB0 + number % 10)};
}

// The first screen, compared with a list of as many rows on the same terminal, and letters in its
// filter.
void picker(const Paths& paths, const Scale& scale) {
  const std::string store = "sqlite:" + grown_sessions(paths.grown, scale.sessions).string();
  const Words pick = {paths.program, "--store", store, "resume", "--all"};
  const Words list = {paths.program, "--store", store, "list", "--all", "--limit", "50"};
  Samples screens;
  Samples lists;
  Samples keys;
  Samples memory;
  for (int start = 0; start < scale.starts; ++start) {
    lists.add(Terminal(list, paths.environment).until_end());
    Terminal app(pick, paths.environment);
    screens.add(app.until("session number"));
    for (const std::string_view key : {"n", "u", "m", "b", "9"}) {
      app.settle(20);
      app.type(key);
      keys.add(app.until_any());
    }
    memory.add(app.peak_mb());
  }
  const std::string sessions = std::to_string(scale.sessions);
  print(row_of("14", "picker of " + sessions + ", beside list --limit 50", screens, lists, "ms",
               at_most(1.5)));
  print_absolute("14", "its first screen", screens.median(), "ms", at_most(20));
  print_absolute("14", "a key in its filter, 99th of 100", keys.at(0.99), "ms", at_most(16));
  print_absolute("14", "its peak memory", memory.median(), "MB", at_most(100));
}

// Keys while 1,000 words per second arrive.
void typing(const Paths& paths, const Scale& scale) {
  const fs::path db = paths.folder / "typing.db";
  const std::string id = add_long_session(*open_grown(db), scale.messages, 200).str();
  InstantServer server;
  server.set_answering({.deltas = 1'000'000, .pause = std::chrono::milliseconds(1)});
  Terminal app({paths.program, "--store", "sqlite:" + db.string(), "resume", "--provider",
                "openai-chat", "--base-url", server.base_url(), "--model", "m", id},
               paths.environment);
  app.settle(500);
  app.type("Go on\r");
  app.until("word");  // from the answer
  Samples keys;
  for (int key = 0; key < scale.keys; ++key) {
    app.type(letter(key));
    keys.add(app.until(letter(key)));
  }
  require(server.requests() == 1, "more than one answer");
  app.type("x");
  app.until("word");
  print_absolute("14", "a key while an answer streams, 99th of 100", keys.at(0.99), "ms",
                 at_most(16));
  print_absolute("14", "its peak memory, " + std::to_string(scale.messages) + " messages",
                 app.peak_mb(), "MB", at_most(100));
}

int run(const Words& words) {
  require(words.size() >= 4, "usage: app_bench FOLDER GROWN_FOLDER PROGRAM [--smoke|--full]");
  Scale scale;
  if (std::ranges::count(words, "--smoke") > 0) {
    scale = {.sessions = 1'000, .messages = 100, .starts = 2, .keys = 20};
  }
  Paths paths{.folder = words[1], .grown = words[2], .program = words[3], .environment = {}};
  paths.environment = {"PATH=/usr/bin:/bin", "HOME=" + (paths.folder / "home").string(),
                       "OPENAI_API_KEY=measured", "LANG=C.UTF-8", "TERM=xterm-256color"};
  fs::create_directories(paths.folder / "home");
  fs::current_path(paths.folder);
  picker(paths, scale);
  typing(paths, scale);
  return 0;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  return bench::run({argv, argv + argc});
}

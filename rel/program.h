#pragma once

// Runs the program `reprise` with its own home folder.

#include <sys/types.h>

#include <chrono>
#include <vector>

#include "base/file.h"

namespace reprise::rel {

struct Start {
  std::vector<std::string> words;        // the first is the program's path
  std::filesystem::path home;            // $HOME and the working folder; `err` and `in` are in it
  std::vector<std::string> environment;  // "NAME=value", in addition to what every program needs
  bool waits_for_input = false;          // its standard input is a pipe that stays open
  bool on_terminal = false;              // all three are a terminal of 80x24
  std::size_t memory_max = 0;            // in bytes; 0 for no limit
};

// One thread at a time. The destructor kills a running program.
class Program {
 public:
  using Enough = std::function<bool(std::string_view shown)>;

  explicit Program(const Start& start);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  Program(Program&&) = delete;
  Program& operator=(Program&&) = delete;

  pid_t pid() const { return pid_; }
  // Reads its standard output until `enough` returns true; false if it ends before, or after 20 s.
  bool read_until(const Enough& enough);
  // Types on its terminal.
  void type(std::string_view keys) const;
  // Reads until there is no output during `pause`; false if it has ended.
  bool read_until_quiet(std::chrono::milliseconds pause);
  // Sends a signal, and returns when it was received or the process has ended.
  void signal(int number) const;
  // Reads the remaining output and waits for the end: returns the exit code, 128 plus the signal
  // that ended it, or -1 if it had to be killed after 20 s.
  int wait();

  // Its standard output so far.
  const std::string& shown() const { return shown_; }

 private:
  bool read_some(std::chrono::steady_clock::time_point deadline);

  pid_t pid_ = -1;
  Fd out_;
  Fd in_;
  std::string shown_;
  bool has_closed_ = false;
};

struct Finished {
  int code = -1;
  std::string shown;
};
Finished run_program(const Start& start);

// Polls until `is_so` returns true; false after five seconds.
bool eventually(const std::function<bool()>& is_so);

}  // namespace reprise::rel

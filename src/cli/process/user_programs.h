#pragma once

// Programs of the user's choice: a pager for standard output, as in git, and an editor.

#include <signal.h>
#include <sys/types.h>

#include <functional>
#include <memory>

#include "base/file.h"
#include "cli/process/process.h"
#include "reprise/error.h"  // IWYU pragma: export

namespace reprise::cli {

// While it exists, Ctrl-C and Ctrl-\ belong to the program that has the terminal.
class KeyInterruptsIgnored {
 public:
  KeyInterruptsIgnored();
  ~KeyInterruptsIgnored();
  KeyInterruptsIgnored(const KeyInterruptsIgnored&) = delete;
  KeyInterruptsIgnored& operator=(const KeyInterruptsIgnored&) = delete;

 private:
  struct sigaction int_before_{};
  struct sigaction quit_before_{};
};

// A shell command: $REPRISE_PAGER, $PAGER, or less if it is installed; "" for none ("cat").
std::string pager_command(const ProcessEnvironment& environment);

// While it exists, `out` is piped to the command, and Ctrl-C belongs to the pager. The destructor
// flushes and waits until the user quits the pager; quitting early is not a failure.
class Pager {
 public:
  // `out` must outlive it. io if the command cannot be started.
  static Result<std::unique_ptr<Pager>> start(Output& out, const std::string& command);
  ~Pager();
  Pager(const Pager&) = delete;
  Pager& operator=(const Pager&) = delete;

 private:
  Pager(Output& out, Fd writing, pid_t child);

  Output& out_;
  Fd writing_;
  pid_t child_;
  KeyInterruptsIgnored ignored_;
};

struct EditedText {
  std::string text;
  std::string_view suffix = ".md";  // of the file that is edited
};
// Runs $VISUAL, $EDITOR or vi on a file with the text, and returns the file's new content without
// the final line end. The terminal must have been given back. While the editor runs, calls
// `meanwhile` whenever `fd` is readable.
Result<std::string> edit_text(const ProcessEnvironment& environment, const EditedText& edited,
                              int fd, const std::function<void()>& meanwhile);

}  // namespace reprise::cli

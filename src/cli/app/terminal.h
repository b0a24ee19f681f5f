#pragma once

// The real terminal: paints a Screen, reads keys. Only its .cpp files include ncurses.

#include <map>
#include <memory>

#include "cli/app/event.h"

namespace reprise::cli::app {

// At most one per process; not thread-safe. The destructor restores the terminal.
class Terminal {
 public:
  // Uses standard input and output. Signal handlers must be installed before, or ncurses installs
  // its own. unsupported if the terminal cannot show a full screen.
  static Result<std::unique_ptr<Terminal>> open(bool colours);
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  Size size() const;
  // Writes only the changes since the last call.
  void paint(const Screen& screen);
  // The input so far, without waiting: KeyPressed, Typed, Pasted and Resized.
  std::vector<Event> read_keys();
  // The next paint() redraws everything.
  void redraw();
  // Releases the terminal for another program, and takes it again.
  void release();
  void acquire();
  void ring();
  // Copies to the clipboard if the terminal allows it; false if it has none.
  bool copy(std::string_view text);
  // Sets the window's title, if supported, until destruction.
  void set_title(const std::string& text);
  // Gives the terminal back to the shell until the program is continued.
  void suspend();

 private:
  class Keys;
  explicit Terminal(bool colours);

  bool colours_;
  bool has_title_ = false;
  std::string title_;
  bool joins_ = false;                         // supports the output of joined_rows()
  std::map<std::size_t, std::string> joined_;  // as last written
  std::unique_ptr<Keys> keys_;
};

}  // namespace reprise::cli::app

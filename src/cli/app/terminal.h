#pragma once

// The real terminal: paints a Screen, reads keys. Only its .cpp files know ncurses.

#include <map>
#include <memory>

#include "cli/app/event.h"

namespace reprise::cli::app {

// One at a time in a process; one thread. The terminal is as it was before when this is gone.
class Terminal {
 public:
  // On standard input and output. Signal handlers that are to stay must be there already.
  // unsupported when the terminal cannot show a whole screen.
  static Result<std::unique_ptr<Terminal>> open(bool colours);
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  Size size() const;
  // Only what has changed since the last time is written.
  void paint(const Screen& screen);
  // What was typed, without waiting: KeyPressed, Typed, Pasted and Resized.
  std::vector<Event> read_keys();
  // Everything anew with the next paint().
  void redraw();
  // For another program, and for this one again.
  void give_back();
  void take_again();
  void ring();
  // To the clipboard, as far as the terminal allows it; false for one that has none.
  bool copy(std::string_view text);
  // What the window is called, until this is gone; where a terminal has such a thing.
  void set_title(const std::string& text);
  // Gives the terminal back to the shell until it continues this program.
  void suspend();

 private:
  class Keys;
  explicit Terminal(bool colours);

  bool colours_;
  bool has_title_ = false;
  std::string title_;
  bool joins_ = false;                         // it understands what joined_rows() writes
  std::map<std::size_t, std::string> joined_;  // as they were written last
  std::unique_ptr<Keys> keys_;
};

}  // namespace reprise::cli::app

#pragma once

// The real terminal: paints a Screen, reads keys as events. Only its .cpp files include ncurses.

#include <cwchar>
#include <map>
#include <memory>

#include "cli/app/event.h"  // IWYU pragma: export

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
  // The same for good, as the destructor does.
  void close();

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

// Our own key codes, for sequences that some terminfo entries lack.
struct KeySequence {
  const char* bytes;
  std::string_view name;
};
inline constexpr int kFirstOwnKey = 0x2000;
inline constexpr std::string_view kPasteBegins = "paste begins";
inline constexpr std::string_view kPasteEnds = "paste ends";
// The code of each is kFirstOwnKey plus its index.
const std::vector<KeySequence>& key_sequences();

// The name of a key code of ncurses or of our own; "" if unknown.
std::string name_of_code(wint_t code);

// The wheel's direction if the code is the mouse's; "" otherwise.
std::string_view name_of_mouse_event();

// Whether the terminal supports window titles; others would display the text.
bool has_title();

// The name of a control character ("Ctrl-W", "Enter", "Backspace"); "" for any other.
std::string control_name(wchar_t character);

// The name of a key after Esc: "Alt-1", "Alt-Enter".
std::string alt_name(wchar_t character);

// Collects the input between two waits.
class KeyCollector {
 public:
  // `after_escape`: an Esc preceded it, as Alt sends it.
  void key(std::string_view name, bool after_escape = false);
  // The rest of an unknown control sequence (ECMA-48, "CSI") is ignored: its key does nothing.
  void character(wchar_t character, bool after_escape);
  std::vector<Event> take();
  bool is_pasting() const { return paste_.has_value(); }

 private:
  void text(std::string_view bytes);

  std::vector<Event> events_;
  std::optional<std::string> paste_;  // while a paste is being read
  bool in_sequence_ = false;          // after Esc and '[', up to the final character
};

}  // namespace reprise::cli::app

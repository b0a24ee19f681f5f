#pragma once

// From what ncurses reads to events: names of keys, typed text, whole pastes.

#include <cwchar>

#include "cli/app/event.h"  // IWYU pragma: export

namespace reprise::cli::app {

// Key codes of our own, for sequences that terminfo does not know everywhere.
struct KeySequence {
  const char* bytes;
  std::string_view name;
};
inline constexpr int kFirstOwnKey = 0x2000;
inline constexpr std::string_view kPasteBegins = "paste begins";
inline constexpr std::string_view kPasteEnds = "paste ends";
// The code of each is kFirstOwnKey plus its place.
const std::vector<KeySequence>& key_sequences();

// The name of a key by the code that ncurses gives it, or one of ours; "" for any other.
std::string name_of_code(wint_t code);

// What the wheel did when the code is that of the mouse; "" for all else.
std::string_view name_of_mouse_event();

// Whether the terminal takes a title for its window; others would show the text.
bool has_title();

// The name of a control character ("Ctrl-W", "Enter", "Backspace"); "" for any other.
std::string control_name(wchar_t character);

// The name of what follows Esc: "Alt-1", "Alt-Enter".
std::string alt_name(wchar_t character);

// Collects what is read between two waits.
class KeyCollector {
 public:
  // `after_escape`: an Esc came with it, as Alt sends it.
  void key(std::string_view name, bool after_escape = false);
  void character(wchar_t character, bool after_escape);
  std::vector<Event> take();

 private:
  void text(std::string_view bytes);

  std::vector<Event> events_;
  std::optional<std::string> paste_;  // while one is coming
};

}  // namespace reprise::cli::app

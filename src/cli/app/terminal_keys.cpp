// Input from ncurses as events: names of keys, the mouse, typed text, pastes.

#include <algorithm>
#include <array>
#include <cwchar>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

// After the standard headers: it defines macros with everyday names.
#define NCURSES_NOMACROS
#define NCURSES_WIDECHAR 1
#include <ncurses.h>

#include "base/text.h"
#include "base/utf8.h"
#include "cli/app/keys.h"
#include "cli/app/terminal.h"
#include "cli/repl/line_source.h"

namespace reprise::cli::app {

std::string name_of_code(wint_t code) {
  if (code >= kFirstOwnKey) {
    const auto& sequences = key_sequences();
    const std::size_t index = code - kFirstOwnKey;
    return index < sequences.size() ? std::string(sequences[index].name) : "";
  }
  switch (code) {
    case KEY_UP:
      return "Up";
    case KEY_DOWN:
      return "Down";
    case KEY_LEFT:
      return "Left";
    case KEY_RIGHT:
      return "Right";
    case KEY_HOME:
      return "Home";
    case KEY_END:
      return "End";
    case KEY_PPAGE:
      return "PgUp";
    case KEY_NPAGE:
      return "PgDn";
    case KEY_DC:
      return "Delete";
    case KEY_BACKSPACE:
      return "Backspace";
    case KEY_ENTER:
      return "Enter";
    case KEY_BTAB:
      return "Shift-Tab";
    case KEY_SR:
      return "Shift-Up";
    case KEY_SF:
      return "Shift-Down";
    case KEY_F(1):
      return "F1";
    case KEY_F(2):
      return "F2";
    case KEY_F(3):
      return "F3";
    default:
      return "";
  }
}

bool has_title() {
  const std::string_view name = ::termname();
  return std::ranges::any_of(
      std::array<std::string_view, 11>{"xterm", "screen", "tmux", "rxvt", "alacritty", "foot",
                                       "kitty", "wezterm", "ghostty", "konsole", "gnome"},
      [name](std::string_view known) { return name.starts_with(known); });
}

std::string_view name_of_mouse_event() {
  MEVENT event{};
  if (::getmouse(&event) != OK) {
    return "";
  }
  if ((event.bstate & BUTTON4_PRESSED) != 0) {
    return "Wheel-Up";
  }
  return (event.bstate & BUTTON5_PRESSED) != 0 ? "Wheel-Down" : "";
}

const std::vector<KeySequence>& key_sequences() {
  static const std::vector<KeySequence> sequences = {
      {"\x1b[200~", kPasteBegins},
      {"\x1b[201~", kPasteEnds},
      {"\x1b[1;5D", "Ctrl-Left"},
      {"\x1b[1;5C", "Ctrl-Right"},
      {"\x1b[1;5H", "Ctrl-Home"},
      {"\x1b[1;5F", "Ctrl-End"},
      {"\x1b[1;2A", "Shift-Up"},
      {"\x1b[1;2B", "Shift-Down"},
      {"\x1b[1;3A", "Alt-Up"},
      {"\x1b[1;3B", "Alt-Down"},
      {"\x1b[27;5;9~", "Ctrl-Tab"},
      {"\x1b[9;5u", "Ctrl-Tab"},
      {"\x1b[27;6;9~", "Ctrl-Shift-Tab"},
      {"\x1b[9;6u", "Ctrl-Shift-Tab"},
      {"\x1b[H", "Home"},
      {"\x1b[F", "End"},
  };
  return sequences;
}

std::string control_name(wchar_t character) {
  switch (character) {
    case L'\r':
      return "Enter";
    case L'\t':
      return "Tab";
    case L'\b':
    case 0x7F:
      return "Backspace";
    case 0x1B:
      return "Esc";
    default:
      break;
  }
  if (character >= 1 && character <= 26) {
    return cat("Ctrl-", static_cast<char>('A' + character - 1));
  }
  return "";
}

std::string alt_name(wchar_t character) {
  const std::string control = control_name(character);
  if (!control.empty()) {
    return cat("Alt-", control);
  }
  if (character >= L'a' && character <= L'z') {
    return cat("Alt-", static_cast<char>('A' + (character - L'a')));
  }
  return character > L' ' && character < 0x7F ? cat("Alt-", static_cast<char>(character)) : "";
}

void KeyCollector::key(std::string_view name, bool after_escape) {
  in_sequence_ = false;
  if (after_escape && !paste_) {
    if (const std::string with_alt = cat("Alt-", name); find_action(with_alt)) {
      events_.emplace_back(KeyPressed{with_alt});
      return;
    }
    events_.emplace_back(KeyPressed{"Esc"});
  }
  if (name == kPasteBegins) {
    paste_.emplace();
  } else if (name == kPasteEnds) {
    if (const auto paste = std::exchange(paste_, std::nullopt); paste) {
      events_.emplace_back(Pasted{*paste});
    }
  } else if (!paste_ && !name.empty()) {
    events_.emplace_back(KeyPressed{std::string(name)});
  }
}

void KeyCollector::character(wchar_t character, bool after_escape) {
  if (paste_) {
    if (character == L'\r') {
      character = L'\n';
    }
    std::string bytes;
    utf8::append(bytes, static_cast<char32_t>(character));
    text(bytes);
    return;
  }
  if (in_sequence_ && character >= L' ' && character < 0x7F) {
    in_sequence_ = character < L'@';
    return;
  }
  in_sequence_ = after_escape && character == L'[';
  if (in_sequence_) {
    return;
  }
  if (after_escape) {
    // Esc followed quickly by a key is indistinguishable from Alt and that key.
    if (const std::string name = alt_name(character); find_action(name)) {
      key(name);
      return;
    }
    key("Esc");
  }
  if (const std::string name = control_name(character); !name.empty()) {
    key(name);
    return;
  }
  if (character < L' ') {
    return;  // a control key without a name
  }
  std::string bytes;
  utf8::append(bytes, static_cast<char32_t>(character));
  text(bytes);
}

void KeyCollector::text(std::string_view bytes) {
  if (paste_) {
    if (paste_->size() + bytes.size() <= kInputBytesMax) {
      *paste_ += bytes;
    }
    return;
  }
  if (!events_.empty()) {
    if (auto* const typed = std::get_if<Typed>(&events_.back())) {
      typed->text += bytes;
      return;
    }
  }
  events_.emplace_back(Typed{std::string(bytes)});
}

std::vector<Event> KeyCollector::take() {
  in_sequence_ = false;
  return std::exchange(events_, {});
}

}  // namespace reprise::cli::app

#include "cli/app/terminal_keys.h"

#include <cwchar>

#include "base/text.h"
#include "base/utf8.h"
#include "cli/app/keys.h"
#include "cli/repl/line_source.h"

namespace reprise::cli::app {

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

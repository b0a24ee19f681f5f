#include "cli/app/terminal.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cwchar>
#include <map>
#include <memory>
#include <utility>

// After the standard headers: it defines macros with everyday names.
#define NCURSES_NOMACROS
#define NCURSES_WIDECHAR 1
#include <ncurses.h>

#include "base/text.h"
#include "cli/app/screen.h"
#include "cli/process/process.h"

namespace reprise::cli::app {
namespace {

constexpr int kEscapeDelayMs = 50;
constexpr wint_t kCtrlC = 0x03;
constexpr std::string_view kPasteMarksOn = "\x1b[?2004h";
constexpr std::string_view kPasteMarksOff = "\x1b[?2004l";
constexpr std::string_view kSaveTitle = "\x1b[22;2t";
constexpr std::string_view kRestoreTitle = "\x1b[23;2t";

void write_raw(std::string_view bytes) {
  // If the terminal is gone, reading from it reports that.
  (void)!::write(STDOUT_FILENO, bytes.data(), bytes.size());
}

bool has_input() {
  pollfd watched{STDIN_FILENO, POLLIN, 0};
  return ::poll(&watched, 1, 0) > 0;
}

attr_t attributes_of(const Style& style) {
  attr_t out = A_NORMAL;
  out |= style.bold ? A_BOLD : A_NORMAL;
  out |= style.dim ? A_DIM : A_NORMAL;
  out |= style.italic ? A_ITALIC : A_NORMAL;
  out |= style.underline ? A_UNDERLINE : A_NORMAL;
  out |= style.reverse ? A_REVERSE : A_NORMAL;
  return out;
}

short colour_number(Colour colour) {
  switch (colour) {
    case Colour::red:
      return COLOR_RED;
    case Colour::green:
      return COLOR_GREEN;
    case Colour::yellow:
      return COLOR_YELLOW;
    case Colour::blue:
      return COLOR_BLUE;
    case Colour::magenta:
      return COLOR_MAGENTA;
    case Colour::cyan:
      return COLOR_CYAN;
    case Colour::standard:
      break;
  }
  return -1;
}

void put(const Cell& cell, ScreenPosition position, bool colours) {
  const Glyph glyph = glyph_of(cell.text, cell.columns);
  cchar_t character{};
  const auto pair = static_cast<short>(colours ? static_cast<int>(cell.style.colour) : 0);
  if (::setcchar(&character, glyph.characters.data(), attributes_of(cell.style), pair, nullptr) ==
      OK) {
    // Writing the last cell of the screen succeeds, although it returns an error.
    (void)::mvwadd_wch(::stdscr, static_cast<int>(position.row), static_cast<int>(position.column),
                       &character);
  }
}

// Whether the terminal moves, saves and restores the cursor with the common sequences.
bool has_common_cursor_codes() {
  const auto has = [](const char* name, std::string_view key) {
    const char* const found = ::tigetstr(name);
    // NOLINTNEXTLINE(performance-no-int-to-ptr): that is how terminfo says it is no string.
    return found != nullptr && found != reinterpret_cast<const char*>(-1) && found == key;
  };
  return has("cup", "\x1b[%i%p1%d;%p2%dH") &&
         has("sc",
             "\x1b"
             "7") &&
         has("rc",
             "\x1b"
             "8");
}

// ncurses does not know what joined_rows() wrote over its cells.
void invalidate_rows(const std::map<std::size_t, std::string>& rows,
                     const std::map<std::size_t, std::string>& others) {
  for (const auto& [row, bytes] : rows) {
    const auto other = others.find(row);
    if (static_cast<int>(row) < ::getmaxy(::stdscr) &&
        (other == others.end() || other->second != bytes)) {
      (void)::wredrawln(::stdscr, static_cast<int>(row), 1);
    }
  }
}

}  // namespace

class Terminal::Keys {
 public:
  KeyCollector collector;
  SCREEN* screen = nullptr;
};

Terminal::Terminal(bool colours) : colours_(colours), keys_(std::make_unique<Keys>()) {}

Result<std::unique_ptr<Terminal>> Terminal::open(bool colours) {
  use_utf8_locale();
  std::unique_ptr<Terminal> terminal(new Terminal(colours));
  terminal->keys_->screen = ::newterm(nullptr, stdout, stdin);
  if (terminal->keys_->screen == nullptr) {
    return fail(Code::unsupported, "this terminal cannot show a whole screen; use --plain");
  }
  ::raw();
  ::noecho();
  ::nonl();
  ::keypad(::stdscr, true);
  ::nodelay(::stdscr, true);
  ::set_escdelay(kEscapeDelayMs);
  if (terminal->colours_) {
    terminal->colours_ = ::has_colors() && ::start_color() == OK;
  }
  if (terminal->colours_) {
    ::use_default_colors();
    for (int i = 1; i <= static_cast<int>(Colour::cyan); ++i) {
      ::init_pair(static_cast<short>(i), colour_number(static_cast<Colour>(i)), -1);
    }
  }
  const auto& sequences = key_sequences();
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    ::define_key(sequences[i].bytes, kFirstOwnKey + static_cast<int>(i));
  }
  terminal->joins_ = has_common_cursor_codes();
  terminal->has_title_ = has_title();
  // Only the wheel, as the terminal's own selection now requires Shift.
  (void)::mousemask(BUTTON4_PRESSED | BUTTON5_PRESSED, nullptr);
  (void)::mouseinterval(0);
  write_raw(kPasteMarksOn);
  if (terminal->has_title_) {
    write_raw(kSaveTitle);
  }
  return terminal;
}

Terminal::~Terminal() {
  if (keys_->screen != nullptr) {
    close();
    ::delscreen(keys_->screen);
  }
}

void Terminal::close() {
  write_raw(kPasteMarksOff);
  if (has_title_) {
    write_raw(kRestoreTitle);
  }
  // Without an alternate screen, the shell continues in the last row.
  (void)::wmove(::stdscr, ::getmaxy(::stdscr) - 1, 0);
  (void)::wclrtoeol(::stdscr);
  (void)::wrefresh(::stdscr);
  ::endwin();
}

Size Terminal::size() const {
  return {static_cast<std::size_t>(std::max(1, ::getmaxy(::stdscr))),
          static_cast<std::size_t>(std::max(1, ::getmaxx(::stdscr)))};
}

void Terminal::paint(const Screen& screen) {
  ::werase(::stdscr);
  const Size size = screen.size();
  for (std::size_t row = 0; row < size.rows; ++row) {
    for (std::size_t column = 0; column < size.columns; ++column) {
      const Cell& cell = screen.at({row, column});
      if (cell.columns > 0 && (cell.text != " " || cell.style != kPlain)) {
        put(cell, {row, column}, colours_);
      }
    }
  }
  std::map<std::size_t, std::string> joined;
  if (joins_ && size == this->size()) {
    joined = joined_rows(screen, colours_);
  }
  invalidate_rows(joined_, joined);
  invalidate_rows(joined, joined_);
  ::curs_set(screen.cursor() ? 1 : 0);
  if (const auto cursor = screen.cursor()) {
    ::wmove(::stdscr, static_cast<int>(cursor->row), static_cast<int>(cursor->column));
  }
  ::wrefresh(::stdscr);
  joined_ = std::move(joined);
  if (!joined_.empty()) {
    std::string bytes =
        "\x1b"
        "7";
    for (const auto& [row, joined_row] : joined_) {
      bytes += joined_row;
    }
    write_raw(bytes +
              "\x1b"
              "8");
  }
}

std::vector<Event> Terminal::read_keys() {
  std::vector<Event> out;
  KeyCollector& collector = keys_->collector;
  bool escape = false;
  for (bool is_first = true;; is_first = false) {
    wint_t code = 0;
    const int status = ::wget_wch(::stdscr, &code);
    if (status == ERR) {
      break;
    }
    if (status == KEY_CODE_YES && code == KEY_RESIZE) {
      out.emplace_back(Resized{size()});
    } else if (status == KEY_CODE_YES && code == KEY_MOUSE) {
      collector.key(name_of_mouse_event());
    } else if (status == KEY_CODE_YES) {
      collector.key(name_of_code(code), std::exchange(escape, false));
    } else if (code == kCtrlC && collector.is_pasting() && is_first && !has_input()) {
      collector.key(kPasteEnds);  // pressed because the end of the paste was lost
    } else if (code == 0x1B) {
      if (std::exchange(escape, true)) {
        collector.key("Esc");  // the second Esc may belong to the next key
      }
    } else {
      collector.character(static_cast<wchar_t>(code), std::exchange(escape, false));
    }
  }
  if (escape) {
    collector.key("Esc");
  }
  for (Event& event : collector.take()) {
    out.push_back(std::move(event));
  }
  return out;
}

void Terminal::ring() {
  write_raw("\a");
}

bool Terminal::copy(std::string_view text) {
  if (has_title_) {
    write_raw(copy_sequence(text));
  }
  return has_title_;
}

void Terminal::set_title(const std::string& text) {
  if (has_title_ && text != title_) {
    write_raw(cat("\x1b]2;", text, "\a"));
    title_ = text;
  }
}

void Terminal::redraw() {
  ::clearok(::stdscr, true);
}

void Terminal::release() {
  write_raw(kPasteMarksOff);
  ::endwin();
}

void Terminal::acquire() {
  write_raw(kPasteMarksOn);
  redraw();
  ::wrefresh(::stdscr);
}

void Terminal::suspend() {
  write_raw(kPasteMarksOff);
  // ncurses's handler restores the terminal and takes it back.
  (void)::raise(SIGTSTP);
  write_raw(kPasteMarksOn);
  redraw();
}

}  // namespace reprise::cli::app

#pragma once

// The input line: a text of several lines, a cursor, and what keys do to them. Pure; it knows
// nothing of the screen but how wide its lines are.

#include "cli/app/screen.h"

namespace reprise::cli::app {

inline constexpr std::size_t kPromptsMax = 200;
// A paste of more lines stands in the input as one character, and is sent whole.
inline constexpr std::ptrdiff_t kPasteLinesShown = 10;
inline constexpr char kPasteMark = '\x1a';

class Editor {
 public:
  // With a kPasteMark for each folded paste.
  const std::string& text() const { return text_; }
  // With the pastes themselves.
  std::string whole() const { return unfolded(text_, pastes_); }
  const std::vector<std::string>& pastes() const { return pastes_; }
  std::size_t cursor() const { return cursor_; }  // in bytes, between two characters
  bool empty() const { return text_.empty(); }

  void set(std::string text);
  void clear() { set({}); }
  // All of the text, and an empty input. It becomes the newest prompt.
  std::string take();

  void insert(std::string_view text);
  void paste(std::string_view text);
  void erase_before();  // a character
  void erase_after();
  void erase_word();    // before the cursor
  void erase_to_end();  // of the line; the line's end when nothing is left of it
  void erase_to_start();
  void yank();  // what was erased last by word or line
  void left();
  void right();
  void word_left();
  void word_right();
  void line_start();
  void line_end();
  // A line up or down; false when there is none and nothing has changed.
  bool up();
  bool down();

  // Earlier prompts: up at the first line, down at the last one.
  void remember(std::string_view prompt);
  bool older();
  bool newer();
  const std::vector<std::string>& prompts() const { return prompts_; }

 private:
  std::size_t previous(std::size_t place) const;
  std::size_t next(std::size_t place) const;
  std::size_t start_of_line() const;
  std::size_t end_of_line() const;
  void erase(std::size_t from, std::size_t to);
  std::string part(std::size_t from, std::size_t to) const;
  // How many pastes stand before.
  std::ptrdiff_t pastes_before(std::size_t place) const;
  static std::string unfolded(std::string_view text, const std::vector<std::string>& pastes);
  void go_to_column(std::size_t line_start, std::size_t columns);

  std::string text_;
  std::vector<std::string> pastes_;  // of the marks in the text, in their order
  std::size_t cursor_ = 0;
  std::string erased_;
  std::vector<std::string> prompts_;  // oldest first
  std::size_t shown_ = 0;             // which prompt is shown; prompts_.size() for none
  std::string draft_;                 // what stood there before prompts were looked through
  std::vector<std::string> draft_pastes_;
};

// How the input stands on lines of `width` columns, and where its cursor is among them; behind a
// full line it stands in column `width`.
struct EditorLines {
  std::vector<std::string> lines;
  Place cursor;
};
EditorLines editor_lines(const Editor& editor, std::size_t width);

}  // namespace reprise::cli::app

#pragma once

// The input: a text of several lines, a cursor, and editing operations. Pure; it knows nothing of
// the screen except the width of lines.

#include "cli/app/screen.h"

namespace reprise::cli::app {

inline constexpr std::size_t kPromptsMax = 200;
// A paste with more lines is shown as one character; the whole paste is sent.
inline constexpr std::ptrdiff_t kPasteLinesShown = 10;
inline constexpr char kPasteMark = '\x1a';

class Editor {
 public:
  // Has a kPasteMark for each folded paste.
  const std::string& text() const { return text_; }
  // With the pastes expanded.
  std::string unfolded_text() const { return unfolded(text_, pastes_); }
  const std::vector<std::string>& pastes() const { return pastes_; }
  std::size_t cursor() const { return cursor_; }  // in bytes, at a character boundary
  bool empty() const { return text_.empty(); }

  void set(std::string text);
  void clear() { set({}); }
  // Returns the expanded text, clears the input, and adds the text to the prompts.
  std::string take();

  void insert(std::string_view text);
  void paste(std::string_view text);
  void erase_before();  // one character
  void erase_after();
  void erase_word();    // before the cursor
  void erase_to_end();  // of the line; the line end if the cursor is there
  void erase_to_start();
  void yank();  // inserts the last text erased by word or line
  void left();
  void right();
  void word_left();
  void word_right();
  void line_start();
  void line_end();
  // Moves by a line; false if that is impossible.
  bool up();
  bool down();

  // The history of prompts: up() in the first line and down() in the last line browse it.
  void remember(std::string_view prompt);
  bool older();
  bool newer();
  const std::vector<std::string>& prompts() const { return prompts_; }

 private:
  std::size_t previous(std::size_t offset) const;
  std::size_t next(std::size_t offset) const;
  std::size_t start_of_line() const;
  std::size_t end_of_line() const;
  void erase(std::size_t from, std::size_t to);
  std::string part(std::size_t from, std::size_t to) const;
  // The number of pastes before a position.
  std::ptrdiff_t pastes_before(std::size_t offset) const;
  static std::string unfolded(std::string_view text, const std::vector<std::string>& pastes);
  void go_to_column(std::size_t line_start, std::size_t columns);

  std::string text_;
  std::vector<std::string> pastes_;  // for the marks in the text, in order
  std::size_t cursor_ = 0;
  std::string erased_;
  std::vector<std::string> prompts_;  // oldest first
  std::size_t shown_ = 0;             // index of the displayed prompt; prompts_.size(): none
  std::string draft_;                 // the input before browsing
  std::vector<std::string> draft_pastes_;
};

// The input in lines of `width` columns, and the cursor's position in them; after a full line it is
// in column `width`.
struct EditorLines {
  std::vector<std::string> lines;
  ScreenPosition cursor;
};
EditorLines editor_lines(const Editor& editor, std::size_t width);

}  // namespace reprise::cli::app

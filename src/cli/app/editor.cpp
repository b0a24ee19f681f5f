#include "cli/app/editor.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/terminal_text.h"
#include "base/text.h"
#include "cli/app/entry.h"

namespace reprise::cli::app {
namespace {

bool is_blank(char c) {
  return c == ' ' || c == '\n' || c == '\t';
}

// Returns, for example, "[pasted 5,000 lines]".
std::string paste_label(std::string_view paste) {
  const auto lines = std::ranges::count(paste, '\n') + (paste.ends_with('\n') ? 0 : 1);
  return cat("[pasted ", grouped(lines), " lines]");
}

}  // namespace

void Editor::set(std::string text) {
  std::erase(text, kPasteMark);
  text_ = std::move(text);
  pastes_.clear();
  cursor_ = text_.size();
  shown_ = prompts_.size();
}

std::string Editor::take() {
  std::string out = unfolded_text();
  if (!trimmed(out).empty()) {
    remember(out);
  }
  clear();
  return out;
}

void Editor::insert(std::string_view text) {
  const std::string safe = terminal_text(text);
  text_.insert(cursor_, safe);
  cursor_ += safe.size();
}

void Editor::paste(std::string_view text) {
  std::string safe = terminal_text(text);
  if (std::ranges::count(safe, '\n') < kPasteLinesShown) {
    return insert(text);
  }
  pastes_.insert(pastes_.begin() + pastes_before(cursor_), std::move(safe));
  text_.insert(cursor_, 1, kPasteMark);
  ++cursor_;
}

std::ptrdiff_t Editor::pastes_before(std::size_t offset) const {
  return std::ranges::count(std::string_view(text_).substr(0, offset), kPasteMark);
}

std::string Editor::unfolded(std::string_view text, const std::vector<std::string>& pastes) {
  std::string out;
  for (auto paste = pastes.begin(); const char c : text) {
    if (c == kPasteMark && paste != pastes.end()) {
      out += *paste++;
    } else {
      out += c;
    }
  }
  return out;
}

std::string Editor::part(std::size_t from, std::size_t to) const {
  return unfolded(std::string_view(text_).substr(from, to - from),
                  {pastes_.begin() + pastes_before(from), pastes_.begin() + pastes_before(to)});
}

void Editor::erase(std::size_t from, std::size_t to) {
  pastes_.erase(pastes_.begin() + pastes_before(from), pastes_.begin() + pastes_before(to));
  text_.erase(from, to - from);
  cursor_ = from;
}

void Editor::erase_before() {
  erase(previous(cursor_), cursor_);
}

void Editor::erase_after() {
  erase(cursor_, next(cursor_));
}

void Editor::erase_word() {
  const std::size_t end = cursor_;
  word_left();
  erased_ = part(cursor_, end);
  erase(cursor_, end);
}

void Editor::erase_to_end() {
  const std::size_t line = end_of_line();
  const std::size_t end = line == cursor_ ? next(cursor_) : line;
  erased_ = part(cursor_, end);
  erase(cursor_, end);
}

void Editor::erase_to_start() {
  const std::size_t start = start_of_line();
  erased_ = part(start, cursor_);
  erase(start, cursor_);
}

void Editor::yank() {
  const std::string text = erased_;
  paste(text);
}

std::size_t Editor::previous(std::size_t offset) const {
  // Character boundaries can only be found from the start of a line.
  std::size_t at = offset == 0 ? 0 : text_.rfind('\n', offset - 1);
  at = at == std::string::npos || offset == 0 ? 0 : at;
  std::size_t before = at;
  while (at < offset) {
    before = at;
    at = next(at);
  }
  return before;
}

std::size_t Editor::next(std::size_t offset) const {
  return offset + first_grapheme(std::string_view(text_).substr(offset));
}

std::size_t Editor::start_of_line() const {
  const std::size_t end = cursor_ == 0 ? std::string::npos : text_.rfind('\n', cursor_ - 1);
  return end == std::string::npos ? 0 : end + 1;
}

std::size_t Editor::end_of_line() const {
  return std::min(text_.find('\n', cursor_), text_.size());
}

void Editor::left() {
  cursor_ = previous(cursor_);
}

void Editor::right() {
  cursor_ = next(cursor_);
}

void Editor::word_left() {
  while (cursor_ > 0 && is_blank(text_[cursor_ - 1])) {
    --cursor_;
  }
  while (cursor_ > 0 && !is_blank(text_[cursor_ - 1])) {
    --cursor_;
  }
}

void Editor::word_right() {
  while (cursor_ < text_.size() && is_blank(text_[cursor_])) {
    ++cursor_;
  }
  while (cursor_ < text_.size() && !is_blank(text_[cursor_])) {
    ++cursor_;
  }
}

void Editor::line_start() {
  cursor_ = start_of_line();
}

void Editor::line_end() {
  cursor_ = end_of_line();
}

void Editor::go_to_column(std::size_t line_start, std::size_t columns) {
  const std::size_t end = std::min(text_.find('\n', line_start), text_.size());
  const std::string_view line = std::string_view(text_).substr(line_start, end - line_start);
  cursor_ = line_start + width_prefix(line, columns).size();
}

bool Editor::up() {
  const std::size_t start = start_of_line();
  if (start == 0) {
    return false;
  }
  const std::size_t columns = display_width(std::string_view(text_).substr(start, cursor_ - start));
  cursor_ = start - 1;
  go_to_column(start_of_line(), columns);
  return true;
}

bool Editor::down() {
  const std::size_t start = start_of_line();
  const std::size_t end = end_of_line();
  if (end == text_.size()) {
    return false;
  }
  go_to_column(end + 1, display_width(std::string_view(text_).substr(start, cursor_ - start)));
  return true;
}

void Editor::remember(std::string_view prompt) {
  std::erase(prompts_, prompt);
  prompts_.emplace_back(prompt);
  if (prompts_.size() > kPromptsMax) {
    prompts_.erase(prompts_.begin());
  }
  shown_ = prompts_.size();
}

bool Editor::older() {
  if (shown_ == 0) {
    return false;
  }
  if (shown_ == prompts_.size()) {
    draft_ = text_;
    draft_pastes_ = pastes_;
  }
  const std::size_t index = shown_ - 1;
  set(prompts_[index]);
  shown_ = index;
  return true;
}

bool Editor::newer() {
  if (shown_ >= prompts_.size()) {
    return false;
  }
  const std::size_t index = shown_ + 1;
  if (index < prompts_.size()) {
    set(prompts_[index]);
  } else {
    text_ = draft_;
    pastes_ = draft_pastes_;
    cursor_ = text_.size();
  }
  shown_ = index;
  return true;
}

EditorLines editor_lines(const Editor& editor, std::size_t width) {
  EditorLines out;
  const std::string_view text = editor.text();
  std::string line;
  std::size_t columns = 0;
  auto paste = editor.pastes().begin();
  for (std::size_t at = 0;;) {
    if (at == editor.cursor()) {
      out.cursor = {out.lines.size(), columns};
    }
    if (at == text.size()) {
      break;
    }
    const std::size_t length = first_grapheme(text.substr(at));
    const std::string_view character = text.substr(at, length);
    at += length;
    if (character == "\n") {
      out.lines.push_back(std::exchange(line, {}));
      columns = 0;
      continue;
    }
    std::string cell_text = character == "\t" ? "    " : std::string(character);
    if (character[0] == kPasteMark && paste != editor.pastes().end()) {
      cell_text = paste_label(*paste++);
    }
    const std::size_t taken = display_width(cell_text);
    if (columns + taken > width && columns > 0) {
      out.lines.push_back(std::exchange(line, {}));
      columns = 0;
      if (at - length == editor.cursor()) {
        out.cursor = {out.lines.size(), 0};
      }
    }
    line += cell_text;
    columns += taken;
  }
  out.lines.push_back(std::move(line));
  return out;
}

}  // namespace reprise::cli::app

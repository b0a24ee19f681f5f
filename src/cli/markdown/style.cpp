#include "cli/markdown/style.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/terminal_text.h"

namespace reprise::cli::app {
namespace {

constexpr std::size_t kTabColumns = 4;

enum class Breaks : std::uint8_t { between_words, anywhere };

// Fills lines character by character.
class Wrapper {
 public:
  Wrapper(std::size_t width, const Margin& margin, Breaks breaks)
      : width_(std::max<std::size_t>(width, 1)), margin_(margin), breaks_(breaks) {
    word_columns_max_ = has_room(margin_.following) ? width_ - width_of(margin_.following) : width_;
    begin(margin_.first);
  }

  void add(const Span& span) {
    for (std::string_view remaining = span.text; !remaining.empty();) {
      const std::string_view character = remaining.substr(0, first_grapheme(remaining));
      remaining.remove_prefix(character.size());
      add(character, span.style);
    }
  }

  std::vector<Line> finish() {
    flush_word();
    lines_.push_back(std::move(line_));
    return std::move(lines_);
  }

 private:
  void add(std::string_view character, Style style) {
    const std::size_t columns = display_width(character);
    if (character == " " && breaks_ == Breaks::between_words) {
      flush_word();
      append(blanks_, character, style);
      ++blank_columns_;
      return;
    }
    // A word longer than a line is split.
    if (word_columns_ + columns > word_columns_max_) {
      flush_word();
    }
    append(word_, character, style);
    word_columns_ += columns;
    if (breaks_ == Breaks::anywhere) {
      flush_word();
    }
  }

  // Room for the widest character; otherwise the margin is omitted.
  bool has_room(const Line& margin) const { return width_of(margin) + 2 <= width_; }

  void begin(const Line& margin) {
    line_ = has_room(margin) ? margin : Line{};
    columns_ = width_of(line_);
    empty_ = true;
  }

  void flush_word() {
    if (word_.empty()) {
      return;
    }
    if (columns_ + blank_columns_ + word_columns_ <= width_) {
      move_to_line(blanks_);
      columns_ += blank_columns_;
    } else if (!empty_) {
      lines_.push_back(std::exchange(line_, {}));
      begin(margin_.following);
    }
    blanks_.clear();
    blank_columns_ = 0;
    move_to_line(word_);
    columns_ += std::exchange(word_columns_, 0);
    word_.clear();
    empty_ = false;
  }

  void move_to_line(const Line& spans) {
    for (const Span& span : spans) {
      append(line_, span.text, span.style);
    }
  }

  std::size_t width_;
  const Margin& margin_;
  Breaks breaks_;
  std::size_t word_columns_max_ = 1;
  std::vector<Line> lines_;
  Line line_;
  std::size_t columns_ = 0;
  bool empty_ = true;  // has only the margin
  Line blanks_;
  std::size_t blank_columns_ = 0;
  Line word_;
  std::size_t word_columns_ = 0;
};

}  // namespace

void append(Line& line, std::string_view text, Style style) {
  if (text.empty()) {
    return;
  }
  if (!line.empty() && line.back().style == style) {
    line.back().text += text;
  } else {
    line.push_back({std::string(text), style});
  }
}

std::size_t width_of(const Line& line) {
  std::size_t width = 0;
  for (const Span& span : line) {
    width += display_width(span.text);
  }
  return width;
}

std::string text_of(const Line& line) {
  std::string out;
  for (const Span& span : line) {
    out += span.text;
  }
  return out;
}

std::vector<Line> wrap(const Line& line, std::size_t width, const Margin& margin) {
  Wrapper wrapper(width, margin, Breaks::between_words);
  for (const Span& span : line) {
    wrapper.add(span);
  }
  return wrapper.finish();
}

std::vector<Line> wrap_text(std::string_view text, Style style, std::size_t width,
                            const Margin& margin) {
  const std::string safe = terminal_text(text);
  std::vector<Line> out;
  Margin next_margin = margin;
  for (std::string_view remaining = safe;;) {
    const std::size_t end = std::min(remaining.find('\n'), remaining.size());
    std::ranges::move(wrap({{expand_tabs(remaining.substr(0, end)), style}}, width, next_margin),
                      std::back_inserter(out));
    next_margin.first = next_margin.following;
    if (end == remaining.size()) {
      return out;
    }
    remaining.remove_prefix(end + 1);
  }
}

std::vector<Line> split_line(const Line& line, std::size_t width) {
  const Margin none;
  Wrapper wrapper(width, none, Breaks::anywhere);
  for (const Span& span : line) {
    wrapper.add(span);
  }
  return wrapper.finish();
}

std::string expand_tabs(std::string_view line) {
  std::string out;
  std::size_t columns = 0;
  while (!line.empty()) {
    const std::size_t tab = std::min(line.find('\t'), line.size());
    out += line.substr(0, tab);
    columns += display_width(line.substr(0, tab));
    line.remove_prefix(tab);
    if (!line.empty()) {
      const std::size_t blanks = kTabColumns - columns % kTabColumns;
      out.append(blanks, ' ');
      columns += blanks;
      line.remove_prefix(1);
    }
  }
  return out;
}

}  // namespace reprise::cli::app

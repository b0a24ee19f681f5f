#include "cli/markdown/markdown.h"

#include <md4c.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "base/markdown.h"
#include "base/terminal_text.h"
#include "base/text.h"
#include "cli/markdown/markdown_blocks.h"
#include "cli/markdown/style.h"

namespace reprise::cli::app {
namespace {

// A few kilobytes of text can expand to a table of a billion cells.
constexpr std::size_t kCellsMax = 20'000;

struct List {
  bool ordered = false;
  std::size_t number = 0;
  bool tight = true;
};

// The style of text in such a span, within text of style `outside`.
Style style_within(MD_SPANTYPE type, Style outside) {
  Style style = outside;
  switch (type) {
    case MD_SPAN_EM:
      style.italic = true;
      break;
    case MD_SPAN_STRONG:
      style.bold = true;
      break;
    case MD_SPAN_CODE:
      style.colour = Colour::cyan;
      break;
    case MD_SPAN_A:
      style.underline = true;
      break;
    default:
      break;
  }
  return style;
}

// The character of an entity such as "&amp;"; an unknown entity is returned unchanged.
std::string_view meaning_of_entity(std::string_view text) {
  constexpr std::pair<std::string_view, std::string_view> kKnown[] = {
      {"&amp;", "&"}, {"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&nbsp;", " "}};
  for (const auto& [name, meaning] : kKnown) {
    if (text == name) {
      return meaning;
    }
  }
  return text;
}

// Handles md4c's events and builds lines.
class MarkdownLines {
 public:
  explicit MarkdownLines(std::size_t width) : blocks_(width) {}

  // False if the tables have too many cells.
  bool enter(MD_BLOCKTYPE type, const void* detail) {
    switch (type) {
      case MD_BLOCK_QUOTE:
        flush();
        blocks_.add_gap();
        blocks_.push({{{"│ ", kDim}}, {{"│ ", kDim}}});
        break;
      case MD_BLOCK_UL:
      case MD_BLOCK_OL:
        flush();
        begin_list(type, detail);
        break;
      case MD_BLOCK_LI:
        flush();
        begin_item(*static_cast<const MD_BLOCK_LI_DETAIL*>(detail));
        break;
      case MD_BLOCK_HR:
        blocks_.add_gap();
        blocks_.add({{{std::string(std::min<std::size_t>(blocks_.columns(), 3), '-'), kDim}}});
        break;
      case MD_BLOCK_H:
        blocks_.add_gap();
        style_ = static_cast<const MD_BLOCK_H_DETAIL*>(detail)->level <= 2
                     ? Style{.colour = Colour::cyan, .bold = true}
                     : kBold;
        break;
      case MD_BLOCK_CODE:
        blocks_.add_gap();
        begin_code(*static_cast<const MD_BLOCK_CODE_DETAIL*>(detail));
        break;
      case MD_BLOCK_P:
        blocks_.add_gap();
        break;
      case MD_BLOCK_TABLE:
        blocks_.add_gap();
        table_ = {};
        break;
      case MD_BLOCK_TR:
        table_.rows.emplace_back();
        cells_ += table_.alignments.size();  // including cells omitted in short rows
        break;
      case MD_BLOCK_TH:
        table_.alignments.push_back(
            alignment_of(static_cast<const MD_BLOCK_TD_DETAIL*>(detail)->align));
        ++cells_;
        break;
      default:
        break;
    }
    return cells_ <= kCellsMax;
  }

  void leave(MD_BLOCKTYPE type, const void* /*detail*/) {
    switch (type) {
      case MD_BLOCK_QUOTE:
      case MD_BLOCK_LI:
        flush();
        blocks_.pop();
        break;
      case MD_BLOCK_UL:
      case MD_BLOCK_OL:
        lists_.pop_back();
        break;
      case MD_BLOCK_H:
        flush();
        style_ = {};
        break;
      case MD_BLOCK_CODE:
        end_code();
        break;
      case MD_BLOCK_P:
        flush();
        break;
      case MD_BLOCK_TH:
      case MD_BLOCK_TD:
        table_.rows.back().push_back(std::exchange(line_, {}));
        break;
      case MD_BLOCK_TABLE:
        blocks_.add(table_lines(table_, blocks_.columns()));
        break;
      default:
        break;
    }
  }

  bool enter(MD_SPANTYPE type, const void* /*detail*/) {
    spans_.push_back(std::exchange(style_, style_within(type, style_)));
    return true;
  }

  void leave(MD_SPANTYPE type, const void* detail) {
    style_ = spans_.back();
    spans_.pop_back();
    if (type == MD_SPAN_A) {
      const auto& link = *static_cast<const MD_SPAN_A_DETAIL*>(detail);
      const std::string target = terminal_line({link.href.text, link.href.size});
      // A link whose text is its URL is shown once.
      if (!text_of(line_).ends_with(target)) {
        append(line_, cat(" (", target, ")"), kDim);
      }
    }
  }

  void text(MD_TEXTTYPE type, std::string_view text) {
    if (in_code_) {
      code_ += text;
    } else if (type == MD_TEXT_BR || type == MD_TEXT_SOFTBR) {
      lines_.push_back(std::exchange(line_, {}));
    } else if (type == MD_TEXT_NULLCHAR) {
      append(line_, "\xEF\xBF\xBD", style_);
    } else {
      append(line_, expand_tabs(type == MD_TEXT_ENTITY ? meaning_of_entity(text) : text), style_);
    }
  }

  std::vector<Line> finish() {
    flush();
    return blocks_.finish();
  }

 private:
  static Alignment alignment_of(MD_ALIGN align) {
    return align == MD_ALIGN_RIGHT    ? Alignment::right
           : align == MD_ALIGN_CENTER ? Alignment::centre
                                      : Alignment::left;
  }

  void begin_list(MD_BLOCKTYPE type, const void* detail) {
    if (lists_.empty()) {
      blocks_.add_gap();
    }
    if (type == MD_BLOCK_OL) {
      const auto& list = *static_cast<const MD_BLOCK_OL_DETAIL*>(detail);
      lists_.push_back({true, list.start, list.is_tight != 0});
    } else {
      const auto& list = *static_cast<const MD_BLOCK_UL_DETAIL*>(detail);
      lists_.push_back({false, 0, list.is_tight != 0});
    }
    blocks_.cancel_gap();
  }

  void begin_item(const MD_BLOCK_LI_DETAIL& item) {
    List& list = lists_.back();
    if (list.tight) {
      blocks_.cancel_gap();
    }
    blocks_.add_gap();
    std::string mark = list.ordered ? cat(list.number++, ". ") : "• ";
    if (item.is_task != 0) {
      mark = item.task_mark == ' ' ? "[ ] " : "[x] ";
    }
    const std::string blanks(display_width(mark), ' ');
    blocks_.push({{{mark, {.colour = Colour::cyan}}}, {{blanks, {}}}});
  }

  void begin_code(const MD_BLOCK_CODE_DETAIL& detail) {
    in_code_ = true;
    code_.clear();
    language_.assign(detail.lang.text == nullptr ? "" : detail.lang.text, detail.lang.size);
  }

  void end_code() {
    in_code_ = false;
    std::string_view code = code_;
    if (code.ends_with('\n')) {
      code.remove_suffix(1);
    }
    blocks_.push({{{"│ ", kDim}}, {{"│ ", kDim}}});
    const std::size_t columns = blocks_.columns();
    std::vector<Line> lines;
    for (const Line& line : coloured_code(code, language_)) {
      std::ranges::move(split_line(line, columns), std::back_inserter(lines));
    }
    blocks_.add(lines);
    blocks_.pop();
  }

  // Turns the collected text into lines.
  void flush() {
    if (line_.empty() && lines_.empty()) {
      return;
    }
    lines_.push_back(std::exchange(line_, {}));
    std::vector<Line> wrapped;
    for (const Line& line : std::exchange(lines_, {})) {
      std::ranges::move(wrap(line, blocks_.columns()), std::back_inserter(wrapped));
    }
    blocks_.add(wrapped);
  }

  BlockLines blocks_;
  std::vector<Line> lines_;  // of the block, before wrapping
  Line line_;
  Style style_;
  std::vector<Style> spans_;
  std::vector<List> lists_;
  Table table_;
  std::size_t cells_ = 0;  // in all tables
  bool in_code_ = false;
  std::string code_;
  std::string language_;
};

}  // namespace

std::vector<Line> markdown_lines(std::string_view text, std::size_t width) {
  const auto library = markdown_library();
  if (!library || text.size() > std::numeric_limits<MD_SIZE>::max() / 8) {
    return wrap_text(text, kPlain, width);
  }
  const std::string safe = terminal_text(text);
  MarkdownLines lines(width);
  const MD_PARSER events = markdown_parser<MarkdownLines>();
  if ((*library)->parse(safe.data(), static_cast<MD_SIZE>(safe.size()), &events, &lines) != 0) {
    return wrap_text(text, kPlain, width);
  }
  return lines.finish();
}

}  // namespace reprise::cli::app

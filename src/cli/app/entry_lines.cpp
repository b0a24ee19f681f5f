#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include "base/terminal_text.h"
#include "base/text.h"
#include "base/utf8.h"
#include "cli/app/entry.h"
#include "cli/markdown/markdown.h"
#include "cli/markdown/style.h"
#include "cli/output/tool_text.h"
#include "cli/settings/time_value.h"

namespace reprise::cli::app {
namespace {

constexpr std::size_t kFoldedCharacters = 400;
constexpr Style kAccent{.colour = Colour::cyan};

std::string_view beginning(const Entry& entry, std::string_view text) {
  if (text.size() <= entry.shown_bytes) {
    return text;
  }
  return text.substr(0, utf8::valid_prefix(text.substr(0, entry.shown_bytes)));
}

// The beginning of the text, on one line.
std::string single_line(std::string_view text) {
  return std::string(
      trimmed(terminal_line(grapheme_prefix(text.substr(0, 4096), kFoldedCharacters))));
}

Line truncated_to(Line line, std::size_t width) {
  if (width_of(line) <= width) {
    return line;
  }
  Line out;
  std::size_t columns_left = width > 1 ? width - 1 : 0;
  for (const Span& span : line) {
    const std::string_view part = width_prefix(span.text, columns_left);
    append(out, part, span.style);
    columns_left -= display_width(part);
    if (part.size() < span.text.size()) {
      break;
    }
  }
  append(out, "…", kDim);
  return out;
}

std::string_view trimmed_end(std::string_view text) {
  return text.substr(0, text.find_last_not_of(" \n") + 1);
}

std::size_t count_lines(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count(trimmed(text), '\n')) + 1;
}

std::vector<Line> question_lines(const Entry& entry, std::size_t width) {
  const bool waiting = entry.kind == Entry::Kind::waiting;
  const Style bar = waiting ? kDim : kAccent;
  const Margin margin{{{"▌ ", bar}}, {{"▌ ", bar}}};
  std::vector<Line> lines;
  if (!entry.author.empty()) {
    lines = wrap_text(single_line(entry.author), kAccent, width, margin);
  }
  std::ranges::move(wrap_text(beginning(entry, entry.text), waiting ? kDim : kBold, width, margin),
                    std::back_inserter(lines));
  if (waiting) {
    lines.push_back({{"  waits for the answer above", kDim}});
  }
  return lines;
}

std::vector<Line> indented(std::vector<Line> lines) {
  for (Line& line : lines) {
    if (!line.empty()) {
      line.insert(line.begin(), Span{"  ", {}});
    }
  }
  return lines;
}

std::vector<Line> answer_lines(const Entry& entry, std::size_t width) {
  std::vector<Line> lines =
      markdown_lines(beginning(entry, entry.text), width > 4 ? width - 2 : width);
  if (width > 4) {
    lines = indented(std::move(lines));
  }
  return lines;
}

std::vector<Line> thinking_lines(const Entry& entry, std::size_t width, bool unfolded) {
  if (!unfolded && entry.ended) {
    const std::size_t count = count_lines(entry.text);
    Line line{{"  ▸ thought ", kDim}};
    append(line, count > 1 ? cat("(", count, " lines) ") : "", kDim);
    append(line, single_line(entry.text), kDim);
    return {truncated_to(std::move(line), width)};
  }
  return wrap_text(beginning(entry, entry.text), {.dim = true, .italic = true}, width,
                   {{{"  ▾ ", kDim}}, {{"    ", kDim}}});
}

// The result, below the call.
void add_tool_result(std::vector<Line>& lines, const Entry& entry, std::size_t width) {
  const Margin margin{{{"    ", {}}}, {{"    ", {}}}};
  std::ranges::move(wrap_text(beginning(entry, entry.input), kDim, width, margin),
                    std::back_inserter(lines));
  if (entry.ended && !entry.result.empty()) {
    const Style style = entry.failed ? Style{.colour = Colour::red} : kPlain;
    std::ranges::move(wrap_text(trimmed(beginning(entry, entry.result)), style, width,
                                {{{"  └ ", kDim}}, {{"    ", {}}}}),
                      std::back_inserter(lines));
  }
}

std::vector<Line> tool_lines(const Entry& entry, std::size_t width, bool unfolded) {
  Line head{{unfolded ? "  ▾ " : "  ▸ ", kDim}};
  append(head, terminal_line(entry.text), kAccent);
  if (!entry.ended) {
    append(head, " runs", kDim);
  } else if (entry.failed) {
    append(head, " failed", {.colour = Colour::red});
  } else if (const std::size_t count = count_lines(entry.result); count > 1) {
    append(head, cat(" (", count, " lines)"), kDim);
  }
  if (!unfolded) {
    append(head, cat(" ", tool_input_line(entry.input, width)), kDim);
    return {truncated_to(std::move(head), width)};
  }
  std::vector<Line> lines{truncated_to(std::move(head), width)};
  add_tool_result(lines, entry, width);
  return lines;
}

// The lines without the leading empty line of some kinds.
std::vector<Line> body_lines(const Entry& entry, std::size_t width, bool unfolded, Time now) {
  using Kind = Entry::Kind;
  switch (entry.kind) {
    case Kind::question:
    case Kind::waiting:
      return question_lines(entry, width);
    case Kind::answer:
      return answer_lines(entry, width);
    case Kind::thinking:
      return thinking_lines(entry, width, unfolded);
    case Kind::tool:
      return tool_lines(entry, width, unfolded);
    case Kind::footer: {
      const std::string age = entry.at ? age_text(*entry.at, now) : "";
      const std::string gap = entry.text.empty() || age.empty() ? "" : " · ";
      const std::string text = cat(single_line(entry.text), gap, age);
      return wrap_text(text, kDim, width, {{{"  ", {}}}, {{"  ", {}}}});
    }
    case Kind::notice:
      return wrap_text(trimmed_end(beginning(entry, entry.text)), kDim, width,
                       {{{"  ", {}}}, {{"  ", {}}}});
    case Kind::warning:
      return wrap_text(trimmed_end(beginning(entry, entry.text)), {.colour = Colour::yellow}, width,
                       {{{"! ", {.colour = Colour::yellow, .bold = true}}}, {{"  ", {}}}});
  }
  return {};
}

bool is_separate(Entry::Kind kind) {
  using Kind = Entry::Kind;
  return kind != Kind::thinking && kind != Kind::tool && kind != Kind::footer;
}

std::vector<Line> lay_out(const Entry& entry, std::size_t width, bool unfolded, Time now) {
  std::vector<Line> lines = body_lines(entry, width, unfolded, now);
  if (is_separate(entry.kind)) {
    lines.insert(lines.begin(), Line{});
  }
  if (const std::size_t bytes = left_out(entry); bytes > 0 && (unfolded || !is_foldable(entry))) {
    const std::string excess =
        cat("  … ", grouped(static_cast<std::int64_t>((bytes + 1023) >> 10)), " KiB more: PgDn");
    lines.push_back(truncated_to({{excess, {.colour = Colour::yellow}}}, width));
  }
  return lines;
}

}  // namespace

const std::vector<Line>& lines_of(const Entry& entry, std::size_t width, bool unfolded, Time now) {
  const bool ages = entry.kind == Entry::Kind::footer;
  if (ages || !entry.layout || entry.layout->width != width || entry.layout->unfolded != unfolded) {
    entry.layout = std::make_shared<const Entry::Layout>(
        Entry::Layout{width, unfolded, lay_out(entry, width, unfolded, now)});
  }
  return entry.layout->lines;
}

bool begins_match(const std::vector<Line>& lines, std::size_t line, std::string_view pattern) {
  const std::string text = text_of(lines[line]);
  if (lower_case(text).contains(pattern)) {
    return true;
  }
  for (const std::string_view separator : {" ", ""}) {
    std::string joined(trimmed(text));
    const std::size_t end = joined.size();
    for (std::size_t i = line + 1; i < lines.size() && joined.size() < end + pattern.size(); ++i) {
      const std::string next = text_of(lines[i]);
      if (trimmed(next).empty()) {
        break;  // the end of a paragraph
      }
      joined += cat(separator, trimmed(next));
    }
    if (lower_case(joined).find(pattern) < end) {
      return true;
    }
  }
  return false;
}

}  // namespace reprise::cli::app

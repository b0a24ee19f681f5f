#include "cli/output/session_text.h"

#include <algorithm>
#include <chrono>
#include <ctime>

#include "base/terminal_text.h"
#include "base/text.h"
#include "cli/markdown/markdown.h"
#include "cli/markdown/style.h"
#include "cli/output/session_json.h"
#include "cli/output/table.h"
#include "cli/settings/time_value.h"
#include "model/known_time.h"
#include "reprise/session.h"

namespace reprise::cli {
namespace {

using app::Colour;
using app::kBold;
using app::kDim;
using app::Style;

constexpr std::size_t kColumnsMax = 100;  // longer lines are hard to read

// The escape sequence of a style; "" for the default.
std::string code_of(const Style& style) {
  std::string out;
  const auto add = [&out](int code) { out += cat(out.empty() ? "\x1b[" : ";", code); };
  if (style.bold) {
    add(1);
  }
  if (style.dim) {
    add(2);
  }
  if (style.italic) {
    add(3);
  }
  if (style.underline) {
    add(4);
  }
  if (style.reverse) {
    add(7);
  }
  if (style.colour != Colour::standard) {
    add(30 + static_cast<int>(style.colour));  // enumerators are in the order of the codes
  }
  return out.empty() ? "" : out + "m";
}

std::string text_of(const std::vector<app::Line>& lines, const View& view) {
  std::string out;
  for (const app::Line& line : lines) {
    for (const app::Span& span : line) {
      const std::string code = view.colour ? code_of(span.style) : "";
      out += cat(code, span.text, code.empty() ? "" : "\x1b[0m");
    }
    out += "\n";
  }
  return out;
}

std::size_t width_of(const View& view) {
  return std::min(view.columns, kColumnsMax);
}

std::string paragraph(std::string_view text, Style style, const View& view) {
  return text_of(app::wrap_text(text, style, width_of(view)), view);
}

std::string row(std::string_view name, std::string_view value, const View& view) {
  return value.empty() ? "" : paragraph(cat(name, ": ", value), kDim, view);
}

Style role_style(std::string_view role) {
  return {.colour = role == role::kUser        ? Colour::cyan
                    : role == role::kAssistant ? Colour::green
                                               : Colour::standard,
          .bold = true};
}

std::string block_text(const Block& block, const View& view) {
  if (const auto* const text = std::get_if<TextBlock>(&block)) {
    return text_of(app::markdown_lines(text->text, width_of(view)), view);
  }
  return paragraph(trimmed(transcript_block(block, view.detail)), kDim, view);
}

std::string with_heading(const Message& message, std::string_view note, const View& view) {
  const std::string head =
      cat(message.seq.value, " ", message.role, is_injected(message) ? " (injected)" : "");
  app::Line line;
  app::append(line, terminal_line(head), role_style(message.role));
  if (message.author) {
    app::append(line, cat(" · ", terminal_line(message.author->str())), {.bold = true});
  }
  if (is_known(message.created_at)) {
    app::append(line, cat(" · ", local_time(message.created_at)), kDim);
  }
  if (!message.model.empty()) {
    app::append(line, cat(" · ", terminal_line(message.model)), kDim);
  }
  if (!note.empty()) {
    app::append(line, note, {.colour = Colour::yellow});
  }
  std::string out = cat("\n", text_of({line}, view));
  for (const Block& block : message.blocks) {
    out += block_text(block, view);
  }
  return out + paragraph(trimmed(transcript_sources(message)), kDim, view);
}

constexpr std::size_t kTitleMax = 24;  // columns
constexpr std::size_t kSnippetMin = 20;
constexpr std::string_view kPlain = "\x1b[0m";
constexpr std::string_view kSelectorColour = "\x1b[33m";
constexpr std::string_view kAgeColour = "\x1b[2m";
constexpr std::string_view kMatchColour = "\x1b[1;31m";

std::string padding(std::string_view text, std::size_t columns) {
  return std::string(columns - std::min(columns, display_width(text)), ' ');
}

class HitLine {
 public:
  HitLine(std::string& out, const HitView& view) : out_(out), view_(view) {}

  void cell(std::string_view text, std::size_t columns, std::string_view colour) {
    add(text, colour);
    out_ += cat(padding(text, columns), "  ");
    used_ += columns + 2;
  }

  void snippet(const std::vector<SearchPiece>& pieces) {
    std::size_t left = view_.columns > used_ + kSnippetMin ? view_.columns - used_ : kSnippetMin;
    for (const auto& [text, matches] : pieces) {
      std::string safe_text = terminal_line(text);
      if (matches && !view_.colour) {
        safe_text = cat("*", safe_text, "*");
      }
      const std::size_t width = display_width(safe_text);
      add(fit_text(safe_text, left), matches ? kMatchColour : "");
      if (width >= left) {
        break;
      }
      left -= width;
    }
  }

  void end() {
    out_.resize(out_.find_last_not_of(' ') + 1);
    out_ += '\n';
  }

 private:
  void add(std::string_view text, std::string_view colour) {
    const bool is_coloured = view_.colour && !colour.empty();
    out_ += is_coloured ? cat(colour, text, kPlain) : std::string(text);
  }

  std::string& out_;
  const HitView& view_;
  std::size_t used_ = 0;
};

std::string_view mark(TodoStatus status) {
  switch (status) {
    case TodoStatus::pending:
      return "[ ]";
    case TodoStatus::in_progress:
      return "[~]";
    case TodoStatus::completed:
      return "[x]";
  }
  return "[ ]";
}

}  // namespace

std::string local_time(Time time) {
  const std::time_t seconds =
      std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
  std::tm parts{};
  std::array<char, 32> text{};
  if (::localtime_r(&seconds, &parts) == nullptr ||
      std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M", &parts) == 0) {
    return format_time(time);
  }
  return text.data();
}

std::string view_head(const Session& session, std::string_view brief, const View& view) {
  const SessionInfo& info = session.info;
  std::string out = paragraph(info.title.empty() ? "(no title)" : info.title, kBold, view);
  out += row("id", brief == info.id.str() ? info.id.str() : cat(brief, " (", info.id.str(), ")"),
             view);
  out += row("state", state_text(info), view);
  out += row("mode", info.mode, view);
  out +=
      row("model", info.model.empty() ? info.provider : cat(info.provider, ", ", info.model), view);
  out += row("folder", info.working_dir, view);
  out += row("started", is_known(info.created_at) ? local_time(info.created_at) : "unknown", view);
  if (!session.system_prompt.empty()) {
    out += cat("\n", paragraph("system", {.colour = Colour::yellow, .bold = true}, view),
               paragraph(session.system_prompt, {}, view));
  }
  return out;
}

std::string view_message(const Message& message, const View& view) {
  const bool is_incomplete = message.state == MessageState::incomplete;
  return with_heading(message, is_incomplete ? " · incomplete" : "", view);
}

std::string view_end(const SessionSnapshot& snapshot, const Message* last, const View& view) {
  if (is_unanswered(snapshot, last)) {
    app::Line line;
    app::append(line, kNoAnswer, {.colour = Colour::yellow});
    return cat("\n", text_of({line}, view));
  }
  return snapshot.answer
             ? with_heading(snapshot.answer->message, unfinished_note(*snapshot.answer), view)
             : "";
}

std::string hit_lines(const std::vector<SearchHit>& hits, const HitView& view) {
  struct Cells {
    std::string selector;
    std::string age;
    std::string title;
  };
  std::vector<Cells> rows;
  std::size_t selector_columns = 0;
  std::size_t age = 0;
  std::size_t title = 0;
  for (const SearchHit& hit : hits) {
    const std::string& source = view.sources[hit.source];
    rows.push_back({cat(source, source.empty() ? "" : " ", hit_selector(hit)),
                    age_text(hit.time, view.now),
                    fit_text(terminal_line(hit.session.title), kTitleMax)});
    selector_columns = std::max(selector_columns, display_width(rows.back().selector));
    age = std::max(age, display_width(rows.back().age));
    title = std::max(title, display_width(rows.back().title));
  }
  std::string out;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    HitLine line(out, view);
    line.cell(rows[i].selector, selector_columns, kSelectorColour);
    line.cell(rows[i].age, age, kAgeColour);
    line.cell(rows[i].title, title, "");
    line.snippet(hits[i].snippet);
    line.end();
  }
  return out;
}

std::string cost_text(const Usage& usage) {
  return usage.cost ? cat("$", usage.cost->str()) : "-";
}

std::string todo_lines(const std::vector<Todo>& todos) {
  std::string out;
  for (std::size_t i = 0; i < todos.size(); ++i) {
    out += cat(i + 1, ". ", mark(todos[i].status), " ", terminal_line(todos[i].content), "\n");
  }
  return out;
}

}  // namespace reprise::cli

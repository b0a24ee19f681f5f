// The picker's screen: the filter, the list, a preview of the selected session.

#include <algorithm>
#include <array>

#include "base/terminal_text.h"
#include "base/text.h"
#include "cli/app/render.h"
#include "cli/markdown/style.h"
#include "cli/output/table.h"
#include "cli/repl/menu.h"
#include "cli/settings/time_value.h"

namespace reprise::cli::app {
namespace {

constexpr std::size_t kColumnsForSide = 110;
constexpr std::size_t kRowsForBelow = 16;
constexpr std::size_t kPreviewRows = 7;
constexpr std::size_t kFirstRow = 2;
constexpr std::size_t kCountColumns = 12;
constexpr std::size_t kIdMax = 12;  // of an id lengthened to be unique
constexpr Style kPickerAccent{.colour = Colour::cyan, .bold = true};

// The first one that fits is shown.
using KeyWords = std::array<std::string_view, 3>;
constexpr KeyWords kPickerKeys = {
    " · Enter resumes · Ctrl-F texts · Tab projects · Ctrl-S order · F2 rename · Del trash · "
    "Ctrl-T "
    "its list · Esc",
    " · Enter · Ctrl-F texts · Tab all · F2 name · Del/Ctrl-T trash · Esc", " · Enter · Esc"};
constexpr KeyWords kOtherKeys = {" · Enter continues a copy · Tab projects · Ctrl-S order · Esc",
                                 " · Enter · Tab all · Esc", " · Enter · Esc"};
constexpr KeyWords kTextKeys = {
    " · Enter opens the session there · Tab projects · Ctrl-F back to the sessions · Esc leaves",
    " · Enter opens · Tab all · Ctrl-F back · Esc", " · Enter · Esc"};
constexpr KeyWords kTrashKeys = {
    " · Enter restores · Ctrl-X empties the trash · Tab projects · Ctrl-T back · Esc leaves",
    " · Enter restores · Ctrl-X empties · Ctrl-T back · Esc", " · Enter · Esc"};
constexpr KeyWords kRenameKeys = {" · Enter renames · Esc keeps the old title",
                                  " · Enter renames · Esc", " · Enter · Esc"};

struct PickerFrame {
  std::size_t list_rows = 0;
  std::size_t list_columns = 0;
  ScreenPosition preview = {};
  std::size_t preview_rows = 0;
};

PickerFrame picker_frame(const Size& size) {
  PickerFrame frame;
  const std::size_t rows = size.rows > kFirstRow + 1 ? size.rows - kFirstRow - 1 : 0;
  frame.list_rows = rows;
  frame.list_columns = size.columns;
  if (size.columns >= kColumnsForSide) {
    frame.list_columns = size.columns * 3 / 5;
    frame.preview = {kFirstRow, frame.list_columns + 3};
    frame.preview_rows = rows;
  } else if (size.rows >= kRowsForBelow) {
    frame.list_rows = rows - kPreviewRows;
    frame.preview = {kFirstRow + frame.list_rows + 1, 2};
    frame.preview_rows = kPreviewRows - 1;
  }
  return frame;
}

std::string fitted(std::string_view text, std::size_t columns) {
  std::string out = fit_text(text, columns);
  out.append(columns - std::min(columns, display_width(out)), ' ');
  return out;
}

// The position of a row, from its first column to `end`.
struct RowPlace {
  ScreenPosition position;
  std::size_t end = 0;
};

std::string_view title_of(const PickerRow& row) {
  return row.title.empty() ? std::string_view("Untitled") : row.title;
}

// A message: its age, its session's title, and the text around the match.
void render_message(Screen& screen, const State& state, const PickerRow& row, const RowPlace& where,
                    bool selected) {
  constexpr std::size_t kAgeColumns = 14;
  constexpr std::size_t kTitleColumns = 24;
  const auto& [position, end] = where;
  const Style style = selected ? Style{.bold = true, .reverse = true} : kPlain;
  const Style dim = selected ? style : kDim;
  std::size_t column = screen.put(position, selected ? "▸ " : "  ", style, end);
  if (end >= 60) {
    column = screen.put({position.row, column},
                        fitted(age_text(row.updated, state.now), kAgeColumns), dim, end);
    column = screen.put({position.row, column}, fitted(title_of(row), kTitleColumns), dim, end);
    column = screen.put({position.row, column}, "  ", style, end);
  }
  screen.put({position.row, column}, fitted(row.snippet, end > column ? end - column : 0), style,
             end);
}

void render_row(Screen& screen, const State& state, const Picker& picker, const PickerRow& row,
                const RowPlace& where) {
  const auto& [position, end] = where;
  const bool selected = picker.row() == &row;
  if (picker.texts) {
    return render_message(screen, state, row, where, selected);
  }
  const std::string age =
      age_text(picker.order == Picker::Order::activity ? row.updated : row.created, state.now);
  std::string back = cat(grouped(row.messages), " msg  ");
  back.insert(0, back.size() < kCountColumns ? kCountColumns - back.size() : 1, ' ');
  const std::size_t age_columns = 12;
  const std::size_t folder_columns = picker.all_folders && end >= 70 ? 22 : 0;
  const std::size_t id_columns =
      end >= 60 ? std::clamp(row.short_id.size(), kShortIdDigits, kIdMax) + 2 : 0;
  const std::size_t taken = 2 + id_columns + display_width(back) + age_columns + folder_columns;
  const std::size_t columns = end > taken + 8 ? end - taken : (end > 2 ? end - 2 : 0);
  const Style style = selected ? Style{.bold = true, .reverse = true} : kPlain;
  const Style dim = selected ? style : kDim;
  std::size_t column = screen.put(position, selected ? "▸ " : "  ", style, end);
  if (end > taken + 8 && id_columns > 0) {
    column = screen.put({position.row, column}, fitted(row.short_id, id_columns - 2), dim, end);
    column = screen.put({position.row, column}, "  ", style, end);
  }
  const std::string mode = row.mode.empty() ? "" : cat("[", terminal_line(row.mode), "] ");
  column = screen.put({position.row, column}, row.mark,
                      selected ? style : Style{.colour = Colour::yellow, .bold = true}, end);
  const std::size_t front = display_width(row.mark);
  column =
      screen.put({position.row, column},
                 fitted(cat(mode, title_of(row)), columns - std::min(columns, front)), style, end);
  if (end > taken + 8) {
    column = screen.put({position.row, column}, back, dim, end);
    column = screen.put({position.row, column}, fitted(age, age_columns), dim, end);
    if (folder_columns > 0) {
      const std::string folder = short_path(state, row.folder);
      screen.put({position.row, column}, fitted(folder, folder_columns), dim, end);
    }
  }
}

std::string_view empty_text(const Picker& picker) {
  if (picker.texts && trimmed(picker.filter.text()).empty()) {
    return "type to search messages";
  }
  if (picker.loading) {
    return picker.texts ? "searching…" : "loading…";
  }
  if (!picker.rows.empty() || picker.texts) {
    return "nothing matches";
  }
  if (picker.other_tools) {
    return "No other tool has sessions here.";
  }
  return picker.trash ? "the trash is empty" : kNothingSaved;
}

void render_list(Screen& screen, const State& state, const Picker& picker,
                 const PickerFrame& frame) {
  if (picker.visible.empty()) {
    screen.put({kFirstRow, 2}, empty_text(picker), kDim);
    return;
  }
  // Keeps the selected row visible.
  const std::size_t rows = std::max<std::size_t>(frame.list_rows, 1);
  const std::size_t first = picker.selected < rows ? 0 : picker.selected - rows + 1;
  for (std::size_t i = 0; i < frame.list_rows && first + i < picker.visible.size(); ++i) {
    render_row(screen, state, picker, picker.rows[picker.visible[first + i]],
               {{kFirstRow + i, 0}, frame.list_columns});
  }
}

std::vector<Line> preview_lines(const Preview& preview, std::size_t width, std::size_t rows) {
  std::vector<Line> lines = wrap_text(preview.question.substr(0, 4096), kBold, width);
  const std::size_t question_rows = std::max<std::size_t>(rows / 3, 1);
  if (lines.size() > question_rows) {
    lines.resize(question_rows);
  }
  std::vector<Line> answer = wrap_text(preview.answer.substr(0, 16384), kPlain, width);
  lines.insert(lines.end(), answer.begin(), answer.end());
  if (preview.answering) {
    lines.push_back({{"(an answer is running)", {.colour = Colour::cyan}}});
  } else if (preview.incomplete) {
    const std::string_view text = preview.answer.empty() ? "(no answer)" : "(interrupted)";
    lines.push_back({{std::string(text), {.colour = Colour::yellow}}});
  }
  return lines;
}

void render_preview(Screen& screen, const State& state, const Picker& picker,
                    const PickerFrame& frame) {
  const PickerRow* const row = picker.row();
  if (frame.preview_rows == 0 || row == nullptr) {
    return;
  }
  const std::size_t width = state.size.columns - frame.preview.column;
  if (frame.preview.row > kFirstRow) {
    screen.fill({frame.preview.row - 1, 0}, kDim, "─");
  } else {
    for (std::size_t i = 0; i < frame.preview_rows; ++i) {
      screen.put({frame.preview.row + i, frame.preview.column - 2}, "│", kDim);
    }
  }
  const auto preview = picker.previews.find(preview_key(*row));
  if (preview == picker.previews.end()) {
    return;
  }
  const auto lines =
      preview_lines(preview->second, width > 2 ? width - 1 : width, frame.preview_rows);
  for (std::size_t i = 0; i < lines.size() && i < frame.preview_rows; ++i) {
    screen.put({frame.preview.row + i, frame.preview.column}, lines[i]);
  }
}

// The end of a line that fits, where the cursor is.
std::string_view end_within(std::string_view text, std::size_t columns) {
  for (std::size_t width = display_width(text); width > columns;) {
    const std::size_t bytes = first_grapheme(text);
    width -= std::min(width, display_width(text.substr(0, bytes)));
    text.remove_prefix(bytes);
  }
  return text;
}

void render_filter(Screen& screen, const State& state, const Picker& picker) {
  const std::string where = cat(picker.other_tools   ? "other tools"
                                : picker.all_folders ? "all projects"
                                                     : "this project",
                                picker.order == Picker::Order::activity ? "" : ", by creation");
  screen.put({0, 0},
             picker.trash   ? " Trash"
             : picker.texts ? " Search all messages"
                            : " Resume a session",
             kBold);
  const std::size_t columns = display_width(where) + 1;
  if (state.size.columns > columns + 20) {
    screen.put({0, state.size.columns - columns}, where, kDim);
  }
  const Editor& line = picker.new_title ? *picker.new_title : picker.filter;
  const std::string prompt = picker.new_title ? "new title: " : "› ";
  const std::size_t start = screen.put({1, 0}, prompt, kPickerAccent);
  const std::size_t input_columns = state.size.columns > start ? state.size.columns - start : 1;
  const std::string_view before = end_within(std::string_view(line.text()).substr(0, line.cursor()),
                                             input_columns > 1 ? input_columns - 1 : 0);
  if (line.empty() && !picker.new_title) {
    screen.put({1, start}, picker.texts ? "type to search" : "type to filter", kDim);
  } else {
    const std::size_t column = screen.put({1, start}, before, kPlain);
    screen.put({1, column}, std::string_view(line.text()).substr(line.cursor()), kPlain);
  }
  screen.set_cursor({1, std::min(start + display_width(before), state.size.columns - 1)});
}

std::string match_count(const Picker& picker) {
  if (picker.texts) {
    return picker.rows.size() >= kTextsMax ? cat("newest ", kTextsMax, " messages")
                                           : reprise::counted(std::ssize(picker.rows), "message");
  }
  const bool filtered = !picker.filter.empty();
  const std::size_t count = filtered ? picker.matches : picker.rows.size();
  if (picker.visible.size() < picker.matches) {
    return cat(filtered ? "best " : "newest ", grouped(std::ssize(picker.visible)), " of ",
               grouped(static_cast<std::int64_t>(count)), picker.complete ? "" : "+");
  }
  return cat(
      grouped(static_cast<std::int64_t>(count)), picker.complete ? "" : "+",
      filtered ? (count == 1 ? " match" : " matches") : (count == 1 ? " session" : " sessions"));
}

}  // namespace

void render_picker(Screen& screen, const State& state, const Picker& picker) {
  const PickerFrame frame = picker_frame(state.size);
  render_filter(screen, state, picker);
  render_list(screen, state, picker, frame);
  render_preview(screen, state, picker, frame);
  const std::size_t row = state.size.rows - 1;
  if (!picker.note.empty()) {
    screen.put({row, 1}, picker.note, {.colour = Colour::yellow});
    return;
  }
  const std::size_t column = screen.put({row, 1}, match_count(picker), kDim);
  const auto fits = [&](std::string_view keys) {
    return column + display_width(keys) <= state.size.columns;
  };
  const auto& hints = picker.new_title     ? kRenameKeys
                      : picker.trash       ? kTrashKeys
                      : picker.texts       ? kTextKeys
                      : picker.other_tools ? kOtherKeys
                                           : kPickerKeys;
  const auto* const keys = std::ranges::find_if(hints, fits);
  screen.put({row, column}, keys == hints.end() ? "" : *keys, kDim);
}

}  // namespace reprise::cli::app

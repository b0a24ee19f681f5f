#include "cli/repl/menu.h"

#include <algorithm>
#include <span>

#include "base/terminal_text.h"
#include "base/text.h"
#include "cli/settings/time_value.h"
#include "model/known_time.h"
#include "reprise/session.h"

namespace reprise::cli {

namespace {

constexpr std::size_t kTitleColumnsMin = 10;

std::string truncated_to(std::string text, std::size_t columns) {
  if (display_width(text) <= columns) {
    return text;
  }
  return cat(width_prefix(text, columns - 3), "...");
}

}  // namespace

std::string menu_text(std::span<const SessionInfo> sessions, Time now, std::size_t columns) {
  std::string out = cat(kMenuHeading, "\n\n");
  for (std::size_t i = 0; i < sessions.size(); ++i) {
    const SessionInfo& info = sessions[i];
    const std::string mode = info.mode.empty() ? "" : cat("[", terminal_line(info.mode), "] ");
    const std::string front = cat(i + 1, ". ", mode);
    // the date was unreadable
    const std::string age = is_known(info.updated_at) ? age_text(info.updated_at, now) : "no date";
    const std::string back = cat("  (", age, ")");
    const std::size_t taken = display_width(front) + display_width(back);
    const std::size_t title_columns =
        columns > taken + kTitleColumnsMin ? columns - taken : kTitleColumnsMin;
    const std::string title = info.title.empty() ? "Untitled" : terminal_line(info.title);
    out += cat(front, truncated_to(title, title_columns), back, "\n");
  }
  return out += '\n';
}

MenuAnswer parse_menu_answer(std::string_view line, std::size_t count) {
  const std::string_view word = trimmed(line);
  if (word == "q" || word == "Q") {
    return {MenuAnswer::Kind::cancel, 0};
  }
  const bool digits =
      !word.empty() && word.front() != '0' && std::ranges::all_of(word, is_ascii_digit);
  const auto number = parse_number<std::size_t>(word);
  if (!digits || !number || *number > count) {
    return {};
  }
  return {MenuAnswer::Kind::number, *number - 1};
}

}  // namespace reprise::cli

// The first and the last row.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/terminal_text.h"
#include "base/text.h"
#include "cli/app/render.h"
#include "cli/output/table.h"
#include "cli/process/progress.h"

namespace reprise::cli::app {
namespace {

constexpr std::size_t kNameColumnsMax = 24;
constexpr std::size_t kColumnsForHints = 60;

std::string_view mark_of(const Tab& tab) {
  if (tab.is_busy()) {
    return " …";
  }
  return tab.unread ? " •" : "";
}

std::string truncated_name(const std::string& name, std::size_t columns) {
  return columns < 3 && display_width(name) > columns ? "" : fit_text(name, columns);
}

// The width of the tab bar if names have at most `name_columns` columns.
std::size_t bar_columns(const std::vector<Tab>& tabs, std::size_t name_columns) {
  std::size_t taken = 0;
  for (std::size_t i = 0; i < tabs.size(); ++i) {
    // " 1 name … "
    const std::string name = truncated_name(tab_name(tabs[i]), name_columns);
    taken += (name.empty() ? 3 : 4) + display_width(name) + display_width(mark_of(tabs[i])) +
             (i >= 9 ? 1 : 0);
  }
  return taken;
}

// The largest width of names with which all tabs fit.
std::size_t name_columns(const std::vector<Tab>& tabs, std::size_t columns_max) {
  std::size_t columns = kNameColumnsMax;
  while (columns > 0 && bar_columns(tabs, columns) > columns_max) {
    --columns;
  }
  return columns;
}

std::string answering_words(const Tab& tab, std::size_t columns, Time now) {
  const auto passed = now - tab.turn_began.value_or(now);
  const std::int64_t tokens =
      tab.turn.output.value + static_cast<std::int64_t>((tab.turn_bytes + 3) / 4);
  return columns < kColumnsForHints ? spinner_text(passed, 0)
                                    : cat(spinner_text(passed, tokens), " · Esc stops");
}

std::string state_words(const Tab& tab, std::size_t columns, Time now) {
  switch (tab.phase) {
    case Tab::Phase::opening:
      return "opening…";
    case Tab::Phase::answering:
      return answering_words(tab, columns, now);
    case Tab::Phase::stopping:
      return "stopping…";
    case Tab::Phase::closing:
      return "closing…";
    case Tab::Phase::idle:
      break;
  }
  return tab.metadata.refusal.empty() ? "F1 help" : "read-only · F1 help";
}

// A part of the last row. Less important parts are omitted first on a narrow screen.
struct StatusPart {
  int need;
  std::string text;
};

std::vector<StatusPart> status_parts(const State& state, const Tab& tab) {
  const TabMetadata& metadata = tab.metadata;
  const std::int64_t used = metadata.usage.input.value + metadata.usage.output.value;
  std::string budget;
  if (metadata.budget && tab.last_input > 0) {
    budget = cat(grouped(tab.last_input), " of ", grouped(*metadata.budget), " sent");
  } else if (metadata.budget) {
    budget = cat("budget ", grouped(*metadata.budget));
  }
  const bool is_known = !metadata.id.empty();
  return {{5, terminal_line(metadata.model.empty() ? metadata.provider : metadata.model)},
          {3, terminal_line(metadata.mode)},
          {2, used > 0 ? cat(grouped(used), " tokens") : ""},
          {4, budget},
          {metadata.saved ? 4 : 6, !metadata.saved ? "not saved"
                                   : is_known      ? metadata.store
                                                   : ""},
          {1, terminal_line(short_path(state, metadata.folder))}};
}

// Omits the least important parts until the others fit.
std::string status_line(std::vector<StatusPart> parts, std::size_t columns) {
  std::erase_if(parts, [](const StatusPart& part) { return part.text.empty(); });
  for (;;) {
    std::string out;
    for (const StatusPart& part : parts) {
      out += cat(out.empty() ? "" : " · ", part.text);
    }
    if (parts.size() < 2 || display_width(out) <= columns) {
      return truncated_name(out, columns);
    }
    parts.erase(std::ranges::min_element(parts, {}, &StatusPart::need));
  }
}

}  // namespace

void render_tabs(Screen& screen, const State& state) {
  const std::size_t columns = name_columns(state.tabs, state.size.columns);
  // The remaining room is for the current tab.
  const std::size_t taken = bar_columns(state.tabs, columns);
  const std::size_t left = state.size.columns - std::min(taken, state.size.columns);
  std::size_t column = 0;
  for (std::size_t i = 0; i < state.tabs.size(); ++i) {
    const Tab& tab = state.tabs[i];
    const bool current = i == state.current;
    const Style style = current ? Style{.bold = true, .reverse = true} : kDim;
    std::string name = truncated_name(tab_name(tab), columns);
    if (current) {
      const std::size_t blank = name.empty() ? 1 : 0;  // before the name
      const std::size_t columns_max = display_width(name) + left - std::min(left, blank);
      name = truncated_name(tab_name(tab), std::min(columns_max, kNameColumnsMax));
    }
    column = screen.put({0, column}, cat(" ", i + 1, name.empty() ? "" : " ", name), style);
    Style mark = style;
    mark.colour = tab.is_busy() ? Colour::cyan : Colour::yellow;
    mark.dim = false;
    column = screen.put({0, column}, mark_of(tab), mark);
    column = screen.put({0, column}, " ", style);
  }
}

std::string window_title(const State& state) {
  constexpr std::size_t kColumnsMax = 60;
  const Tab* const tab = state.tab();
  return tab == nullptr ? "reprise"
                        : cat(tab->is_busy() ? "… " : "",
                              truncated_name(tab_name(*tab), kColumnsMax), " - reprise");
}

void render_status(Screen& screen, const State& state, std::size_t row) {
  const Tab* const tab = state.tab();
  const std::size_t width = state.size.columns;
  std::string right = tab == nullptr ? "F1 help" : state_words(*tab, width, state.now);
  if (state.leaving) {
    right = "closing… Ctrl-C stops waiting";
  }
  const std::size_t right_columns = display_width(right);
  const std::size_t end = width > right_columns + 2 ? width - right_columns - 2 : width;
  if (state.line_search) {
    const LineSearch& search = *state.line_search;
    const bool history = search.kind == LineSearch::Kind::history;
    const std::string text = cat(search.failed ? "no " : "", history ? "earlier messages: " : "/",
                                 search.pattern.text());
    const std::size_t column = screen.put({row, 1}, text, {.colour = Colour::yellow}, end);
    screen.set_cursor({row, std::min(column, width - 1)});
  } else if (!state.status.empty()) {
    screen.put({row, 1}, state.status, {.colour = Colour::yellow}, end);
  } else if (tab != nullptr) {
    screen.put({row, 1}, status_line(status_parts(state, *tab), end > 1 ? end - 1 : 0), kDim, end);
  }
  if (end < width) {
    const bool busy = tab != nullptr && tab->is_busy();
    screen.put({row, end + 1}, right, busy ? Style{.colour = Colour::cyan} : kDim);
  }
}

}  // namespace reprise::cli::app

// The first and the last row.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/grapheme.h"
#include "base/text.h"
#include "cli/app/entry.h"
#include "cli/app/event.h"
#include "cli/app/render.h"
#include "cli/app/screen.h"
#include "cli/app/state.h"
#include "cli/app/style.h"

namespace reprise::cli::app {
namespace {

constexpr std::size_t kNameColumnsMax = 24;

std::string_view mark_of(const Tab& tab) {
  if (tab.is_busy()) {
    return " …";
  }
  return tab.unread ? " •" : "";
}

std::string cut_name(const std::string& name, std::size_t columns) {
  if (display_width(name) <= columns) {
    return name;
  }
  return columns < 3 ? "" : cat(width_prefix(name, columns - 1), "…");
}

// The widest names with which all tabs fit.
std::size_t name_columns(const std::vector<Tab>& tabs, std::size_t room) {
  for (std::size_t columns = kNameColumnsMax; columns > 0; --columns) {
    std::size_t taken = 0;
    for (std::size_t i = 0; i < tabs.size(); ++i) {
      // " 1 name … "
      taken += 4 + std::min(display_width(tab_name(tabs[i])), columns) +
               display_width(mark_of(tabs[i])) + (i >= 9 ? 1 : 0);
    }
    if (taken <= room) {
      return columns;
    }
  }
  return 0;
}

std::string state_words(const Tab& tab) {
  switch (tab.phase) {
    case Tab::Phase::opening:
      return "opening…";
    case Tab::Phase::answering:
      return "answering · Ctrl-C stops";
    case Tab::Phase::stopping:
      return "stopping…";
    case Tab::Phase::closing:
      return "closing…";
    case Tab::Phase::idle:
      break;
  }
  return "F1 help";
}

std::string facts_line(const State& state, const Tab& tab) {
  const TabFacts& facts = tab.facts;
  std::string out;
  const auto add = [&out](std::string_view part) {
    if (!part.empty()) {
      out += cat(out.empty() ? "" : " · ", part);
    }
  };
  add(facts.model.empty() ? facts.provider : facts.model);
  add(facts.mode);
  const std::int64_t used = facts.usage.input.value + facts.usage.output.value;
  const std::string tokens = used > 0 ? cat(grouped(used), " tokens") : "";
  add(tokens);
  if (facts.budget && tab.last_input > 0) {
    add(cat(grouped(tab.last_input), " of ", grouped(*facts.budget), " sent"));
  } else if (facts.budget) {
    add(cat("budget ", grouped(*facts.budget)));
  }
  if (!facts.id.empty() || !facts.saved) {
    add(facts.saved ? facts.store : "not saved");
  }
  add(short_path(state, facts.folder));
  return out;
}

}  // namespace

void render_tabs(Screen& screen, const State& state) {
  const std::size_t columns = name_columns(state.tabs, state.size.columns);
  std::size_t column = 0;
  for (std::size_t i = 0; i < state.tabs.size(); ++i) {
    const Tab& tab = state.tabs[i];
    const bool current = i == state.current;
    const Style style = current ? Style{.bold = true, .reverse = true} : kDim;
    const std::string name = cut_name(tab_name(tab), columns);
    column = screen.put({0, column}, cat(" ", i + 1, name.empty() ? "" : " ", name), style);
    Style mark = style;
    mark.colour = tab.is_busy() ? Colour::cyan : Colour::yellow;
    mark.dim = false;
    column = screen.put({0, column}, mark_of(tab), mark);
    column = screen.put({0, column}, " ", style);
  }
}

void render_status(Screen& screen, const State& state, std::size_t row) {
  const Tab* const tab = state.tab();
  const std::size_t width = state.size.columns;
  std::string right = tab == nullptr ? "F1 help" : state_words(*tab);
  if (state.leaving) {
    right = "closing… Ctrl-C hurries";
  }
  const std::size_t right_columns = display_width(right);
  const std::size_t end = width > right_columns + 2 ? width - right_columns - 2 : width;
  if (state.line_search) {
    const LineSearch& search = *state.line_search;
    const bool history = search.kind == LineSearch::Kind::history;
    const std::string text = cat(history ? "earlier messages: " : "/", search.pattern.text());
    const std::size_t column = screen.put({row, 1}, text, {.colour = Colour::yellow}, end);
    screen.set_cursor({row, std::min(column, width - 1)});
  } else if (!state.status.empty()) {
    screen.put({row, 1}, state.status, {.colour = Colour::yellow}, end);
  } else if (tab != nullptr) {
    screen.put({row, 1}, facts_line(state, *tab), kDim, end);
  }
  if (end < width) {
    const bool busy = tab != nullptr && tab->is_busy();
    screen.put({row, end + 1}, right, busy ? Style{.colour = Colour::cyan} : kDim);
  }
}

}  // namespace reprise::cli::app

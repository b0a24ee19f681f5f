// Folding of single tool calls and thoughts.

#include <algorithm>
#include <iterator>

#include "cli/app/state.h"
#include "cli/app/update.h"

namespace reprise::cli::app {
namespace {

// The nearest foldable entry, including `from`.
std::optional<std::size_t> find_part(const Tab& tab, std::ptrdiff_t from, bool up) {
  for (std::ptrdiff_t i = from; i >= 0 && i < std::ssize(tab.entries); i += up ? -1 : 1) {
    if (const auto index = static_cast<std::size_t>(i); is_foldable(tab.entries[index])) {
      return index;
    }
  }
  return std::nullopt;
}

}  // namespace

void choose_part(State& state, bool up) {
  Tab* const tab = state.tab();
  if (tab == nullptr || tab->entries.empty()) {
    return;
  }
  const Frame frame = frame_of(state);
  const std::size_t rows = frame.transcript_rows;
  const std::size_t width = frame.transcript_columns;
  const auto lines = visible_lines(*tab, rows, width, state.now);
  if (lines.empty()) {
    return;
  }
  std::optional<std::size_t> found;
  if (const auto chosen = tab->chosen_part(); chosen) {
    found = find_part(*tab, static_cast<std::ptrdiff_t>(*chosen) + (up ? -1 : 1), up);
  } else {
    // Prefers visible entries.
    const auto from = static_cast<std::ptrdiff_t>((up ? lines.back() : lines.front()).at.entry);
    found = find_part(*tab, from, up);
    found = found ? found : find_part(*tab, from, !up);
    if (!found) {
      state.status = "there are no tool calls or reasoning to open";
    }
  }
  if (!found) {
    return;
  }
  tab->chosen = found;
  tab->scrolled = true;
  const Anchor head{*found, 0};
  if (std::ranges::find(lines, head, &VisibleLine::at) == lines.end()) {
    tab->top = head;
    scroll(*tab, -static_cast<std::ptrdiff_t>(rows / 3), rows, width, state.now);
  }
}

bool toggle_part(State& state) {
  Tab* const tab = state.tab();
  const auto chosen = tab == nullptr ? std::nullopt : tab->chosen_part();
  if (!chosen) {
    return false;
  }
  const Frame frame = frame_of(state);
  const std::size_t rows = frame.transcript_rows;
  const std::size_t width = frame.transcript_columns;
  // Keeps the entry's position on the screen; the lines below it move.
  const Anchor end = anchor_at_end(*tab, rows, width, state.now);
  Anchor top = std::min(tab->top.value_or(end), end);
  Entry& entry = tab->entries[*chosen];
  entry.open = !entry.open.value_or(tab->unfolded);
  if (top.entry == *chosen) {
    top.line = 0;
  }
  tab->top = top;
  scroll(*tab, 0, rows, width, state.now);
  return true;
}

}  // namespace reprise::cli::app

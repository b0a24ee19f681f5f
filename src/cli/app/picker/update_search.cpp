// Searching for an earlier message (Ctrl-R) or in the transcript (Ctrl-F).

#include <algorithm>
#include <limits>
#include <tuple>

#include "base/terminal_text.h"
#include "base/text.h"
#include "cli/app/state.h"
#include "cli/app/update.h"

namespace reprise::cli::app {
namespace {

constexpr std::int64_t kMessagesBefore = 20;  // loaded before the target message
constexpr std::size_t kEntriesNear = 8;       // belonging to one message
constexpr std::size_t kLastLine = std::numeric_limits<std::ptrdiff_t>::max();

bool contains(std::string_view text, std::string_view pattern) {
  return lower_case(text).contains(pattern);
}

// Finds the newest prompt before `index` that contains the pattern.
void find_prompt(State& state, LineSearch& search, std::size_t index) {
  const std::vector<std::string>& prompts = state.input().prompts();
  const std::string pattern = lower_case(search.pattern.text());
  for (std::size_t i = std::min(index, prompts.size()); i-- > 0;) {
    if (contains(prompts[i], pattern)) {
      search.index = i;
      search.failed = false;
      const std::string found = prompts[i];
      state.input().set(found);
      return;
    }
  }
  search.failed = true;
}

// Finds a line in which a match begins, starting at `from`.
std::optional<std::size_t> line_with(const std::vector<Line>& lines, std::size_t from, bool up,
                                     std::string_view pattern) {
  const auto last = std::ssize(lines) - 1;
  if (!up && from >= lines.size()) {
    return std::nullopt;
  }
  for (auto i = std::min(static_cast<std::ptrdiff_t>(from), last); i >= 0 && i <= last;
       i += up ? -1 : 1) {
    if (const auto line = static_cast<std::size_t>(i); begins_match(lines, line, pattern)) {
      return line;
    }
  }
  return std::nullopt;
}

// Whether the entry contains the pattern in its hidden part.
bool has_hidden_match(const Entry& entry, bool folded, std::string_view pattern) {
  return (folded || (entry.ended && left_out(entry) > 0)) &&
         (contains(entry.text, pattern) || contains(entry.input, pattern) ||
          contains(entry.result, pattern));
}

// The direction of a search and the width of lines.
struct SearchScope {
  bool up;
  std::size_t width;
  Time now;
};

// Searches an entry from line `from`, or from the end where the search enters it. Opens an entry
// that hides the pattern. Discards layouts made only for the search, to limit memory.
std::optional<std::size_t> search_entry(Tab& tab, std::size_t index,
                                        std::optional<std::size_t> from, const SearchScope& scope) {
  const auto& [up, width, now] = scope;
  Entry& entry = tab.entries[index];
  const bool had_layout = entry.layout != nullptr;
  const std::size_t start = from.value_or(up ? kLastLine : 0);
  auto found = line_with(lines_in(tab, index, width, now), start, up, tab.search);
  const bool folded = is_foldable(entry) && !entry.open.value_or(tab.unfolded);
  const bool from_within = from && up && !folded;  // hidden text follows the visible text
  if (!found && !from_within && has_hidden_match(entry, folded, tab.search)) {
    const auto before = std::pair(entry.open, entry.shown_bytes);
    entry.open = is_foldable(entry) ? std::optional(true) : std::nullopt;
    entry.shown_bytes = std::max({entry.text.size(), entry.input.size(), entry.result.size()});
    entry.changed();
    found = line_with(lines_in(tab, index, width, now), up ? kLastLine : start, up, tab.search);
    if (!found) {
      std::tie(entry.open, entry.shown_bytes) = before;
      entry.changed();
    }
  }
  if (!found && !had_layout) {
    entry.changed();
  }
  return found;
}

// Searches from this line on; nullopt if there is no match.
std::optional<Anchor> find_line(Tab& tab, Anchor at, const SearchScope& scope) {
  std::optional<std::size_t> from = at.line;
  for (auto entry = static_cast<std::ptrdiff_t>(at.entry);
       entry >= 0 && entry < std::ssize(tab.entries); entry += scope.up ? -1 : 1) {
    const auto index = static_cast<std::size_t>(entry);
    if (const auto line = search_entry(tab, index, from, scope)) {
      return Anchor{index, *line};
    }
    from.reset();
  }
  return std::nullopt;
}

// Scrolls to the match; without one, loads and searches older messages.
void show_match(State& state, Tab& tab, std::optional<Anchor> at, bool up, Effects& effects) {
  const Frame frame = frame_of(state);
  if (at) {
    tab.found = at;
    // Leaves some lines above it.
    tab.top = at;
    tab.scrolled = true;
    scroll(tab, -static_cast<std::ptrdiff_t>(frame.transcript_rows / 3), frame.transcript_rows,
           frame.transcript_columns, state.now);
    return;
  }
  if (!up || tab.oldest.value == 0) {
    state.status = !tab.top ? "not found"
                   : up     ? "not found above; N searches below"
                            : "not found below; n searches above";
    return;
  }
  tab.searching = true;
  state.status = cat("searching ", grouped(tab.oldest.value), " older messages… Esc cancels");
  if (!std::exchange(tab.loading_older, true)) {
    effects.emplace_back(
        LoadOlder{.tab = tab.id, .before = tab.oldest, .count = kMessagesToSearch});
  }
}

void finish_search(State& state, const LineSearch& search, Effects& effects) {
  Tab* const tab = state.tab();
  if (search.kind != LineSearch::Kind::transcript || tab == nullptr) {
    return;
  }
  tab->search = lower_case(search.pattern.text());
  tab->found.reset();
  find_in_transcript(state, true, effects);
}

}  // namespace

void find_in_transcript(State& state, bool up, Effects& effects) {
  Tab* const tab = state.tab();
  if (tab == nullptr || tab->search.empty() || tab->entries.empty()) {
    return;
  }
  const Frame frame = frame_of(state);
  const std::size_t width = frame.transcript_columns;
  std::optional<Anchor> at = tab->found;
  if (at && at->line == 0 && up && at->entry == 0) {
    return show_match(state, *tab, std::nullopt, up, effects);
  }
  if (at && at->line == 0 && up) {
    --at->entry;
    at->line = kLastLine;
  } else if (at) {
    at->line = up ? at->line - 1 : at->line + 1;
  } else {
    // From the last visible line.
    const auto lines = visible_lines(*tab, frame.transcript_rows, width, state.now);
    at = lines.empty() ? Anchor{} : lines.back().at;
  }
  show_match(state, *tab, find_line(*tab, *at, {up, width, state.now}), up, effects);
}

void search_on(State& state, Tab& tab, std::size_t added, Effects& effects) {
  if (!std::exchange(tab.searching, false) || &tab != state.tab()) {
    return;
  }
  state.status.clear();
  std::optional<Anchor> at;
  if (added > 0) {
    at = find_line(tab, {added - 1, kLastLine},
                   {true, frame_of(state).transcript_columns, state.now});
  } else if (tab.oldest.value > 0) {
    state.status = "not found: older messages cannot be read";
    return;
  }
  show_match(state, tab, at, true, effects);
}

// An entry may include results from later messages.
void scroll_to_target(State& state, Tab& tab, Effects& effects) {
  if (!tab.scroll_target || &tab != state.tab()) {
    return;
  }
  const Seq seq = *tab.scroll_target;
  if (seq < tab.oldest) {
    if (!std::exchange(tab.loading_older, true)) {
      const std::int64_t count = tab.oldest.value - seq.value + kMessagesBefore;
      effects.emplace_back(LoadOlder{.tab = tab.id, .before = tab.oldest, .count = count});
    }
    return;
  }
  tab.scroll_target.reset();
  Anchor at;
  for (std::size_t i = 0; i < tab.entries.size(); ++i) {
    const Seq candidate = tab.entries[i].seq;
    if (candidate >= Seq{} && candidate <= seq &&
        (at == Anchor{} || candidate > tab.entries[at.entry].seq)) {
      at = {i, 0};
    }
  }
  const SearchScope scope{false, frame_of(state).transcript_columns, state.now};
  const auto found = tab.search.empty() ? std::nullopt : find_line(tab, at, scope);
  const bool is_near = found && found->entry < at.entry + kEntriesNear;
  tab.scrolled = true;
  show_match(state, tab, is_near ? found : at, false, effects);
}

void begin_search(State& state, LineSearch::Kind kind) {
  state.line_search = LineSearch{.kind = kind,
                                 .draft = state.input().unfolded_text(),
                                 .pattern = {},
                                 .index = state.input().prompts().size()};
}

bool press_in_search(State& state, std::string_view key, Effects& effects) {
  if (!state.line_search) {
    return false;
  }
  LineSearch& search = *state.line_search;
  const bool history = search.kind == LineSearch::Kind::history;
  if (key == "Esc" || key == "Ctrl-C") {
    if (history) {
      state.input().set(search.draft);
    }
    state.line_search.reset();
  } else if (key == "Ctrl-R" && history) {
    find_prompt(state, search, search.index);
  } else if (key == "Backspace") {
    search.pattern.erase_before();
    if (history) {
      find_prompt(state, search, state.input().prompts().size());
    }
  } else if (key == "Enter") {
    const LineSearch finished = search;
    state.line_search.reset();
    finish_search(state, finished, effects);
  } else if (history) {
    state.line_search.reset();
    return false;  // the key applies to the prompt found
  }
  return true;
}

void type_in_search(State& state, std::string_view text) {
  if (!state.line_search) {
    return;
  }
  LineSearch& search = *state.line_search;
  search.pattern.insert(text);
  if (search.kind == LineSearch::Kind::history) {
    find_prompt(state, search, state.input().prompts().size());
  }
}

bool type_while_scrolled(State& state, std::string_view text, Effects& effects) {
  Tab* const tab = state.tab();
  if (tab == nullptr || !tab->scrolled || !tab->input.empty()) {
    return false;
  }
  if (text == " " && toggle_part(state)) {
    return true;
  }
  tab->chosen.reset();
  tab->searching = false;
  if (!tab->top) {
    return false;
  }
  if (tab->search.empty() || (text != "n" && text != "N")) {
    return false;
  }
  find_in_transcript(state, text == "n", effects);
  return true;
}

}  // namespace reprise::cli::app

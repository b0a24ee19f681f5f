// Looking for something: an earlier message (Ctrl-R), or a place in the transcript ('/').

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "cli/app/entry.h"
#include "cli/app/frame.h"
#include "cli/app/state.h"
#include "cli/app/style.h"
#include "cli/app/update.h"

namespace reprise::cli::app {
namespace {

bool contains(std::string_view text, std::string_view pattern) {
  return ascii_lower(text).find(pattern) != std::string::npos;
}

// The newest prompt before `place` that has the pattern.
void find_prompt(State& state, LineSearch& search, std::size_t place) {
  const std::vector<std::string>& prompts = state.input().prompts();
  const std::string pattern = ascii_lower(search.pattern.text());
  for (std::size_t i = std::min(place, prompts.size()); i-- > 0;) {
    if (contains(prompts[i], pattern)) {
      search.place = i;
      const std::string found = prompts[i];
      state.input().set(found);
      return;
    }
  }
}

bool line_has(const Tab& tab, Anchor at, const Frame& frame, const State& state,
              std::string_view pattern) {
  const auto& lines = lines_in(tab, at.entry, frame.transcript_columns, state.now);
  return contains(text_of(lines[at.line]), pattern);
}

// The next line up or down; nullopt at the end.
std::optional<Anchor> step(const Tab& tab, Anchor at, bool up, const Frame& frame,
                           const State& state) {
  const auto height = [&](std::size_t entry) {
    return lines_in(tab, entry, frame.transcript_columns, state.now).size();
  };
  if (up) {
    if (at.line > 0) {
      return Anchor{at.entry, at.line - 1};
    }
    return at.entry == 0 ? std::nullopt
                         : std::optional(Anchor{at.entry - 1, height(at.entry - 1) - 1});
  }
  if (at.line + 1 < height(at.entry)) {
    return Anchor{at.entry, at.line + 1};
  }
  return at.entry + 1 == tab.entries.size() ? std::nullopt : std::optional(Anchor{at.entry + 1, 0});
}

void finish_search(State& state, const LineSearch& search) {
  Tab* const tab = state.tab();
  if (search.kind != LineSearch::Kind::transcript || tab == nullptr) {
    return;
  }
  tab->search = ascii_lower(search.pattern.text());
  tab->found.reset();
  find_in_transcript(state, true);
}

}  // namespace

void find_in_transcript(State& state, bool up) {
  Tab* const tab = state.tab();
  if (tab == nullptr || tab->search.empty() || tab->entries.empty()) {
    return;
  }
  const Frame frame = frame_of(state);
  const std::size_t rows = frame.transcript_rows;
  const std::size_t width = frame.transcript_columns;
  const Anchor end = anchor_at_end(*tab, rows, width, state.now);
  std::optional<Anchor> at = tab->found;
  if (!at) {
    // From the last line that is shown.
    at = std::min(tab->top.value_or(end), end);
    for (std::size_t i = 0; i + 1 < rows; ++i) {
      at = step(*tab, *at, false, frame, state).value_or(*at);
    }
  } else {
    at = step(*tab, *at, up, frame, state);
  }
  while (at && !line_has(*tab, *at, frame, state, tab->search)) {
    at = step(*tab, *at, up, frame, state);
  }
  if (!at) {
    state.status =
        cat("not found", tab->oldest.value > 0 && up ? "; PgUp loads older messages" : "");
    return;
  }
  tab->found = at;
  // With some lines before it.
  tab->top = at;
  scroll(*tab, -static_cast<std::ptrdiff_t>(rows / 3), rows, width, state.now);
}

void begin_search(State& state, LineSearch::Kind kind) {
  state.line_search = LineSearch{.kind = kind,
                                 .draft = state.input().text(),
                                 .pattern = {},
                                 .place = state.input().prompts().size()};
}

bool press_in_search(State& state, std::string_view key) {
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
    find_prompt(state, search, search.place);
  } else if (key == "Backspace") {
    search.pattern.erase_before();
    if (history) {
      find_prompt(state, search, state.input().prompts().size());
    }
  } else if (key == "Enter") {
    const LineSearch done = search;
    state.line_search.reset();
    finish_search(state, done);
  } else if (history) {
    state.line_search.reset();
    return false;  // the key is meant for what was found
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

bool type_while_scrolled(State& state, std::string_view text) {
  Tab* const tab = state.tab();
  if (tab == nullptr || !tab->scrolled || !tab->input.empty()) {
    return false;
  }
  if (text == " " && toggle_part(state)) {
    return true;
  }
  tab->chosen.reset();
  if (!tab->top) {
    return false;
  }
  if (text.starts_with('/')) {
    begin_search(state, LineSearch::Kind::transcript);
    if (text.size() > 1) {
      type_in_search(state, text.substr(1));
    }
    return true;
  }
  if (tab->search.empty() || (text != "n" && text != "N")) {
    return false;
  }
  find_in_transcript(state, text == "n");
  return true;
}

}  // namespace reprise::cli::app

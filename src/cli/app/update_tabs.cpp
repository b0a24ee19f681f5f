// Tabs: opening, switching and closing.

#include <algorithm>
#include <utility>

#include "base/terminal_text.h"
#include "base/text.h"
#include "cli/app/state.h"
#include "cli/app/update.h"

namespace reprise::cli::app {

Effects begin(State& state, const Start& start) {
  if (start.pick) {
    Effects effects;
    open_picker(state, true, start.all_folders, effects);
    return effects;
  }
  if (!start.new_session && start.sel.empty()) {
    return {FindNewest{}};
  }
  Tab* const tab = add_tab(state, state.start_folder);
  if (!start.sel.empty()) {
    return {OpenSession{.tab = tab->id, .sel = start.sel}};
  }
  return {OpenNew{.tab = tab->id}};
}

Tab* add_tab(State& state, std::string folder) {
  if (state.tabs.size() >= kTabsMax) {
    announce(state, state.tab(), Entry::Kind::warning, std::string(kTabsFull));
    return nullptr;
  }
  Tab tab{.id = {++state.tabs_opened}};
  if (const Tab* const before = state.tab(); before != nullptr) {
    tab.opened_from = before->id;
  }
  tab.metadata.folder = std::move(folder);
  tab.input = std::exchange(state.first_input, {});
  if (state.tabs_opened == 1 && !state.notice.empty()) {
    tab.entries.push_back({.text = state.notice});  // repeated, as it was visible only briefly
  }
  state.notice.clear();
  state.is_refused = false;
  state.tabs.push_back(std::move(tab));
  show_tab(state, state.tabs.size() - 1);
  return &state.tabs.back();
}

void show_tab(State& state, std::size_t index) {
  state.current = std::min(index, state.tabs.empty() ? 0 : state.tabs.size() - 1);
  if (Tab* const tab = state.tab(); tab != nullptr) {
    tab->unread = false;
  }
}

void announce(State& state, Tab* tab, Entry::Kind kind, std::string text) {
  if (tab == nullptr) {
    state.notice = std::move(text);
    return;
  }
  tab->entries.push_back({.kind = kind, .text = std::move(text)});
  tab->unread = tab->unread || tab != state.tab();
}

void scroll_to_end(Tab& tab) {
  tab.top.reset();
  tab.scrolled = false;
  tab.search.clear();
  tab.chosen.reset();
}

void show_start(const State& state, Tab& tab) {
  const Frame frame = frame_of(state);
  const std::size_t last = tab.entries.size() - 1;
  const auto& lines = lines_in(tab, last, frame.transcript_columns, state.now);
  if (!tab.top && lines.size() > frame.transcript_rows) {
    tab.top = Anchor{last, 0};
  }
}

void drop_tab(State& state, TabId id) {
  const auto found = std::ranges::find(state.tabs, id, &Tab::id);
  if (found == state.tabs.end()) {
    return;
  }
  const auto index = static_cast<std::size_t>(found - state.tabs.begin());
  std::erase_if(state.dialogs, [id](const Dialog& dialog) {
    return dialog.kind != Dialog::Kind::resume && dialog.tab == id;
  });
  const bool is_current = index == state.current;
  const TabId opened_from = found->opened_from;
  state.tabs.erase(found);
  const auto origin = std::ranges::find(state.tabs, opened_from, &Tab::id);
  std::size_t next = state.current;
  if (is_current && origin != state.tabs.end()) {
    next = static_cast<std::size_t>(origin - state.tabs.begin());
  } else if (next > index || next >= state.tabs.size()) {
    next = next == 0 ? 0 : next - 1;
  }
  show_tab(state, next);
}

void on_tab_closed(State& state, TabId id) {
  std::vector<std::string> late_warnings;
  std::string typed;
  bool was_shown = false;
  if (Tab* const tab = state.find(id); tab != nullptr) {
    late_warnings = std::move(tab->late_warnings);
    typed = tab->input.unfolded_text();
    was_shown = tab == state.tab();
  }
  drop_tab(state, id);
  if (!typed.empty() && was_shown && state.input().empty()) {
    state.input().set(std::move(typed));
  } else if (!trimmed(typed).empty()) {
    state.input().remember(typed);
    announce(state, state.tab(), Entry::Kind::notice,
             "the closed session had an unsent message; Up brings it back");
  }
  for (std::string& text : late_warnings) {
    announce(state, state.tab(), Entry::Kind::warning, std::move(text));
  }
}

void on_tab_changed(State& state, const TabChanged& changed) {
  Tab* const tab = state.find(changed.tab);
  if (tab == nullptr) {
    return;
  }
  if (changed.by_others && tab->is_busy()) {
    tab->missed_changes = true;
    return;
  }
  tab->metadata = changed.metadata;
  if (!changed.history_changed) {
    return;
  }
  // Keeps the command's output visible.
  std::vector<Entry> entries = changed.entries;
  if (!tab->entries.empty() && tab->entries.back().kind == Entry::Kind::notice) {
    entries.push_back(tab->entries.back());
  }
  tab->entries = std::move(entries);
  tab->oldest = changed.oldest;
  tab->last_input = changed.last_input;
  tab->counted_requests = changed.counted_requests;
  tab->top.reset();
  tab->found.reset();
  tab->chosen.reset();
}

// The transcript is not replaced while somebody reads or edits earlier messages in it.
void check_changes(State& state, Effects& effects) {
  constexpr std::chrono::seconds kInterval{2};
  Tab* const tab = state.tab();
  if (tab == nullptr || tab->phase != Tab::Phase::idle || tab->editing || tab->top ||
      state.now - state.checked_at < kInterval) {
    return;
  }
  state.checked_at = state.now;
  effects.emplace_back(
      CheckChanges{.tab = tab->id, .missed = std::exchange(tab->missed_changes, false)});
}

void report_unsent(State& state) {
  for (const Tab& tab : state.tabs) {
    if (const std::string text = tab.input.unfolded_text(); !trimmed(text).empty()) {
      state.late_warnings.push_back(cat("not sent: ", terminal_line(text)));
    }
  }
}

void run_resume(State& state, std::string_view text, Effects& effects) {
  using enum ResumeRequest::Action;
  Tab* const tab = state.tab();
  const TabId id = tab == nullptr ? TabId{} : tab->id;
  auto request = parse_resume_request(text);
  if (!request) {
    return announce(state, tab, Entry::Kind::warning, request.error().message);
  }
  switch (request->action) {
    case list:
      effects.emplace_back(ListResumable{.tab = id});
      return;
    case clear:
      effects.emplace_back(CountClosed{.tab = id});
      return;
    case remove:
      effects.emplace_back(DeleteStored{.tab = id, .sel = std::move(request->sel)});
      return;
    case open:
      if (Tab* const added = add_tab(state, ""); added != nullptr) {
        effects.emplace_back(
            OpenSession{.tab = added->id, .sel = std::move(request->sel), .of_list = true});
      }
      return;
  }
}

}  // namespace reprise::cli::app

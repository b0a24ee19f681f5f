// The picker: what keys and answers do to it.

#include <algorithm>

#include "base/text.h"
#include "cli/app/effect.h"
#include "cli/app/state.h"
#include "cli/app/update.h"

namespace reprise::cli::app {
namespace {

// After every change: the rows and the preview that are missing now.
void fetch(const State& state, Picker& picker, Effects& effects) {
  if (needs_more(picker, state.size.rows)) {
    picker.loading = true;
    effects.emplace_back(LoadPage{.generation = picker.generation,
                                  .all = picker.all,
                                  .after = picker.next,
                                  .limit = picker.rows.empty() ? kFirstPage : kNextPage,
                                  .folder = picker.folder});
  }
  if (picker.asked_for.empty() && !ask_for_questions(picker).empty()) {
    effects.emplace_back(LoadQuestions{.generation = picker.generation, .ids = picker.asked_for});
  }
  const PickerRow* const row = picker.row();
  if (row != nullptr && row->id != picker.asked_preview && !picker.previews.contains(row->id)) {
    picker.asked_preview = row->id;
    effects.emplace_back(LoadPreview{.id = row->id});
  }
}

void start_list(State& state, Picker& picker, Effects& effects) {
  picker.generation = ++state.pickers_opened;
  picker.rows.clear();
  picker.next.clear();
  picker.complete = false;
  picker.loading = false;
  picker.asked_for.clear();
  picker.asked = 0;
  refilter(picker, true);
  fetch(state, picker, effects);
}

void close_picker(State& state, bool alone, Effects& effects) {
  state.picker.reset();
  if (alone) {
    leave(state, Leaving::done, effects);
  }
}

const Tab* open_tab_of(const State& state, const PickerRow& row) {
  const auto found = std::ranges::find_if(
      state.tabs, [&row](const Tab& tab) { return tab.metadata.id == row.id; });
  return found == state.tabs.end() ? nullptr : &*found;
}

void choose(State& state, Picker& picker, Effects& effects) {
  const PickerRow* const row = picker.row();
  if (row == nullptr) {
    return;
  }
  if (const Tab* const tab = open_tab_of(state, *row); tab != nullptr) {
    const auto index = static_cast<std::size_t>(tab - state.tabs.data());
    state.picker.reset();
    return show_tab(state, index);
  }
  if (state.tabs.size() >= kTabsMax) {
    picker.note = kTabsFull;
    return;
  }
  const std::string id = row->id;
  Tab* const tab = add_tab(state, row->folder);
  state.picker.reset();
  effects.emplace_back(OpenSession{.tab = tab->id, .sel = id});
}

void trash_row(const State& state, Picker& picker, Effects& effects) {
  const PickerRow* const row = picker.row();
  if (row == nullptr) {
    return;
  }
  if (open_tab_of(state, *row) != nullptr) {
    picker.note = "That session is open in a tab.";
    return;
  }
  effects.emplace_back(TrashStored{.id = row->id});
}

void begin_rename(Picker& picker) {
  if (const PickerRow* const row = picker.row(); row != nullptr) {
    picker.new_title.emplace();
    picker.new_title->set(row->title);
  }
}

// What moves and deletes characters, in the filter or the new title. Whether it was such a key.
bool edit_line(Editor& line, std::string_view key) {
  if (key == "Backspace") {
    line.erase_before();
  } else if (key == "Ctrl-U") {
    line.clear();
  } else if (key == "Alt-Backspace") {
    line.erase_word();
  } else if (key == "Left") {
    line.left();
  } else if (key == "Right") {
    line.right();
  } else if (key == "Ctrl-A") {
    line.line_start();
  } else if (key == "Ctrl-E") {
    line.line_end();
  } else {
    return false;
  }
  return true;
}

void rename_key(Picker& picker, Editor& title_line, std::string_view key, Effects& effects) {
  if (key == "Esc" || key == "Ctrl-C") {
    picker.new_title.reset();
  } else if (key == "Enter") {
    const std::string title(trimmed(title_line.text()));
    picker.new_title.reset();
    if (const PickerRow* const row = picker.row(); row != nullptr && !title.empty()) {
      effects.emplace_back(RenameStored{.id = row->id, .title = title});
    }
  } else {
    (void)edit_line(title_line, key);  // other keys do nothing here
  }
}

// Whether it was a key that moves the selection.
bool move_key(const State& state, Picker& picker, std::string_view key) {
  const auto page = static_cast<std::ptrdiff_t>(std::max<std::size_t>(state.size.rows / 2, 1));
  constexpr std::ptrdiff_t kFar = 1'000'000'000;
  constexpr std::ptrdiff_t kWheelRows = 3;
  if (key == "Up" || key == "Ctrl-P") {
    move_selection(picker, -1);
  } else if (key == "Down" || key == "Ctrl-N") {
    move_selection(picker, 1);
  } else if (key == "PgUp") {
    move_selection(picker, -page);
  } else if (key == "PgDn") {
    move_selection(picker, page);
  } else if (key == "Wheel-Up") {
    move_selection(picker, -kWheelRows);
  } else if (key == "Wheel-Down") {
    move_selection(picker, kWheelRows);
  } else if (key == "Home") {
    move_selection(picker, -kFar);
  } else if (key == "End") {
    move_selection(picker, kFar);
  } else {
    return false;
  }
  return true;
}

}  // namespace

void open_picker(State& state, bool alone, bool all, Effects& effects) {
  Picker& picker = state.picker.emplace();
  picker.alone = alone;
  picker.all = all;
  picker.folder = state.tab() == nullptr ? "" : state.tab()->metadata.folder;
  start_list(state, picker, effects);
}

void press_in_picker(State& state, std::string_view key, Effects& effects) {
  if (!state.picker) {
    return;
  }
  Picker& picker = *state.picker;
  picker.note.clear();
  if (picker.new_title) {
    return rename_key(picker, *picker.new_title, key, effects);
  }
  if (key == "Esc" || key == "Ctrl-C" || key == "Ctrl-O" || key == "Ctrl-D") {
    return close_picker(state, picker.alone, effects);
  }
  if (key == "Enter") {
    return choose(state, picker, effects);
  }
  if (key == "Delete") {
    trash_row(state, picker, effects);
  } else if (key == "F2") {
    begin_rename(picker);
  } else if (key == "Tab") {
    picker.all = !picker.all;
    return start_list(state, picker, effects);
  } else if (key == "Ctrl-S") {
    picker.order =
        picker.order == Picker::Order::activity ? Picker::Order::creation : Picker::Order::activity;
    refilter(picker, true);
  } else if (!move_key(state, picker, key) && edit_line(picker.filter, key)) {
    refilter(picker, true);
  }
  fetch(state, picker, effects);
}

void type_in_picker(State& state, std::string_view text, Effects& effects) {
  if (!state.picker) {
    return;
  }
  Picker& picker = *state.picker;
  picker.note.clear();
  if (picker.new_title) {
    return picker.new_title->insert(text);
  }
  if (picker.filter.empty() && text == "q") {
    return close_picker(state, picker.alone, effects);
  }
  if (picker.filter.empty() && text == "u" && !picker.trashed.empty()) {
    effects.emplace_back(RestoreStored{.id = picker.trashed.back().id});
    return;
  }
  picker.filter.insert(text);
  refilter(picker, true);
  fetch(state, picker, effects);
}

void on_page(State& state, const PageLoaded& page, Effects& effects) {
  if (!state.picker || state.picker->generation != page.generation) {
    return;
  }
  Picker& picker = *state.picker;
  picker.note = page.failure;
  add_rows(picker, page.rows, page.next);
  if (picker.rows.empty() && picker.complete && !picker.all) {
    // There is nothing of this folder; perhaps elsewhere.
    picker.all = true;
    return start_list(state, picker, effects);
  }
  if (picker.rows.empty() && picker.complete && picker.alone && page.failure.empty()) {
    state.nothing_saved = true;
    return close_picker(state, picker.alone, effects);
  }
  fetch(state, picker, effects);
}

void on_questions(State& state, const QuestionsLoaded& loaded, Effects& effects) {
  if (state.picker && state.picker->generation == loaded.generation) {
    add_questions(*state.picker, loaded.questions);
    fetch(state, *state.picker, effects);
  }
}

void on_stored_changed(State& state, const StoredChanged& changed, Effects& effects) {
  using What = StoredChanged::What;
  for (Tab& tab : state.tabs) {
    if (changed.what == What::renamed && changed.failure.empty() && tab.metadata.id == changed.id) {
      tab.metadata.title = changed.title;
    }
  }
  if (!state.picker) {
    return;
  }
  Picker& picker = *state.picker;
  if (!changed.failure.empty()) {
    picker.note = changed.failure;
    return;
  }
  if (changed.what == What::restored) {
    if (picker.trashed.empty() || picker.trashed.back().id != changed.id) {
      return;
    }
    PickerRow row = std::move(picker.trashed.back());
    picker.trashed.pop_back();
    const auto place = std::ranges::find_if(
        picker.rows, [&row](const PickerRow& other) { return is_newer(row, other); });
    picker.note = cat("'", row.title, "' is back");
    picker.rows.insert(place, std::move(row));
  } else {
    const auto row = std::ranges::find(picker.rows, changed.id, &PickerRow::id);
    if (row == picker.rows.end()) {
      return;
    }
    if (changed.what == What::renamed) {
      rename(*row, changed.title);
    } else {
      picker.note = cat("in the trash, u brings it back: '", row->title, "'");
      const std::size_t selected = picker.selected;
      picker.trashed.push_back(std::move(*row));
      picker.rows.erase(row);
      refilter(picker, true);
      move_selection(picker, static_cast<std::ptrdiff_t>(selected));
      return fetch(state, picker, effects);
    }
  }
  refilter(picker, false);
  fetch(state, picker, effects);
}

}  // namespace reprise::cli::app

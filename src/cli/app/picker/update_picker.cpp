// The picker: handling of keys and responses.

#include <algorithm>

#include "base/text.h"
#include "cli/app/update.h"

namespace reprise::cli::app {
namespace {

// Starts a search; responses to earlier ones are ignored.
void search_texts(State& state, Picker& picker, Effects& effects) {
  picker.generation = ++state.pickers_opened;
  picker.loading = true;
  effects.emplace_back(SearchTexts{.generation = picker.generation,
                                   .words = picker.filter.text(),
                                   .all_folders = picker.all_folders,
                                   .folder = picker.folder});
}

}  // namespace

void fetch_for_picker(const State& state, Picker& picker, Effects& effects) {
  if (picker.texts) {
    return;
  }
  if (needs_page(picker, state.size.rows)) {
    picker.loading = true;
    effects.emplace_back(LoadPage{.generation = picker.generation,
                                  .all_folders = picker.all_folders,
                                  .after = picker.next,
                                  .limit = picker.rows.empty() ? kFirstPage : kNextPage,
                                  .folder = picker.folder,
                                  .trash = picker.trash,
                                  .other_tools = picker.other_tools});
  }
  if (picker.pending_questions.empty() && !ask_for_questions(picker).empty()) {
    effects.emplace_back(
        LoadQuestions{.generation = picker.generation, .ids = picker.pending_questions});
  }
  const PickerRow* const row = picker.row();
  if (row != nullptr && row->id != picker.requested_preview && !picker.previews.contains(row->id)) {
    picker.requested_preview = row->id;
    effects.emplace_back(LoadPreview{.id = row->id});
  }
}

void start_picker_list(State& state, Picker& picker, Effects& effects) {
  picker.generation = ++state.pickers_opened;
  picker.rows.clear();
  picker.next.clear();
  picker.complete = false;
  picker.loading = false;
  picker.pending_questions.clear();
  picker.requested = 0;
  refilter(picker, true);
  if (picker.texts) {
    search_texts(state, picker, effects);
  }
  fetch_for_picker(state, picker, effects);
}

void close_picker(State& state, bool alone, Effects& effects) {
  state.picker.reset();
  if (alone) {
    leave(state, ExitReason::quit, effects);
  }
}

namespace {

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
  if (picker.trash) {
    effects.emplace_back(RestoreStored{.id = row->id});
    return;
  }
  const bool is_message = picker.texts;
  const Seq seq = row->seq;
  const std::string match = lower_case(row->match);
  const auto go_to_message = [&](Tab& tab) {
    if (is_message) {
      tab.scroll_target = seq;
      tab.search = match;
    }
  };
  if (const Tab* const open = open_tab_of(state, *row); open != nullptr) {
    const auto index = static_cast<std::size_t>(open - state.tabs.data());
    state.picker.reset();
    show_tab(state, index);
    go_to_message(state.tabs[index]);
    return scroll_to_target(state, state.tabs[index], effects);
  }
  if (state.tabs.size() >= kTabsMax) {
    picker.note = kTabsFull;
    return;
  }
  const std::string id = row->id;
  Tab* const tab = add_tab(state, row->folder);
  go_to_message(*tab);
  state.picker.reset();
  effects.emplace_back(OpenSession{.tab = tab->id, .sel = id});
}

void trash_row(const State& state, Picker& picker, Effects& effects) {
  const PickerRow* const row = picker.row();
  if (row == nullptr || picker.trash || picker.texts || picker.other_tools) {
    return;
  }
  if (open_tab_of(state, *row) != nullptr) {
    picker.note = "That session is open in a tab.";
    return;
  }
  effects.emplace_back(TrashStored{.id = row->id});
}

void ask_to_empty(Picker& picker) {
  const std::size_t count = picker.rows.size();
  if (!picker.trash || count == 0) {
    return;
  }
  picker.confirming_empty = true;
  picker.note =
      cat("Remove ", count, picker.complete ? "" : "+", count == 1 ? " session" : " sessions",
          picker.all_folders ? "" : " of this project",
          " for good? y removes them, any other key cancels");
}

void begin_rename(Picker& picker) {
  if (const PickerRow* const row = picker.row();
      row != nullptr && !picker.trash && !picker.texts && !picker.other_tools) {
    picker.new_title.emplace();
    picker.new_title->set(row->title);
  }
}

// Handles editing keys in the filter or the new title. Whether it was such a key.
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
    (void)edit_line(title_line, key);  // ignores other keys
  }
}

// Handles keys that move the selection. Whether it was such a key.
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

// Keeps the previous hits until the next response, so that the list does not flicker.
void filter_changed(State& state, Picker& picker, Effects& effects) {
  if (picker.texts) {
    return search_texts(state, picker, effects);
  }
  refilter(picker, true);
  fetch_for_picker(state, picker, effects);
}

}  // namespace

void open_picker(State& state, bool alone, bool all_folders, Effects& effects) {
  Picker& picker = state.picker.emplace();
  picker.alone = alone;
  picker.all_folders = all_folders;
  picker.folder = state.tab() == nullptr ? "" : state.tab()->metadata.folder;
  start_picker_list(state, picker, effects);
}

void press_in_picker(State& state, std::string_view key, Effects& effects) {
  if (!state.picker) {
    return;
  }
  Picker& picker = *state.picker;
  picker.note.clear();
  picker.confirming_empty = false;
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
  } else if (key == "Ctrl-F") {
    picker.texts = !picker.texts;
    picker.trash = false;
    picker.other_tools = false;
    return start_picker_list(state, picker, effects);
  } else if (key == "Ctrl-T") {
    picker.trash = !picker.trash;
    picker.texts = false;
    picker.other_tools = false;
    return start_picker_list(state, picker, effects);
  } else if (key == "Ctrl-X") {
    return ask_to_empty(picker);
  } else if (key == "F2") {
    begin_rename(picker);
  } else if (key == "Tab") {
    choose_next_scope(picker);
    return start_picker_list(state, picker, effects);
  } else if (key == "Ctrl-S") {
    picker.order =
        picker.order == Picker::Order::activity ? Picker::Order::creation : Picker::Order::activity;
    refilter(picker, true);
  } else if (!move_key(state, picker, key) && edit_line(picker.filter, key)) {
    return filter_changed(state, picker, effects);
  }
  fetch_for_picker(state, picker, effects);
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
  if (std::exchange(picker.confirming_empty, false)) {
    if (text == "y" || text == "Y") {
      effects.emplace_back(EmptyTrash{.all_folders = picker.all_folders, .folder = picker.folder});
    }
    return;
  }
  if (picker.filter.empty() && text == "q" && !picker.texts) {
    return close_picker(state, picker.alone, effects);
  }
  if (picker.filter.empty() && text == "u" && !picker.texts && !picker.trashed.empty() &&
      !picker.trash) {
    effects.emplace_back(RestoreStored{.id = picker.trashed.back().id});
    return;
  }
  picker.filter.insert(text);
  filter_changed(state, picker, effects);
}

}  // namespace reprise::cli::app

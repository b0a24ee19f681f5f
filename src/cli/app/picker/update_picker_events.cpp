// The picker: handling of the worker's responses.

#include <algorithm>

#include "base/text.h"
#include "cli/app/update.h"

namespace reprise::cli::app {

void on_page(State& state, const PageLoaded& page, Effects& effects) {
  if (!state.picker || state.picker->generation != page.generation) {
    return;
  }
  Picker& picker = *state.picker;
  if (!page.failure.empty()) {
    picker.note = page.failure;  // otherwise keeps the last note until the next key
  }
  add_rows(picker, page.rows, page.next);
  if (picker.rows.empty() && picker.complete && !picker.all_folders && !picker.trash) {
    // Nothing in this folder: lists all folders.
    picker.all_folders = true;
    return start_picker_list(state, picker, effects);
  }
  if (picker.rows.empty() && picker.complete && picker.alone && page.failure.empty() &&
      !picker.trash && !picker.other_tools) {
    state.nothing_saved = true;
    return close_picker(state, picker.alone, effects);
  }
  fetch_for_picker(state, picker, effects);
}

void on_questions(State& state, const QuestionsLoaded& loaded, Effects& effects) {
  if (state.picker && state.picker->generation == loaded.generation) {
    add_questions(*state.picker, loaded.questions);
    fetch_for_picker(state, *state.picker, effects);
  }
}

void on_preview(State& state, const PreviewLoaded& loaded) {
  if (state.picker) {
    if (state.picker->previews.size() >= kPreviewsMax) {
      state.picker->previews.clear();
    }
    state.picker->previews[loaded.id] = loaded.preview;
  }
}

void on_texts(State& state, const TextsFound& found) {
  if (!state.picker || state.picker->generation != found.generation) {
    return;
  }
  Picker& picker = *state.picker;
  picker.note = found.note;
  if (found.rows) {
    picker.loading = false;
    picker.rows = *found.rows;
    picker.previews.clear();
    for (const PickerRow& row : picker.rows) {
      picker.previews[preview_key(row)] = {.question = row.title, .answer = row.snippet};
    }
    refilter(picker, true);
  }
}

namespace {

// Removes a restored session from the list of the trash.
void remove_restored_row(const State& state, Picker& picker, const std::string& id,
                         Effects& effects) {
  const auto row = std::ranges::find(picker.rows, id, &PickerRow::id);
  if (row == picker.rows.end()) {
    return;
  }
  picker.note = cat("'", row->title, "' is restored");
  std::erase_if(picker.trashed, [&id](const PickerRow& other) { return other.id == id; });
  picker.rows.erase(row);
  const std::size_t selected = picker.selected;
  refilter(picker, true);
  move_selection(picker, static_cast<std::ptrdiff_t>(selected));
  fetch_for_picker(state, picker, effects);
}

void rename_tabs(State& state, const StoredChanged& changed) {
  for (Tab& tab : state.tabs) {
    if (tab.metadata.id == changed.id) {
      tab.metadata.title = changed.title;
    }
  }
}

// Returns the row that was removed last to its place.
void insert_restored_row(Picker& picker) {
  PickerRow row = std::move(picker.trashed.back());
  picker.trashed.pop_back();
  const auto position = std::ranges::find_if(
      picker.rows, [&row](const PickerRow& other) { return is_newer(row, other); });
  picker.note = cat("'", row.title, "' is restored");
  picker.rows.insert(position, std::move(row));
}

void trash_row(State& state, Picker& picker, std::vector<PickerRow>::iterator row,
               Effects& effects) {
  picker.note = cat("in the trash, u restores it: '", row->title, "'");
  const std::size_t selected = picker.selected;
  picker.trashed.push_back(std::move(*row));
  picker.rows.erase(row);
  refilter(picker, true);
  move_selection(picker, static_cast<std::ptrdiff_t>(selected));
  fetch_for_picker(state, picker, effects);
}

}  // namespace

void on_stored_changed(State& state, const StoredChanged& changed, Effects& effects) {
  using Kind = StoredChanged::Change;
  if (changed.change == Kind::renamed && changed.failure.empty()) {
    rename_tabs(state, changed);
  }
  if (!state.picker) {
    return;
  }
  Picker& picker = *state.picker;
  if (!changed.failure.empty()) {
    picker.note = changed.failure;
    return;
  }
  if (changed.change == Kind::emptied) {
    picker.trashed.clear();
    start_picker_list(state, picker, effects);
    picker.note = changed.title;
    return;
  }
  if (changed.change == Kind::restored && picker.trash) {
    return remove_restored_row(state, picker, changed.id, effects);
  }
  if (changed.change == Kind::restored) {
    if (picker.trashed.empty() || picker.trashed.back().id != changed.id) {
      return;
    }
    insert_restored_row(picker);
  } else {
    const auto row = std::ranges::find(picker.rows, changed.id, &PickerRow::id);
    if (row == picker.rows.end()) {
      return;
    }
    if (changed.change == Kind::renamed) {
      rename(*row, changed.title);
    } else {
      return trash_row(state, picker, row, effects);
    }
  }
  refilter(picker, false);
  fetch_for_picker(state, picker, effects);
}

}  // namespace reprise::cli::app

#pragma once

// Applies an event to the state and returns the requested effects. No I/O and no clock: Ticked has
// the time.

#include <cstddef>   // IWYU pragma: export
#include <cstdint>   // IWYU pragma: export
#include <optional>  // IWYU pragma: export
#include <utility>   // IWYU pragma: export
#include <vector>    // IWYU pragma: export

#include "cli/app/effect.h"  // IWYU pragma: export
#include "cli/app/keys.h"    // IWYU pragma: export
#include "cli/app/state.h"   // IWYU pragma: export
#include "reprise/message.h"

namespace reprise::cli::app {

inline constexpr std::string_view kTabsFull = "Maximum 10 sessions reached.";

Effects update(State& state, const Event& event);

// How the program starts, before the first event: opens the session `sel`, or with `new_session` a
// new one; otherwise offers the newest session of the folder, if there is one.
struct Start {
  std::string sel = {};
  bool new_session = false;
  bool pick = false;         // choose in the picker
  bool all_folders = false;  // of all folders
};
Effects begin(State& state, const Start& start);

// The list above the input: commands that match it, or the session's questions.
void offer_commands(State& state);
void offer_questions(State& state, const QuestionsListed& listed);
// Whether the key was handled.
bool press_in_menu(State& state, std::string_view key, Effects& effects);

// Completes commands, their arguments, open sessions and models.
struct Completion {
  std::string text;                     // the input with the unambiguous part added
  std::vector<std::string> candidates;  // if there are several
};
// `text` is the text before the cursor. Unchanged if nothing matches.
Completion complete(const State& state, std::string_view text);
// Handles Tab in the input.
void complete_input(State& state, Effects& effects);
void on_files(State& state, const FilesListed& listed);
void on_models(State& state, const ModelsListed& listed, Effects& effects);

// The picker and its filter.
void open_picker(State& state, bool alone, bool all_folders, Effects& effects);
void press_in_picker(State& state, std::string_view key, Effects& effects);
void type_in_picker(State& state, std::string_view text, Effects& effects);
// Requests missing rows and the preview after each change.
void fetch_for_picker(const State& state, Picker& picker, Effects& effects);
void start_picker_list(State& state, Picker& picker, Effects& effects);
void close_picker(State& state, bool alone, Effects& effects);
void on_page(State& state, const PageLoaded& page, Effects& effects);
void on_questions(State& state, const QuestionsLoaded& loaded, Effects& effects);
void on_texts(State& state, const TextsFound& found);
void on_preview(State& state, const PreviewLoaded& loaded);
void on_stored_changed(State& state, const StoredChanged& changed, Effects& effects);
// "/resume …".
void run_resume(State& state, std::string_view text, Effects& effects);

// Searches.
void begin_search(State& state, LineSearch::Kind kind);
// False if the key ends the search and must be handled normally.
bool press_in_search(State& state, std::string_view key, Effects& effects);
void type_in_search(State& state, std::string_view text);
// Selects the next tool call or thought above or below.
void choose_part(State& state, bool up);
// Folds or unfolds the selected one; false if there is none.
bool toggle_part(State& state);
// Letter keys while the user has scrolled up; false if they are text.
bool type_while_scrolled(State& state, std::string_view text, Effects& effects);
void find_in_transcript(State& state, bool up, Effects& effects);
// Scrolls to the message that the tab was opened at, once it is loaded.
void scroll_to_target(State& state, Tab& tab, Effects& effects);
// Continues a search in older messages that were loaded.
void search_on(State& state, Tab& tab, std::size_t added, Effects& effects);

// Handlers of some events.
void press(State& state, std::string_view key, Effects& effects);
void submit(State& state, Effects& effects);
void run_command(State& state, std::string_view line, Effects& effects);
// Adds a tab and shows it. Null, with a warning, if there are ten.
Tab* add_tab(State& state, std::string folder);
void show_tab(State& state, std::size_t index);
// Removes a tab whose session was closed or never opened.
void drop_tab(State& state, TabId id);
// The same for a closed one, keeping its typed text.
void on_tab_closed(State& state, TabId id);
void on_tab_changed(State& state, const TabChanged& changed);
// Requests a check for changes by other programs, also with keys, so that somebody who comes back
// sees what is there now.
void check_changes(State& state, Effects& effects);
// Adds the messages in the inputs to the warnings that are shown at the end.
void report_unsent(State& state);
void close_tab(State& state, Tab& tab, Effects& effects);
// Why the program exits: the user quit, pressed Ctrl-C twice, or a signal arrived (then the
// sessions stay open in the store).
enum class ExitReason : std::uint8_t { quit, stopped, signalled };
void leave(State& state, ExitReason reason, Effects& effects);
// The tab's session starts answering.
void begin_turn(Tab& tab);
// Puts an unsent message before the typed text, and attaches its files again.
void restore_input(Tab& tab, std::string_view text, const std::vector<std::string>& files);
// Moves queued questions back to the input, so that nothing is asked without the user.
void unqueue_questions(Tab& tab);
// Ctrl-C: stops the answer, clears the input, or, pressed twice, quits.
void stop(State& state, Effects& effects);
// Esc: scrolls to the end, or stops the answer; pressed twice while idle, edits the last question.
void escape(State& state, Effects& effects);
// Scrolls to the end.
void scroll_to_end(Tab& tab);
// Scrolls to the start of the last entry if it is longer than the screen.
void show_start(const State& state, Tab& tab);
// "/copy".
void copy_answer(State& state, Effects& effects);
// Puts the last question into the input to replace it.
void edit_last_question(Tab& tab);
void ask_instead(Tab& tab, std::string text, Attached attached, Effects& effects);
// Asks now, or queues the question after the running answer.
void ask(Tab& tab, std::string text, Attached attached, Effects& effects);
// The words of a message that begin with '@', without it; @"a b" is one word.
std::vector<std::string> mentions(std::string_view text);
// Asks the first queued question, if there is one.
void ask_next(Tab& tab, Effects& effects);
void announce(State& state, Tab* tab, Entry::Kind kind, std::string text);
// Handles text while a dialog is shown.
void type_in_dialog(State& state, std::string_view text, Effects& effects);
// Whether a letter was typed at the offer to resume: it is the answer if nothing follows.
bool awaits_pause(const State& state);
void answer_after_pause(State& state, Effects& effects);
// False if the key must be handled normally.
bool press_in_dialog(State& state, std::string_view key, std::optional<Action> action,
                     Effects& effects);
// Text typed before the offered session is resumed or declined.
void type_before_answer(State& state, std::string_view text, bool pasted);
// Applies an editing key.
void edit(Editor& input, Action action);

// Events of a running turn.
void on_text(Tab& tab, Entry::Kind kind, std::string_view text);
void on_tool_call(Tab& tab, const ToolUseBlock& call);
void on_answer(Tab& tab, const AnswerStored& answer);
void on_turn_end(State& state, Tab& tab, const TurnEnded& turn, Effects& effects);

}  // namespace reprise::cli::app

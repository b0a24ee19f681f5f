#pragma once

// What an event changes and what it asks for. No I/O, no clock: the time comes with Ticked.

#include "cli/app/effect.h"  // IWYU pragma: export
#include "cli/app/keys.h"
#include "cli/app/state.h"  // IWYU pragma: export

namespace reprise::cli::app {

inline constexpr std::string_view kTabsFull = "Maximum 10 sessions reached.";

Effects update(State& state, const Event& event);

// How it begins: what to do before the first event. With `sel` that session is opened, with
// `fresh` a new one; else the newest of the folder is offered, if there is one.
struct Start {
  std::string sel = {};
  bool fresh = false;
  bool pick = false;  // choose first
  bool all = false;   // of all folders
};
Effects begin(State& state, const Start& start);

// The list above the input: the commands that fit what is typed, or the session's questions.
void offer_commands(State& state);
void offer_questions(State& state, const QuestionsListed& listed);
// Whether the key was for it.
bool press_in_menu(State& state, std::string_view key, Effects& effects);

// What Tab does to the input.
void complete_input(State& state, Effects& effects);
void on_files(State& state, const FilesListed& listed);
void on_models(State& state, const ModelsListed& listed, Effects& effects);

// The picker, and what is typed into it.
void open_picker(State& state, bool alone, bool all, Effects& effects);
void press_in_picker(State& state, std::string_view key, Effects& effects);
void type_in_picker(State& state, std::string_view text, Effects& effects);
// After every change: the rows and the preview that are missing now.
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
// False when the key ends the search and means something else.
bool press_in_search(State& state, std::string_view key, Effects& effects);
void type_in_search(State& state, std::string_view text);
// Chooses the tool call or thought above or below.
void choose_part(State& state, bool up);
// Opens or closes the chosen one; false when none is.
bool toggle_part(State& state);
// What letters mean while one looks back in the transcript; false when they are text.
bool type_while_scrolled(State& state, std::string_view text, Effects& effects);
void find_in_transcript(State& state, bool up, Effects& effects);
// Shows the message that the tab was opened for, once it is loaded.
void scroll_to_target(State& state, Tab& tab, Effects& effects);
// Older messages have come: goes on in them, if something is looked for.
void search_on(State& state, Tab& tab, std::size_t added, Effects& effects);

// Its parts, each for some events.
void press(State& state, std::string_view key, Effects& effects);
void submit(State& state, Effects& effects);
void run_command(State& state, std::string_view line, Effects& effects);
// Adds a tab and shows it. Null, and says so, when there are ten.
Tab* add_tab(State& state, std::string folder);
void show_tab(State& state, std::size_t index);
// Without its session: that was closed, or never opened.
void drop_tab(State& state, TabId id);
// The same for one that is closed; what was typed into it is not lost.
void on_tab_closed(State& state, TabId id);
void close_tab(State& state, Tab& tab, Effects& effects);
// How it came that the program leaves: the person is done, pressed Ctrl-C twice, or a signal came
// (then the sessions stay open in the store).
enum class Leaving : std::uint8_t { done, stopped, signalled };
void leave(State& state, Leaving how, Effects& effects);
// The tab's session begins to answer.
void begin_turn(Tab& tab);
// Ctrl-C: stops the answer, empties the input, twice leaves.
void stop(State& state, Effects& effects);
// Esc: back to where text comes; then stops the answer; twice where nothing runs edits the last
// question.
void escape(State& state, Effects& effects);
// Back to where text comes.
void to_end(Tab& tab);
// "/copy".
void copy_answer(State& state, Effects& effects);
// Puts the last question into the input; what is sent then is asked instead of it.
void edit_last_question(Tab& tab);
void ask_instead(Tab& tab, std::string text, Attached attached, Effects& effects);
// A question to the model, now or after the running answer.
void ask(Tab& tab, std::string text, Attached attached, Effects& effects);
// The words of a message that begin with '@', without it; @"a b" is one word.
std::vector<std::string> mentions(std::string_view text);
// The first question that waits, if there is one.
void ask_next(Tab& tab, Effects& effects);
void say(State& state, Tab* tab, Entry::Kind kind, std::string text);
// While a dialog is shown. What remains of the text belongs to the message; false when the key does
// what it always does.
std::string_view type_in_dialog(State& state, std::string_view text, Effects& effects);
bool press_in_dialog(State& state, std::string_view key, std::optional<Action> action,
                     Effects& effects);
// Of the message that is typed before the offered session is resumed or declined.
void type_before_answer(State& state, std::string_view text, bool pasted);
// What the editing keys do.
void edit(Editor& input, Action action);

// The events of a running turn.
void on_text(Tab& tab, Entry::Kind kind, std::string_view text);
void on_tool_call(Tab& tab, const ToolUseBlock& call);
void on_answer(Tab& tab, const AnswerStored& answer);
void on_turn_end(State& state, Tab& tab, const TurnEnded& turn, Effects& effects);

}  // namespace reprise::cli::app

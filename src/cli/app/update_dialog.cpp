// Dialogs: keys and text while one is shown, and the effects of its answer.

#include <string_view>

#include "cli/app/update.h"

namespace reprise::cli::app {
namespace {

void answer_dialog(State& state, Choice choice, Effects& effects) {
  const Dialog dialog = state.dialogs.front();
  state.dialogs.erase(state.dialogs.begin());
  state.status.clear();
  switch (dialog.kind) {
    case Dialog::Kind::resume: {
      Tab* const tab = add_tab(state, state.start_folder);
      if (choice == Choice::no) {
        effects.emplace_back(OpenNew{.tab = tab->id});
      } else if (dialog.session) {
        effects.emplace_back(OpenSession{.tab = tab->id, .sel = dialog.session->id.str()});
      }
      return;
    }
    case Dialog::Kind::close_answering:
      if (Tab* const tab = state.find(dialog.tab); choice != Choice::no && tab != nullptr) {
        tab->phase = Tab::Phase::closing;
        effects.emplace_back(CloseTab{.tab = tab->id});
      }
      return;
    case Dialog::Kind::clear:
      if (choice != Choice::no) {
        effects.emplace_back(ClearClosed{.tab = dialog.tab});
      }
      return;
    case Dialog::Kind::consent:
      effects.emplace_back(
          AnswerConsent{.tab = dialog.tab, .number = dialog.number, .choice = choice});
      return;
  }
}

// Keys that work during a dialog, so that the user can look at the session first.
bool passes_dialog(const State& state, Action action) {
  switch (action) {
    case Action::redraw:
    case Action::suspend:
      return true;
    case Action::stop:
      return state.leaving;
    case Action::page_up:
    case Action::page_down:
    case Action::scroll_up:
    case Action::scroll_down:
    case Action::wheel_up:
    case Action::wheel_down:
    case Action::to_top:
    case Action::to_bottom:
    case Action::fold:
    case Action::next_tab:
    case Action::previous_tab:
    case Action::go_to_tab:
      return state.dialogs.front().kind == Dialog::Kind::consent;
    default:
      return false;
  }
}

std::optional<Choice> choice_of(char letter, bool consent) {
  switch (letter) {
    case 'y':
    case 'Y':
      return Choice::yes;
    case 'n':
    case 'N':
      return Choice::no;
    case 'o':
    case 'O':
      return consent ? std::optional(Choice::once) : std::nullopt;
    case 'a':
    case 'A':
      return consent ? std::optional(Choice::always) : std::nullopt;
    default:
      return std::nullopt;
  }
}

// A letter answers the offer to resume; with more text it is the beginning of a message.
std::optional<Choice> typed_choice(const State& state) {
  const bool offered = !state.dialogs.empty() && state.dialogs.front().kind == Dialog::Kind::resume;
  const std::string& text = state.first_input.text();
  return offered && text.size() == 1 ? choice_of(text.front(), false) : std::nullopt;
}

void enter_in_dialog(State& state, Effects& effects) {
  if (state.dialogs.front().kind != Dialog::Kind::resume || state.first_input.empty()) {
    return answer_dialog(state, Choice::yes, effects);
  }
  if (const auto choice = typed_choice(state)) {
    state.first_input.clear();
    return answer_dialog(state, *choice, effects);
  }
  state.dialogs.erase(state.dialogs.begin());
  state.status.clear();
  submit(state, effects);
}

}  // namespace

void type_before_answer(State& state, std::string_view text, bool pasted) {
  pasted ? state.first_input.paste(text) : state.first_input.insert(text);
  if (!typed_choice(state)) {
    state.status = "Enter sends this to a new session; Esc starts one and keeps the text";
  }
}

void type_in_dialog(State& state, std::string_view text, Effects& effects) {
  const Dialog::Kind kind = state.dialogs.front().kind;
  if (kind == Dialog::Kind::resume) {
    return type_before_answer(state, text, false);
  }
  const std::optional<Choice> choice =
      text.size() == 1 ? choice_of(text.front(), kind == Dialog::Kind::consent) : std::nullopt;
  if (choice) {
    answer_dialog(state, *choice, effects);
  } else if (kind != Dialog::Kind::consent) {
    state.status = "Enter or y: yes · Esc or n: no";
  }
}

bool awaits_pause(const State& state) {
  return typed_choice(state).has_value();
}

void answer_after_pause(State& state, Effects& effects) {
  if (const auto choice = typed_choice(state);
      choice && state.now - state.typed_at >= kTypingPause) {
    state.first_input.clear();
    answer_dialog(state, *choice, effects);
  }
}

bool press_in_dialog(State& state, std::string_view key, std::optional<Action> action,
                     Effects& effects) {
  if (action && passes_dialog(state, *action)) {
    return false;
  }
  if (key == "Enter") {
    enter_in_dialog(state, effects);
  } else if (key == "Esc" || key == "Ctrl-C") {
    answer_dialog(state, Choice::no, effects);
  } else if (action && state.dialogs.front().kind == Dialog::Kind::resume) {
    edit(state.first_input, *action);
  }
  return true;
}

}  // namespace reprise::cli::app

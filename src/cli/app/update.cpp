#include "cli/app/update.h"

#include <variant>

#include "base/text.h"
#include "cli/settings/time_value.h"

namespace reprise::cli::app {
namespace {

// Dispatches events by type.
class Handler {
 public:
  Handler(State& state, Effects& effects) : state_(state), effects_(effects) {}

  void operator()(const KeyPressed& key) {
    if (key.name != "Ctrl-C") {
      state_.stopped_at.reset();
    }
    press(state_, key.name, effects_);
    state_.typed_at = state_.now;
  }

  void operator()(const Typed& typed) {
    const bool for_dialog = state_.dialog_has_keys();
    state_.stopped_at.reset();
    state_.typed_at = state_.now;
    state_.status.clear();
    for_dialog ? type_in_dialog(state_, typed.text, effects_) : type_text(typed.text);
  }

  void operator()(const Pasted& paste) {
    state_.stopped_at.reset();
    if (!state_.dialog_has_keys()) {
      state_.status.clear();
      type_text(paste.text, true);
    } else if (state_.dialogs.front().kind == Dialog::Kind::resume) {
      type_before_answer(state_, paste.text, true);
    }
  }

  void operator()(const Resized& resized) { state_.size = resized.size; }
  void operator()(const Ticked& tick) {
    state_.now = tick.now;
    answer_after_pause(state_, effects_);
    check_changes(state_, effects_);
  }
  void operator()(const Signalled&) { leave(state_, ExitReason::signalled, effects_); }

  void operator()(const NewestFound& found) {
    if (!state_.tabs.empty() || state_.leaving) {
      return;
    }
    if (!found.session) {
      open_first();
      return;
    }
    const SessionInfo& info = *found.session;
    const std::string name =
        info.title.empty() ? std::string("the last session") : cat("'", info.title, "'");
    state_.dialogs.push_back(
        {.kind = Dialog::Kind::resume,
         .session = info,
         .question = cat("Resume ", name, " (", counted(info.head.value, "message"), ", ",
                         age_text(info.updated_at, state_.now), ")?")});
  }

  void operator()(const TabOpened& opened) {
    Tab* const tab = state_.find(opened.tab);
    if (tab == nullptr) {
      return;
    }
    tab->phase = Tab::Phase::idle;
    tab->metadata = opened.metadata;
    // Older entries come before those added while it was being opened.
    tab->entries.insert(tab->entries.begin(), opened.entries.begin(), opened.entries.end());
    tab->oldest = opened.oldest;
    tab->last_input = opened.last_input;
    tab->counted_requests = opened.counted_requests;
    for (const std::string& prompt : opened.prompts) {
      tab->input.remember(prompt);
    }
    if (tab->metadata.refusal.empty()) {
      ask_next(*tab, effects_);
    } else {
      unqueue_questions(*tab);
      announce(state_, tab, Entry::Kind::warning, tab->metadata.refusal);
    }
    scroll_to_target(state_, *tab, effects_);
  }

  void operator()(const TabIsOpen& found) {
    drop_tab(state_, found.tab);
    if (const Tab* const tab = state_.find(found.open); tab != nullptr) {
      show_tab(state_, static_cast<std::size_t>(tab - state_.tabs.data()));
    }
  }

  void operator()(const TabFailed& failed) {
    Tab* const tab = state_.find(failed.tab);
    if (tab == nullptr) {
      return;
    }
    unqueue_questions(*tab);  // keeps the typed text
    state_.first_input = tab->input;
    drop_tab(state_, failed.tab);
    state_.is_refused = failed.is_stored && state_.tabs.empty();
    announce(state_, state_.tab(), Entry::Kind::warning, failed.reason);
  }

  void operator()(const OlderLoaded& older) {
    if (Tab* const tab = state_.find(older.tab); tab != nullptr) {
      tab->loading_older = false;
      tab->oldest = older.oldest;
      tab->entries.insert(tab->entries.begin(), older.entries.begin(), older.entries.end());
      for (std::optional<Anchor>* const anchor : {&tab->top, &tab->found}) {
        if (*anchor) {
          (*anchor)->entry += older.entries.size();
        }
      }
      if (tab->chosen) {
        *tab->chosen += older.entries.size();
      }
      search_on(state_, *tab, older.entries.size(), effects_);
      if (older.entries.empty()) {
        tab->scroll_target.reset();  // it cannot be loaded
      }
      scroll_to_target(state_, *tab, effects_);
    }
  }

  void operator()(const TabChanged& changed) { on_tab_changed(state_, changed); }

  void operator()(const ModelsListed& listed) { on_models(state_, listed, effects_); }
  void operator()(const FilesListed& listed) { on_files(state_, listed); }
  void operator()(const QuestionsListed& listed) { offer_questions(state_, listed); }
  void operator()(const TabClosed& closed) { on_tab_closed(state_, closed.tab); }

  void operator()(const TextReceived& text) {
    with_tab(text.tab, [&](Tab& tab) { on_text(tab, Entry::Kind::answer, text.text); });
  }
  void operator()(const ThinkingReceived& text) {
    with_tab(text.tab, [&](Tab& tab) { on_text(tab, Entry::Kind::thinking, text.text); });
  }
  void operator()(const ToolCalled& called) {
    with_tab(called.tab, [&](Tab& tab) { on_tool_call(tab, called.call); });
  }
  void operator()(const ToolAnswered& answered) {
    with_tab(answered.tab, [&](Tab& tab) { add_result(tab.entries, answered.result); });
  }
  void operator()(const AnswerStored& answer) {
    with_tab(answer.tab, [&](Tab& tab) { on_answer(tab, answer); });
  }
  void operator()(const TurnEnded& turn) {
    with_tab(turn.tab, [&](Tab& tab) { on_turn_end(state_, tab, turn, effects_); });
  }

  void operator()(const TodosChanged& changed) {
    if (Tab* const tab = state_.find(changed.tab); tab != nullptr) {
      tab->metadata.todos = changed.todos;
    }
  }

  void operator()(const ConsentRequest& request) {
    const Tab* const tab = state_.find(request.tab);
    const std::string where =
        tab == nullptr || tab == state_.tab() ? "" : cat(tab_name(*tab), ": ");
    state_.dialogs.push_back({.kind = Dialog::Kind::consent,
                              .tab = request.tab,
                              .number = request.number,
                              .question = cat(where, request.question),
                              .while_typing = !state_.input().empty()});
  }

  void operator()(const Edited& edited) {
    Tab* const tab = state_.find(edited.tab);
    if (edited.text) {
      (tab == nullptr ? state_.input() : tab->input).set(*edited.text);
    } else {
      state_.status = edited.failure;
    }
  }

  void operator()(const NotSent& message) {
    if (Tab* const tab = state_.find(message.tab); tab != nullptr) {
      restore_input(*tab, message.text, message.files);
    }
  }

  void operator()(const FileRefused& refused) {
    Tab* const tab = state_.find(refused.tab);
    if (tab == nullptr) {
      return;
    }
    // If the message is sent already, sending it fails and reports the reason.
    if (std::erase(tab->attached, refused.file) > 0) {
      announce(state_, tab, Entry::Kind::warning, refused.reason);
    }
  }

  void operator()(const Announcement& announcement) {
    if (announcement.kind == Announcement::Kind::status) {
      state_.status = announcement.text;
      return;
    }
    // Announcements without a tab appear in the current one.
    const bool of_tab = announcement.tab && *announcement.tab != TabId{};
    Tab* const tab = of_tab ? state_.find(*announcement.tab) : state_.tab();
    const bool warning = announcement.kind == Announcement::Kind::warning;
    if (warning && state_.leaving) {
      state_.late_warnings.push_back(announcement.text);
    } else if (warning && tab != nullptr && tab->phase == Tab::Phase::closing) {
      tab->late_warnings.push_back(cat(tab_name(*tab), ": ", announcement.text));
    }
    announce(state_, tab, warning ? Entry::Kind::warning : Entry::Kind::notice, announcement.text);
    if (tab != nullptr && tab == state_.tab() && !tab->is_busy()) {
      show_start(state_, *tab);
    }
  }

  void operator()(const AllClosed& closed) {
    state_.saved = state_.saved && closed.saved;
    report_unsent(state_);
    state_.over = true;
  }

  void operator()(const PageLoaded& page) { on_page(state_, page, effects_); }
  void operator()(const QuestionsLoaded& loaded) { on_questions(state_, loaded, effects_); }
  void operator()(const TextsFound& found) { on_texts(state_, found); }
  void operator()(const PreviewLoaded& loaded) { on_preview(state_, loaded); }
  void operator()(const StoredChanged& changed) { on_stored_changed(state_, changed, effects_); }
  void operator()(const ClearRequest& request) {
    if (request.count == 0) {
      announce(state_, state_.tab(), Entry::Kind::notice, "No saved sessions to clear.");
      return;
    }
    state_.dialogs.push_back(
        {.kind = Dialog::Kind::clear,
         .tab = state_.tab() == nullptr ? TabId{} : state_.tab()->id,
         .question = cat("Clear ", request.count, " saved session(s)? They go to the trash.")});
  }

 private:
  void type_text(std::string_view text, bool pasted = false) {
    if (state_.picker) {
      type_in_picker(state_, text, effects_);
    } else if (state_.line_search) {
      type_in_search(state_, text);
    } else if (!type_while_scrolled(state_, text, effects_)) {
      pasted ? state_.input().paste(text) : state_.input().insert(text);
      offer_commands(state_);
    }
  }

  void open_first() {
    if (Tab* const tab = add_tab(state_, state_.start_folder); tab != nullptr) {
      effects_.emplace_back(OpenNew{.tab = tab->id});
    }
  }

  template <class Function>
  void with_tab(TabId id, Function function) {
    if (Tab* const tab = state_.find(id); tab != nullptr) {
      function(*tab);
      tab->unread = tab->unread || tab != state_.tab();
    }
  }

  State& state_;
  Effects& effects_;
};

}  // namespace

Effects update(State& state, const Event& event) {
  Effects effects;
  std::visit(Handler(state, effects), event);
  for (Tab& tab : state.tabs) {
    if (tab.is_busy() && !tab.turn_began) {
      tab.turn_began = state.now;
    }
  }
  return effects;
}

}  // namespace reprise::cli::app

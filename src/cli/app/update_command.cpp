// Handling of submitted input.

#include <algorithm>
#include <iterator>

#include "base/text.h"
#include "cli/app/state.h"
#include "cli/app/update.h"

namespace reprise::cli::app {
namespace {

using Kind = Entry::Kind;

// By number or name; null if there is none.
Tab* find_tab(State& state, std::string_view text) {
  const auto number = parse_number<std::size_t>(text).value_or(0);
  if (number >= 1 && number <= state.tabs.size()) {
    return &state.tabs[number - 1];
  }
  const auto found = std::ranges::find(state.tabs, text, tab_name);
  return found == state.tabs.end() ? nullptr : &*found;
}

std::string tab_list(const State& state) {
  std::string out;
  for (std::size_t i = 0; i < state.tabs.size(); ++i) {
    const Tab& tab = state.tabs[i];
    out += cat(i == state.current ? "* " : "  ", i + 1, ". ", tab_name(tab), " (",
               short_path(state, tab.metadata.folder), ")", tab.is_busy() ? " answering" : "",
               tab.unread ? " unread" : "", "\n");
  }
  return out.empty() ? "No session is open.\n" : out;
}

void go_to(State& state, std::string_view text) {
  Tab* const tab = find_tab(state, text);
  if (tab == nullptr) {
    announce(state, state.tab(), Kind::warning, cat("no session matches '", text, "'"));
    return;
  }
  show_tab(state, static_cast<std::size_t>(tab - state.tabs.data()));
}

void run_session(State& state, const Slash& slash, Effects& effects) {
  using Action = SessionRequest::Action;
  const auto request = parse_session_request(slash.text);
  Tab* const tab = state.tab();
  if (!request) {
    return announce(state, tab, Kind::warning, request.error().message);
  }
  switch (request->action) {
    case Action::open:
      if (Tab* const added = add_tab(state, request->text); added != nullptr) {
        effects.emplace_back(
            OpenNew{.tab = added->id, .folder = request->text, .title = request->name});
      }
      return;
    case Action::list:
      return announce(state, tab, Kind::notice, tab_list(state));
    case Action::go_to:
      return go_to(state, request->text);
    default:
      break;
  }
  if (tab == nullptr) {
    return announce(state, tab, Kind::warning, "No session is open.");
  }
  switch (request->action) {
    case Action::rename:
      effects.emplace_back(RunSlash{tab->id, {SlashVerb::title, request->text, std::nullopt}});
      return;
    case Action::save: {
      Tab* const target = request->text.empty() ? tab : find_tab(state, request->text);
      if (target == nullptr) {
        return announce(state, tab, Kind::warning, cat("no session matches '", request->text, "'"));
      }
      effects.emplace_back(SaveNow{.tab = target->id});
      return;
    }
    case Action::close:
      return close_tab(state, *tab, effects);
    default:
      effects.emplace_back(RunSlash{tab->id, {SlashVerb::session, "", std::nullopt}});
      return;
  }
}

// Commands that change what the model sees must wait for the running answer.
bool waits_for_answer(SlashVerb verb) {
  switch (verb) {
    case SlashVerb::model:
    case SlashVerb::provider:
    case SlashVerb::system:
    case SlashVerb::fork:
    case SlashVerb::rewind:
    case SlashVerb::retry:
    case SlashVerb::go_on:
      return true;
    default:
      return false;
  }
}

void turn_again(Tab& tab, SlashVerb verb, Effects& effects) {
  begin_turn(tab);
  tab.top.reset();
  if (verb == SlashVerb::go_on) {
    effects.emplace_back(ContinueTurn{.tab = tab.id});
    return;
  }
  // Removes the old answer immediately.
  const auto question =
      std::find_if(tab.entries.rbegin(), tab.entries.rend(),
                   [](const Entry& entry) { return entry.kind == Kind::question; });
  if (question != tab.entries.rend()) {
    tab.replaced.assign(std::move_iterator(question.base()), std::move_iterator(tab.entries.end()));
    tab.entries.erase(question.base(), tab.entries.end());
  }
  effects.emplace_back(AskAgain{.tab = tab.id});
}

// Attached at once, as the message may be sent before the file has been checked.
void attach(State& state, const std::string& file, Effects& effects) {
  Tab* const tab = state.tab();
  if (tab == nullptr) {
    return announce(state, tab, Kind::warning, "no session is open yet");
  }
  if (file == "-") {
    tab->attached.clear();
    return;
  }
  tab->attached.push_back(file);
  effects.emplace_back(CheckFile{.tab = tab->id, .file = file});
}

// A message that cannot be sent stays in the input, and is sent to no other session.
bool refuses_message(State& state) {
  Tab* const tab = state.tab();
  if (tab != nullptr && tab->phase == Tab::Phase::closing) {
    state.status = "this session is closing";
    return true;
  }
  std::string reason;
  if (tab == nullptr && state.is_refused) {
    reason = "not sent: /resume chooses another session, /new starts one";
  } else if (tab != nullptr && !tab->metadata.refusal.empty()) {
    reason = cat("not sent: ", tab->metadata.refusal);
    scroll_to_end(*tab);
  }
  if (reason.empty()) {
    return false;
  }
  state.input().remember(state.input().text());  // a command takes its place
  if (tab == nullptr || tab->entries.empty() || tab->entries.back().text != reason) {
    announce(state, tab, Kind::warning, reason);
  }
  return true;
}

}  // namespace

void submit(State& state, Effects& effects) {
  Editor& input = state.input();
  if (input.cursor() == input.text().size() && input.text().ends_with('\\')) {
    input.erase_before();
    input.insert("\n");
    return;
  }
  if (trimmed(input.text()).empty()) {
    return;
  }
  if (!is_slash(input.text()) && refuses_message(state)) {
    return;
  }
  Attached attached{.mentioned = mentions(input.text())};
  const std::string text = input.take();
  if (Tab* const tab = state.tab(); tab != nullptr) {
    tab->top.reset();
    tab->scrolled = false;
    tab->chosen.reset();
  }
  if (is_slash(text)) {
    if (Tab* const tab = state.tab(); tab != nullptr) {
      tab->editing = false;
    }
    return run_command(state, text, effects);
  }
  Tab* tab = state.tab();
  if (tab == nullptr) {
    tab = add_tab(state, state.start_folder);
    effects.emplace_back(OpenNew{.tab = tab->id});
  }
  attached.files = std::exchange(tab->attached, {});
  if (std::exchange(tab->editing, false) && tab->phase == Tab::Phase::idle) {
    return ask_instead(*tab, std::string(message_of(text)), std::move(attached), effects);
  }
  ask(*tab, std::string(message_of(text)), std::move(attached), effects);
}

void run_command(State& state, std::string_view line, Effects& effects) {
  Tab* const tab = state.tab();
  const Result<Slash> slash = parse_slash(line);
  if (!slash) {
    return announce(state, tab, Kind::warning, slash.error().message);
  }
  switch (slash->verb) {
    case SlashVerb::quit:
      return leave(state, ExitReason::quit, effects);
    case SlashVerb::session:
      return run_session(state, *slash, effects);
    case SlashVerb::begin: {
      std::string folder = tab == nullptr ? "" : tab->metadata.folder;
      if (Tab* const added = add_tab(state, folder); added != nullptr) {
        effects.emplace_back(OpenNew{.tab = added->id, .folder = std::move(folder)});
      }
      return;
    }
    case SlashVerb::copy:
      return copy_answer(state, effects);
    case SlashVerb::attach:
      return attach(state, slash->text, effects);
    case SlashVerb::resume:
      return run_resume(state, slash->text, effects);
    case SlashVerb::help:
      announce(state, tab, Kind::notice, app_help(frame_of(state).transcript_columns));
      if (tab != nullptr) {
        // Scrolls to its beginning, as it may be longer than the screen.
        tab->top = Anchor{tab->entries.size() - 1, 0};
      }
      return;
    default:
      break;
  }
  if (tab == nullptr || tab->phase == Tab::Phase::opening) {
    return announce(state, tab, Kind::warning, "no session is open yet");
  }
  if (tab->phase == Tab::Phase::closing) {
    return announce(state, tab, Kind::warning, "this session is closing");
  }
  if (tab->is_busy() && waits_for_answer(slash->verb)) {
    return announce(state, tab, Kind::warning, "an answer is running; Esc stops it");
  }
  if (!tab->metadata.refusal.empty() && waits_for_answer(slash->verb) &&
      slash->verb != SlashVerb::provider && slash->verb != SlashVerb::model) {
    return announce(state, tab, Kind::warning,
                    cat("this session is read-only: ", tab->metadata.refusal));
  }
  if (slash->verb == SlashVerb::retry || slash->verb == SlashVerb::go_on) {
    return turn_again(*tab, slash->verb, effects);
  }
  if ((slash->verb == SlashVerb::fork || slash->verb == SlashVerb::rewind) && !slash->number) {
    effects.emplace_back(ListQuestions{.tab = tab->id, .verb = slash->verb});
    return;
  }
  effects.emplace_back(RunSlash{.tab = tab->id, .slash = *slash});
}

void close_tab(State& state, Tab& tab, Effects& effects) {
  if (tab.phase == Tab::Phase::closing) {
    return;
  }
  if (tab.is_busy()) {
    state.dialogs.push_back({.kind = Dialog::Kind::close_answering,
                             .tab = tab.id,
                             .question = "An answer is running. Stop it and close the session?"});
    return;
  }
  tab.phase = Tab::Phase::closing;
  effects.emplace_back(CloseTab{.tab = tab.id});
}

void leave(State& state, ExitReason reason, Effects& effects) {
  if (std::exchange(state.leaving, true)) {
    return;
  }
  for (const Tab& tab : state.tabs) {
    const bool is_explicit =
        std::ranges::find(tab.entries, Entry::Kind::question, &Entry::kind) != tab.entries.end();
    if (tab.metadata.saved && (tab.metadata.messages > 0 || is_explicit)) {
      state.open_at_exit.push_back(tab.metadata);
      state.open_at_exit.back().title = tab_name(tab);
    }
  }
  state.interrupted = reason != ExitReason::quit;
  state.dialogs.clear();
  effects.emplace_back(CloseAll{.interrupted = reason == ExitReason::signalled});
}

}  // namespace reprise::cli::app

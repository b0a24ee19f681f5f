// A turn, from the question to its end.

#include <algorithm>
#include <chrono>
#include <iterator>

#include "base/text.h"
#include "cli/app/update.h"
#include "cli/process/process.h"
#include "cli/program/interrupts.h"
#include "reprise/conversation.h"
#include "reprise/message.h"
#include "store/usage_sum.h"

namespace reprise::cli::app {
namespace {

// Marks entries as finished: thoughts fold, and pending tool calls have failed.
void finish_entries(Tab& tab) {
  for (Entry& entry : tab.entries) {
    if (!entry.ended) {
      entry.ended = true;
      entry.failed = entry.failed || entry.kind == Entry::Kind::tool;
      entry.changed();
    }
  }
}

// Inserts entries before queued questions.
Entry& add_entry(Tab& tab, Entry entry) {
  const auto waiting = std::ranges::find(tab.entries, Entry::Kind::waiting, &Entry::kind);
  return *tab.entries.insert(waiting, std::move(entry));
}

Entry* last_running(Tab& tab) {
  const auto waiting = std::ranges::find(tab.entries, Entry::Kind::waiting, &Entry::kind);
  return waiting == tab.entries.begin() ? nullptr : &*std::prev(waiting);
}

// A reverse iterator; rend() if there is none.
auto last_question(Tab& tab) {
  return std::find_if(tab.entries.rbegin(), tab.entries.rend(),
                      [](const Entry& entry) { return entry.kind == Entry::Kind::question; });
}

void drop_last_turn(Tab& tab) {
  if (const auto question = last_question(tab); question != tab.entries.rend()) {
    if (tab.metadata.title == title_from_prompt(question->text)) {
      tab.metadata.title.clear();
    }
    tab.entries.erase(std::prev(question.base()), tab.entries.end());
  }
}

}  // namespace

void restore_input(Tab& tab, std::string_view text, const std::vector<std::string>& files) {
  if (!text.empty()) {
    tab.input.set(cat(text, tab.input.empty() ? "" : "\n", tab.input.unfolded_text()));
  }
  tab.attached.insert(tab.attached.begin(), files.begin(), files.end());
}

void unqueue_questions(Tab& tab) {
  std::string text;
  std::vector<std::string> files;
  std::erase_if(tab.entries, [&](const Entry& entry) {
    if (entry.kind == Entry::Kind::waiting) {
      text += cat(text.empty() ? "" : "\n", entry.text);
      files.insert(files.end(), entry.files.begin(), entry.files.end());
      return true;
    }
    return false;
  });
  restore_input(tab, text, files);
}

void begin_turn(Tab& tab) {
  tab.phase = Tab::Phase::answering;
  tab.turn = {};
  tab.replaced.clear();
  tab.turn_began.reset();  // update() sets it
  tab.turn_bytes = 0;
}

void edit_last_question(Tab& tab) {
  if (const auto question = last_question(tab); question != tab.entries.rend()) {
    tab.input.set(question->text);
    tab.editing = true;
  }
}

void copy_answer(State& state, Effects& effects) {
  Tab* const tab = state.tab();
  std::string text;
  if (tab != nullptr) {
    for (auto entry = last_question(*tab).base(); entry != tab->entries.end(); ++entry) {
      if (entry->kind == Entry::Kind::answer) {
        text += cat(text.empty() ? "" : "\n\n", entry->text);
      }
    }
  }
  if (text.empty()) {
    return announce(state, tab, Entry::Kind::warning, "there is no answer to copy");
  }
  if (text.size() > kCopyBytesMax) {
    return announce(state, tab, Entry::Kind::warning,
                    cat("the answer has ", grouped(std::ssize(text)),
                        " bytes, and the clipboard limit of terminals is ",
                        grouped(static_cast<std::int64_t>(kCopyBytesMax)),
                        " bytes; /save FILE writes the transcript"));
  }
  effects.emplace_back(CopyText{std::move(text)});
}

void ask_instead(Tab& tab, std::string text, Attached attached, Effects& effects) {
  tab.top.reset();
  drop_last_turn(tab);
  tab.entries.push_back({.kind = Entry::Kind::question, .text = text});
  begin_turn(tab);
  effects.emplace_back(
      AskInstead{.tab = tab.id, .text = std::move(text), .attached = std::move(attached)});
}

std::vector<std::string> mentions(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\n\x1a";
  std::vector<std::string> out;
  while (!text.empty()) {
    const std::size_t begin = std::min(text.find_first_not_of(kBlanks), text.size());
    text.remove_prefix(begin);
    if (const std::size_t quote = text.starts_with("@\"") ? text.find('"', 2) : text.npos;
        quote != text.npos && quote > 2) {
      out.emplace_back(text.substr(2, quote - 2));
      text.remove_prefix(quote + 1);
      continue;
    }
    const std::string_view word = text.substr(0, text.find_first_of(kBlanks));
    text.remove_prefix(word.size());
    if (word.size() > 1 && word.front() == '@') {
      out.emplace_back(word.substr(1));
    }
  }
  return out;
}

void ask(Tab& tab, std::string text, Attached attached, Effects& effects) {
  tab.top.reset();
  if (tab.phase != Tab::Phase::idle) {
    tab.entries.push_back({.kind = Entry::Kind::waiting,
                           .text = std::move(text),
                           .files = std::move(attached.files),
                           .mentioned = std::move(attached.mentioned)});
    return;
  }
  add_entry(tab, {.kind = Entry::Kind::question, .text = text});
  begin_turn(tab);
  effects.emplace_back(
      Ask{.tab = tab.id, .text = std::move(text), .attached = std::move(attached)});
}

void ask_next(Tab& tab, Effects& effects) {
  const auto first = std::ranges::find(tab.entries, Entry::Kind::waiting, &Entry::kind);
  if (first != tab.entries.end()) {
    std::string text = std::move(first->text);
    Attached attached{.files = std::move(first->files), .mentioned = std::move(first->mentioned)};
    tab.entries.erase(first);
    ask(tab, std::move(text), std::move(attached), effects);
  }
}

void on_text(Tab& tab, Entry::Kind kind, std::string_view text) {
  Entry* entry = last_running(tab);
  if (entry == nullptr || entry->kind != kind || entry->ended) {
    if (entry != nullptr && entry->kind == Entry::Kind::thinking) {
      entry->ended = true;
      entry->changed();
    }
    entry = &add_entry(tab, {.kind = kind, .ended = false});
  }
  entry->text += text;
  entry->changed();
  tab.turn_bytes += text.size();
}

void on_tool_call(Tab& tab, const ToolUseBlock& call) {
  add_entry(tab, {.kind = Entry::Kind::tool,
                  .text = call.name,
                  .id = call.id,
                  .input = call.input.text(),
                  .ended = false});
}

void on_answer(Tab& tab, const AnswerStored& answer) {
  for (Entry& entry : tab.entries) {
    if (!entry.ended && entry.kind != Entry::Kind::tool) {
      entry.ended = true;
      entry.changed();
    }
  }
  if (answer.usage) {
    tab.last_input = answer.usage->input.value > 0 ? answer.usage->input.value : tab.last_input;
    store::count_usage(tab.turn, tab.counted_requests, *answer.usage);
    tab.turn_bytes = 0;
  }
  if (!answer.calls_tools) {
    tab.footer = {
        .kind = Entry::Kind::footer, .text = footer_text(answer.model, tab.turn), .at = answer.at};
    tab.turn = {};
  }
}

void on_turn_end(State& state, Tab& tab, const TurnEnded& turn, Effects& effects) {
  finish_entries(tab);
  if (auto footer = std::exchange(tab.footer, std::nullopt)) {
    add_entry(tab, *std::move(footer));
  }
  state.saved = state.saved && turn.saved;
  tab.metadata = turn.metadata;
  if (tab.phase == Tab::Phase::closing) {
    return unqueue_questions(tab);
  }
  tab.phase = Tab::Phase::idle;
  if (&tab == state.tab()) {
    state.status.clear();
  } else {
    effects.emplace_back(Bell{});
  }
  std::vector<Entry> replaced = std::exchange(tab.replaced, {});
  if (!turn.arrived) {
    std::ranges::for_each(replaced, [&tab](Entry& entry) { add_entry(tab, std::move(entry)); });
  }
  const std::string advice = turn.advice.empty() ? "" : cat("; ", turn.advice);
  if (turn.stopped) {
    add_entry(tab,
              {.text = cat(turn.arrived ? "stopped" : "stopped before anything arrived", advice)});
  } else if (!turn.failure.empty()) {
    add_entry(tab, {.kind = Entry::Kind::warning, .text = cat(turn.failure, advice)});
  }
  if (turn.stopped || !turn.failure.empty()) {
    unqueue_questions(tab);
  } else {
    ask_next(tab, effects);
  }
}

void stop(State& state, Effects& effects) {
  const bool is_double_press =
      state.stopped_at && state.now - *state.stopped_at < kDoublePressWindow;
  if (state.leaving) {
    effects.emplace_back(CancelPending{});
    return;
  }
  if (is_double_press) {
    leave(state, ExitReason::stopped, effects);
    return;
  }
  state.stopped_at = state.now;
  Tab* const tab = state.tab();
  if (tab != nullptr && tab->phase == Tab::Phase::answering) {
    tab->phase = Tab::Phase::stopping;
    effects.emplace_back(StopTurn{.tab = tab->id});
    state.status = "stopping; press Ctrl-C again to quit";
    return;
  }
  state.input().clear();
  if (tab != nullptr) {
    tab->editing = false;
  }
  state.status = "press Ctrl-C again to quit";
}

void escape(State& state, Effects& effects) {
  Tab* const tab = state.tab();
  if (tab == nullptr) {
    return;
  }
  if (tab->top || tab->chosen_part()) {
    return scroll_to_end(*tab);
  }
  scroll_to_end(*tab);
  if (std::exchange(tab->editing, false)) {
    return tab->input.clear();
  }
  if (tab->phase == Tab::Phase::answering) {
    tab->phase = Tab::Phase::stopping;
    effects.emplace_back(StopTurn{.tab = tab->id});
    return;
  }
  if (tab->phase != Tab::Phase::idle || !tab->input.empty()) {
    return;
  }
  const bool is_double = state.escaped_at && state.now - *state.escaped_at < kDoublePressWindow;
  state.escaped_at = is_double ? std::nullopt : std::optional(state.now);
  if (is_double) {
    edit_last_question(*tab);
  }
}

}  // namespace reprise::cli::app

// Tests keys: their names, the manual, and their effect on every screen, as a table in
// screens/keys.txt. If REPRISE_WRITE_SCREENS is set, rewrites the table, for review in the diff.

#include "cli/app/keys.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <ranges>

#include "base/file.h"
#include "base/terminal_text.h"
#include "base/text.h"
#include "cli/app/testing/effects.h"
#include "cli/app/testing/screens.h"
#include "cli/app/testing/state.h"
#include "cli/app/update.h"
#include "cli/repl/testing/slash_markdown.h"

namespace reprise::cli::app {
namespace {

TEST(Keys, AreFoundByEachName) {
  EXPECT_EQ(find_action("Ctrl-N"), Action::next_tab);
  EXPECT_EQ(find_action("Ctrl-Tab"), Action::next_tab);
  EXPECT_EQ(find_action("Alt-9"), Action::go_to_tab);
  EXPECT_EQ(find_action("Ctrl-"), std::nullopt);
  EXPECT_EQ(find_action(""), std::nullopt);
}

std::string keys_markdown() {
  std::string out = "| key | does |\n|---|---|\n";
  for (const KeyBinding& binding : key_bindings()) {
    std::string names(binding.manual_text);
    for (std::size_t at = 0; binding.manual_text.empty() && at < binding.keys.size(); ++at) {
      names += binding.keys[at] == ' ' ? ", " : cat(std::string_view(&binding.keys[at], 1));
    }
    out += cat("| ", names, " | ", binding.help, " |\n");
  }
  return out;
}

TEST(Keys, AreInTheManual) {
  const auto manual = read_file(REPRISE_TERMINAL_MANUAL);
  ASSERT_TRUE(manual) << manual.error().message;
  EXPECT_NE(manual->find(keys_markdown()), std::string::npos) << "docs/terminal.md should have:\n"
                                                              << keys_markdown();
  EXPECT_NE(manual->find(slash_help_markdown()), std::string::npos)
      << "docs/terminal.md should have:\n"
      << slash_help_markdown();
}

std::vector<std::string> screen_rows(const Screen& screen) {
  std::vector<std::string> rows;
  const std::string text = screen.text();
  for (const auto row : std::views::split(text, '\n')) {
    rows.emplace_back(row.begin(), row.end());
  }
  return rows;
}

// The effects, the cursor's new position, and the first and last changed row.
std::string outcome_of(const Screen& before, const State& state, const Effects& effects) {
  std::string out;
  for (const Effect& effect : effects) {
    out += cat(out.empty() ? "" : ", ", std::visit(EffectWords{}, effect));
  }
  const Screen after = render(state);
  if (const auto cursor = after.cursor(); cursor != before.cursor()) {
    out += cursor ? cat(" @", cursor->row, ",", cursor->column) : " @nowhere";
  }
  const std::vector<std::string> old_rows = screen_rows(before);
  const std::vector<std::string> rows = screen_rows(after);
  std::vector<std::size_t> changed;
  for (std::size_t row = 0; row < std::min(old_rows.size(), rows.size()); ++row) {
    if (rows[row] != old_rows[row]) {
      changed.push_back(row);
    }
  }
  if (changed.size() > 2) {
    changed.erase(changed.begin() + 1, changed.end() - 1);
  }
  for (const std::size_t row : changed) {
    constexpr std::size_t kShown = 60;
    out += cat(" |", row, " ", grapheme_prefix(trimmed(rows[row]), kShown));
  }
  std::ranges::replace(out, '\n', ' ');
  return std::string(trimmed(out));
}

// Each key alone; typed characters are in quotes.
std::vector<std::string> all_keys() {
  std::vector<std::string> keys;
  for (const KeyBinding& binding : key_bindings()) {
    for (const auto name : std::views::split(binding.keys, ' ')) {
      keys.emplace_back(name.begin(), name.end());
    }
  }
  for (const char* const key : {"F2", "Ctrl-S", "Ctrl-X", "Ctrl-G", "\"y\"", "\"n\"", "\"N\"",
                                "\"o\"", "\"a\"", "\"q\"", "\"u\"", "\" \"", "\"/\"", "\"@\""}) {
    keys.emplace_back(key);
  }
  return keys;
}

Effects pressed(State& state, std::string_view name) {
  return name.front() == '"' ? type(state, name.substr(1, name.size() - 2)) : key(state, name);
}

State scrolled_back(Size size) {
  State state = open_state(size);
  for (int i = 0; i < 60; ++i) {
    state.tabs[0].entries.push_back({.text = cat(i % 20 == 3 ? "Needle " : "hay ", i)});
  }
  state.tabs[0].oldest = Seq{500};
  state.tabs[0].input.remember("asked before");
  key(state, "PgUp");
  return state;
}

State with_a_hit(Size size) {
  State state = scrolled_back(size);
  key(state, "PgUp");
  key(state, "Ctrl-F");
  type(state, "needle");
  key(state, "Enter");
  return state;
}

State in_the_picker(Size size, std::string_view name, std::string_view words) {
  State state = picker_screens().front().make(size);
  key(state, name);
  type(state, words);
  return state;
}

State in_the_trash(Size size) {
  State state = in_the_picker(size, "Ctrl-T", "");
  const std::vector<PickerRow> rows = picker_screens().front().make(size).picker->rows;
  update(state, PageLoaded{.generation = state.picker->generation, .rows = rows, .next = ""});
  return state;
}

State with_texts_found(Size size) {
  State state = in_the_picker(size, "Ctrl-F", "config");
  PickerRow row = picker_screens().front().make(size).picker->rows.front();
  row.seq = Seq{7};
  row.match = "config";
  row.snippet = "who reads the config";
  update(state, TextsFound{.generation = state.picker->generation, .rows = std::vector{row}});
  return state;
}

std::vector<NamedScreen> every_screen() {
  std::vector<NamedScreen> screens = session_screens();
  std::ranges::move(picker_screens(), std::back_inserter(screens));
  const std::vector<NamedScreen> more = {
      {"scrolled back", scrolled_back},
      {"scrolled back, with words",
       [](Size size) {
         State state = scrolled_back(size);
         type(state, "two words");
         return state;
       }},
      {"scrolled to the top",
       [](Size size) {
         State state = scrolled_back(size);
         key(state, "Ctrl-Home");
         return state;
       }},
      {"a hit", with_a_hit},
      {"a title in the picker", [](Size size) { return in_the_picker(size, "F2", " changed"); }},
      {"the picker's trash", in_the_trash},
      {"the picker's trash, to be emptied",
       [](Size size) {
         State state = in_the_trash(size);
         key(state, "Ctrl-X");
         return state;
       }},
      {"texts in the picker", with_texts_found},
  };
  std::ranges::copy(more, std::back_inserter(screens));
  return screens;
}

TEST(Keys, HaveTheirEffectsOnEachScreen) {
  std::string table;
  for (const NamedScreen& screen : every_screen()) {
    // Keys with the same effect share a line; keys without effect are omitted.
    std::vector<std::pair<std::string, std::string>> lines;
    const State before = screen.make(kUsual);
    const Screen shown_before = render(before);
    for (const std::string& name : all_keys()) {
      State after = before;
      const Effects effects = pressed(after, name);
      const std::string outcome = outcome_of(shown_before, after, effects);
      const auto same =
          std::ranges::find(lines, outcome, &std::pair<std::string, std::string>::second);
      if (outcome.empty()) {
        continue;
      }
      if (same != lines.end()) {
        same->first += cat(" ", name);
      } else {
        lines.emplace_back(name, outcome);
      }
    }
    table += cat("== ", screen.name, "\n");
    for (const auto& [names, outcome] : lines) {
      table += cat(names, ": ", outcome, "\n");
    }
  }
  const std::string file = cat(REPRISE_SCREENS, "/keys.txt");
  if (std::getenv("REPRISE_WRITE_SCREENS") != nullptr) {
    std::ofstream(file) << table;
    return;
  }
  EXPECT_EQ(table, read_file(file).value_or("")) << file;
}

}  // namespace
}  // namespace reprise::cli::app

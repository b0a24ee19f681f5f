// The list above the input: commands while one is typed, or the session's questions.

#include <algorithm>

#include "base/text.h"
#include "cli/app/update.h"

namespace reprise::cli::app {
namespace {

bool needs_file(std::string_view name) {
  const auto commands = slash_commands();
  const auto found = std::ranges::find(commands, name, &SlashCommand::name);
  return found != commands.end() && found->argument == SlashArgument::file;
}

// Commands with this prefix, then those that contain the text.
std::vector<Menu::Item> commands_with(std::string_view text) {
  std::vector<Menu::Item> out;
  for (const SlashCommand& command : slash_commands()) {
    if (command.name.contains(text.substr(1))) {
      out.push_back({.name = std::string(command.name),
                     .arguments = std::string(command.arguments),
                     .help = std::string(command.help)});
    }
  }
  std::ranges::stable_partition(
      out, [text](const Menu::Item& item) { return item.name.starts_with(text); });
  std::ranges::stable_partition(out, [text](const Menu::Item& item) { return item.name == text; });
  return out;
}

bool is_command_name(std::string_view text) {
  return text.starts_with('/') && text.find_first_of(" \t\n") == std::string_view::npos &&
         !text.starts_with("//");
}

void move_in_menu(Menu& menu, std::ptrdiff_t by) {
  const auto last = std::ssize(menu.items) - 1;
  menu.selected = static_cast<std::size_t>(
      std::clamp<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(menu.selected) + by, 0, last));
}

bool moves_menu(Menu& menu, std::string_view key) {
  constexpr std::ptrdiff_t kFar = 1'000'000'000;
  constexpr std::ptrdiff_t kMenuPage = 8;
  const std::pair<std::string_view, std::ptrdiff_t> moves[] = {
      {"Up", -1},          {"Down", 1},     {"Ctrl-P", -1}, {"Ctrl-N", 1},    {"PgUp", -kMenuPage},
      {"PgDn", kMenuPage}, {"Home", -kFar}, {"End", kFar},  {"Wheel-Up", -3}, {"Wheel-Down", 3},
  };
  for (const auto& [name, by] : moves) {
    if (name == key) {
      move_in_menu(menu, by);
      return true;
    }
  }
  return false;
}

// Enter and Tab while a command is typed; false if the input must handle the key.
bool choose_command(State& state, const Menu::Item& item, bool run) {
  state.menu.reset();
  if (run && !needs_file(item.name)) {
    state.input().set(item.name);
    return false;
  }
  state.input().set(cat(item.name, item.arguments.empty() ? "" : " "));
  return true;
}

void choose_question(State& state, const Menu& menu, Effects& effects) {
  const std::int64_t number = menu.items[menu.selected].number;
  const SlashVerb verb = menu.kind == Menu::Kind::fork ? SlashVerb::fork : SlashVerb::rewind;
  if (Tab* const tab = state.tab(); tab != nullptr) {
    effects.emplace_back(
        RunSlash{.tab = tab->id, .slash = {.verb = verb, .text = "", .number = number}});
  }
}

}  // namespace

void offer_commands(State& state) {
  state.menu.reset();
  const std::string& text = state.input().text();
  if (!is_command_name(text)) {
    return;
  }
  Menu menu{.kind = Menu::Kind::commands, .items = commands_with(text), .input = text};
  if (!menu.items.empty()) {
    state.menu = std::move(menu);
  }
}

void offer_questions(State& state, const QuestionsListed& listed) {
  const Tab* const tab = state.tab();
  if (tab == nullptr || tab->id != listed.tab || tab->is_busy()) {
    return;
  }
  Menu menu{.kind = listed.verb == SlashVerb::fork ? Menu::Kind::fork : Menu::Kind::rewind};
  const auto count = std::ssize(listed.questions);
  for (std::ptrdiff_t i = 0; i < count; ++i) {
    const auto& [seq, text] = listed.questions[static_cast<std::size_t>(i)];
    const bool forks = menu.kind == Menu::Kind::fork;
    menu.items.push_back({.name = text,
                          .help = forks ? "copy up to here" : "take back from here on",
                          .number = forks ? seq.value : count - i});
  }
  if (menu.kind == Menu::Kind::fork) {
    menu.items.push_back({.name = "all of it",
                          .help = "a copy of the whole session",
                          .number = tab->metadata.messages});
  }
  if (menu.items.empty()) {
    return announce(state, state.tab(), Entry::Kind::notice, "there are no questions yet");
  }
  menu.selected = menu.items.size() - 1;
  menu.input = tab->input.text();
  state.menu = std::move(menu);
}

bool press_in_menu(State& state, std::string_view key, Effects& effects) {
  if (!state.menu) {
    return false;
  }
  Menu& menu = *state.menu;
  if (menu.input != state.input().text()) {
    state.menu.reset();
    return false;
  }
  if (moves_menu(menu, key)) {
    return true;
  }
  const bool enter = key == "Enter";
  if (enter || (key == "Tab" && menu.kind == Menu::Kind::commands)) {
    const Menu chosen = menu;
    state.menu.reset();
    if (chosen.kind == Menu::Kind::commands) {
      return choose_command(state, chosen.items[chosen.selected], enter);
    }
    choose_question(state, chosen, effects);
    return true;
  }
  state.menu.reset();
  if (key == "Esc" && state.input().text() == "/") {
    state.input().clear();  // only "/" was typed
  }
  return key == "Esc" || key == "Ctrl-C";
}

}  // namespace reprise::cli::app

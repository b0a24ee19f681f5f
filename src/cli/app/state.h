#pragma once

// All that the program knows while it runs, as plain values. Only update() changes it; render()
// shows it.

#include "cli/app/editor.h"         // IWYU pragma: export
#include "cli/app/entry.h"          // IWYU pragma: export
#include "cli/app/event.h"          // IWYU pragma: export
#include "cli/app/picker/picker.h"  // IWYU pragma: export
#include "cli/app/screen.h"         // IWYU pragma: export
#include "reprise/session.h"        // IWYU pragma: export

namespace reprise::cli::app {

inline constexpr std::size_t kTabsMax = 10;

// A line of the transcript: which entry's, and which of its lines.
struct Anchor {
  std::size_t entry = 0;
  std::size_t line = 0;
  friend auto operator<=>(const Anchor&, const Anchor&) = default;
};

struct Tab {
  enum class Phase : std::uint8_t {
    opening,
    idle,
    answering,
    stopping,  // the answer was asked to stop
    closing,
  };

  TabId id = {};
  TabId opened_from = {};  // shown again when this one cannot be opened
  Phase phase = Phase::opening;
  bool loading_older = false;
  bool scrolled = false;   // by the person; keys may mean the transcript
  bool searching = false;  // goes on in older messages when they are loaded
  bool unfolded = false;
  bool todos_hidden = false;
  bool unread = false;
  bool has_requested_models = false;
  TabMetadata metadata = {};
  std::vector<Entry> entries = {};
  Seq oldest = {};                 // `entries` begin with this message
  std::optional<Anchor> top = {};  // the first line shown; none: the end is shown
  std::string search = {};         // what was looked for last, in small letters
  std::optional<Anchor> found = {};
  std::optional<Seq> scroll_target =
      {};                       // the message to show once it is loaded, at what is searched
  std::int64_t last_input = 0;  // tokens of the last request
  Usage turn = {};              // what the running turn has used
  std::optional<Time> turn_began = {};
  std::size_t turn_bytes = 0;  // of the running answer, as far as its usage is not known
  bool editing = false;        // the input is the last question, to be asked instead of it
  std::optional<std::size_t> chosen = {};  // the entry that Enter opens or closes
  Editor input = {};
  std::vector<std::string> attached = {};    // files for the next question
  std::vector<std::string> models = {};      // beside those of the settings
  std::vector<std::string> last_words = {};  // warnings that came while it was closed
  std::string completing = {};               // the input that waits for them
  std::string completed = {};                // what was made of it so far

  std::optional<std::size_t> chosen_part() const {
    return chosen && *chosen < entries.size() && is_foldable(entries[*chosen]) ? chosen
                                                                               : std::nullopt;
  }
  bool is_busy() const { return phase == Phase::answering || phase == Phase::stopping; }
};

// A question in front of everything else.
struct Dialog {
  enum class Kind : std::uint8_t { resume, close_answering, consent, clear };
  Kind kind = Kind::resume;
  TabId tab = {};                           // all but resume
  std::optional<SessionInfo> session = {};  // resume
  int number = 0;                           // consent
  std::string question = {};
  bool while_typing = false;  // it came in the middle of a message
};

// A list above the input to choose from.
struct Menu {
  enum class Kind : std::uint8_t { commands, fork, rewind };
  struct Item {
    std::string name = {};
    std::string arguments = {};  // commands
    std::string help = {};
    std::int64_t number = 0;  // fork: of the message; rewind: of turns that are taken back
  };
  Kind kind = Kind::commands;
  std::vector<Item> items = {};
  std::size_t selected = 0;
  std::string input = {};  // that it stands above
};

// A search that is being typed.
struct LineSearch {
  enum class Kind : std::uint8_t { history, transcript };
  Kind kind = Kind::history;
  std::string draft = {};  // the input, to be put back
  Editor pattern = {};
  std::size_t place = 0;  // of the prompt that was found
  bool failed = false;    // none was
};

struct State {
  Size size = {};
  Time now = {};
  std::string start_folder = {};
  std::string home = {};  // shown as "~"
  std::vector<Tab> tabs = {};
  std::size_t current = 0;  // of `tabs`
  int tabs_opened = 0;
  std::vector<Dialog> dialogs = {};  // the first one is shown
  std::optional<LineSearch> line_search = {};
  std::optional<Menu> menu = {};
  bool after_ctrl_x = false;
  std::optional<Picker> picker = {};  // instead of the tab
  int pickers_opened = 0;
  std::string status = {};                   // a passing word in the last line
  std::string notice = {};                   // what was said while there was no tab to say it in
  std::vector<std::string> last_words = {};  // warnings that came while it closed
  std::vector<TabMetadata> left = {};        // the sessions that were open when it was left
  std::optional<Time> stopped_at = {};       // the last Ctrl-C
  std::optional<Time> escaped_at = {};       // the last Esc that had nothing to do
  Time typed_at = {};                        // the last key
  Editor first_input = {};                   // before there is a tab
  bool leaving = false;
  bool interrupted = false;
  bool saved = true;           // all that was said so far
  bool nothing_saved = false;  // the picker that it was started for found no session
  bool over = false;

  Tab* tab() { return current < tabs.size() ? &tabs[current] : nullptr; }
  const Tab* tab() const { return current < tabs.size() ? &tabs[current] : nullptr; }
  Tab* find(TabId id);
  Editor& input() { return current < tabs.size() ? tabs[current].input : first_input; }
  const Editor& input() const { return current < tabs.size() ? tabs[current].input : first_input; }
  // Whether keys answer the first dialog: not those of a message that somebody is still typing.
  bool dialog_has_keys() const;
};

// What a tab is called: its title, its first question, or its folder.
std::string tab_name(const Tab& tab);

// "~/src" for "/home/a/src".
std::string short_path(const State& state, const std::string& path);

}  // namespace reprise::cli::app

#pragma once

// The whole state of the program as plain values. Only update() changes it; render() shows it. Both
// use the layout of the screen, which is computed from it.

#include "cli/app/editor.h"         // IWYU pragma: export
#include "cli/app/entry.h"          // IWYU pragma: export
#include "cli/app/event.h"          // IWYU pragma: export
#include "cli/app/picker/picker.h"  // IWYU pragma: export
#include "cli/app/screen.h"         // IWYU pragma: export
#include "cli/markdown/style.h"     // IWYU pragma: export
#include "reprise/session.h"        // IWYU pragma: export
#include "store/usage_sum.h"

namespace reprise::cli::app {

inline constexpr std::size_t kTabsMax = 10;
// After it, a letter is an answer and not part of a message being typed.
inline constexpr std::chrono::seconds kTypingPause{1};

// A line of the transcript: the entry, and the line in it.
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
    stopping,  // a stop was requested
    closing,
  };

  TabId id = {};
  TabId opened_from = {};  // shown again if this one cannot be opened
  Phase phase = Phase::opening;
  bool loading_older = false;
  bool scrolled = false;   // by the user; then keys may apply to the transcript
  bool searching = false;  // continues in older messages once they are loaded
  bool unfolded = false;
  bool todos_hidden = false;
  bool unread = false;
  bool missed_changes = false;  // of another program, found during a turn
  bool has_requested_models = false;
  TabMetadata metadata = {};
  std::vector<Entry> entries = {};
  std::vector<Entry> replaced = {};  // by /retry: shown again if no answer arrives
  Seq oldest = {};                   // the first message in `entries`
  std::optional<Anchor> top = {};    // the first visible line; nullopt: the end is shown
  std::string search = {};           // the last search pattern, in lower case
  std::optional<Anchor> found = {};
  std::optional<Seq> scroll_target = {};  // the message to scroll to once it is loaded
  std::int64_t last_input = 0;            // tokens of the last request
  Usage turn = {};                        // usage of the running turn
  store::CountedRequests counted_requests = {};
  std::optional<Time> turn_began = {};
  std::size_t turn_bytes = 0;              // of the running answer, while its usage is unknown
  std::optional<Entry> footer = {};        // of the answer, shown when the turn has ended
  bool editing = false;                    // the input replaces the last question
  std::optional<std::size_t> chosen = {};  // the entry that Enter folds or unfolds
  Editor input = {};
  std::vector<std::string> attached = {};       // files for the next question
  std::vector<std::string> models = {};         // in addition to those of the settings
  std::vector<std::string> late_warnings = {};  // warnings while it was closing
  std::string completing = {};                  // the input to complete once they arrive
  std::string completed = {};                   // its completion so far

  std::optional<std::size_t> chosen_part() const {
    return chosen && *chosen < entries.size() && is_foldable(entries[*chosen]) ? chosen
                                                                               : std::nullopt;
  }
  bool is_busy() const { return phase == Phase::answering || phase == Phase::stopping; }
};

// A modal question.
struct Dialog {
  enum class Kind : std::uint8_t { resume, close_answering, consent, clear };
  Kind kind = Kind::resume;
  TabId tab = {};                           // except for `resume`
  std::optional<SessionInfo> session = {};  // for `resume`
  int number = 0;                           // for `consent`
  std::string question = {};
  bool while_typing = false;  // appeared while the user was typing
};

// A list above the input to choose from.
struct Menu {
  enum class Kind : std::uint8_t { commands, fork, rewind };
  struct Item {
    std::string name = {};
    std::string arguments = {};  // for `commands`
    std::string help = {};
    std::int64_t number = 0;  // fork: of the message; rewind: of turns to rewind
  };
  Kind kind = Kind::commands;
  std::vector<Item> items = {};
  std::size_t selected = 0;
  std::string input = {};  // the input it was opened for
};

// A search while it is typed.
struct LineSearch {
  enum class Kind : std::uint8_t { history, transcript };
  Kind kind = Kind::history;
  std::string draft = {};  // the input to restore
  Editor pattern = {};
  std::size_t index = 0;  // index of the prompt found
  bool failed = false;    // no match
};

struct State {
  Size size = {};
  Time now = {};
  std::string start_folder = {};
  std::string home = {};  // shown as "~"
  std::vector<Tab> tabs = {};
  std::size_t current = 0;  // index of `tabs`
  int tabs_opened = 0;
  std::vector<Dialog> dialogs = {};  // the first one is shown
  std::optional<LineSearch> line_search = {};
  std::optional<Menu> menu = {};
  bool after_ctrl_x = false;
  std::optional<Picker> picker = {};  // replaces the tab
  int pickers_opened = 0;
  std::string status = {};  // a transient message in the last line
  std::string notice = {};  // notices while there is no tab
  bool is_refused = false;  // the session to continue could not be opened, and there is no tab
  std::vector<std::string> late_warnings = {};  // warnings while closing
  std::vector<TabMetadata> open_at_exit = {};   // sessions that were open at the end
  std::optional<Time> stopped_at = {};          // the last Ctrl-C
  std::optional<Time> escaped_at = {};          // the last Esc without effect
  Time typed_at = {};                           // the last key
  Time checked_at = {};                         // the last check for other programs' changes
  Editor first_input = {};                      // before the first tab exists
  bool leaving = false;
  bool interrupted = false;
  bool saved = true;           // all messages so far
  bool nothing_saved = false;  // `reprise resume` found no session
  bool over = false;

  Tab* tab() { return current < tabs.size() ? &tabs[current] : nullptr; }
  const Tab* tab() const { return current < tabs.size() ? &tabs[current] : nullptr; }
  Tab* find(TabId id);
  Editor& input() { return current < tabs.size() ? tabs[current].input : first_input; }
  const Editor& input() const { return current < tabs.size() ? tabs[current].input : first_input; }
  // Whether keys answer the first dialog, rather than belong to a message being typed.
  bool dialog_has_keys() const;
};

// The name of a tab: its title, its first question, or its folder.
std::string tab_name(const Tab& tab);

// Returns "~/src" for "/home/a/src".
std::string short_path(const State& state, const std::string& path);

// The layout of the screen, from top to bottom; parts without rows are omitted on a small screen.
struct Frame {
  std::size_t tab_rows = 0;
  std::size_t transcript_row = 0;
  std::size_t transcript_rows = 0;
  std::size_t transcript_columns = 0;
  std::vector<Line> todos;  // beside the transcript or below it
  ScreenPosition todo_position = {};
  std::size_t todo_gap = 0;  // empty rows above them
  std::size_t rule_rows = 0;
  std::size_t input_row = 0;
  std::size_t input_rows = 0;
  EditorLines input;            // all lines
  std::size_t input_first = 0;  // the first visible one
  std::vector<Line> dialog;     // replaces the input
  std::size_t status_row = 0;
};
Frame frame_of(const State& state);

// The first visible line when the end is shown.
Anchor anchor_at_end(const Tab& tab, std::size_t rows, std::size_t width, Time now);

// The lines of an entry, folded or not as in the tab. Valid until the entry changes.
const std::vector<Line>& lines_in(const Tab& tab, std::size_t entry, std::size_t width, Time now);

struct VisibleLine {
  const Line* line;
  Anchor at;
};
// The visible lines, at most `rows`. Valid until an entry changes.
std::vector<VisibleLine> visible_lines(const Tab& tab, std::size_t rows, std::size_t width,
                                       Time now);

// Scrolls by lines; negative is up. At the end, the tab follows new text.
void scroll(Tab& tab, std::ptrdiff_t lines, std::size_t rows, std::size_t width, Time now);

}  // namespace reprise::cli::app

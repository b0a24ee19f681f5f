#pragma once

// Everything that can happen to the program, as values: keys, the clock, and what the worker and
// the running turns report.

#include "cli/app/entry.h"          // IWYU pragma: export
#include "cli/app/picker/picker.h"  // IWYU pragma: export
#include "cli/app/screen.h"         // IWYU pragma: export
#include "cli/repl/slash.h"

namespace reprise::cli::app {

// Names a tab for as long as the program runs.
struct TabId {
  int value = 0;
  friend auto operator<=>(const TabId&, const TabId&) = default;
};

// A key that is no character, by the name of the key table: "Ctrl-W", "Enter", "Alt-1".
struct KeyPressed {
  std::string name;
};
struct Typed {
  std::string text;
};
// A whole paste, however many lines it has.
struct Pasted {
  std::string text;
};
struct Resized {
  Size size;
};
struct Ticked {
  Time now;
};
// SIGINT or SIGTERM from outside.
struct Signalled {};

// What the screen shows of a session beside its messages.
struct TabMetadata {
  std::string id = {};  // "" while there is none
  std::string title = {};
  std::string folder = {};
  std::string mode = {};
  std::string provider = {};
  std::string model = {};
  std::string store = {};  // its kind: "sqlite"
  bool saved = true;
  std::int64_t messages = 0;
  Usage usage = {};
  std::optional<std::int64_t> budget = {};
  std::vector<Todo> todos = {};
  std::vector<std::string> models = {};  // that the settings name
};

// The newest session of the folder where the program was started, if there is one.
struct NewestFound {
  std::optional<SessionInfo> session;
};
struct TabOpened {
  TabId tab;
  TabMetadata metadata;
  std::vector<Entry> entries;
  Seq oldest;                        // `entries` begin with this message
  std::vector<std::string> prompts;  // earlier ones, oldest first
  std::int64_t last_input = 0;       // tokens of the last request
};
// The session that was to be opened in `tab` is open in `open` already.
struct TabIsOpen {
  TabId tab;
  TabId open;
};
struct TabFailed {
  TabId tab;
  std::string reason;
};
struct OlderLoaded {
  TabId tab;
  std::vector<Entry> entries;
  Seq oldest;
};
// After a command that changed what is stored: another model, another history.
struct TabChanged {
  TabId tab;
  TabMetadata metadata;
  bool history_changed = false;  // `entries` stand for the whole transcript
  std::vector<Entry> entries = {};
  Seq oldest = {};
  std::int64_t last_input = 0;
};
// Models that sessions were held with, or that the provider's server has; some come later.
struct ModelsListed {
  TabId tab;
  std::vector<std::string> models;
};
// Paths that begin so; folders end in a slash.
struct FilesListed {
  TabId tab;
  std::string prefix;
  std::vector<std::string> paths;
};
// Questions of the session, the oldest first, for a command that takes one.
struct QuestionsListed {
  TabId tab;
  SlashVerb verb = SlashVerb::fork;
  std::vector<std::pair<Seq, std::string>> questions;
};
struct TabClosed {
  TabId tab;
};

struct TextReceived {
  TabId tab;
  std::string text;
};
struct ThinkingReceived {
  TabId tab;
  std::string text;
};
struct ToolCalled {
  TabId tab;
  ToolUseBlock call;
};
struct ToolAnswered {
  TabId tab;
  ToolResultBlock result;
};
// An assistant message is whole.
struct AnswerStored {
  TabId tab;
  std::string model;
  std::optional<Usage> usage;
  Time at;
  bool calls_tools = false;
  bool cut = false;
};
// The model has changed the list of things to do.
struct TodosChanged {
  TabId tab;
  std::vector<Todo> todos;
};
struct TurnEnded {
  TabId tab;
  TabMetadata metadata;
  std::string failure = {};  // "" when nothing failed
  bool stopped = false;      // somebody asked for it
  bool saved = true;
};
// A tool wants to run.
struct ConsentRequest {
  TabId tab;
  int number = 0;
  std::string question;
};

// The input as another program left it; unchanged when that failed.
struct Edited {
  TabId tab;
  std::optional<std::string> text;
  std::string failure = {};
};

// Something a person should read: in a tab, or in the status line when it belongs to none.
struct Announcement {
  enum class Kind : std::uint8_t { notice, warning, status } kind = Kind::notice;
  std::optional<TabId> tab;
  std::string text;
};
// All tabs are closed: the program may end.
struct AllClosed {
  bool saved = true;
};

// Answers to what the picker asked for.
struct PageLoaded {
  int generation = 0;
  std::vector<PickerRow> rows;
  std::string next;
  std::string failure = {};
};
struct QuestionsLoaded {
  int generation = 0;
  std::vector<std::string> questions = {};  // in the order in which they were asked for
};
// What a search has found so far, or only how far it is.
struct TextsFound {
  int generation = 0;
  std::optional<std::vector<PickerRow>> rows;
  std::string note = {};
};
struct PreviewLoaded {
  std::string id;
  Preview preview;
};
// A stored session was changed from the picker, or could not be.
struct StoredChanged {
  enum class What : std::uint8_t { trashed, restored, renamed, emptied } what = What::trashed;
  std::string id;
  std::string title = {};
  std::string failure = {};
};
// How many sessions "/resume clear" would clear.
struct ClearRequest {
  std::size_t count = 0;
};

using Event = std::variant<KeyPressed, Typed, Pasted, Resized, Ticked, Signalled, NewestFound,
                           TabOpened, TabIsOpen, TabFailed, OlderLoaded, TabChanged, ModelsListed,
                           QuestionsListed, FilesListed, TabClosed, TextReceived, ThinkingReceived,
                           ToolCalled, ToolAnswered, AnswerStored, TurnEnded, TodosChanged,
                           ConsentRequest, Edited, Announcement, AllClosed, PageLoaded,
                           QuestionsLoaded, TextsFound, PreviewLoaded, StoredChanged, ClearRequest>;

}  // namespace reprise::cli::app

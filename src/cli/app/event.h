#pragma once

// All events as values: keys, the clock, and reports from the worker and the running turns.

#include "cli/app/entry.h"          // IWYU pragma: export
#include "cli/app/picker/picker.h"  // IWYU pragma: export
#include "cli/app/screen.h"         // IWYU pragma: export
#include "cli/repl/slash.h"
#include "reprise/message.h"
#include "store/usage_sum.h"

namespace reprise::cli::app {

// Unique for the run of the program.
struct TabId {
  int value = 0;
  friend auto operator<=>(const TabId&, const TabId&) = default;
};

// A key that is not a character, by its name in the key table: "Ctrl-W", "Enter", "Alt-1".
struct KeyPressed {
  std::string name;
};
struct Typed {
  std::string text;
};
// A paste of any number of lines.
struct Pasted {
  std::string text;
};
struct Resized {
  Size size;
};
struct Ticked {
  Time now;
};
// SIGINT or SIGTERM.
struct Signalled {};

// What the screen shows of a session besides its messages.
struct TabMetadata {
  std::string id = {};  // "" while there is none
  std::string title = {};
  std::string folder = {};
  std::string mode = {};
  std::string provider = {};
  std::string model = {};
  std::string store = {};    // the kind: "sqlite"
  std::string refusal = {};  // ChatSession::refusal(): read-only if it is not ""
  bool saved = true;
  std::int64_t messages = 0;
  Usage usage = {};
  std::optional<std::int64_t> budget = {};
  std::vector<Todo> todos = {};
  std::vector<std::string> models = {};  // named in the settings
};

// The newest session of the start folder, if there is one.
struct NewestFound {
  std::optional<SessionInfo> session;
};
struct TabOpened {
  TabId tab;
  TabMetadata metadata;
  std::vector<Entry> entries;
  Seq oldest;                        // the first message in `entries`
  std::vector<std::string> prompts;  // earlier ones, oldest first
  std::int64_t last_input = 0;       // tokens of the last request
  store::CountedRequests counted_requests = {};
};
// The session requested for `tab` is already open in `open`.
struct TabIsOpen {
  TabId tab;
  TabId open;
};
struct TabFailed {
  TabId tab;
  std::string reason;
  bool is_stored = false;  // a stored session was to be continued
};
struct OlderLoaded {
  TabId tab;
  std::vector<Entry> entries;
  Seq oldest;
};
// After a command that changed stored data, such as the model or the history.
struct TabChanged {
  TabId tab;
  TabMetadata metadata;
  bool by_others = false;        // by another program: not shown during a turn
  bool history_changed = false;  // `entries` replace the whole transcript
  std::vector<Entry> entries = {};
  Seq oldest = {};
  std::int64_t last_input = 0;
  store::CountedRequests counted_requests = {};
};
// Models from sessions or from the provider's server; may arrive in several events.
struct ModelsListed {
  TabId tab;
  std::vector<std::string> models;
};
// Paths with the prefix; folders end in a slash.
struct FilesListed {
  TabId tab;
  std::string prefix;
  std::vector<std::string> paths;
};
// The session's questions, oldest first, for a command that takes one.
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
// An assistant message is complete.
struct AnswerStored {
  TabId tab;
  std::string model;
  std::optional<Usage> usage;
  Time at;
  bool calls_tools = false;
  bool incomplete = false;
};
// The model has changed the todo list.
struct TodosChanged {
  TabId tab;
  std::vector<Todo> todos;
};
struct TurnEnded {
  TabId tab;
  TabMetadata metadata;
  std::string failure = {};  // "" if nothing failed
  bool stopped = false;      // on request
  bool arrived = true;       // stopped: a part of the answer
  std::string advice = {};   // after either: how to continue
  bool saved = true;
};
// A tool requests consent.
struct ConsentRequest {
  TabId tab;
  int number = 0;
  std::string question;
};

// The input after editing in another program; unchanged if that failed.
struct Edited {
  TabId tab;
  std::optional<std::string> text;
  std::string failure = {};
};
// A message that could not be sent, and its attached files.
struct NotSent {
  TabId tab;
  std::string text;
  std::vector<std::string> files;
};
// A file that cannot be attached.
struct FileRefused {
  TabId tab;
  std::string file;
  std::string reason;
};

// A message to the user: in a tab, or in the status line if it belongs to no tab.
struct Announcement {
  enum class Kind : std::uint8_t { notice, warning, status } kind = Kind::notice;
  std::optional<TabId> tab;
  std::string text;
};
// All tabs are closed: the program may exit.
struct AllClosed {
  bool saved = true;
};

// Responses to the picker's requests.
struct PageLoaded {
  int generation = 0;
  std::vector<PickerRow> rows;
  std::string next;
  std::string failure = {};
};
struct QuestionsLoaded {
  int generation = 0;
  std::vector<std::string> questions = {};  // in the order of the request
};
// The hits of a search so far, or only its progress.
struct TextsFound {
  int generation = 0;
  std::optional<std::vector<PickerRow>> rows;
  std::string note = {};
};
struct PreviewLoaded {
  std::string id;
  Preview preview;
};
// The result of changing a stored session from the picker.
struct StoredChanged {
  enum class Change : std::uint8_t { trashed, restored, renamed, emptied } change = Change::trashed;
  std::string id;
  std::string title = {};
  std::string failure = {};
};
// How many sessions "/resume clear" would clear.
struct ClearRequest {
  std::size_t count = 0;
};

using Event =
    std::variant<KeyPressed, Typed, Pasted, Resized, Ticked, Signalled, NewestFound, TabOpened,
                 TabIsOpen, TabFailed, OlderLoaded, TabChanged, ModelsListed, QuestionsListed,
                 FilesListed, TabClosed, TextReceived, ThinkingReceived, ToolCalled, ToolAnswered,
                 AnswerStored, TurnEnded, TodosChanged, ConsentRequest, Edited, NotSent,
                 FileRefused, Announcement, AllClosed, PageLoaded, QuestionsLoaded, TextsFound,
                 PreviewLoaded, StoredChanged, ClearRequest>;

}  // namespace reprise::cli::app

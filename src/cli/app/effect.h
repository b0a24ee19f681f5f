#pragma once

// The side effects that update() requests, as values. The worker performs them and responds with
// events.

#include "cli/app/event.h"          // IWYU pragma: export
#include "cli/app/picker/picker.h"  // IWYU pragma: export
#include "cli/process/console.h"    // IWYU pragma: export
#include "cli/repl/slash.h"         // IWYU pragma: export

namespace reprise::cli::app {

struct FindNewest {};
struct OpenNew {
  TabId tab;
  std::string folder = {};  // "" for the start folder
  std::string title = {};
};
struct OpenSession {
  TabId tab;
  std::string sel;
  bool of_list = false;  // a number is one of the resumable sessions
};
// Finishes saving and closes the session.
struct CloseTab {
  TabId tab;
};
// Attachments of a question: files named by the user, and words after '@', which are attached if
// they are files.
struct Attached {
  std::vector<std::string> files = {};
  std::vector<std::string> mentioned = {};
};
struct Ask {
  TabId tab;
  std::string text;
  Attached attached = {};
};
// Replaces the last question, which is rewound with everything after it.
struct AskInstead {
  TabId tab;
  std::string text;
  Attached attached = {};
};
struct AskAgain {
  TabId tab;
};
struct ContinueTurn {
  TabId tab;
};
struct StopTurn {
  TabId tab;
};
struct RunSlash {
  TabId tab;
  Slash slash;
};
// Models for /model, in addition to those of the settings.
struct ListModels {
  TabId tab;
};
// All questions of the session, as choices for a command.
struct ListQuestions {
  TabId tab;
  SlashVerb verb = SlashVerb::fork;
};
// To the clipboard, through the terminal.
struct CopyText {
  std::string text;
};
// Files whose path has the prefix, for Tab.
struct ListFiles {
  TabId tab;
  std::string prefix;
};
// Checks that a file can be attached; it is read again when the message is sent.
struct CheckFile {
  TabId tab;
  std::string file;
};
// "/session save".
struct SaveNow {
  TabId tab;
};
// How many messages are loaded at once, and how many while searching.
inline constexpr std::int64_t kMessagesAtOnce = 200;
inline constexpr std::int64_t kMessagesToSearch = 2000;
struct LoadOlder {
  TabId tab;
  Seq before;
  std::int64_t count = kMessagesAtOnce;
};
// Shows what other programs have changed in the session.
struct CheckChanges {
  TabId tab;
  bool missed = false;  // changes found earlier could not be shown
};
struct AnswerConsent {
  TabId tab;
  int number = 0;
  Choice choice = Choice::no;
};
// Closes all tabs.
struct CloseAll {
  bool interrupted = false;  // the sessions stay open in the store, to be resumed
};
// For the picker.
struct LoadPage {
  int generation = 0;
  bool all_folders = false;
  std::string after = {};
  std::size_t limit = kFirstPage;
  std::string folder = {};  // unless `all_folders`: list this one; "" is the start folder
  bool trash = false;
  bool other_tools = false;  // list other tools' sessions instead, all at once
};
// The first questions of these sessions, for the filter.
struct LoadQuestions {
  int generation = 0;
  std::vector<std::string> ids = {};
};
struct LoadPreview {
  std::string id;
};
// Messages with these words, newest first; the last word may be a prefix. A newer search replaces a
// pending one.
struct SearchTexts {
  int generation = 0;
  std::string words = {};
  bool all_folders = false;  // as in LoadPage
  std::string folder = {};
};
struct TrashStored {
  std::string id;
};
struct RestoreStored {
  std::string id;
};
struct RenameStored {
  std::string id;
  std::string title;
};
// Purges the sessions in the trash that the picker lists.
struct EmptyTrash {
  bool all_folders = false;
  std::string folder = {};
};
// "/resume list", "/resume delete", "/resume clear". Their output is for this tab.
struct ListResumable {
  TabId tab;
};
struct DeleteStored {
  TabId tab;
  std::string sel;
};
struct CountClosed {
  TabId tab;
};
struct ClearClosed {
  TabId tab;
};
// Cancels slow operations while closing.
struct CancelPending {};
// Handled by the main thread, which owns the terminal.
struct OpenEditor {
  TabId tab;
  std::string text;
};
struct Suspend {};
struct Bell {};
struct Redraw {};

using Effect =
    std::variant<OpenEditor, FindNewest, OpenNew, OpenSession, CloseTab, Ask, AskInstead, AskAgain,
                 ContinueTurn, Bell, StopTurn, RunSlash, ListQuestions, ListFiles, CheckFile,
                 CopyText, ListModels, SaveNow, LoadOlder, CheckChanges, AnswerConsent, CloseAll,
                 CancelPending, Suspend, Redraw, LoadPage, LoadQuestions, LoadPreview, SearchTexts,
                 TrashStored, RestoreStored, RenameStored, EmptyTrash, ListResumable, DeleteStored,
                 CountClosed, ClearClosed>;
using Effects = std::vector<Effect>;

}  // namespace reprise::cli::app

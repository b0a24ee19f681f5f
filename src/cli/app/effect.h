#pragma once

// What update() wants done in the world, as values. The worker does it and answers with events.

#include "cli/app/event.h"          // IWYU pragma: export
#include "cli/app/picker/picker.h"  // IWYU pragma: export
#include "cli/program/voice.h"
#include "cli/repl/slash.h"  // IWYU pragma: export

namespace reprise::cli::app {

struct FindNewest {};
struct OpenNew {
  TabId tab;
  std::string folder = {};  // "" for where the program was started
  std::string title = {};
};
struct OpenSession {
  TabId tab;
  std::string sel;
  bool of_list = false;  // a number is one of the resumable sessions
};
// Saves what is left to save and closes the session.
struct CloseTab {
  TabId tab;
};
// What goes with a question: files that a person named, and words after '@', which are files if
// there are such.
struct Attached {
  std::vector<std::string> files = {};
  std::vector<std::string> mentioned = {};
};
struct Ask {
  TabId tab;
  std::string text;
  Attached attached = {};
};
// Instead of the last question, which is taken back with what followed it.
struct AskInstead {
  TabId tab;
  std::string text;
  Attached attached = {};
};
struct AskAgain {
  TabId tab;
};
struct GoOn {
  TabId tab;
};
struct StopTurn {
  TabId tab;
};
struct RunSlash {
  TabId tab;
  Slash slash;
};
// Those that /model may name, beside the ones of the settings.
struct ListModels {
  TabId tab;
};
// All questions of the session, to choose one for a command.
struct ListQuestions {
  TabId tab;
  SlashVerb verb = SlashVerb::fork;
};
// To the clipboard, by way of the terminal.
struct CopyText {
  std::string text;
};
// Those whose path begins so, for Tab.
struct ListFiles {
  TabId tab;
  std::string prefix;
};
// "/session save".
struct SaveNow {
  TabId tab;
};
// How many messages are read at once, and how many when something is looked for in them.
inline constexpr std::int64_t kMessagesAtOnce = 200;
inline constexpr std::int64_t kMessagesToSearch = 2000;
struct LoadOlder {
  TabId tab;
  Seq before;
  std::int64_t count = kMessagesAtOnce;
};
struct AnswerConsent {
  TabId tab;
  int number = 0;
  Choice choice = Choice::no;
};
// Closes all tabs.
struct CloseAll {
  bool interrupted = false;  // they stay open in the store, to be resumed
};
// For the picker.
struct LoadPage {
  int generation = 0;
  bool all = false;
  std::string after = {};
  std::size_t limit = kFirstPage;
  std::string folder = {};  // unless all: of this one; "" is where the program was started
  bool trash = false;
  bool others = false;  // other tools' sessions instead, all at once
};
// The first questions of these, for its filter.
struct LoadQuestions {
  int generation = 0;
  std::vector<std::string> ids = {};
};
struct LoadPreview {
  std::string id;
};
// Messages with these words, the newest first; the last word may go on. Of several only the last is
// still wanted.
struct SearchTexts {
  int generation = 0;
  std::string words = {};
  bool all = false;  // as for LoadPage
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
// For good, what the picker lists of it.
struct EmptyTrash {
  bool all = false;
  std::string folder = {};
};
// "/resume list", "/resume delete", "/resume clear". What they say is for this tab.
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
// Whatever still takes time while all is closed is given up.
struct Hurry {};
// Of the terminal.
struct EditElsewhere {
  TabId tab;
  std::string text;
};
struct Suspend {};
struct Ring {};
struct Redraw {};

using Effect =
    std::variant<EditElsewhere, FindNewest, OpenNew, OpenSession, CloseTab, Ask, AskInstead,
                 AskAgain, GoOn, Ring, StopTurn, RunSlash, ListQuestions, ListFiles, CopyText,
                 ListModels, SaveNow, LoadOlder, AnswerConsent, CloseAll, Hurry, Suspend, Redraw,
                 LoadPage, LoadQuestions, LoadPreview, SearchTexts, TrashStored, RestoreStored,
                 RenameStored, EmptyTrash, ListResumable, DeleteStored, CountClosed, ClearClosed>;
using Effects = std::vector<Effect>;

}  // namespace reprise::cli::app

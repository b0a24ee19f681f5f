#pragma once

// The list of stored sessions to choose from: what it holds, and what typing does to it. Pure. The
// rows come page by page: the first screen needs one page; all are loaded only when a filter or
// another order needs them.

#include <map>
#include <unordered_map>
#include <unordered_set>

#include "cli/app/editor.h"
#include "reprise/session.h"  // IWYU pragma: export

namespace reprise::cli::app {

inline constexpr std::size_t kFirstPage = 60;
inline constexpr std::size_t kNextPage = 1000;
// Of all that match a filter, the best ones are listed; more when the selection reaches the last.
inline constexpr std::size_t kMatchesAtFirst = 500;
inline constexpr std::size_t kPreviewsMax = 100;
inline constexpr std::size_t kTextsMax = 100;  // messages that are listed by their words

// Kept small: there may be a hundred thousand.
struct PickerRow {
  std::string id;
  std::string short_id = {};
  std::string title;  // its first question when it has none
  std::string folder;
  std::string mode;
  std::string words;  // what the filter looks at, in small letters; the title first
  std::int64_t messages = 0;
  Time updated = {};
  Time created = {};
  std::string mark = {};  // before the title
  bool pinned = false;
  // Of a message that was found by its words:
  Seq seq = {};
  std::string snippet = {};
  std::string match = {};  // the first of the words, as it stands there
};
PickerRow picker_row(const SessionInfo& info, std::string_view first_question);
// Names its preview: that of a session, or of a message.
std::string preview_key(const PickerRow& row);
void rename(PickerRow& row, std::string title);
// Whether `a` is listed before `b`, of equals neither.
bool is_newer(const PickerRow& a, const PickerRow& b, Time PickerRow::* time = &PickerRow::updated);

struct Preview {
  std::string question;
  std::string answer;
  bool cut = false;
  bool answering = false;  // now, in a tab or in another process
};

struct Picker {
  enum class Order : std::uint8_t { activity, creation };

  bool alone = false;    // the program was started for it, and ends with it
  bool trash = false;    // the sessions in the trash instead of the others
  bool texts = false;    // messages that have the words of the filter, instead of sessions
  bool empties = false;  // it was asked whether the trash is to be emptied
  bool all = false;      // of all folders
  bool others = false;   // what other tools have, which is imported when it is chosen
  std::string folder;    // "this project", unless all; "" is where the program was started
  Order order = Order::activity;
  Editor filter = {};
  std::vector<PickerRow> rows = {};                // in the order of activity
  std::unordered_set<std::string> short_ids = {};  // of rows that have come, of 8 digits
  std::string next = {};                           // the page after them
  bool complete = false;
  bool loading = false;
  // The filter looks at first questions, too. They are asked for when all rows are there: of rows
  // that are `asked_for` now, of those before `asked` already.
  std::vector<std::string> pending_questions = {};
  std::size_t requested = 0;
  int generation = 0;  // of the list: pages of an earlier one are not wanted any more

  std::vector<std::size_t> shown = {};  // of `rows`, in the order they are listed
  std::size_t matches = 0;              // more than are listed, perhaps
  std::size_t listed_max = kMatchesAtFirst;
  std::size_t selected = 0;  // of `shown`
  std::map<std::string, Preview> previews = {};
  std::string requested_preview = {};

  std::optional<Editor> new_title = {};  // while one is typed
  std::vector<PickerRow> trashed = {};   // since it was opened, the last one at the end
  std::string note = {};                 // a passing word

  const PickerRow* row() const;
};

// Decides anew what is listed. The selection stays on its row when that is still there, unless
// the filter has changed.
void refilter(Picker& picker, bool from_top);

// Adds a page.
void add_rows(Picker& picker, std::vector<PickerRow> rows, std::string next);

// The next rows whose first questions the filter lacks; they are noted in `asked_for`.
const std::vector<std::string>& ask_for_questions(Picker& picker);
// Of the rows in `asked_for`.
void add_questions(Picker& picker, const std::vector<std::string>& questions);

// Whether rows that are not loaded could be listed now.
bool needs_more(const Picker& picker, std::size_t rows_on_screen);

// From this project to all of them, to other tools, and back.
void choose_next_scope(Picker& picker);

void move_selection(Picker& picker, std::ptrdiff_t by);

}  // namespace reprise::cli::app

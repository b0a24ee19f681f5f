#pragma once

// The picker: a list of stored sessions to choose from, and its filter. Pure. Rows are loaded page
// by page: one page for the first screen, and all of them only if a filter or another order needs
// them.

#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "cli/app/editor.h"
#include "reprise/session.h"  // IWYU pragma: export

namespace reprise::cli::app {

inline constexpr std::size_t kFirstPage = 60;
inline constexpr std::size_t kNextPage = 1000;
// How many of the best matches are listed; doubled when the selection reaches the last one.
inline constexpr std::size_t kMatchesAtFirst = 500;
inline constexpr std::size_t kPreviewsMax = 100;
inline constexpr std::size_t kTextsMax = 100;  // maximum number of hits

// Compact: there may be a hundred thousand.
struct PickerRow {
  std::string id;
  std::string short_id = {};
  std::string title;  // the first question if it has no title
  std::string folder;
  std::string mode;
  std::string words;  // the text to filter by, folded; begins with the title
  std::int64_t messages = 0;
  Time updated = {};
  Time activity = {};  // what the list is ordered by
  Time created = {};
  std::string mark = {};  // shown before the title
  bool pinned = false;
  // For hits of a message search:
  Seq seq = {};
  std::string snippet = {};
  std::string match = {};  // the first match, as in the text
};
PickerRow picker_row(const SessionInfo& info, std::string_view first_question);
// The key of its preview: a session or a message.
std::string preview_key(const PickerRow& row);
void rename(PickerRow& row, std::string title);
// Whether `a` is listed before `b`; false if they are equal.
bool is_newer(const PickerRow& a, const PickerRow& b,
              Time PickerRow::* time = &PickerRow::activity);

struct Preview {
  std::string question;
  std::string answer;
  bool incomplete = false;
  bool answering = false;  // now, in a tab or another process
};

struct Picker {
  enum class Order : std::uint8_t { activity, creation };

  bool alone = false;             // the program only shows the picker, as in `reprise resume`
  bool trash = false;             // show the trash
  bool texts = false;             // show messages that match the filter, instead of sessions
  bool confirming_empty = false;  // the question whether to empty the trash is open
  bool all_folders = false;       // of all folders
  bool other_tools = false;       // show other tools' sessions, which are imported when chosen
  std::string folder;             // "this project", unless `all_folders`; "" is the start folder
  Order order = Order::activity;
  Editor filter = {};
  std::vector<PickerRow> rows = {};                // in the order of activity
  std::unordered_set<std::string> short_ids = {};  // 8-digit ids of all loaded rows
  std::string next = {};                           // the cursor of the next page
  bool complete = false;
  bool loading = false;
  // The filter also matches first questions. They are requested once all rows are loaded: now for
  // the rows in `pending_questions`; before, for the first `requested` rows.
  std::vector<std::string> pending_questions = {};
  std::size_t requested = 0;
  int generation = 0;  // of the list: pages of an earlier one are ignored

  std::vector<std::size_t> visible = {};  // indexes of `rows`, in list order
  std::size_t matches = 0;                // may be more than are listed
  std::size_t listed_max = kMatchesAtFirst;
  std::size_t selected = 0;  // index of `shown`
  std::map<std::string, Preview> previews = {};
  std::string requested_preview = {};

  std::optional<Editor> new_title = {};  // while it is edited
  std::vector<PickerRow> trashed = {};   // since the picker was opened, newest last
  std::string note = {};                 // a transient message

  const PickerRow* row() const;
};

// Recomputes the list. The selection stays on its row if that is still listed, unless `from_top`.
void refilter(Picker& picker, bool from_top);

// Adds a page.
void add_rows(Picker& picker, std::vector<PickerRow> rows, std::string next);

// The next rows whose first questions the filter lacks; stored in `pending_questions`.
const std::vector<std::string>& ask_for_questions(Picker& picker);
// For the rows in `pending_questions`.
void add_questions(Picker& picker, const std::vector<std::string>& questions);

// Whether rows that are not loaded might be listed.
bool needs_page(const Picker& picker, std::size_t rows_on_screen);

// Cycles through this project, all projects and other tools.
void choose_next_scope(Picker& picker);

void move_selection(Picker& picker, std::ptrdiff_t by);

// How well a text matches what the user has typed. Each word of the pattern must occur in the text:
// ideally as a substring or at the start of a word, otherwise with other letters in between. Higher
// is better; nullopt if a word does not occur. Both must be in lower case (ASCII).
std::optional<int> fuzzy_score(std::string_view text, std::string_view pattern);

}  // namespace reprise::cli::app

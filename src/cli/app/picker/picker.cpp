#include "cli/app/picker/picker.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/fold.h"
#include "base/terminal_text.h"
#include "base/text.h"

namespace reprise::cli::app {
namespace {

constexpr int kWhole = 100;     // an exact substring
constexpr int kWordStart = 30;  // at the start of a word of the text
constexpr int kNear = 8;        // adjacent to the previous letter
constexpr int kGapCost = 1;

bool starts_word(std::string_view text, std::size_t at) {
  return at == 0 || !is_ascii_alnum(text[at - 1]);
}

std::optional<int> substring_score(std::string_view text, std::string_view word) {
  std::optional<int> best;
  for (std::size_t at = text.find(word); at != std::string_view::npos;
       at = text.find(word, at + 1)) {
    if (starts_word(text, at)) {
      return kWhole + kWordStart;
    }
    best = kWhole;
  }
  return best;
}

// Matches the letters in order, each at its first occurrence.
std::optional<int> spread_score(std::string_view text, std::string_view word) {
  int score = 0;
  std::size_t next = 0;
  for (const char letter : word) {
    const std::size_t at = text.find(letter, next);
    if (at == std::string_view::npos) {
      return std::nullopt;
    }
    if (at == next && next > 0) {
      score += kNear;
    } else if (starts_word(text, at)) {
      score += kNear / 2;
    } else {
      score -= static_cast<int>(std::min<std::size_t>(at - next, 10)) * kGapCost;
    }
    next = at + 1;
  }
  return score;
}

constexpr std::size_t kTitleCharacters = 200;
constexpr std::size_t kQuestionCharacters = 160;
constexpr std::size_t kQuestionsAtOnce = 2000;

struct Match {
  int score;
  std::size_t row;
};

std::vector<Match> matches_of(const Picker& picker) {
  const std::string pattern = folded(picker.filter.text());
  std::vector<Match> out;
  for (std::size_t i = 0; i < picker.rows.size(); ++i) {
    if (const auto score = fuzzy_score(picker.rows[i].words, pattern)) {
      out.push_back({*score, i});
    }
  }
  return out;
}

// Best score first; the newest first among equals.
void sort_best(const Picker& picker, std::vector<Match>& matches) {
  const auto better = [&picker](const Match& a, const Match& b) {
    if (a.score != b.score) {
      return a.score > b.score;
    }
    if (picker.order == Picker::Order::creation) {
      const PickerRow& first = picker.rows[a.row];
      const PickerRow& second = picker.rows[b.row];
      if (is_newer(first, second, &PickerRow::created) !=
          is_newer(second, first, &PickerRow::created)) {
        return is_newer(first, second, &PickerRow::created);
      }
    }
    return a.row < b.row;
  };
  const auto end = matches.begin() +
                   std::min(std::ssize(matches), static_cast<std::ptrdiff_t>(picker.listed_max));
  std::partial_sort(matches.begin(), end, matches.end(), better);
  matches.erase(end, matches.end());
}

}  // namespace

std::optional<int> fuzzy_score(std::string_view text, std::string_view pattern) {
  int score = 0;
  while (true) {
    pattern = trimmed(pattern);
    if (pattern.empty()) {
      return score;
    }
    const std::string_view word = pattern.substr(0, std::min(pattern.find(' '), pattern.size()));
    pattern.remove_prefix(word.size());
    auto found = substring_score(text, word);
    if (!found) {
      found = spread_score(text, word);
    }
    if (!found) {
      return std::nullopt;
    }
    score += *found;
  }
}

PickerRow picker_row(const SessionInfo& info, std::string_view first_question) {
  const std::string_view name = info.title.empty() ? first_question : info.title;
  PickerRow row{
      .id = info.id.str(),
      .short_id = short_id(info.id),
      .title = std::string(grapheme_prefix(terminal_line(name.substr(0, 4096)), kTitleCharacters)),
      .folder = info.working_dir,
      .mode = info.mode,
      .words = {},
      .messages = info.head.value,
      .updated = info.updated_at,
      .activity = activity_of(info),
      .created = info.created_at,
      .mark = cat(info.pinned ? "* " : "", is_interrupted(info) ? "! " : ""),
      .pinned = info.pinned};
  row.words = folded(cat(row.title, " ", row.folder, " ", row.mode, " ", row.short_id));
  return row;
}

bool is_newer(const PickerRow& a, const PickerRow& b, Time PickerRow::* time) {
  return a.pinned != b.pinned ? a.pinned : a.*time > b.*time;
}

std::string preview_key(const PickerRow& row) {
  return row.snippet.empty() ? row.id : cat(row.id, "#", row.seq.value);
}

void rename(PickerRow& row, std::string title) {
  row.words.replace(0, folded(row.title).size(), folded(title));
  row.title = std::move(title);
}

const PickerRow* Picker::row() const {
  return selected < visible.size() ? &rows[visible[selected]] : nullptr;
}

void refilter(Picker& picker, bool from_top) {
  if (from_top) {
    picker.listed_max = kMatchesAtFirst;
  }
  const std::string before = picker.row() == nullptr || from_top ? "" : picker.row()->id;
  const bool plain = picker.texts || trimmed(picker.filter.text()).empty();
  if (plain && (picker.texts || picker.order == Picker::Order::activity)) {
    picker.visible.resize(picker.rows.size());
    std::iota(picker.visible.begin(), picker.visible.end(), std::size_t{0});
    picker.matches = picker.visible.size();
  } else {
    std::vector<Match> matches = matches_of(picker);
    picker.matches = matches.size();
    sort_best(picker, matches);
    picker.visible.clear();
    std::ranges::transform(matches, std::back_inserter(picker.visible), &Match::row);
  }
  const auto previous = std::ranges::find_if(
      picker.visible, [&](std::size_t row) { return picker.rows[row].id == before; });
  picker.selected = 0;
  if (!before.empty() && previous != picker.visible.end()) {
    picker.selected = static_cast<std::size_t>(previous - picker.visible.begin());
  }
}

namespace {

// Lengthens equal short ids. They are rare, so only then all rows are scanned.
void lengthen_short_ids(Picker& picker, const std::unordered_set<std::string>& equal) {
  std::unordered_map<std::string, std::vector<PickerRow*>> groups;
  for (PickerRow& row : picker.rows) {
    if (std::string brief = row.short_id.substr(0, kShortIdDigits); equal.contains(brief)) {
      groups[std::move(brief)].push_back(&row);
    }
  }
  for (const auto& [brief, rows] : groups) {
    std::vector<SessionId> ids;
    for (const PickerRow* const row : rows) {
      if (auto id = SessionId::parse(row->id); id) {
        ids.push_back(*std::move(id));
      }
    }
    if (ids.size() != rows.size()) {
      continue;
    }
    const std::vector<std::string> longer = short_ids(ids);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (rows[i]->short_id != longer[i]) {
        rows[i]->short_id = longer[i];
        rows[i]->words += cat(" ", longer[i]);
      }
    }
  }
}

}  // namespace

void add_rows(Picker& picker, std::vector<PickerRow> rows, std::string next) {
  picker.loading = false;
  picker.complete = next.empty();
  picker.next = std::move(next);
  std::unordered_set<std::string> equal;
  for (PickerRow& row : rows) {
    if (!row.short_id.empty() && !picker.short_ids.insert(row.short_id).second) {
      equal.insert(row.short_id);
    }
    picker.rows.push_back(std::move(row));
  }
  if (!equal.empty()) {
    lengthen_short_ids(picker, equal);
  }
  // An unmoved selection stays on the first match.
  refilter(picker, picker.selected == 0);
}

const std::vector<std::string>& ask_for_questions(Picker& picker) {
  picker.pending_questions.clear();
  const bool filters = !picker.texts && !trimmed(picker.filter.text()).empty();
  while (filters && picker.complete && picker.requested < picker.rows.size() &&
         picker.pending_questions.size() < kQuestionsAtOnce) {
    picker.pending_questions.push_back(picker.rows[picker.requested++].id);
  }
  return picker.pending_questions;
}

// Rows may have been added or removed since the request, but their order is the same.
void add_questions(Picker& picker, const std::vector<std::string>& questions) {
  auto from = picker.rows.begin();
  for (std::size_t i = 0; i < std::min(questions.size(), picker.pending_questions.size()); ++i) {
    const auto row = std::find_if(from, picker.rows.end(), [&](const PickerRow& other) {
      return other.id == picker.pending_questions[i];
    });
    if (row != picker.rows.end()) {
      const std::string line = terminal_line(std::string_view(questions[i]).substr(0, 4096));
      row->words += cat(" ", folded(grapheme_prefix(line, kQuestionCharacters)));
      from = row;
    }
  }
  picker.pending_questions.clear();
  refilter(picker, picker.selected == 0);
}

bool needs_page(const Picker& picker, std::size_t rows_on_screen) {
  if (picker.complete || picker.loading || picker.texts) {
    return false;
  }
  const bool needs_all =
      !trimmed(picker.filter.text()).empty() || picker.order == Picker::Order::creation;
  return needs_all || picker.selected + 2 * rows_on_screen >= picker.visible.size();
}

void choose_next_scope(Picker& picker) {
  const bool has_others = !picker.trash && !picker.texts;
  const bool was_unlimited = picker.all_folders && (picker.other_tools || !has_others);
  picker.other_tools = picker.all_folders && !picker.other_tools && has_others;
  picker.all_folders = !was_unlimited;
}

void move_selection(Picker& picker, std::ptrdiff_t by) {
  if (by > 0 && picker.selected + 1 >= picker.visible.size() &&
      picker.visible.size() < picker.matches) {
    picker.listed_max *= 2;
    refilter(picker, false);
  }
  const std::ptrdiff_t last = std::ssize(picker.visible) - 1;
  const std::ptrdiff_t target = static_cast<std::ptrdiff_t>(picker.selected) + by;
  picker.selected =
      last < 0 ? 0 : static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(target, 0, last));
}

}  // namespace reprise::cli::app

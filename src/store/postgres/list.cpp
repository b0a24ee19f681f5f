#include <algorithm>
#include <iterator>
#include <utility>

#include "base/encode.h"
#include "base/fold.h"
#include "base/text.h"
#include "reprise/source.h"
#include "store/postgres/database.h"
#include "store/postgres/pool.h"
#include "store/postgres/postgres_store.h"
#include "store/postgres/rows.h"
#include "store/postgres/statements.h"
#include "store/postgres/values.h"
#include "store/query.h"

namespace reprise::postgres {
namespace {

// A position in the list with an unvalidated id.
struct ListPosition {
  std::int64_t group;
  std::int64_t updated_us;
  std::string id;
};

constexpr std::string_view kAfterIds = "\x7f";

// Of a UUID's last group, which is what short ids begin with.
constexpr std::size_t kShortIdDigits = 12;

struct ListQuery {
  ListShape shape;
  std::string text;
  Values values;
};

// The numbers of sessions that one statement scans. With a million sessions, scanning 10,000 takes
// 2 to 3 ms in an index that contains all compared columns. Fetching 500 that the title index finds
// takes 3 to 7 ms, because each has its pages in two tables. So the title index is used once, when
// the matches found so far suggest that more than kScanFar sessions would have to be scanned to
// fill the page.
constexpr std::size_t kScanFirst = 1000;
constexpr std::size_t kScanNext = 10'000;
constexpr std::size_t kScanFar = 40'000;

std::vector<std::int64_t> states_of(const SessionQuery& query) {
  std::vector<std::int64_t> states;
  std::ranges::transform(query.states, std::back_inserter(states), state_number);
  std::ranges::sort(states);
  states.erase(std::ranges::unique(states).begin(), states.end());
  return states;
}

// How the database finds a page.
struct AccessPath {
  bool index = false;  // by the title index
  bool reads_authors = false;
  std::size_t examined_max = kScanFirst;
};

// The index of titles contains all sequences of three bytes.
constexpr std::size_t kGramBytes = 3;

// Equal to REPRISE_TITLE_GRAMS. The first ones of a long text suffice, because the matches are
// compared with the whole text.
std::string grams_of(std::string_view tenant, std::string_view text) {
  constexpr std::size_t kGramsMax = 32;
  std::string grams;
  for (std::size_t i = 0; i + kGramBytes <= text.size() && i < kGramsMax; ++i) {
    grams += cat(grams.empty() ? "" : " ", tenant, ":", hex_encode(text.substr(i, kGramBytes)));
  }
  return grams;
}

ListShape shape_of(const Database& database, const SessionQuery& query,
                   const std::optional<ListPosition>& after, AccessPath path) {
  return {.states = states_of(query),
          .groups = store::groups_of(query),
          .rows = query.limit + 1,
          .after = after ? std::optional(after->group) : std::nullopt,
          .folder = query.working_dir.has_value(),
          .mode = query.mode.has_value(),
          .prefix = !query.id_prefix.empty(),
          .short_id = !query.short_id_prefix.empty(),
          .title = !query.title_contains.empty(),
          .answering = query.answering_only,
          .author = query.author.has_value(),
          .reads_authors = path.reads_authors,
          .examined_max = path.examined_max,
          .from_index = path.index,
          .distributed = database.is_distributed()};
}

Result<ListQuery> make_query(const Database& database, const SessionQuery& query,
                             const std::optional<ListPosition>& after, AccessPath path) {
  const ListShape shape = shape_of(database, query, after, path);
  ListQuery list{
      .shape = shape, .text = list_statement(shape), .values = postgres::values(database.tenant())};
  if (after) {
    list.values.add(after->updated_us);
    list.values.add(after->id);
  }
  if (query.working_dir) {
    REPRISE_ASSIGN(const std::string folder, index_key(*query.working_dir));
    list.values.add(folder);
  }
  if (query.mode) {
    REPRISE_ASSIGN(const std::string key, index_key(*query.mode));
    list.values.add(shape.compares_rows() ? *query.mode : key);
  }
  if (!query.id_prefix.empty()) {
    list.values.add(query.id_prefix);
    list.values.add(store::after_prefix(query.id_prefix));
  }
  if (!query.short_id_prefix.empty()) {
    const std::string begin = query.short_id_prefix.substr(0, kShortIdDigits);
    list.values.add(begin);
    list.values.add(store::after_prefix(begin));
    list.values.add(short_id_pattern(query.short_id_prefix, '_').value_or(""));
  }
  const std::string title = folded(query.title_contains);
  if (!title.empty()) {
    list.values.add(title);
  }
  if (query.author) {
    list.values.add(query.author->str());
  }
  if (!title.empty() && path.index) {
    list.values.add(grams_of(database.tenant(), title));
  }
  return list;
}

// Whether the index of titles can be asked.
bool has_index(const SessionQuery& query) {
  return folded(query.title_contains).size() >= kGramBytes && !query.answering_only &&
         query.id_prefix.empty() && query.short_id_prefix.empty() && !query.author;
}

// Whether to look for the author in each session, in list order.
Result<bool> is_frequent_author(Database& database, const SessionQuery& query) {
  if (!query.author || !query.id_prefix.empty() || !query.short_id_prefix.empty()) {
    return false;
  }
  REPRISE_ASSIGN(
      const Rows many,
      database.read_one({kFindManyOfAuthor, values(database.tenant(), query.author->str())},
                        From::list));
  return !many.empty();
}

// What a statement found of a page.
struct PartialPage {
  std::optional<ListPosition> end = std::nullopt;  // where to continue; nullopt on the last page
  bool is_complete = true;  // false when the index has more than a few, of which none was returned
};

// Adds the rows of parts before `parts_end` to the page. Returns the position of the last one if
// there may be more after it.
PartialPage add_rows(const Database& database, const ListQuery& list, const Rows& rows,
                     std::int64_t parts_end, SessionPage& page) {
  const std::size_t limit = list.shape.rows - 1;
  PartialPage found;
  std::size_t count = 0;
  for (int row = 0; row < rows.count(); ++row) {
    if (rows.is_null(row, "session_id") || rows.integer(row, "part") >= parts_end) {
      break;
    }
    ++count;
    found.end = ListPosition{rows.integer(row, "part"), rows.integer(row, "updated_us"),
                             rows.text(row, "session_id")};
    if (list.shape.reads_authors && rows.integer(row, "is_match") == 0) {
      continue;  // the last row that was scanned
    }
    InfoRow read = read_info({rows, row}, database.name());
    if (read.info && page.sessions.size() == limit) {
      page.next = store::format_cursor(page.sessions.back());
      return PartialPage{};
    }
    if (read.damage) {
      page.damage.push_back(*std::move(read.damage));
    }
    if (read.info) {
      page.sessions.push_back(*std::move(read.info));
    }
  }
  const bool has_scanned_all =
      !list.shape.reads_authors || rows.empty() ||
      std::cmp_less(rows.integer(rows.count() - 1, "place"), list.shape.heads());
  return count <= limit && has_scanned_all ? PartialPage{} : found;
}

Result<PartialPage> collect(Database& database, const SessionQuery& query,
                            const std::optional<ListPosition>& after, AccessPath path,
                            SessionPage& page) {
  REPRISE_ASSIGN(const ListQuery list, make_query(database, query, after, path));
  REPRISE_ASSIGN(const Rows rows, database.read_one({list.text, list.values}, From::list));
  if (path.index && rows.integer(0, "found") > kFewSessions) {
    return PartialPage{.is_complete = false};
  }
  const bool is_cut = list.shape.scans_copies() && !rows.is_null(0, "cut_part");
  if (!is_cut) {
    return add_rows(database, list, rows, std::ssize(list.shape.groups), page);
  }
  // The parts before the cut are complete.
  const std::int64_t part = rows.integer(0, "cut_part");
  PartialPage found = add_rows(database, list, rows, part + 1, page);
  if (!found.end && page.next.empty()) {
    found.end =
        ListPosition{part, (rows.integer(0, "cut_slot") << kSlotBits) - 1, std::string(kAfterIds)};
  }
  return found;
}

// Scans in list order until the page is full, or until the title index has all remaining matches.
Result<SessionPage> scan_list(Database& database, const SessionQuery& query,
                              const std::optional<ListPosition>& begin) {
  SessionPage page;
  AccessPath path;
  REPRISE_ASSIGN(path.reads_authors, is_frequent_author(database, query));
  bool can_use_index = has_index(query);
  std::optional<ListPosition> after = begin;
  std::size_t examined = 0;
  while (true) {
    REPRISE_ASSIGN(const PartialPage found, collect(database, query, after, path, page));
    if (!found.end) {
      return page;
    }
    after = found.end;
    examined += path.examined_max;
    path.examined_max = kScanNext;
    const std::size_t count = page.sessions.size();
    if (can_use_index && (query.limit - count) * examined > count * kScanFar) {
      can_use_index = false;
      SessionPage all;
      REPRISE_ASSIGN(const PartialPage few, collect(database, query, begin, {.index = true}, all));
      if (few.is_complete && !few.end) {
        return all;
      }
    }
  }
}

}  // namespace

Result<SessionPage> PostgresStore::list(const SessionQuery& query) {
  REPRISE_ASSIGN(const store::CheckedQuery checked,
                 store::check_query(query, {.lists_by_author = true}));
  const bool is_odd_prefix = std::ranges::any_of(
      query.id_prefix, [](char c) { return c == '\0' || static_cast<unsigned char>(c) > 0x7F; });
  if (query.states.empty() || is_odd_prefix || !short_id_pattern(query.short_id_prefix, '_')) {
    return SessionPage();
  }
  std::optional<ListPosition> after;
  if (checked.after) {
    after = ListPosition{checked.after->group, microseconds_of(checked.after->activity),
                         checked.after->id.str()};
  }
  REPRISE_ASSIGN(SessionPage page, scan_list(database_, query, after));
  if (!checked.place || !checked.place->exists()) {
    return page;
  }
  REPRISE_ASSIGN(const Rows folders,
                 database_.read_one({kFolders, postgres::values(database_.tenant())}, From::list));
  SessionQuery spelled = query;
  for (int i = 0; i < folders.count(); ++i) {
    const std::string_view folder = folders.bytes(i, "folder");
    if (folder != query.working_dir && checked.place->is_at(folder)) {
      spelled.working_dir = folder;
      REPRISE_ASSIGN(SessionPage more, scan_list(database_, spelled, after));
      page = store::merge_pages(std::move(page), std::move(more), query);
    }
  }
  return page;
}

}  // namespace reprise::postgres

#include "store/postgres/list.h"

#include <algorithm>
#include <iterator>

#include "base/encode.h"
#include "base/text.h"
#include "reprise/store.h"
#include "store/postgres/connection.h"
#include "store/postgres/database.h"
#include "store/postgres/rows.h"
#include "store/postgres/schema.h"
#include "store/postgres/statements.h"
#include "store/postgres/values.h"
#include "store/query.h"

namespace reprise::postgres {
namespace {

// A position in the list with an unvalidated id.
struct ListPlace {
  std::int64_t group;
  std::int64_t updated_us;
  std::string id;
};

// The length of a UUID's last group, with which short ids begin.
constexpr std::size_t kShortIdDigits = 12;

struct ListQuery {
  std::string text;
  std::int64_t looked_at;  // 0 if all returned rows match
  Values values;
};

// The smallest text greater than all texts that begin with `prefix` (ids are ASCII).
std::string after_prefix(std::string prefix) {
  ++prefix.back();
  return prefix;
}

std::vector<std::int64_t> states_of(const SessionQuery& query) {
  std::vector<std::int64_t> states;
  std::ranges::transform(query.states, std::back_inserter(states), state_number);
  std::ranges::sort(states);
  states.erase(std::ranges::unique(states).begin(), states.end());
  return states;
}

// How a page is found: by activity, or by an index of titles or modes with few matches.
struct By {
  bool index = false;
  std::int64_t few = kFewSessions;
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

Result<ListQuery> make_query(const Database& database, const SessionQuery& query,
                             const std::optional<ListPlace>& after, By by) {
  const ListShape shape = {.states = states_of(query),
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
                           .from_index = by.index,
                           .few = by.few,
                           .distributed = database.is_distributed(),
                           .slots = database.version() >= kSlotsVersion,
                           .flags = database.has_additions()};
  ListQuery list{.text = list_statement(shape),
                 .looked_at = shape.looks() ? static_cast<std::int64_t>(shape.heads()) : 0,
                 .values = postgres::values(database.tenant())};
  if (after) {
    list.values.add(after->updated_us);
    list.values.add(after->id);
  }
  if (query.working_dir) {
    REPRISE_ASSIGN(const std::string folder, index_key(*query.working_dir));
    list.values.add(folder);
  }
  if (query.mode) {
    list.values.add(*query.mode);
  }
  if (!query.id_prefix.empty()) {
    list.values.add(query.id_prefix);
    list.values.add(after_prefix(query.id_prefix));
  }
  if (!query.short_id_prefix.empty()) {
    const std::string begin = query.short_id_prefix.substr(0, kShortIdDigits);
    list.values.add(begin);
    list.values.add(after_prefix(begin));
    list.values.add(short_id_pattern(query.short_id_prefix, '_').value_or(""));
  }
  const std::string title = ascii_lower(query.title_contains);
  if (!title.empty()) {
    list.values.add(title);
  }
  if (query.author) {
    list.values.add(query.author->str());
  }
  if (!title.empty() && by.index) {
    list.values.add(grams_of(database.tenant(), title));
  }
  return list;
}

// Whether the tables have an index for the title or mode of the query.
bool has_index(const Database& database, const SessionQuery& query) {
  const bool is_found_by_id =
      !query.id_prefix.empty() || !query.short_id_prefix.empty() || query.author;
  if (is_found_by_id || query.answering_only) {
    return false;
  }
  if (!query.title_contains.empty()) {
    return query.title_contains.size() >= kGramBytes && database.has_addition(kTitleAddition);
  }
  return query.mode && query.mode->size() <= kIndexedMode && database.has_addition(kModeAddition);
}

Result<bool> are_few(Database& database, const SessionQuery& query, std::int64_t few) {
  const std::string title = ascii_lower(query.title_contains);
  const std::string text = count_few_statement({.states = {},
                                                .mode = query.mode.has_value(),
                                                .title = !title.empty(),
                                                .few = few,
                                                .distributed = database.is_distributed()});
  Values values = postgres::values(database.tenant());
  if (query.mode) {
    values.add(*query.mode);
  }
  if (!title.empty()) {
    values.add(title);
    values.add(grams_of(database.tenant(), title));
  }
  const auto count = [&](Connection& connection) { return connection.run_one({text, values}); };
  REPRISE_ASSIGN(const Rows rows, database.read_for<Rows>(count, From::list));
  return rows.integer(0, "found") <= few;
}

// Adds the rows after `after` to the page; returns the position of the last one, or nullopt if
// there are no more.
Result<std::optional<ListPlace>> collect(Database& database, const SessionQuery& query,
                                         const std::optional<ListPlace>& after, By by,
                                         SessionPage& page) {
  REPRISE_ASSIGN(const ListQuery list, make_query(database, query, after, by));
  REPRISE_ASSIGN(const Rows rows, database.read_for<Rows>(
                                      [&](Connection& connection) {
                                        return connection.run_one({list.text, list.values});
                                      },
                                      From::list));
  std::optional<ListPlace> last;
  for (int row = 0; row < rows.count(); ++row) {
    last = ListPlace{rows.integer(row, "part"), rows.integer(row, "updated_us"),
                     rows.text(row, "session_id")};
    if (list.looked_at > 0 && rows.integer(row, "is_match") == 0) {
      continue;  // only marks the end of the scan
    }
    InfoRow read = read_info({rows, row}, database.name());
    if (read.info && page.sessions.size() == query.limit) {
      page.next = store::format_cursor(page.sessions.back());
      return std::optional<ListPlace>();
    }
    if (read.damage) {
      page.damage.push_back(*std::move(read.damage));
    }
    if (read.info) {
      page.sessions.push_back(*std::move(read.info));
    }
  }
  const bool is_cut = static_cast<std::size_t>(rows.count()) > query.limit;
  const bool looked_at_all = list.looked_at == 0 || rows.empty() ||
                             rows.integer(rows.count() - 1, "place") < list.looked_at;
  return !is_cut && looked_at_all ? std::optional<ListPlace>() : last;
}

}  // namespace

Result<SessionPage> list_sessions(Database& database, const SessionQuery& query) {
  REPRISE_ASSIGN(const store::CheckedQuery checked, store::check_query(query, true));
  if (query.author && !database.has_additions()) {
    return fail(Code::unsupported,
                cat(database.name(), " has no authors yet: run reprise store migrate"));
  }
  SessionPage page;
  const bool is_odd_prefix = !std::ranges::all_of(query.id_prefix, [](char c) { return c > 0; });
  if (query.states.empty() || is_odd_prefix || !short_id_pattern(query.short_id_prefix, '_')) {
    return page;
  }
  std::optional<ListPlace> after;
  if (checked.after) {
    after = ListPlace{checked.after->group, microseconds_of(checked.after->updated_at),
                      checked.after->id.str()};
  }
  const std::optional<ListPlace> begin = after;
  REPRISE_ASSIGN(after, collect(database, query, begin, {}, page));
  const bool is_indexed = after && has_index(database, query);
  for (int look = 1; after; ++look) {  // the next scan, or after damaged rows used up the limit
    if (is_indexed && (look == 1 || look == kManyLooks)) {
      const std::int64_t few = look == 1 ? kFewSessions : kFewAfterManyLooks;
      REPRISE_ASSIGN(const bool is_few, are_few(database, query, few));
      if (is_few) {
        page = {};
        REPRISE_ASSIGN(after, collect(database, query, begin, {.index = true, .few = few}, page));
        continue;
      }
    }
    REPRISE_ASSIGN(after, collect(database, query, after, {}, page));
  }
  return page;
}

}  // namespace reprise::postgres

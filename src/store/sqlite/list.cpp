#include "store/sqlite/list.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/text.h"
#include "reprise/error.h"
#include "reprise/session.h"
#include "reprise/store.h"
#include "store/query.h"
#include "store/sqlite/connection.h"
#include "store/sqlite/rows.h"

namespace reprise::sqlite {
namespace {

// A place in the list, before the id is known to be good.
struct Place {
  std::int64_t updated_us;
  std::string id;
};

using Value = std::variant<std::int64_t, std::string>;

// A query in the making: its text and the values of its parameters in their order.
struct Select {
  std::string sql;
  std::vector<Value> values;

  void add(std::string_view text, Value value) {
    sql += text;
    values.push_back(std::move(value));
  }
};

// The smallest text that is greater than all that begin with `prefix` (ids are ASCII).
std::string after_prefix(std::string prefix) {
  ++prefix.back();
  return prefix;
}

// What of the table is looked at. A title can be anywhere, and to walk all sessions by the index
// costs three times as much as the table: so it is looked for among the newest, then in the whole
// table.
struct Reach {
  std::int64_t newest = 0;  // of each state, if not 0
  bool whole_table = false;
};
constexpr Reach kByIndex[] = {{}};
constexpr Reach kForTitle[] = {{.newest = 256}, {.newest = 16'384}, {.whole_table = true}};

bool is_by_index(const SessionQuery& query) {
  return query.id_prefix.empty() && !query.answering_only;
}

std::span<const Reach> reaches_of(const SessionQuery& query) {
  const bool anywhere = !query.title_contains.empty() && !query.working_dir && is_by_index(query);
  return anywhere ? std::span<const Reach>(kForTitle) : kByIndex;
}

void add_is_one_of(Select& select, std::span<const SessionState> states) {
  if (states.size() == 1) {
    select.add("state = ?", std::string(to_string(states[0])));
    return;
  }
  std::string_view before = "state IN (?";
  for (const SessionState state : states) {
    select.add(std::exchange(before, ", ?"), std::string(to_string(state)));
  }
  select.sql += ")";
}

// The sessions of these states in their order, found by an index (one state then) unless ids or
// answers find them faster.
void add_states(Select& select, const SessionQuery& query, std::span<const SessionState> states,
                const Reach& reach, const std::optional<Place>& after) {
  // A plus keeps an index from being used.
  const std::string_view plus = is_by_index(query) && !reach.whole_table ? "" : "+";
  select.sql +=
      cat("SELECT * FROM (SELECT place, updated_us, id FROM (SELECT rowid AS place, updated_us, id,"
          " title, mode FROM sessions WHERE ",
          plus);
  add_is_one_of(select, states);
  if (query.working_dir) {
    select.add(cat(" AND ", plus, "working_dir = ?"), *query.working_dir);
  }
  if (after) {
    select.add(" AND (updated_us, id) < (?,", after->updated_us);
    select.add(" ?)", after->id);
  }
  if (reach.newest > 0) {
    select.add(" ORDER BY updated_us DESC, id DESC LIMIT ?", reach.newest);
  }
  select.sql += ") WHERE true";
  if (query.mode) {
    select.add(" AND mode = ?", *query.mode);
  }
  if (!query.id_prefix.empty()) {
    select.add(" AND id >= ?", query.id_prefix);
    select.add(" AND id < ?", after_prefix(query.id_prefix));
  }
  if (!query.title_contains.empty()) {
    select.add(" AND reprise_contains(title, ?)", ascii_lower(query.title_contains));
  }
  if (query.answering_only) {
    select.sql += " AND id IN (SELECT session_id FROM reprise_answers WHERE n = 0)";
  }
  select.add(" ORDER BY updated_us DESC, id DESC LIMIT ?)",
             static_cast<std::int64_t>(query.limit + 1));
}

Select select_page(const SessionQuery& query, const Reach& reach,
                   const std::optional<Place>& after) {
  Select select;
  select.sql = cat("SELECT ", kInfoColumns, " FROM (");
  std::vector<SessionState> states = query.states;
  std::ranges::sort(states);
  states.erase(std::ranges::unique(states).begin(), states.end());
  const std::size_t together = reach.whole_table ? states.size() : 1;
  for (std::size_t i = 0; i < states.size(); i += together) {
    select.sql += i == 0 ? "" : " UNION ALL ";
    add_states(select, query, std::span(states).subspan(i, together), reach, after);
  }
  select.add(
      " ORDER BY updated_us DESC, id DESC LIMIT ?) AS l CROSS JOIN sessions AS s"
      " ON s.rowid = l.place"
      " LEFT JOIN reprise_answers AS a ON a.session_id = s.id AND a.n = 0"
      " ORDER BY l.updated_us DESC, l.id DESC",
      static_cast<std::int64_t>(query.limit + 1));
  return select;
}

// Rows after `after`; where the last one stood, or nothing when there are no more.
Result<std::optional<Place>> collect(Connection& connection, const SessionQuery& query,
                                     const Reach& reach, const std::optional<Place>& after,
                                     SessionPage& page) {
  const Select select = select_page(query, reach, after);
  REPRISE_ASSIGN(Statement row, connection.prepare(select.sql));
  for (const Value& value : select.values) {
    std::visit([&row](const auto& one) { row.bind(one); }, value);
  }
  const std::string file = connection.name();
  std::optional<Place> last;
  std::size_t rows = 0;
  while (true) {
    REPRISE_ASSIGN(const bool more, row.step());
    if (!more) {
      return rows <= query.limit ? std::optional<Place>() : last;
    }
    ++rows;
    InfoRow read = read_info(row, file);
    last = Place{row.integer(9), row.text(0)};
    if (read.info && page.sessions.size() == query.limit) {
      page.next = store::format_cursor(page.sessions.back());
      return std::optional<Place>();
    }
    if (read.damage) {
      page.damage.push_back(*std::move(read.damage));
    }
    if (read.info) {
      page.sessions.push_back(*std::move(read.info));
    }
  }
}

Result<SessionPage> list_within(Connection& connection, const SessionQuery& query,
                                const Reach& reach, std::optional<Place> after) {
  SessionPage page;
  do {  // again only when damaged rows took the place of good ones
    REPRISE_ASSIGN(after, collect(connection, query, reach, after, page));
  } while (after);
  return page;
}

}  // namespace

Result<SessionPage> list_sessions(Connection& connection, const SessionQuery& query) {
  REPRISE_ASSIGN(const store::CheckedQuery checked, store::check_query(query));
  SessionPage page;
  const bool odd_prefix = !std::ranges::all_of(
      query.id_prefix, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  if (query.states.empty() || odd_prefix) {
    return page;
  }
  std::optional<Place> after;
  if (checked.after) {
    after = Place{microseconds_of(checked.after->updated_at), checked.after->id.str()};
  }
  for (const Reach& reach : reaches_of(query)) {
    REPRISE_ASSIGN(page, list_within(connection, query, reach, after));
    if (!page.next.empty()) {
      break;
    }
  }
  return page;
}

}  // namespace reprise::sqlite

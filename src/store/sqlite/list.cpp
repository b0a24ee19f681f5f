// Pages of sessions with keyset pagination: the cost of a page does not depend on the number of
// sessions.

#include <algorithm>
#include <iterator>
#include <span>
#include <tuple>
#include <variant>

#include "base/fold.h"
#include "base/text.h"
#include "reprise/source.h"
#include "store/query.h"
#include "store/sqlite/connection.h"
#include "store/sqlite/repair.h"
#include "store/sqlite/rows.h"
#include "store/sqlite/schema.h"
#include "store/sqlite/sqlite_store.h"

namespace reprise::sqlite {
namespace {

// A position in the list with an unvalidated id.
struct ListPosition {
  std::int64_t group = 0;
  std::int64_t updated_us = 0;
  std::string id = {};
};

using Value = std::variant<std::int64_t, std::string>;

// A query under construction: its text and the values of its parameters, in order.
struct Select {
  std::string sql;
  std::vector<Value> values;

  void add(std::string_view text, Value value) {
    sql += text;
    values.push_back(std::move(value));
  }
};

// The index yields the newest sessions first. Scanning all sessions by it costs three times as much
// as scanning the table: so rare titles are finally searched in the table.
enum class Plan : std::uint8_t { index, table };
constexpr std::int64_t kTitlesByIndexMax = 16'384;

bool is_by_index(const SessionQuery& query) {
  return query.id_prefix.empty() && query.short_id_prefix.empty() && !query.answering_only &&
         !query.author;
}

// Literals, so that statements for different states differ: each can then be in use at once.
std::string is_one_of(std::span<const SessionState> states) {
  std::string sql;
  for (const SessionState state : states) {
    sql += cat(sql.empty() ? "state IN ('" : ", '", to_string(state), "'");
  }
  return sql + ")";
}

struct NumberedGroup {
  std::int64_t number;
  store::ListGroup group;
};

// A part of a list: the sessions of a group with one of these states.
struct Part {
  NumberedGroup group;
  std::span<const SessionState> states;
};

// Selects the part's sessions in order, by an index (then with a single state) unless ids or
// answers find them faster. `after` is in this group.
void add_part(Select& select, const SessionQuery& query, const Part& part, Plan plan,
              const std::optional<ListPosition>& after) {
  // Few sessions have a flag, and these have their own index by activity.
  const bool by_index = is_by_index(query) && plan == Plan::index && !part.group.group.value;
  const std::string_view plus = by_index ? "" : "+";  // prevents the use of an index
  select.sql += cat("SELECT * FROM (SELECT rowid AS place, ", part.group.number,
                    " AS part, updated_us, id FROM sessions WHERE ", plus, is_one_of(part.states));
  if (const store::ListGroup& group = part.group.group; !group.column.empty()) {
    select.sql += cat(" AND ", group.column, " = ", group.value ? 1 : 0);
  }
  if (query.working_dir) {
    select.add(cat(" AND ", plus, "working_dir = ?"), *query.working_dir);
  }
  if (after && by_index) {
    select.add(cat(" AND updated_slot <= ", slot_sql("?")), after->updated_us);
  }
  if (after) {
    select.add(" AND (updated_us, id) < (?,", after->updated_us);
    select.add(" ?)", after->id);
  }
  if (query.mode) {
    select.add(" AND mode = ?", *query.mode);
  }
  if (!query.id_prefix.empty()) {
    select.add(" AND id >= ?", query.id_prefix);
    select.add(" AND id < ?", store::after_prefix(query.id_prefix));
  }
  if (!query.short_id_prefix.empty()) {
    select.sql += " AND id IN short_ids";
  }
  if (query.author) {
    select.sql += " AND id IN (SELECT session FROM authored)";
  }
  if (!query.title_contains.empty()) {
    select.add(" AND reprise_contains(title, ?)", folded(query.title_contains));
  }
  if (query.answering_only) {
    select.sql += " AND id IN (SELECT session_id FROM reprise_answers WHERE n = 0)";
  }
  // The index is ordered by slot; only the sessions of one slot are sorted.
  const std::string_view slots = by_index ? "updated_slot DESC, " : "";
  select.add(cat(" ORDER BY ", slots, "updated_us DESC, id DESC LIMIT ?)"),
             static_cast<std::int64_t>(query.limit + 1));
}

// The common table expressions, evaluated once for all parts.
void add_common_tables(Select& select, const SessionQuery& query) {
  std::string_view before = "WITH RECURSIVE ";
  if (const auto pattern = short_id_pattern(query.short_id_prefix, '?');
      pattern && !query.short_id_prefix.empty()) {
    // No index covers the end of an id: this scans the index of ids once.
    select.add(cat(std::exchange(before, ", "),
                   "short_ids AS MATERIALIZED (SELECT id FROM sessions WHERE id GLOB ?) "),
               *pattern);
  }
  if (query.author) {
    // The sessions with rows of the author, and those that share these rows.
    select.add(cat(std::exchange(before, ", "),
                   "authored(session, seq) AS (SELECT session_id, min(seq) FROM messages"
                   " WHERE author = ? GROUP BY session_id UNION SELECT s.id, a.seq"
                   " FROM authored AS a JOIN sessions AS s ON s.base = a.session"
                   " WHERE s.base_count > a.seq) "),
               query.author->str());
  }
}

// Selects sessions of these parts, in order. A join with a single part has the order of the part.
Select select_parts(const SessionQuery& query, std::span<const Part> parts, Plan plan,
                    const std::optional<ListPosition>& after) {
  Select select;
  add_common_tables(select, query);
  select.sql += cat("SELECT l.part AS part, ", info_select(), " FROM (");
  std::string_view before;
  for (const Part& part : parts) {
    const bool is_resumed = after && part.group.number == after->group;
    select.sql += std::exchange(before, " UNION ALL ");
    add_part(select, query, part, plan, is_resumed ? after : std::nullopt);
  }
  if (parts.size() > 1) {
    select.add(" ORDER BY part, updated_us DESC, id DESC LIMIT ?",
               static_cast<std::int64_t>(query.limit + 1));
  }
  select.sql +=
      ") AS l CROSS JOIN sessions AS s ON s.rowid = l.place"
      " LEFT JOIN reprise_answers AS a ON a.session_id = s.id AND a.n = 0";
  select.sql += parts.size() > 1 ? " ORDER BY l.part, l.updated_us DESC, l.id DESC" : "";
  return select;
}

// Statements whose rows, merged, are the page. Those that use an index have one part each: in one
// statement, SQLite would sort the rows of all parts.
std::vector<Select> select_page(const SessionQuery& query, std::span<const NumberedGroup> groups,
                                Plan plan, const std::optional<ListPosition>& after) {
  std::vector<SessionState> states = query.states;
  std::ranges::sort(states);
  states.erase(std::ranges::unique(states).begin(), states.end());
  std::vector<Part> parts;
  for (const NumberedGroup& group : groups) {
    const std::size_t together = plan == Plan::table || group.group.value ? states.size() : 1;
    for (std::size_t i = 0; i < states.size(); i += together) {
      parts.push_back({group, std::span(states).subspan(i, together)});
    }
  }
  const bool is_merged = plan == Plan::index && is_by_index(query);
  const std::size_t together = is_merged ? 1 : parts.size();
  std::vector<Select> selects;
  for (std::size_t i = 0; i < parts.size(); i += together) {
    selects.push_back(select_parts(query, std::span(parts).subspan(i, together), plan, after));
  }
  return selects;
}

// Merges the rows of several statements in list order. Borrows the texts that it binds.
class MergedRows {
 public:
  static Result<MergedRows> open(Connection& connection, std::span<const Select> selects) {
    MergedRows merged;
    for (const Select& select : selects) {
      REPRISE_ASSIGN(Statement row, connection.prepare(select.sql));
      for (const Value& value : select.values) {
        std::visit([&row](const auto& bound) { row.bind(bound); }, value);
      }
      merged.streams_.push_back({.row = std::move(row)});
      REPRISE_TRY(step(merged.streams_.back()));
    }
    return merged;
  }

  // The next row, and its position; null at the end. Valid until next().
  const Statement* row() const { return first_ == nullptr ? nullptr : &first_->row; }
  const ListPosition& position() const { return first_->position; }

  Result<> next() {
    if (first_ != nullptr) {
      REPRISE_TRY(step(*first_));
    }
    first_ = nullptr;
    for (Stream& stream : streams_) {
      if (stream.has_row && (first_ == nullptr || is_before(stream.position, first_->position))) {
        first_ = &stream;
      }
    }
    return {};
  }

 private:
  struct Stream {
    Statement row;
    bool has_row = false;
    ListPosition position = {};  // of the row
  };

  static Result<> step(Stream& stream) {
    REPRISE_ASSIGN(stream.has_row, stream.row.step());
    if (stream.has_row) {
      stream.position = {stream.row.integer("part"), stream.row.integer("updated_us"),
                         std::string(stream.row.bytes("id"))};
    }
    return {};
  }

  static bool is_before(const ListPosition& a, const ListPosition& b) {
    return std::tie(a.group, b.updated_us, b.id) < std::tie(b.group, a.updated_us, a.id);
  }

  std::vector<Stream> streams_;
  Stream* first_ = nullptr;
};

// The groups from that of `after` on. The group of an unused flag is omitted: checking is cheaper
// than a part of the statement.
Result<std::vector<NumberedGroup>> groups_from(Connection& connection, const SessionQuery& query,
                                               const std::optional<ListPosition>& after) {
  std::vector<NumberedGroup> groups;
  std::int64_t number = 0;
  for (const store::ListGroup& group : store::groups_of(query)) {
    const std::int64_t index = number++;
    if (after && index < after->group) {
      continue;
    }
    if (group.value) {
      REPRISE_ASSIGN(
          const std::int64_t is_used,
          connection.integer(cat("SELECT 1 FROM sessions WHERE ", group.column, " = 1 LIMIT 1")));
      if (is_used == 0) {
        continue;
      }
    }
    groups.push_back({index, group});
  }
  return groups;
}

// Adds the rows after `after` to the page; returns the position of the last one, or nullopt if
// there are no more.
Result<std::optional<ListPosition>> collect(Connection& connection, const SessionQuery& query,
                                            Plan plan, const std::optional<ListPosition>& after,
                                            SessionPage& page) {
  REPRISE_ASSIGN(const auto groups, groups_from(connection, query, after));
  const std::vector<Select> selects = select_page(query, groups, plan, after);
  REPRISE_ASSIGN(MergedRows merged, MergedRows::open(connection, selects));
  const std::string file = connection.name();
  for (std::size_t rows = 1;; ++rows) {
    REPRISE_TRY(merged.next());
    const Statement* const row = merged.row();
    if (row == nullptr) {
      return std::nullopt;
    }
    InfoRow read = read_info(*row, file);
    if (read.info && page.sessions.size() == query.limit) {
      page.next = store::format_cursor(page.sessions.back());
      return std::nullopt;
    }
    if (read.damage) {
      page.damage.push_back(*std::move(read.damage));
    }
    if (read.info) {
      page.sessions.push_back(*std::move(read.info));
    }
    if (rows > query.limit) {
      return merged.position();
    }
  }
}

Result<SessionPage> list_by(Connection& connection, const SessionQuery& query, Plan plan,
                            std::optional<ListPosition> after) {
  SessionPage page;
  do {  // repeated only if damaged rows used up the limit
    REPRISE_ASSIGN(after, collect(connection, query, plan, after, page));
  } while (after);
  return page;
}

// The folders of other sessions that are the same place. An index has them; what is below a folder
// that does not exist is skipped.
Result<std::vector<std::string>> other_spellings(Connection& connection, const std::string& folder,
                                                 Place& place) {
  std::vector<std::string> found;
  if (!place.exists()) {
    return found;
  }
  for (std::string last;;) {
    REPRISE_ASSIGN(Statement row,
                   connection.query("SELECT working_dir FROM sessions WHERE working_dir > ?"
                                    " ORDER BY working_dir LIMIT 1",
                                    last));
    REPRISE_ASSIGN(const bool has_row, row.step());
    if (!has_row) {
      return found;
    }
    std::string next(row.bytes("working_dir"));
    if (next != folder && place.is_at(next)) {
      found.push_back(next);
    }
    const std::string_view missing = place.missing_part(next);
    last = missing.empty() ? std::move(next) : cat(missing, "/\xFF");
  }
}

// A page of the query, without what its folder's other spellings have.
Result<SessionPage> list_spelled(Connection& connection, const SessionQuery& query,
                                 const std::optional<ListPosition>& after) {
  connection.set_titles_max(query.working_dir ? Connection::kTitlesAny : kTitlesByIndexMax);
  auto listed = list_by(connection, query, Plan::index, after);
  if (!listed && connection.titles_exceeded()) {
    connection.set_titles_max(Connection::kTitlesAny);
    listed = list_by(connection, query, Plan::table, after);
  }
  return listed;
}

Result<SessionPage> list_sessions(Connection& connection, const SessionQuery& query) {
  REPRISE_ASSIGN(const store::CheckedQuery checked,
                 store::check_query(query, {.lists_by_author = true}));
  const bool odd_prefix = !std::ranges::all_of(
      query.id_prefix, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  if (query.states.empty() || odd_prefix || !short_id_pattern(query.short_id_prefix, '?')) {
    return SessionPage();
  }
  std::optional<ListPosition> after;
  if (checked.after) {
    after = ListPosition{checked.after->group, microseconds_of(checked.after->activity),
                         checked.after->id.str()};
  }
  REPRISE_ASSIGN(Transaction snapshot, Transaction::begin(connection, "BEGIN"));
  REPRISE_ASSIGN(SessionPage page, list_spelled(connection, query, after));
  if (checked.place && query.working_dir) {
    REPRISE_ASSIGN(const std::vector<std::string> others,
                   other_spellings(connection, *query.working_dir, *checked.place));
    SessionQuery spelled = query;
    for (const std::string& other : others) {
      spelled.working_dir = other;
      REPRISE_ASSIGN(SessionPage more, list_spelled(connection, spelled, after));
      page = store::merge_pages(std::move(page), std::move(more), query);
    }
  }
  REPRISE_TRY(snapshot.commit());
  return page;
}

}  // namespace

Result<SessionPage> SqliteStore::list(const SessionQuery& query) {
  return database_.read([&](const Database::Reader& reader) -> Result<SessionPage> {
    REPRISE_ASSIGN(SessionPage page, list_sessions(*reader, query));
    if (reader.is_salvaged() && query.after.empty()) {
      REPRISE_ASSIGN(auto damage, damage_of_salvaged(*reader, ""));
      std::ranges::move(damage, std::back_inserter(page.damage));
    }
    return page;
  });
}

}  // namespace reprise::sqlite

// Statements of lists: a part for each group and state, in the order of an index.

#include <cstddef>
#include <initializer_list>
#include <limits>

#include "base/text.h"
#include "store/postgres/rows.h"
#include "store/postgres/statements.h"

namespace reprise::postgres {
namespace {

constexpr std::int64_t kFirstSlot = std::numeric_limits<std::int64_t>::min() / 2;  // of all times

// The placeholders of a list's parameters, in order; "" for unused ones.
struct ListParameters {
  std::string updated_us, session, folder, mode, prefix_begin, prefix_end, short_begin, short_end,
      short_pattern, title, author, grams;
};

ListParameters parameters_of(const ListShape& shape) {
  Placeholders placeholders(2);
  ListParameters at;
  const auto add = [&placeholders](bool has, std::string_view type,
                                   std::initializer_list<std::string*> parameters) {
    for (std::string* const parameter : parameters) {
      *parameter = has ? placeholders.next(type) : "";
    }
  };
  add(shape.after.has_value(), "int8", {&at.updated_us});
  add(shape.after.has_value(), "text", {&at.session});
  add(shape.folder, "bytea", {&at.folder});
  add(shape.mode, "bytea", {&at.mode});
  add(shape.prefix, "text", {&at.prefix_begin, &at.prefix_end});
  add(shape.short_id, "text", {&at.short_begin, &at.short_end, &at.short_pattern});
  add(shape.title, "bytea", {&at.title});
  add(shape.author, "bytea", {&at.author});
  add(shape.title && shape.from_index, "text", {&at.grams});
  return at;
}

// The conditions on the ids of heads `i`.
std::string id_condition(const ListShape& shape, const ListParameters& at) {
  std::string where;
  if (shape.prefix) {
    where += cat(" AND i.session_id >= ", at.prefix_begin, " AND i.session_id < ", at.prefix_end);
  }
  if (shape.short_id) {
    where +=
        cat(" AND substr(i.session_id, 25) >= ", at.short_begin, " AND substr(i.session_id, 25) < ",
            at.short_end, " AND i.session_id LIKE ", at.short_pattern, " AND i.state >= 0");
  }
  return where;
}

// Finds heads by their ids first, using an index of ids: the order of lists would make the server
// scan all sessions of the tenant.
std::string heads_by_id(const ListShape& shape, const ListParameters& at) {
  if (shape.from_index) {
    return "heads_of_few AS h";
  }
  if (shape.author && !shape.reads_authors) {
    return "heads_of_author AS h";
  }
  const std::string where = id_condition(shape, at);
  return where.empty() ? "reprise_heads AS h"
                       : cat("(SELECT * FROM reprise_heads AS i WHERE i.tenant = $1::text", where,
                             " OFFSET 0) AS h");
}

// The condition for a group's sessions of one state from the position on, in the columns of an
// index of reprise_heads AS `h`.
std::string scope_of(const ListShape& shape, const ListParameters& at, std::int64_t group,
                     std::int64_t state, std::string_view h) {
  std::string where = cat(" WHERE ", h, ".tenant = $1::text AND ", h, ".state = ", state, " AND ",
                          h, ".state >= 0");  // the indexes' condition
  if (shape.after && group == *shape.after) {
    where += cat(" AND ", h, ".updated_slot <= (", at.updated_us, REPRISE_PER_SLOT ")");
  }
  if (shape.folder) {
    where += cat(" AND ", h, ".folder = ", at.folder);
  }
  return where;
}

// The condition for the copies of title and mode in reprise_heads AS `h`.
std::string copies_condition(const ListShape& shape, const ListParameters& at, std::string_view h) {
  std::string condition = shape.mode ? cat(" AND ", h, ".mode_key = ", at.mode) : "";
  if (shape.title) {
    condition += cat(" AND (position(", at.title, " IN ", h, ".title_start) > 0 OR (octet_length(",
                     h, ".title_start) = ", kTitleStart, " AND (SELECT position(", at.title,
                     " IN l.title_lower) FROM reprise_sessions AS l WHERE l.tenant = $1::text AND"
                     " l.session_id = ",
                     h, ".session_id) > 0))");
  }
  return condition;
}

std::string group_condition(const ListShape& shape, std::int64_t group, std::string_view h) {
  const auto& [column, value] = shape.groups[static_cast<std::size_t>(group)];
  return column.empty() ? "" : cat(" AND ", h, ".", column, " = ", value ? 1 : 0);
}

// The sessions of a part whose copies match, in the order of their slots, from an index that
// contains all compared columns. Other columns of reprise_heads are read for these only.
std::string heads_by_copies(const ListShape& shape, const ListParameters& at, std::int64_t group,
                            std::int64_t state) {
  return cat("(SELECT m.session_id AS id, m.updated_slot AS slot FROM reprise_heads AS m",
             scope_of(shape, at, group, state, "m"), group_condition(shape, group, "m"),
             copies_condition(shape, at, "m"),
             " AND m.updated_slot >= coalesce((SELECT e.slot FROM ends AS e WHERE e.part = ", group,
             "), ", kFirstSlot,
             ") ORDER BY m.updated_slot DESC OFFSET 0) AS m"
             " JOIN reprise_heads AS h ON h.tenant = $1::text AND h.session_id = m.id");
}

// A group's sessions of one state, in list order.
std::string select_part(const ListShape& shape, const ListParameters& at, std::int64_t group,
                        std::int64_t state) {
  const bool by_copies = shape.scans_copies();
  std::string where =
      by_copies ? " WHERE h.state >= 0"
                : cat(scope_of(shape, at, group, state, "h"), group_condition(shape, group, "h"));
  if (shape.after && group == *shape.after) {
    where += cat(" AND (h.updated_us, h.session_id) < (", at.updated_us, ", ", at.session, ")");
  }
  if (shape.answering) {
    where += " AND h.answer IS NOT NULL";
  }
  if (!by_copies && !shape.compares_rows()) {
    where += copies_condition(shape, at, "h");
  }
  return cat("(SELECT ", group, "::int8 AS part, ", head_columns(),
             shape.reads_authors ? ", h.branch" : "", " FROM ",
             by_copies ? heads_by_copies(shape, at, group, state) : heads_by_id(shape, at), where,
             " ORDER BY ", by_copies ? "m.slot" : "h.updated_slot",
             " DESC, h.updated_us DESC, h.session_id DESC LIMIT ", shape.heads(), ")");
}

// The slot at which the scan of each group ends: where one of its states has reached
// `examined_max` sessions. An index alone can tell.
std::string find_ends(const ListShape& shape, const ListParameters& at) {
  std::string ends;
  for (std::int64_t group = shape.after.value_or(0); group < std::ssize(shape.groups); ++group) {
    const auto& [column, value] = shape.groups[static_cast<std::size_t>(group)];
    for (const std::int64_t state : shape.states) {
      std::string where = scope_of(shape, at, group, state, "c");
      where += shape.mode && !shape.folder ? cat(" AND c.mode_key = ", at.mode) : "";
      where += !column.empty() && value ? cat(" AND c.", column, " = 1") : "";
      ends += cat(ends.empty() ? "" : " UNION ALL ", "(SELECT ", group,
                  "::int8 AS part, c.updated_slot AS slot FROM reprise_heads AS c", where,
                  " ORDER BY c.updated_slot DESC OFFSET ", shape.examined_max, " LIMIT 1)");
    }
  }
  return cat("WITH ends AS MATERIALIZED (SELECT a.part, max(a.slot) AS slot FROM (", ends,
             ") AS a GROUP BY a.part), cut AS MATERIALIZED (SELECT min(f.part) AS part"
             " FROM ends AS f) ");
}

// The sessions with rows of the author, and those that share these rows; evaluated once.
std::string find_authored(const ListShape& shape, const ListParameters& at) {
  return cat(
      "WITH RECURSIVE authored(session_id, branch, seq) AS ("
      "SELECT m.session_id, m.branch, min(m.seq) FROM reprise_messages AS m"
      " WHERE m.tenant = $1::text AND m.author = ",
      at.author,
      " GROUP BY m.session_id, m.branch"
      " UNION SELECT b.session_id, b.branch, a.seq FROM authored AS a"
      " JOIN reprise_branches AS b ON b.tenant = $1::text"
      " AND b.base_session = a.session_id AND b.base_branch = a.branch"
      " AND b.base_count > a.seq), heads_of_author AS MATERIALIZED (SELECT l.* FROM"
      " (SELECT DISTINCT d.session_id, d.branch FROM authored AS d) AS a CROSS JOIN LATERAL"
      " (SELECT * FROM reprise_heads AS i WHERE i.tenant = $1::text"
      " AND i.session_id = a.session_id AND i.branch = a.branch",
      id_condition(shape, at), " OFFSET 0) AS l) ");
}

// Whether the session of head `h` shows a message of the author, own or shared. The server finds
// each by its key, even without table statistics.
std::string author_condition(const ListParameters& at) {
  return cat(
      "EXISTS (WITH RECURSIVE shown(session_id, branch, below) AS (SELECT h.session_id, h.branch,"
      " h.head UNION SELECT l.base_session, l.base_branch, l.below FROM shown AS n CROSS JOIN"
      " LATERAL (SELECT b.base_session, b.base_branch, least(n.below, b.base_count) AS below"
      " FROM reprise_branches AS b WHERE b.tenant = $1::text AND b.session_id = n.session_id"
      " AND b.branch = n.branch OFFSET 0) AS l) SELECT 1 FROM shown AS n CROSS JOIN LATERAL"
      " (SELECT 1 FROM reprise_messages AS m WHERE m.tenant = $1::text AND m.author = ",
      at.author,
      " AND m.session_id = n.session_id AND m.branch = n.branch AND m.seq < n.below LIMIT 1)"
      " AS l)");
}

// The conditions on columns of reprise_sessions, and on messages, of a shape that compares_rows().
std::string row_condition(const ListShape& shape, const ListParameters& at) {
  std::string condition = shape.mode ? cat("s.mode = ", at.mode) : "";
  if (shape.title) {
    condition +=
        cat(condition.empty() ? "" : " AND ", "position(", at.title, " IN s.title_lower) > 0");
  }
  if (shape.reads_authors) {
    condition += cat(condition.empty() ? "" : " AND ", author_condition(at));
  }
  return condition;
}

// The heads of the sessions that the title index finds, evaluated once for all parts of a list;
// none if there are more than kFewSessions. The expression for the tenant, which is not a bare
// column, prevents the server from reading all keys of the tenant in addition to the index. With
// row-level security the server checks each row before it compares the title, so the index would
// not help: there the result counts as more than kFewSessions.
std::string find_few(const ListShape& shape, const ListParameters& at) {
  return cat(
      "WITH found AS MATERIALIZED (SELECT s.session_id FROM reprise_sessions AS s"
      " WHERE s.tenant",
      shape.distributed ? "" : " || ''",
      " = $1::text AND (" REPRISE_TITLE_GRAMS " @> string_to_array(", at.grams,
      ", ' ') OR " REPRISE_TITLE_GRAMS " @> string_to_array($1::text || '" REPRISE_LONG_TITLE
      "', ' ')) AND ",
      row_condition(shape, at),
      "), few AS MATERIALIZED (SELECT session_id"
      " FROM found LIMIT ",
      kFewSessions + 1,
      "), cut AS MATERIALIZED (SELECT CASE WHEN"
      " row_security_active('reprise_sessions') THEN ",
      kFewSessions + 1,
      " ELSE (SELECT count(*) FROM few) END AS found), heads_of_few AS MATERIALIZED"
      " (SELECT i.* FROM reprise_heads AS i WHERE i.tenant = $1::text AND (SELECT c.found"
      " FROM cut AS c) <= ",
      kFewSessions, " AND i.session_id IN (SELECT f.session_id FROM few AS f)) ");
}

}  // namespace

std::string list_statement(const ListShape& shape) {
  const ListParameters at = parameters_of(shape);
  std::string page;
  std::size_t parts = 0;
  for (std::int64_t group = shape.after.value_or(0); group < std::ssize(shape.groups); ++group) {
    for (const std::int64_t state : shape.states) {
      page += cat(parts++ == 0 ? "" : " UNION ALL ", select_part(shape, at, group, state));
    }
  }
  constexpr std::string_view kOrder = "updated_us DESC, session_id DESC";
  if (parts > 1) {
    page += cat(" ORDER BY part, ", kOrder, " LIMIT ", shape.heads());
  }
  const bool finds_authored = shape.author && !shape.reads_authors;
  const std::string with = finds_authored         ? find_authored(shape, at)
                           : shape.from_index     ? find_few(shape, at)
                           : shape.scans_copies() ? find_ends(shape, at)
                                                  : "";
  constexpr std::string_view kRow =
      "JOIN reprise_sessions AS s ON s.tenant = $1::text AND s.session_id = h.session_id";
  const std::string order = " ORDER BY h.part, h.updated_us DESC, h.session_id DESC";
  if (shape.from_index || shape.scans_copies()) {
    const std::string_view cut =
        shape.from_index ? "c.found"
                         : "c.part AS cut_part, (SELECT e.slot FROM ends AS e WHERE e.part ="
                           " c.part) AS cut_slot";
    return cat(with, "SELECT ", cut, ", h.part, ", info_columns(), " FROM cut AS c LEFT JOIN ((",
               page, ") AS h ", kRow, ") ON true", order);
  }
  if (!shape.reads_authors) {
    return cat(with, "SELECT h.part, ", info_columns(), " FROM (", page, ") AS h ", kRow, order);
  }
  const std::string matches = cat("coalesce(", row_condition(shape, at), ", false)");
  return cat(with, "SELECT h.part, ", matches, "::int4 AS is_match, h.place, ", info_columns(),
             " FROM (SELECT p.*, row_number() OVER (ORDER BY part, ", kOrder, ") AS place FROM (",
             page, ") AS p) AS h LEFT ", kRow, " WHERE ", matches, " OR h.place = ", shape.heads(),
             order, " LIMIT ", shape.rows);
}

}  // namespace reprise::postgres

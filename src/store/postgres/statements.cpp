#include "store/postgres/statements.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <type_traits>

#include "base/text.h"
#include "model/fields.h"
#include "reprise/message.h"
#include "store/postgres/session_columns.h"
#include "store/postgres/statements_beside.h"

namespace reprise::postgres {
namespace {

constexpr std::string_view kStatements[] = {
    kBegin,
    kBeginSnapshot,
    kCommit,
    kRollback,
    kFindState,
    kLockHead,
    kFindValues,
    kFindValue,
    kDeleteValue,
    kInsertValue,
    kFindOnce,
    kInsertOnce,
    kFindRequests,
    kInsertMessagePart,
    kInsertBlobRef,
    kLimitSilence,
    kFindUser,
    kInsertOnceAt,
    kInsertMessage,
    kAddCacheWritten,
    kDeleteDeltas,
    kInsertBranch,
    kMoveToBranch,
    kFindHead,
    kFindBranch,
    kCountMessages,
    kReadForwards,
    kReadBackwards,
    kReadLast,
    kReadParts,
    kDoNotSync,
    kLimitLocks,
    kLockAnswer,
    kInsertDelta,
    kRestoreDelta,
    kInsertBlobRefOfAnswer,
    kFindAnswer,
    kRenewAnswer,
    kFindDeltas,
    kDeleteArtefact,
    kFindArtefactEnd,
    kInsertArtefact,
    kFindArtefact,
    kListArtefacts,
    kFindBlobPart,
    kInsertBlobPart,
    kTouchBlob,
    kListBlobs,
    kDeleteBlobsOfSession,
    kDoubtBlobsOfSession,
    kDeleteUnnamedBlobs,
    kSettleNamedBlobs,
    kCountUnnamedBlobs,
    kFindMissingBlobs,
    kFindUnchanged,
    kForgetOperations,
    kTrashSession,
    kSetState,
    kRestoreHead,
    kRestoreSession,
    kFindSharing,
    kVerifyMessages,
    kVerifyRows,
    kVerifyBeginnings,
    kVerifyHeads,
    kVerifyBases,
};

constexpr unsigned kAppendShapes = 1U << 4U;
constexpr AppendShape append_shape(unsigned number) {
  return {.single = (number & 1U) != 0,
          .usage = (number & 2U) != 0,
          .answer = (number & 4U) != 0,
          .author = (number & 8U) != 0};
}
constexpr unsigned number_of(const AppendShape& shape) {
  return (shape.single ? 1U : 0U) + (shape.usage ? 2U : 0U) + (shape.answer ? 4U : 0U) +
         (shape.author ? 8U : 0U);
}

// Numbers parameters in the order in which they are named.
class Placeholders {
 public:
  explicit Placeholders(std::size_t first) : next_(first) {}
  std::string next(std::string_view type) { return cat("$", next_++, "::", type); }

 private:
  std::size_t next_;
};

// What an append sets to add its usage to the session's. A sum stays at the end of its range.
std::string set_usage(Placeholders& placeholders) {
  const auto sum = [](std::string_view old, std::string_view more) {
    return cat("greatest(least(", old, "::numeric + ", more,
               "::numeric, 9223372036854775807), -9223372036854775808)::int8");
  };
  std::string set;
  model::for_each(model::kUsageFields, [&]<class Value>(const model::Field<Usage, Value>& field) {
    if (std::is_same_v<Value, TokenCount> && !field.column.empty()) {
      set +=
          cat(", ", field.column, " = ", sum(cat("h.", field.column), placeholders.next("int8")));
    }
  });
  const std::string cost = placeholders.next("int8");
  const std::string source = placeholders.next("bytea");
  set += cat(", cost_nanos = CASE WHEN ", cost, " IS NULL THEN h.cost_nanos ELSE ",
             sum("coalesce(h.cost_nanos, 0)", cost), " END");
  return cat(set, ", price_source = CASE WHEN ", cost,
             " IS NULL THEN h.price_source WHEN h.cost_nanos IS NULL OR h.price_source = ", source,
             " THEN ", source, " ELSE 'mixed'::bytea END");
}

std::string insert_messages(const AppendShape& shape) {
  return cat(
      "INSERT INTO reprise_messages(tenant, session_id, branch, seq, created_us,"
      " more, role, content, detail",
      shape.author ? ", author)" : ")");
}

// The rows of an append that hold its names and its messages, and where it says its first seq. One
// message needs no arrays to be taken apart, which took a seventh of the whole statement's time.
std::string insert_batch(const AppendShape& shape, Placeholders& placeholders,
                         std::string_view names) {
  std::vector<std::string_view> types = {"int8[]",  "int8[]",  "int8[]",
                                         "bytea[]", "bytea[]", "bytea[]"};
  if (shape.author) {
    types.emplace_back("bytea[]");
  }
  std::string arrays;
  for (const std::string_view type : types) {
    arrays += cat(arrays.empty() ? "" : ", ", placeholders.next(type));
  }
  return cat(", once AS (", names, "), stored AS (", insert_messages(shape),
             " SELECT $1::text, $2::text, m.branch, m.first_seq + u.place, u.created_us, u.more,"
             " u.role, u.content, u.detail",
             shape.author ? ", u.author" : "", " FROM moved AS m CROSS JOIN unnest(", arrays,
             ") AS u(place, created_us, more, role, content, detail",
             shape.author ? ", author" : "", ")) SELECT first_seq FROM moved");
}

std::string insert_single(const AppendShape& shape, Placeholders& placeholders,
                          std::string_view names) {
  std::vector<std::string_view> types = {"int8", "bytea", "bytea", "bytea"};
  if (shape.author) {
    types.emplace_back("bytea");
  }
  std::string columns;
  for (const std::string_view type : types) {
    columns += cat(", ", placeholders.next(type));
  }
  return cat(", once AS (", names, ") ", insert_messages(shape),
             " SELECT $1::text, $2::text, m.branch, m.first_seq, $5::int8", columns,
             " FROM moved AS m RETURNING seq AS first_seq");
}

std::string move_head(const AppendShape& shape, Placeholders& placeholders) {
  std::string set =
      " head = h.head + $4::int8, updated_us = coalesce(nullif($5::int8, 0), h.updated_us),"
      " updated_slot = " REPRISE_SLOT("coalesce(nullif($5::int8, 0), h.updated_us)");
  std::string where;
  if (shape.usage) {
    set += set_usage(placeholders);
  }
  if (shape.answer) {
    const std::string ends = placeholders.next("text");
    const std::string begins = placeholders.next("text");
    const std::string start = placeholders.next("bytea");
    set += cat(", answer = ", begins, ", answer_start = ", start);
    where = cat(" AND CASE WHEN ", ends, " IS NULL THEN h.answer IS NULL ELSE h.answer = ", ends,
                " END");
  }
  return cat("UPDATE reprise_heads AS h SET", set,
             " WHERE h.tenant = $1::text AND h.session_id = $2::text"
             " AND ($3::int8 IS NULL OR h.head = $3::int8)",
             where, " RETURNING h.branch, h.head - $4::int8 AS first_seq");
}

AppendStatement make_append(const AppendShape& shape) {
  Placeholders placeholders(6);
  const std::string name = shape.has_one_name() ? placeholders.next("bytea")
                                                : cat("unnest(", placeholders.next("bytea[]"), ")");
  const std::string names =
      cat("INSERT INTO reprise_once(tenant, session_id, name, first_seq, head) SELECT $1::text,"
          " $2::text, ",
          name, ", m.first_seq, m.first_seq + $4::int8 FROM moved AS m");
  const std::string messages = shape.single ? insert_single(shape, placeholders, names)
                                            : insert_batch(shape, placeholders, names);
  std::string text = cat("WITH moved AS (", move_head(shape, placeholders), ")", messages);
  const std::size_t hash = std::hash<std::string>()(text);
  return {std::move(text), hash};
}

AppendStatement make_move(const AppendShape& shape) {
  Placeholders placeholders(6);
  std::string text = move_head(shape, placeholders);
  const std::size_t hash = std::hash<std::string>()(text);
  return {std::move(text), hash};
}

std::vector<AppendStatement> all_shapes(AppendStatement (*make)(const AppendShape&)) {
  std::vector<AppendStatement> made;
  made.reserve(kAppendShapes);
  for (unsigned number = 0; number < kAppendShapes; ++number) {
    made.push_back(make(append_shape(number)));
  }
  return made;
}

// Found by their ids, by an index of those, before anything else is looked at: the order of lists
// would make the server walk over all sessions of the tenant.
std::string heads_by_id(const ListShape& shape, Placeholders& placeholders) {
  std::string where;
  const auto range = [&](std::string_view expression) {
    where += cat(" AND ", expression, " >= ", placeholders.next("text"));
    where += cat(" AND ", expression, " < ", placeholders.next("text"));
  };
  if (shape.prefix) {
    range("i.session_id");
  }
  if (shape.short_id) {
    range("substr(i.session_id, 25)");
    where += cat(" AND i.session_id LIKE ", placeholders.next("text"), " AND i.state >= 0");
  }
  if (shape.author) {
    where += " AND (i.session_id, i.branch) IN (SELECT a.session_id, a.branch FROM authored AS a)";
  }
  return where.empty() ? "reprise_heads AS h"
                       : cat("(SELECT * FROM reprise_heads AS i WHERE i.tenant = $1::text", where,
                             " OFFSET 0) AS h");
}

// A group's sessions of one state in their order.
std::string select_part(const ListShape& shape, std::int64_t group, std::int64_t state) {
  Placeholders placeholders(2);
  std::string where = cat(" WHERE h.tenant = $1::text AND h.state = ", state,
                          " AND h.state >= 0");  // the indexes' condition
  if (shape.after) {
    const std::string updated_us = placeholders.next("int8");
    const std::string session = placeholders.next("text");
    if (group == *shape.after && shape.slots) {
      where += cat(" AND h.updated_slot <= (", updated_us, REPRISE_PER_SLOT ")");
    }
    if (group == *shape.after) {
      where += cat(" AND (h.updated_us, h.session_id) < (", updated_us, ", ", session, ")");
    }
  }
  if (const auto& [column, value] = shape.groups[static_cast<std::size_t>(group)];
      !column.empty()) {
    where += cat(" AND ", shape.flags ? cat("h.", column) : "0", " = ", value ? 1 : 0);
  }
  if (shape.folder) {
    where += cat(" AND h.folder = ", placeholders.next("bytea"));
  }
  if (shape.mode) {
    where += cat(" AND s.mode = ", placeholders.next("bytea"));
  }
  const std::string heads = heads_by_id(shape, placeholders);
  if (shape.title) {
    where += cat(" AND position(", placeholders.next("bytea"), " IN s.title_lower) > 0");
  }
  if (shape.answering) {
    where += " AND h.answer IS NOT NULL";
  }
  const std::string_view joined =
      shape.mode || shape.title
          ? " JOIN reprise_sessions AS s ON s.tenant = h.tenant AND s.session_id = h.session_id"
          : "";
  const std::string_view slots = shape.slots ? "h.updated_slot DESC, " : "";
  return cat("(SELECT ", group, "::int8 AS part, ", head_columns(shape.flags), " FROM ", heads,
             joined, where, " ORDER BY ", slots, "h.updated_us DESC, h.session_id DESC LIMIT ",
             shape.rows, ")");
}

// The sessions with rows of the author's, and those that share these rows: found once.
std::string find_authored(const ListShape& shape) {
  const int before = 1 + (shape.after ? 2 : 0) + (shape.folder ? 1 : 0) + (shape.mode ? 1 : 0) +
                     (shape.prefix ? 2 : 0) + (shape.short_id ? 3 : 0) + (shape.title ? 1 : 0);
  return cat(
      "WITH RECURSIVE authored(session_id, branch, seq) AS ("
      "SELECT m.session_id, m.branch, min(m.seq) FROM reprise_messages AS m"
      " WHERE m.tenant = $1::text AND m.author = $",
      before + 1,
      "::bytea GROUP BY m.session_id, m.branch"
      " UNION SELECT b.session_id, b.branch, a.seq FROM authored AS a"
      " JOIN reprise_branches AS b ON b.tenant = $1::text"
      " AND b.base_session = a.session_id AND b.base_branch = a.branch"
      " AND b.base_count > a.seq) ");
}

void add_list_statements(std::vector<std::string>& all) {
  constexpr unsigned kShapes = 1U << 9U;
  for (unsigned bits = 0; bits < kShapes; ++bits) {
    const auto has = [bits](unsigned bit) { return (bits >> bit & 1U) != 0; };
    all.push_back(list_statement({.states = std::vector<std::int64_t>(1 + bits % 4),
                                  .groups = store::groups_of({.ungrouped = (bits & 1U) != 0}),
                                  .rows = 21,
                                  .after = has(0) ? std::optional<std::int64_t>(0) : std::nullopt,
                                  .folder = has(1),
                                  .mode = has(2),
                                  .prefix = has(3),
                                  .short_id = has(7),
                                  .title = has(4),
                                  .answering = has(5),
                                  .author = has(8),
                                  .slots = has(6)}));
  }
}

}  // namespace

const AppendStatement& append_statement(const AppendShape& shape) {
  static const std::vector<AppendStatement> all = all_shapes(make_append);
  return all.at(number_of(shape));
}

const AppendStatement& move_statement(const AppendShape& shape) {
  static const std::vector<AppendStatement> all = all_shapes(make_move);
  return all.at(number_of(shape));
}

std::string list_statement(const ListShape& shape) {
  std::string page;
  std::size_t parts = 0;
  for (std::int64_t group = shape.after.value_or(0); group < std::ssize(shape.groups); ++group) {
    for (const std::int64_t state : shape.states) {
      page += cat(parts++ == 0 ? "" : " UNION ALL ", select_part(shape, group, state));
    }
  }
  if (parts > 1) {
    page += cat(" ORDER BY part, updated_us DESC, session_id DESC LIMIT ", shape.rows);
  }
  return cat(shape.author ? find_authored(shape) : "", "SELECT h.part, ", info_columns(shape.flags),
             " FROM (", page,
             ") AS h JOIN reprise_sessions AS s ON s.tenant = $1::text AND s.session_id ="
             " h.session_id ORDER BY h.part, h.updated_us DESC, h.session_id DESC");
}

std::string statement_name(std::string_view sql) {
  constexpr std::string_view kTables = "reprise_";
  const auto is_end = [](char c) { return !is_ascii_alnum(c) && c != '_'; };
  const std::size_t table = sql.find(kTables);
  if (table == std::string_view::npos) {
    return std::string(sql.substr(0, sql.find(' ')));
  }
  const auto end =
      std::find_if(sql.begin() + static_cast<std::ptrdiff_t>(table), sql.end(), is_end);
  std::size_t verb_at = 0;
  std::string_view verb = "SELECT";
  for (const std::string_view one : {"SELECT", "INSERT", "UPDATE", "DELETE"}) {
    const std::size_t found = sql.substr(0, table).rfind(one);
    if (found != std::string_view::npos && found >= verb_at) {
      verb_at = found;
      verb = one;
    }
  }
  return cat(verb, " ", std::string_view(sql.begin() + static_cast<std::ptrdiff_t>(table), end));
}

std::vector<std::string> all_statements() {
  std::vector<std::string> all;
  for (const std::string_view one : kStatements) {
    all.emplace_back(one);
  }
  const SessionStatements& of_sessions = session_statements(true);
  for (const std::string* const one :
       {&of_sessions.insert_head, &of_sessions.insert_row, &of_sessions.update_head,
        &of_sessions.update_row, &of_sessions.find, &of_sessions.verify}) {
    all.push_back(*one);
  }
  for (const std::string_view one : kPurge) {
    all.emplace_back(one);
  }
  for (unsigned number = 0; number < kAppendShapes; ++number) {
    all.push_back(append_statement(append_shape(number)).text);
    all.push_back(move_statement(append_shape(number)).text);
  }
  add_list_statements(all);
  return all;
}

}  // namespace reprise::postgres

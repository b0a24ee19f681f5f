#include "store/postgres/word_statements.h"

#include "base/text.h"
#include "store/postgres/word_vectors.h"

namespace reprise::postgres {
namespace {

constexpr std::string_view kOrder =
    " ORDER BY w.time_us DESC, w.session_id DESC, w.branch DESC, w.seq DESC";

// The session that shows a row `f` of a session with the head `o`: its own, or a fork.
constexpr std::string_view kHolder =
    "CASE WHEN o.state <> 3 AND o.branch = f.branch THEN f.session_id ELSE"
    " (WITH RECURSIVE reach(session_id, branch) AS (SELECT f.session_id, f.branch"
    " UNION SELECT b.session_id, b.branch FROM reach AS r JOIN reprise_branches AS b"
    " ON b.tenant = $1::text AND b.base_session = r.session_id AND b.base_branch = r.branch"
    " AND b.base_count > f.seq) SELECT h.session_id FROM reach AS r JOIN reprise_heads AS h"
    " ON h.tenant = $1::text AND h.session_id = r.session_id AND h.branch = r.branch"
    " WHERE h.state <> 3 ORDER BY h.session_id <> f.session_id, h.session_id LIMIT 1) END AS "
    "holder";

// The sessions that satisfy the condition, and those with which they share messages.
std::string sessions_of(std::string_view condition) {
  return cat(
      "(WITH RECURSIVE near(session_id) AS (SELECT h.session_id FROM reprise_heads AS h"
      " WHERE h.tenant = $1::text AND ",
      condition,
      " UNION SELECT b.base_session FROM near AS n JOIN reprise_branches AS b"
      " ON b.tenant = $1::text AND b.session_id = n.session_id) SELECT session_id FROM near)");
}

}  // namespace

std::string find_words_statement(const FindShape& shape) {
  int number = 4;
  const auto next = [&number](std::string_view type) { return cat("$", number++, "::", type); };
  const std::string rows = shape.window ? next("int8") : "";
  std::string range = " WHERE w.tenant = $1::text";
  if (shape.after) {
    const std::string time = next("int8");
    const std::string session = next("text");
    const std::string branch = next("int8");
    const std::string seq = next("int8");
    range += cat(" AND (w.time_us, w.session_id, w.branch, w.seq) < (", time, ", ", session, ", ",
                 branch, ", ", seq, ")");
  }
  if (shape.since) {
    range += cat(" AND w.time_us >= ", next("int8"));
  }
  if (shape.until) {
    range += cat(" AND w.time_us < ", next("int8"));
  }
  std::string sessions;
  if (shape.session) {
    sessions = sessions_of(cat("h.session_id = ", next("text")));
  }
  if (shape.folder) {
    sessions = sessions_of(cat("h.folder = ", next("bytea"), " AND h.state >= 0"));
  }
  std::string where = " w.words @@ $2::text::tsquery";
  if (!sessions.empty() && !shape.sessions) {
    where += cat(" AND w.session_id IN ", sessions);
  }
  std::string counts;
  if (shape.counts) {
    const std::string weights = next("text");
    const std::string words = next("text");
    counts = cat(", (SELECT array_to_string(ARRAY(SELECT ts_rank(", weights,
                 "::float4[], v.words, q.word::tsquery) FROM unnest(string_to_array(", words,
                 ", chr(10))) AS q(word)), ' ') FROM reprise_words AS v WHERE v.tenant = $1::text"
                 " AND v.session_id = f.session_id AND v.branch = f.branch AND v.seq = f.seq)"
                 " AS counts");
  }
  const std::string rows_in_range = cat("SELECT w.* FROM reprise_words AS w", range);
  std::string newest;
  if (shape.window) {
    newest = cat("(", rows_in_range, kOrder, " LIMIT ", rows, ") AS w WHERE", where);
  } else if (shape.sessions) {
    newest = cat("(SELECT l.* FROM ", sessions, " AS n CROSS JOIN LATERAL (", rows_in_range,
                 " AND w.session_id = n.session_id AND", where, " OFFSET 0) AS l) AS w");
  } else {
    newest = cat("(", rows_in_range, " AND", where, " OFFSET 0) AS w");
  }
  return cat(
      "WITH found AS MATERIALIZED (SELECT w.session_id, w.branch, w.seq, w.time_us, w.bytes,"
      " w.words @@ '",
      kLongMarker, "'::tsquery AS is_long FROM ", newest, kOrder,
      " LIMIT $3::int8)"
      " SELECT g.*, h.folder FROM (SELECT f.*, ",
      kHolder, counts,
      " FROM found AS f LEFT JOIN reprise_heads AS o ON o.tenant = $1::text"
      " AND o.session_id = f.session_id) AS g LEFT JOIN reprise_heads AS h"
      " ON h.tenant = $1::text AND h.session_id = g.holder"
      " ORDER BY g.time_us DESC, g.session_id DESC, g.branch DESC, g.seq DESC");
}

}  // namespace reprise::postgres

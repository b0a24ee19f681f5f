#pragma once

// The statements of the words that searches look for. They use the text-search types of PostgreSQL,
// which not every engine has; all else that statements.h says holds for them. $1 is the tenant.

#include "store/postgres/statements.h"

namespace reprise::postgres {

// Whether this role may use the index, in its own tenant alone where it sees only that.
inline constexpr std::string_view kFindWordsAccess =
    "SELECT 1 WHERE has_table_privilege(to_regclass('reprise_words'), 'INSERT')"
    " AND row_security_active(to_regclass('reprise_words'))"
    " = row_security_active(to_regclass('reprise_messages'))"
    " AND current_setting('server_encoding') = 'UTF8'"
    " AND current_setting('client_encoding') = 'UTF8'";

// Of this transaction alone: compiling these statements takes longer than running them.
inline constexpr std::string_view kDoNotCompile = "SELECT set_config('jit', 'off', true)";

// To compare all sessions, also while there are no statistics of them.
inline constexpr std::string_view kDoNotNestLoops =
    "SELECT set_config('jit', 'off', true), set_config('enable_nestloop', 'off', true)";

// Who indexes: whoever holds the tenant's row in reprise_indexing.

#define REPRISE_INDEXING                                               \
  "SELECT compared_us, messages,"                                      \
  " (extract(epoch FROM clock_timestamp()) * 1000000)::int8 AS now_us" \
  " FROM reprise_indexing WHERE tenant = $1::text"
inline constexpr std::string_view kFindIndexing = REPRISE_INDEXING;
inline constexpr std::string_view kClaimIndexing = REPRISE_INDEXING " FOR UPDATE SKIP LOCKED";
inline constexpr std::string_view kInsertIndexing =
    "INSERT INTO reprise_indexing(tenant, compared_us, messages)"
    " VALUES($1::text, 0, 0) ON CONFLICT DO NOTHING";
// 2 when all sessions were compared.
inline constexpr std::string_view kSaveCompared =
    "UPDATE reprise_indexing SET compared_us = $2::int8 WHERE tenant = $1::text";
// 2 how many more.
inline constexpr std::string_view kCountIndexed =
    "UPDATE reprise_indexing SET messages = messages + $2::int8 WHERE tenant = $1::text";

// Sessions that have gone on since they were indexed. Branches and their messages only grow, so
// that a place in a session is a pair of both.
#define REPRISE_DUE                                                                \
  " FROM reprise_heads AS h LEFT JOIN reprise_indexed AS i ON i.tenant = $1::text" \
  " AND i.session_id = h.session_id WHERE h.tenant = $1::text"                     \
  " AND (i.session_id IS NULL OR (i.branch, i.next_seq) < (h.branch, h.head))"
#define REPRISE_DUE_PAGE                                                         \
  "SELECT h.session_id, h.branch, h.head, coalesce(i.branch, 0) AS from_branch," \
  " coalesce(i.next_seq, 0) AS from_seq, coalesce(i.time_us, 0) AS time_us" REPRISE_DUE
inline constexpr std::int64_t kDueMax = 32;
// Of all: 2 the session to begin with.
inline constexpr std::string_view kFindDue =
    REPRISE_DUE_PAGE " AND h.session_id >= $2::text ORDER BY h.session_id LIMIT 32";
// Of those that have been active: 2 since when.
inline constexpr std::string_view kFindActiveDue = REPRISE_DUE_PAGE
    " AND h.state >= 0 AND h.state IN (0, 1, 2, 3)"
    " AND h.updated_slot >= " REPRISE_SLOT("$2::int8") " ORDER BY h.session_id LIMIT 32";
// About how many messages that are.
inline constexpr std::string_view kCountDue =
    "SELECT coalesce(sum(h.head - CASE WHEN i.branch = h.branch THEN i.next_seq ELSE 0 END), "
    "0)::int8"
    " AS messages" REPRISE_DUE;
inline constexpr std::string_view kFindManyIndexed =
    "SELECT 1 FROM reprise_indexed WHERE tenant = $1::text OFFSET 10000 LIMIT 1";
// What a program that did not know of the words has purged.
inline constexpr std::string_view kFindOrphans =
    "SELECT i.session_id FROM reprise_indexed AS i LEFT JOIN reprise_heads AS h"
    " ON h.tenant = $1::text AND h.session_id = i.session_id"
    " WHERE i.tenant = $1::text AND h.session_id IS NULL LIMIT 1000";
// 3 branch and 4 seq to begin with: up to 500 messages, or about 1 MiB of them.
inline constexpr std::string_view kReadDue =
    "SELECT q.branch, q.seq, q.created_us, q.more, q.role, q.content, q.detail FROM"
    " (SELECT r.*, sum(octet_length(r.content)) OVER (ORDER BY r.branch, r.seq) AS up_to FROM"
    " (SELECT branch, seq, created_us, more, role, content, detail FROM reprise_messages"
    " WHERE tenant = $1::text AND session_id = $2::text"
    " AND (branch, seq) >= ($3::int8, $4::int8) ORDER BY branch, seq LIMIT 500) AS r) AS q"
    " WHERE q.up_to - octet_length(q.content) < 1048576 ORDER BY q.branch, q.seq";
inline constexpr std::string_view kFindCreated =
    "SELECT created_us FROM reprise_sessions WHERE tenant = $1::text AND session_id = $2::text";
// Nobody purges it before the end of the transaction. Appends are not held up.
inline constexpr std::string_view kHoldSession =
    "SELECT 1 FROM reprise_heads WHERE tenant = $1::text AND session_id = $2::text FOR KEY SHARE";
// 3 branch, 4 seq, 5 time, 6 bytes, 7 words.
inline constexpr std::string_view kInsertWords =
    "INSERT INTO reprise_words(tenant, session_id, branch, seq, time_us, bytes, words)"
    " VALUES($1::text, $2::text, $3::int8, $4::int8, $5::int8, $6::int8, $7::text::tsvector)"
    " ON CONFLICT DO NOTHING";
// 3 branch, 4 seq of the next message, 5 the last time that was known.
inline constexpr std::string_view kSaveIndexed =
    "INSERT INTO reprise_indexed(tenant, session_id, branch, next_seq, time_us)"
    " VALUES($1::text, $2::text, $3::int8, $4::int8, $5::int8)"
    " ON CONFLICT(tenant, session_id) DO UPDATE SET branch = excluded.branch,"
    " next_seq = excluded.next_seq, time_us = excluded.time_us";
inline constexpr std::string_view kPurgeWords[] = {
    "DELETE FROM reprise_words WHERE tenant = $1::text AND session_id = $2::text",
    "DELETE FROM reprise_indexed WHERE tenant = $1::text AND session_id = $2::text",
};

// Searching.

// 2 folder: about how many messages it has.
inline constexpr std::string_view kCountFolder =
    "SELECT coalesce(sum(p.head), 0)::int8 AS messages FROM (SELECT h.head FROM reprise_heads AS h"
    " WHERE h.tenant = $1::text AND h.folder = $2::bytea AND h.state >= 0"
    " AND h.state IN (0, 1, 2, 3) LIMIT 5000) AS p";
// 2 query: how many of the newest messages it finds.
inline constexpr std::string_view kCountNewest =
    "SELECT count(*) AS looked_at, count(CASE WHEN w.words @@ $2::text::tsquery THEN 1 END) AS "
    "found"
    " FROM (SELECT n.words FROM reprise_words AS n WHERE n.tenant = $1::text"
    " ORDER BY n.time_us DESC, n.session_id DESC, n.branch DESC, n.seq DESC LIMIT 2000) AS w";

// The newest messages that a query finds. An index of words knows no order, and one of times no
// words: frequent words are looked for in the newest messages, rare ones by the index of words.
struct FindShape {
  bool window = false;    // among so many of the newest
  bool sessions = false;  // among those of the sessions; of neither: by the index of words
  bool after = false;
  bool since = false;
  bool until = false;
  bool session = false;
  bool folder = false;
  bool counts = false;
};
// Parameters: 2 query, 3 how many; then what the shape says, in its order: the window's rows; time,
// session, branch and seq of the place; since; until; session; folder; weights and words to count,
// parted by line feeds. Returns where a message stands, which session shows it (null for none) and
// that one's folder.
std::string find_words_statement(const FindShape& shape);

// For the test that reads them.
std::vector<std::string> word_statements();

}  // namespace reprise::postgres

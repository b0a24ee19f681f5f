#pragma once

// The index of words: the words in the form of the server's text search, and the statements. It
// uses the text-search types of PostgreSQL, which not every engine has; the other rules of
// statements.h apply. $1 is the tenant.
//
// The server's limits are positions up to 16,383, at most 255 per word, and 1 MiB in total. A
// message that exceeds them is marked as long. It has all its words, but not all of their
// positions, so a phrase is searched by its words, and must then be verified in the text.

#include <string>
#include <string_view>

#include "reprise/capabilities.h"
#include "store/postgres/statements.h"

namespace reprise::postgres {

// A marker word of long messages.
inline constexpr std::string_view kLongMarker = "''\x03long''";

// A marker word in all messages of a tenant, because all tenants share the index.
std::string tenant_marker(std::string_view tenant);

// The text of a tsvector.
std::string vector_of(const WordEntry& entry, std::string_view tenant);

// The text of a tsquery.
std::string query_of(const WordQuery& query, std::string_view tenant);

// The words of the required phrases, each as a query, separated by line feeds.
std::string words_to_count(const WordQuery& query);
// The weights of parts for the server's ranking.
std::string_view weights_of(const WordQuery& query);
// The estimated number of occurrences of each phrase in a message: at most that of each of its
// words. `ranks` is the server's ranking of the words.
std::string counts_of(const WordQuery& query, std::string_view ranks);

// Whether this role may use the index, even if row-level security limits it to its own tenant.
inline constexpr std::string_view kFindWordsAccess =
    "SELECT 1 WHERE has_table_privilege(to_regclass('reprise_words'), 'INSERT')"
    " AND row_security_active(to_regclass('reprise_words'))"
    " = row_security_active(to_regclass('reprise_messages'))"
    " AND current_setting('server_encoding') = 'UTF8'"
    " AND current_setting('client_encoding') = 'UTF8'";

// For this transaction only: JIT compilation of these statements takes longer than running them.
inline constexpr std::string_view kDoNotCompile = "SELECT set_config('jit', 'off', true)";

// For comparing all sessions efficiently even without table statistics.
inline constexpr std::string_view kDoNotNestLoops =
    "SELECT set_config('jit', 'off', true), set_config('enable_nestloop', 'off', true)";

// The process that locks the tenant's row in reprise_indexing does the indexing.

#define REPRISE_INDEXING                                               \
  "SELECT compared_us, messages,"                                      \
  " (extract(epoch FROM clock_timestamp()) * 1000000)::int8 AS now_us" \
  " FROM reprise_indexing WHERE tenant = $1::text"
inline constexpr std::string_view kFindIndexing = REPRISE_INDEXING;
inline constexpr std::string_view kClaimIndexing = REPRISE_INDEXING " FOR UPDATE SKIP LOCKED";
inline constexpr std::string_view kInsertIndexing =
    "INSERT INTO reprise_indexing(tenant, compared_us, messages)"
    " VALUES($1::text, 0, 0) ON CONFLICT DO NOTHING";
// 2 the time when all sessions were compared.
inline constexpr std::string_view kSaveCompared =
    "UPDATE reprise_indexing SET compared_us = $2::int8 WHERE tenant = $1::text";
// 2 the number of additional messages.
inline constexpr std::string_view kCountIndexed =
    "UPDATE reprise_indexing SET messages = messages + $2::int8 WHERE tenant = $1::text";

// Sessions with messages that are not indexed yet. Branches and their messages only grow, so that a
// position in a session is a pair of both.
#define REPRISE_DUE                                                                \
  " FROM reprise_heads AS h LEFT JOIN reprise_indexed AS i ON i.tenant = $1::text" \
  " AND i.session_id = h.session_id WHERE h.tenant = $1::text"                     \
  " AND (i.session_id IS NULL OR (i.branch, i.next_seq) < (h.branch, h.head))"
#define REPRISE_DUE_PAGE                                                         \
  "SELECT h.session_id, h.branch, h.head, coalesce(i.branch, 0) AS from_branch," \
  " coalesce(i.next_seq, 0) AS from_seq, coalesce(i.time_us, 0) AS time_us" REPRISE_DUE
inline constexpr std::int64_t kDueMax = 32;
// Of all sessions: 2 the first session.
inline constexpr std::string_view kFindDue =
    REPRISE_DUE_PAGE " AND h.session_id >= $2::text ORDER BY h.session_id LIMIT 32";
// Of recently active sessions: 2 the earliest activity.
inline constexpr std::string_view kFindActiveDue = REPRISE_DUE_PAGE
    " AND h.state >= 0 AND h.state IN (0, 1, 2, 3)"
    " AND h.updated_slot >= " REPRISE_SLOT("$2::int8") " ORDER BY h.session_id LIMIT 32";
// The approximate number of these messages.
inline constexpr std::string_view kCountDue =
    "SELECT coalesce(sum(h.head - CASE WHEN i.branch = h.branch THEN i.next_seq ELSE 0 END), "
    "0)::int8"
    " AS messages" REPRISE_DUE;
inline constexpr std::string_view kFindManyIndexed =
    "SELECT 1 FROM reprise_indexed WHERE tenant = $1::text OFFSET 10000 LIMIT 1";
// Indexed sessions that a role without access to this index has purged.
inline constexpr std::string_view kFindOrphans =
    "SELECT i.session_id FROM reprise_indexed AS i LEFT JOIN reprise_heads AS h"
    " ON h.tenant = $1::text AND h.session_id = i.session_id"
    " WHERE i.tenant = $1::text AND h.session_id IS NULL LIMIT 1000";
// 3 branch and 4 seq of the first message. Returns up to 500 messages, or about 1 MiB.
inline constexpr std::string_view kReadDue =
    "SELECT q.branch, q.seq, q.created_us, q.more, q.role, q.content, q.detail FROM"
    " (SELECT r.*, sum(octet_length(r.content)) OVER (ORDER BY r.branch, r.seq) AS up_to FROM"
    " (SELECT branch, seq, created_us, more, role, content, detail FROM reprise_messages"
    " WHERE tenant = $1::text AND session_id = $2::text"
    " AND (branch, seq) >= ($3::int8, $4::int8) ORDER BY branch, seq LIMIT 500) AS r) AS q"
    " WHERE q.up_to - octet_length(q.content) < 1048576 ORDER BY q.branch, q.seq";
inline constexpr std::string_view kFindCreated =
    "SELECT created_us FROM reprise_sessions WHERE tenant = $1::text AND session_id = $2::text";
// Prevents a purge until the end of the transaction, without blocking appends.
inline constexpr std::string_view kHoldSession =
    "SELECT 1 FROM reprise_heads WHERE tenant = $1::text AND session_id = $2::text FOR KEY SHARE";
// 3 branch, 4 seq, 5 time, 6 bytes, 7 words.
inline constexpr std::string_view kInsertWords =
    "INSERT INTO reprise_words(tenant, session_id, branch, seq, time_us, bytes, words)"
    " VALUES($1::text, $2::text, $3::int8, $4::int8, $5::int8, $6::int8, $7::text::tsvector)"
    " ON CONFLICT DO NOTHING";
// 3 branch, 4 seq of the next message, 5 the latest known time.
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

// 2 folder. Returns its approximate number of messages.
inline constexpr std::string_view kCountFolder =
    "SELECT coalesce(sum(p.head), 0)::int8 AS messages FROM (SELECT h.head FROM reprise_heads AS h"
    " WHERE h.tenant = $1::text AND h.folder = $2::bytea AND h.state >= 0"
    " AND h.state IN (0, 1, 2, 3) LIMIT 5000) AS p";
// 2 query. Returns how many of the newest messages it matches.
inline constexpr std::string_view kCountNewest =
    "SELECT count(*) AS looked_at, count(CASE WHEN w.words @@ $2::text::tsquery THEN 1 END) AS "
    "found"
    " FROM (SELECT n.words FROM reprise_words AS n WHERE n.tenant = $1::text"
    " ORDER BY n.time_us DESC, n.session_id DESC, n.branch DESC, n.seq DESC LIMIT 2000) AS w";

// The newest matches of a query. An index of words has no order, and one of times no words:
// frequent words are searched in the newest messages, rare ones in the index of words.
struct FindShape {
  bool window = false;    // searches a number of the newest messages
  bool sessions = false;  // searches the messages of the sessions; if both are false, the index of
                          // words
  bool after = false;
  bool since = false;
  bool until = false;
  bool session = false;
  bool folder = false;
  bool counts = false;
};
// Parameters: 2 query, 3 limit; then those of the shape, in order: the window's rows; time,
// session, branch and seq of the position; since; until; session; folder; weights and words to
// count, separated by line feeds. Returns the position of each message, the session that shows it
// (null for none) and its folder.
std::string find_words_statement(const FindShape& shape);

}  // namespace reprise::postgres

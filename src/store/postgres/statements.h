#pragma once

// All statements that the store runs. They keep to what PostgreSQL, Citus, CockroachDB and
// YugabyteDB have in common, which tests/postgres/statements_test.cpp checks: every key begins with
// the tenant, nothing is left in the server's session, no sequences, locks by name or triggers.
//
// $1 is the tenant and, where there is one, $2 the session.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/query.h"

namespace reprise::postgres {

inline constexpr std::string_view kBegin = "BEGIN";
// One state of everything for several reading statements.
inline constexpr std::string_view kBeginSnapshot =
    "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
inline constexpr std::string_view kCommit = "COMMIT";
inline constexpr std::string_view kRollback = "ROLLBACK";
// What policies hold a role to that serves several tenants. Of this transaction alone.
inline constexpr std::string_view kSetTenant =
    "SELECT set_config('reprise.tenant', $1::text, true)";

// Sessions; the statements that have their fields are in session_columns.h.

// About a minute of times: lists are read by it from indexes, so that most appends to a session
// change no column of an index, and PostgreSQL writes the new head beside the old one.
#define REPRISE_PER_SLOT " >> 26"
#define REPRISE_SLOT(microseconds) "(" microseconds REPRISE_PER_SLOT ")"

inline constexpr std::string_view kFindState =
    "SELECT state FROM reprise_heads WHERE tenant = $1::text AND session_id = $2::text";
// Whoever changes a session holds its head until the end of the transaction.
inline constexpr std::string_view kLockHead =
    "SELECT head, branch, answer, state"
    " FROM reprise_heads WHERE tenant = $1::text AND session_id = $2::text FOR UPDATE";

// Values: parts of a session that may be large, by name.
inline constexpr std::string_view kFindValues =
    "SELECT name, bytes FROM reprise_values WHERE tenant = $1::text AND session_id = $2::text"
    " ORDER BY name, part";
inline constexpr std::string_view kFindValue =
    "SELECT bytes FROM reprise_values WHERE tenant = $1::text AND session_id = $2::text"
    " AND name = $3::text ORDER BY part";
inline constexpr std::string_view kDeleteValue =
    "DELETE FROM reprise_values WHERE tenant = $1::text AND session_id = $2::text"
    " AND name = $3::text";
inline constexpr std::string_view kInsertValue =
    "INSERT INTO reprise_values(tenant, session_id, name, part, bytes)"
    " VALUES($1::text, $2::text, $3::text, $4::int8, $5::bytea)";

// What happens once: 3 its name.
inline constexpr std::string_view kFindOnce =
    "SELECT first_seq, head FROM reprise_once WHERE tenant = $1::text AND session_id = $2::text"
    " AND name = $3::bytea";
inline constexpr std::string_view kInsertOnce =
    "INSERT INTO reprise_once(tenant, session_id, name, first_seq, head)"
    " VALUES($1::text, $2::text, $3::bytea, 0, 0)";
// 3 names: which of them have happened.
inline constexpr std::string_view kFindRequests =
    "SELECT name FROM reprise_once WHERE tenant = $1::text AND session_id = $2::text"
    " AND name IN (SELECT unnest($3::bytea[]))";

// An append, all of it: the head moves when it may, everything else follows from that. No row means
// that it may not, and nothing has changed; a key that is there already (23505) that it has
// happened or that a request was counted before. What a statement could do costs as much as what it
// does, so that there is one for each shape.
//   3 expected head or null, 4 messages, 5 time of the last one or null,
//   6 names of what happens once; with has_one_name(), that name,
//   then of each message: its place in the batch, time, parts to come, role, content, detail and,
//   where one has it, author; of a single one only what follows the time, and not as arrays;
//   then for usage: input, output, reasoning and cached tokens, cost or null, price source;
//   then for an answer: the one that ends or null, the one that begins: name and start, or null
// Returns the seq of the first.
struct AppendShape {
  bool single = false;
  bool usage = false;
  bool answer = false;
  bool author = false;
  bool has_one_name() const { return single && !usage; }  // that of the append itself
};
struct AppendStatement {
  std::string text;
  std::size_t hash;  // of the text, which is long
};
const AppendStatement& append_statement(const AppendShape& shape);

// The same where tables are distributed: a statement that inserts what another part of it returns
// would go over all nodes. First the head moves, then values are inserted, each on one node. As the
// head is held in between, a client that falls silent loses it soon.
//   1 to 5 as above, then for usage and for an answer as above
// Returns the branch and the seq of the first message; no row when it may not move.
const AppendStatement& move_statement(const AppendShape& shape);
// Of this transaction alone, in milliseconds.
inline constexpr std::string_view kLimitSilence =
    "SELECT set_config('idle_in_transaction_session_timeout', '1000', true)";
inline constexpr std::string_view kFindUser = "SELECT current_user::text AS name";
// 3 name, 4 first seq, 5 head.
inline constexpr std::string_view kInsertOnceAt =
    "INSERT INTO reprise_once(tenant, session_id, name, first_seq, head)"
    " VALUES($1::text, $2::text, $3::bytea, $4::int8, $5::int8)";
// 3 branch, 4 seq, 5 time, 6 parts to come, 7 role, 8 content, 9 detail, 10 author.
inline constexpr std::string_view kInsertMessage =
    "INSERT INTO reprise_messages(tenant, session_id, branch, seq, created_us, more, role, content,"
    " detail, author) VALUES($1::text, $2::text, $3::int8, $4::int8, $5::int8, $6::int8,"
    " $7::bytea, $8::bytea, $9::bytea, $10::bytea)";

// What goes with an append in its transaction. They do nothing when the append did nothing:
// 3 is the name by which it happened once.
// 4 place in the batch, 5 part, 6 bytes.
inline constexpr std::string_view kInsertMessagePart =
    "INSERT INTO reprise_message_parts(tenant, session_id, branch, seq, part, bytes)"
    " SELECT h.tenant, h.session_id, h.branch, o.first_seq + $4::int8, $5::int8, $6::bytea"
    " FROM reprise_once AS o JOIN reprise_heads AS h"
    " ON h.tenant = o.tenant AND h.session_id = o.session_id"
    " WHERE o.tenant = $1::text AND o.session_id = $2::text AND o.name = $3::bytea";
// 4 hash.
inline constexpr std::string_view kInsertBlobRef =
    "INSERT INTO reprise_blob_refs(tenant, session_id, hash)"
    " SELECT o.tenant, o.session_id, $4::text FROM reprise_once AS o"
    " WHERE o.tenant = $1::text AND o.session_id = $2::text AND o.name = $3::bytea"
    " ON CONFLICT DO NOTHING";
// 4 tokens. Few requests write to a provider's cache, so that sum is a row of its own. It stays at
// the end of its range.
inline constexpr std::string_view kAddCacheWritten =
    "INSERT INTO reprise_once AS sum(tenant, session_id, name, first_seq, head)"
    " SELECT o.tenant, o.session_id, 'sum:cache_written'::bytea, $4::int8, 0 FROM reprise_once AS o"
    " WHERE o.tenant = $1::text AND o.session_id = $2::text AND o.name = $3::bytea"
    " ON CONFLICT(tenant, session_id, name) DO UPDATE SET first_seq ="
    " least(sum.first_seq::numeric + excluded.first_seq::numeric, 9223372036854775807)::int8";
// 4 the answer that has ended.
inline constexpr std::string_view kDeleteDeltas =
    "DELETE FROM reprise_deltas WHERE tenant = $1::text AND session_id = $2::text"
    " AND answer = $4::text AND EXISTS (SELECT 1 FROM reprise_once AS o"
    " WHERE o.tenant = $1::text AND o.session_id = $2::text AND o.name = $3::bytea)";

// Branches: what came before a suffix was replaced stays where it is.

inline constexpr std::string_view kInsertBranch =
    "INSERT INTO reprise_branches(tenant, session_id, branch, base_session, base_branch,"
    " base_count) VALUES($1::text, $2::text, $3::int8, $4::text, $5::int8, $6::int8)";
inline constexpr std::string_view kMoveToBranch =
    "UPDATE reprise_heads SET branch = $3::int8, head = $4::int8"
    " WHERE tenant = $1::text AND session_id = $2::text";

// Reading.

inline constexpr std::string_view kFindHead =
    "SELECT head, branch FROM reprise_heads WHERE tenant = $1::text AND session_id = $2::text";
inline constexpr std::string_view kFindBranch =
    "SELECT base_session, base_branch, base_count FROM reprise_branches"
    " WHERE tenant = $1::text AND session_id = $2::text AND branch = $3::int8";
// Of all branches.
inline constexpr std::string_view kCountMessages =
    "SELECT count(*) AS messages FROM reprise_messages WHERE tenant = $1::text AND session_id = "
    "$2::text";
inline constexpr std::string_view kFindBranchRanges =
    "SELECT branch, min(seq) AS first_seq, max(seq) + 1 AS end_seq FROM reprise_messages"
    " WHERE tenant = $1::text AND session_id = $2::text GROUP BY branch ORDER BY branch";
// 3 branch, 4 from, 5 to, 6 at most so many.
#define REPRISE_READ_MESSAGES                                                                    \
  "SELECT seq, created_us, more, role, content, detail FROM reprise_messages"                    \
  " WHERE tenant = $1::text AND session_id = $2::text AND branch = $3::int8 AND seq >= $4::int8" \
  " AND seq < $5::int8 ORDER BY seq"
inline constexpr std::string_view kReadForwards = REPRISE_READ_MESSAGES " LIMIT $6::int8";
inline constexpr std::string_view kReadBackwards = REPRISE_READ_MESSAGES " DESC LIMIT $6::int8";
// The last message, when it is the session's own; content is null when it is long.
inline constexpr std::string_view kReadLast =
    "SELECT m.seq, m.created_us, m.more, m.role, m.detail, CASE WHEN m.more = 0"
    " AND octet_length(m.content) <= 16384 THEN m.content END AS content FROM reprise_heads AS h"
    " JOIN reprise_messages AS m ON m.tenant = h.tenant AND m.session_id = h.session_id"
    " AND m.branch = h.branch AND m.seq = h.head - 1"
    " WHERE h.tenant = $1::text AND h.session_id = $2::text";
inline constexpr std::string_view kReadParts =
    "SELECT bytes FROM reprise_message_parts WHERE tenant = $1::text AND session_id = $2::text"
    " AND branch = $3::int8 AND seq = $4::int8 ORDER BY part";

// Running answers.

// Of this transaction alone: its commit does not wait for the disk or a standby. A server that
// crashes may lose it, but never without all that was committed after it.
inline constexpr std::string_view kDoNotSync =
    "SELECT set_config('synchronous_commit', 'off', true)";
// Of this transaction alone: nobody waits long for a lock, in milliseconds.
inline constexpr std::string_view kLimitLocks = "SELECT set_config('lock_timeout', '250', true)";

// 3 answer: held, when it is running. Returns the place of its last piece, no row when it is not.
inline constexpr std::string_view kLockAnswer =
    "SELECT coalesce((SELECT max(d.n) FROM reprise_deltas AS d WHERE d.tenant = $1::text"
    " AND d.session_id = $2::text AND d.answer = $3::text), 0) AS last FROM reprise_heads AS h"
    " WHERE h.tenant = $1::text AND h.session_id = $2::text AND h.answer = $3::text FOR UPDATE";
// 3 answer, 4 the piece's name, 5 part, 6 bytes, 7 the place of the last piece that its writer
// stored, or 0. Returns its own place, no row when the answer is not running. A key that is there
// already (23505) means that the piece is, too.
inline constexpr std::string_view kInsertDelta =
    "INSERT INTO reprise_deltas(tenant, session_id, answer, piece, part, body, n)"
    " SELECT h.tenant, h.session_id, $3::text, $4::text, $5::int8, $6::bytea,"
    " greatest((SELECT max(d.n) FROM reprise_deltas AS d WHERE d.tenant = $1::text"
    " AND d.session_id = $2::text AND d.answer = $3::text AND d.piece <> $4::text), $7::int8) + 1"
    " FROM reprise_heads AS h"
    " WHERE h.tenant = $1::text AND h.session_id = $2::text AND h.answer = $3::text RETURNING n";
// A piece that the server has lost, at its place: 7.
inline constexpr std::string_view kRestoreDelta =
    "INSERT INTO reprise_deltas(tenant, session_id, answer, piece, part, body, n)"
    " SELECT h.tenant, h.session_id, $3::text, $4::text, $5::int8, $6::bytea, $7::int8"
    " FROM reprise_heads AS h"
    " WHERE h.tenant = $1::text AND h.session_id = $2::text AND h.answer = $3::text"
    " ON CONFLICT DO NOTHING";
// 3 answer, 4 hash.
inline constexpr std::string_view kInsertBlobRefOfAnswer =
    "INSERT INTO reprise_blob_refs(tenant, session_id, hash)"
    " SELECT h.tenant, h.session_id, $4::text FROM reprise_heads AS h"
    " WHERE h.tenant = $1::text AND h.session_id = $2::text AND h.answer = $3::text"
    " ON CONFLICT DO NOTHING";
inline constexpr std::string_view kFindAnswer =
    "SELECT answer, answer_start FROM reprise_heads"
    " WHERE tenant = $1::text AND session_id = $2::text";
// 3 answer, 4 its start with the new lease. No row when it is not running.
inline constexpr std::string_view kRenewAnswer =
    "UPDATE reprise_heads SET answer_start = $4::bytea"
    " WHERE tenant = $1::text AND session_id = $2::text AND answer = $3::text RETURNING 1";
inline constexpr std::string_view kFindDeltas =
    "SELECT d.n, d.piece, d.body FROM reprise_heads AS h JOIN reprise_deltas AS d"
    " ON d.tenant = h.tenant AND d.session_id = h.session_id AND d.answer = h.answer"
    " WHERE h.tenant = $1::text AND h.session_id = $2::text ORDER BY d.n, d.piece, d.part";

// Lists are put together from few parts, so that the server finds the index for each. The states
// are part of the text: it then knows enough to plan once, which takes longer than the list itself.
//
// A list by title or mode, which stand beside the heads, looks at kLookedAt sessions and returns
// those that match, and the last one in any case: `is_match` says which. When that is not enough,
// an index of titles or modes may know that there are only few, which are then listed alone. After
// more such looks, more are few.
inline constexpr std::size_t kLookedAt = 500;
inline constexpr std::int64_t kFewSessions = 2000;
inline constexpr int kManyLooks = 32;
inline constexpr std::int64_t kFewAfterManyLooks = 50'000;
struct ListShape {
  std::vector<std::int64_t> states;  // at least one
  std::vector<store::ListGroup> groups = {{}};
  std::size_t rows = 1;
  std::optional<std::int64_t> after = std::nullopt;  // a place in the order: in this group
  bool folder = false;
  bool mode = false;
  bool prefix = false;
  bool short_id = false;
  bool title = false;
  bool answering = false;
  bool author = false;
  bool from_index = false;  // the few that the index of titles or modes has
  std::int64_t few = kFewSessions;
  bool distributed = false;  // the tables are, so that each statement must name its tenant plainly
  bool slots = true;  // the tables have them: the order is that of the indexes, sorted in each slot
  bool flags = true;  // likewise
  bool looks() const { return (mode || title) && !from_index; }
  std::size_t heads() const { return looks() ? std::max(rows, kLookedAt) : rows; }
};
// Parameters: tenant; then what the shape says, in its order: updated_us and session of the place,
// folder, mode, the prefix and what comes after all that begin with it, the same of a short id and
// its pattern, title, author; and of a title from the index its grams.
std::string list_statement(const ListShape& shape);
// How many sessions the index has, in `found`; more than are few when it is of no use.
// Parameters: tenant, mode, title, grams.
std::string count_few_statement(const ListShape& shape);

// What the indexes have. Modes may be too long for one. Of a title's bytes each three that follow
// one another, in hex and behind the tenant; those after a thousand are left out, and a word says
// so.
#define REPRISE_SHORT_MODE "octet_length(mode) <= 200"
inline constexpr std::size_t kIndexedMode = 200;
#define REPRISE_LONG_TITLE ":long"
#define REPRISE_GRAMS_FROM(first, before)                 \
  "regexp_replace(left(encode(substr(title_lower, " first \
  ", 999), 'hex'), (octet_length(title_lower) - " before  \
  ") / 3 * 6), '(.{6})', ' ' || tenant"                   \
  " || ':\\1', 'g')"
#define REPRISE_TITLE_GRAMS \
  "string_to_array(ltrim(" REPRISE_GRAMS_FROM("1", "0") " || " REPRISE_GRAMS_FROM(  \
      "2", "1") " || " REPRISE_GRAMS_FROM("3", "2") " || CASE WHEN"                 \
  " octet_length(title_lower) > 1000 THEN ' ' || tenant || '" REPRISE_LONG_TITLE "' ELSE '' END," \
  " ' '), ' ')"

// What statistics call it: its first table with what is done to it ("UPDATE reprise_heads"), or its
// first word.
std::string statement_name(std::string_view sql);

// For the test that reads them: all above, those in statements_beside.h, and lists of every shape.
std::vector<std::string> all_statements();

}  // namespace reprise::postgres

#pragma once

// All statements of the store. Apart from the exceptions in tests/postgres/statements_test.cpp,
// which checks this, they are limited to what PostgreSQL, Citus, CockroachDB and YugabyteDB have in
// common: every key begins with the tenant, no state is left in the server's session, and there are
// no sequences, advisory locks or triggers.
//
// $1 is the tenant and, if there is one, $2 the session. Comments number the other parameters: in
// "3 branch, 4 seq", $3 is the branch.

#include <algorithm>
#include <cstddef>
#include <cstdint>  // IWYU pragma: export
#include <optional>
#include <string>
#include <string_view>
#include <utility>  // IWYU pragma: export
#include <vector>

#include "reprise/types.h"  // IWYU pragma: export
#include "store/query.h"

namespace reprise::postgres {

inline constexpr std::string_view kBegin = "BEGIN";
// A snapshot for several reading statements.
inline constexpr std::string_view kBeginSnapshot =
    "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
inline constexpr std::string_view kCommit = "COMMIT";
inline constexpr std::string_view kRollback = "ROLLBACK";
// Sets the tenant for the row-level security policies, for this transaction only.
inline constexpr std::string_view kSetTenant =
    "SELECT set_config('reprise.tenant', $1::text, true)";

// Sessions; the statements that have their fields are in rows.h.

// The slot of a time, about a minute: lists are read from indexes by slot, so that most appends to
// a session change no column of an index, and PostgreSQL writes the new head beside the old one.
#define REPRISE_PER_SLOT " >> 26"
inline constexpr int kSlotBits = 26;
#define REPRISE_SLOT(microseconds) "(" microseconds REPRISE_PER_SLOT ")"

inline constexpr std::string_view kFindState =
    "SELECT state FROM reprise_heads WHERE tenant = $1::text AND session_id = $2::text";
// Writers lock a session's head until the end of the transaction.
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

// Completed operations: 3 name.
inline constexpr std::string_view kFindOnce =
    "SELECT first_seq, head FROM reprise_once WHERE tenant = $1::text AND session_id = $2::text"
    " AND name = $3::bytea";
inline constexpr std::string_view kInsertOnce =
    "INSERT INTO reprise_once(tenant, session_id, name, first_seq, head)"
    " VALUES($1::text, $2::text, $3::bytea, 0, 0)";
// The folders of all sessions, from an index: as many steps as there are folders.
inline constexpr std::string_view kFolders =
    "WITH RECURSIVE next(folder) AS ((SELECT h.folder FROM reprise_heads AS h"
    " WHERE h.tenant = $1::text AND h.state >= 0 ORDER BY h.folder LIMIT 1)"
    " UNION ALL SELECT (SELECT h.folder FROM reprise_heads AS h WHERE h.tenant = $1::text"
    " AND h.state >= 0 AND h.folder > n.folder ORDER BY h.folder LIMIT 1)"
    " FROM next AS n WHERE n.folder IS NOT NULL)"
    " SELECT n.folder FROM next AS n WHERE n.folder IS NOT NULL";
// 3 names. Returns those that are completed.
inline constexpr std::string_view kFindRequests =
    "SELECT name FROM reprise_once WHERE tenant = $1::text AND session_id = $2::text"
    " AND name IN (SELECT unnest($3::bytea[]))";

// Numbers the parameters of a statement in order of use.
class Placeholders {
 public:
  explicit Placeholders(std::size_t first) : next_(first) {}
  std::string next(std::string_view type);  // "$3::int8"; `type` must be a constant
  const std::vector<std::string_view>& types() const { return types_; }

 private:
  std::size_t next_;
  std::vector<std::string_view> types_;
};

// A complete append: the head moves if that is allowed, and everything else depends on that. No row
// means that it is not allowed, and that nothing has changed; an existing key (23505) means that it
// was already done, or that a request was already counted. Optional parts of a statement cost time
// even if they are unused, so there is one statement for each shape.
//   3 expected head or null, 4 messages, 5 time of the last one or null,
//   6 names of the operation and requests; with has_one_name(), the only name,
//   then for each message: its position in the batch, time, number of further parts, role, content,
//   detail and, if one has it, author; for a single one only those after the time, not as arrays;
//   then for usage: input, output, reasoning and cached tokens, cost or null, price source;
//   then for an answer: the one that ends or null, the one that begins: id and start, or null
// Returns the seq of the first message.
struct AppendShape {
  bool single = false;
  bool usage = false;
  bool answer = false;
  bool author = false;
  bool has_one_name() const { return single && !usage; }  // only that of the append itself
};
struct AppendStatement {
  std::string text;
  std::size_t hash;  // of the text, which is long
};
const AppendStatement& append_statement(const AppendShape& shape);

// Those of all shapes.
const std::vector<AppendStatement>& append_statements();

// The same for distributed tables: a statement that inserts the results of another part of it would
// involve all nodes. First the head moves, then values are inserted, each on one node. Since the
// head is locked in between, a silent client loses the lock soon.
//   1 to 5 as above, then for usage and for an answer as above
// Returns the branch and the seq of the first message; no row if it is not allowed.
const AppendStatement& move_statement(const AppendShape& shape);

// An append as a function, which Citus runs on the node that has the tenant. It has an overload for
// each shape, all with authors, and gets another name whenever one of them changes, so that older
// programs still have theirs.
//   1 to 5 as above, 6 names of the operation and requests, then for each message: time, number of
//   further parts, role, content, detail and author; for a single one not as arrays, without the
//   time, 6 the name of the operation and, for usage, at the end that of the request or null;
//   then for usage: tokens written to a cache, and as above; then for an answer as above
// Returns the seq of the first message, or null if the append is not allowed.
const AppendStatement& append_call(const AppendShape& shape);
std::vector<AppendShape> append_function_shapes();
std::string append_signature(const AppendShape& shape);  // "name(type, type…)"
// The statement that creates it, in the schema of the tables (quoted if it has to be).
std::string create_append_function(const AppendShape& shape, std::string_view schema);
// For this transaction only, in milliseconds.
inline constexpr std::string_view kLimitSilence =
    "SELECT set_config('idle_in_transaction_session_timeout', '1000', true)";
inline constexpr std::string_view kFindUser = "SELECT current_user::text AS name";
// 3 name, 4 first seq, 5 head.
inline constexpr std::string_view kInsertOnceAt =
    "INSERT INTO reprise_once(tenant, session_id, name, first_seq, head)"
    " VALUES($1::text, $2::text, $3::bytea, $4::int8, $5::int8)";
// 3 branch, 4 seq, 5 time, 6 number of further parts, 7 role, 8 content, 9 detail, 10 author.
inline constexpr std::string_view kInsertMessage =
    "INSERT INTO reprise_messages(tenant, session_id, branch, seq, created_us, more, role, content,"
    " detail, author) VALUES($1::text, $2::text, $3::int8, $4::int8, $5::int8, $6::int8,"
    " $7::bytea, $8::bytea, $9::bytea, $10::bytea)";

// Statements in the transaction of an append. They do nothing if the append did nothing: 3 is the
// name of its operation.
// 4 position in the batch, 5 part, 6 bytes.
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
#define REPRISE_ADD_TO_SUM                                           \
  " ON CONFLICT(tenant, session_id, name) DO UPDATE SET first_seq =" \
  " least(sum.first_seq::numeric + excluded.first_seq::numeric, 9223372036854775807)::int8"
// 4 tokens. Few requests write to a provider's cache, so this sum has a row of its own. The sum
// saturates.
inline constexpr std::string_view kAddCacheWritten =
    "INSERT INTO reprise_once AS sum(tenant, session_id, name, first_seq, head)"
    " SELECT o.tenant, o.session_id, 'sum:cache_written'::bytea, $4::int8, 0 FROM reprise_once AS o"
    " WHERE o.tenant = $1::text AND o.session_id = $2::text AND o.name = "
    "$3::bytea" REPRISE_ADD_TO_SUM;
// 4 the time of the last message, which is later than its arrival.
inline constexpr std::string_view kSetAhead =
    "UPDATE reprise_heads SET ahead_us = $4::int8 WHERE tenant = $1::text"
    " AND session_id = $2::text AND EXISTS (SELECT 1 FROM reprise_once AS o"
    " WHERE o.tenant = $1::text AND o.session_id = $2::text AND o.name = $3::bytea)";
// 3 the time of the last activity, 4 that of the last message, if it is later.
inline constexpr std::string_view kSetActivity =
    "UPDATE reprise_heads SET updated_us = $3::int8, updated_slot = " REPRISE_SLOT("$3::int8") ","
    " ahead_us = $4::int8 WHERE tenant = $1::text AND session_id = $2::text";
// 4 the ended answer.
inline constexpr std::string_view kDeleteDeltas =
    "DELETE FROM reprise_deltas WHERE tenant = $1::text AND session_id = $2::text"
    " AND answer = $4::text AND EXISTS (SELECT 1 FROM reprise_once AS o"
    " WHERE o.tenant = $1::text AND o.session_id = $2::text AND o.name = $3::bytea)";

// Branches: messages before a replaced suffix are not moved.

inline constexpr std::string_view kInsertBranch =
    "INSERT INTO reprise_branches(tenant, session_id, branch, base_session, base_branch,"
    " base_count) VALUES($1::text, $2::text, $3::int8, $4::text, $5::int8, $6::int8)";
inline constexpr std::string_view kMoveToBranch =
    "UPDATE reprise_heads SET branch = $3::int8, head = $4::int8"
    " WHERE tenant = $1::text AND session_id = $2::text";

// Reading.

// With the base of its branch; null if the branch begins the session.
inline constexpr std::string_view kFindHead =
    "SELECT h.head, h.branch, b.base_session, b.base_branch, b.base_count FROM reprise_heads AS h"
    " LEFT JOIN reprise_branches AS b ON b.tenant = h.tenant AND b.session_id = h.session_id"
    " AND b.branch = h.branch WHERE h.tenant = $1::text AND h.session_id = $2::text";
inline constexpr std::string_view kFindBranch =
    "SELECT base_session, base_branch, base_count FROM reprise_branches"
    " WHERE tenant = $1::text AND session_id = $2::text AND branch = $3::int8";
// Counts the messages of all branches.
inline constexpr std::string_view kCountMessages =
    "SELECT count(*) AS messages FROM reprise_messages WHERE tenant = $1::text AND session_id = "
    "$2::text";
// Positions beyond the limit are damage, which verification reports.
inline constexpr std::string_view kFindBranchRanges =
    "SELECT branch, min(seq) AS first_seq, least(max(seq), 1099511627775) + 1 AS end_seq FROM "
    "reprise_messages"
    " WHERE tenant = $1::text AND session_id = $2::text GROUP BY branch ORDER BY branch";
static_assert(kSeqMax.value == 1099511627776);
// 3 branch, 4 from, 5 to, 6 limit.
#define REPRISE_READ_MESSAGES                                                                    \
  "SELECT seq, created_us, more, role, content, detail FROM reprise_messages"                    \
  " WHERE tenant = $1::text AND session_id = $2::text AND branch = $3::int8 AND seq >= $4::int8" \
  " AND seq < $5::int8 ORDER BY seq"
inline constexpr std::string_view kReadForwards = REPRISE_READ_MESSAGES " LIMIT $6::int8";
inline constexpr std::string_view kReadBackwards = REPRISE_READ_MESSAGES " DESC LIMIT $6::int8";
// The last message if it is the session's own; content is null if it is long.
inline constexpr std::string_view kReadLast =
    "SELECT m.seq, m.created_us, m.more, m.role, m.detail, CASE WHEN m.more = 0"
    " AND octet_length(m.content) <= 16384 THEN m.content END AS content FROM reprise_heads AS h"
    " JOIN reprise_messages AS m ON m.tenant = h.tenant AND m.session_id = h.session_id"
    " AND m.branch = h.branch AND m.seq = greatest(h.head, 0) - 1"
    " WHERE h.tenant = $1::text AND h.session_id = $2::text";
// 3 seq. The same for any message.
inline constexpr std::string_view kReadOne =
    "SELECT m.seq, m.created_us, m.more, m.role, m.detail, CASE WHEN m.more = 0"
    " AND octet_length(m.content) <= 65536 THEN m.content END AS content FROM reprise_heads AS h"
    " JOIN reprise_messages AS m ON m.tenant = h.tenant AND m.session_id = h.session_id"
    " AND m.branch = h.branch AND m.seq = $3::int8"
    " WHERE h.tenant = $1::text AND h.session_id = $2::text AND h.head > $3::int8";
// The messages of short sessions, each with its session: 2 ids with spaces between. A session that
// has many or shares any has no row; one without messages has a row without seq. Content is null if
// it is long.
inline constexpr std::string_view kReadShort =
    "SELECT q.id AS session_id, h.head, m.* FROM unnest(string_to_array($2::text, ' ')) AS q(id)"
    " CROSS JOIN LATERAL (SELECT i.head, i.branch FROM reprise_heads AS i WHERE i.tenant = $1::text"
    " AND i.session_id = q.id AND i.head BETWEEN 0 AND 32 AND NOT EXISTS (SELECT 1 FROM"
    " reprise_branches AS b WHERE b.tenant = $1::text AND b.session_id = q.id"
    " AND b.branch = i.branch) OFFSET 0) AS h LEFT JOIN LATERAL (SELECT r.seq, r.created_us, "
    "r.more,"
    " r.role, r.detail, CASE WHEN r.more = 0 AND octet_length(r.content) <= 16384"
    " AND octet_length(coalesce(r.detail, '')) <= 16384 THEN r.content END AS content"
    " FROM reprise_messages AS r WHERE r.tenant = $1::text AND r.session_id = q.id"
    " AND r.branch = h.branch AND r.seq < h.head OFFSET 0) AS m ON true";
// Other sessions whose short ids are in a range: 3 its begin, 4 its end.
inline constexpr std::string_view kFindSimilar =
    "SELECT i.session_id FROM reprise_heads AS i WHERE i.tenant = $1::text AND i.state >= 0"
    " AND substr(i.session_id, 25) >= $3::text AND substr(i.session_id, 25) < $4::text"
    " AND i.session_id <> $2::text";
inline constexpr std::string_view kReadParts =
    "SELECT bytes FROM reprise_message_parts WHERE tenant = $1::text AND session_id = $2::text"
    " AND branch = $3::int8 AND seq = $4::int8 ORDER BY part";

// Running answers.

// For this transaction only: its commit does not wait for the disk or a standby. A server that
// crashes may lose it, but not without losing everything committed after it.
inline constexpr std::string_view kDoNotSync =
    "SELECT set_config('synchronous_commit', 'off', true)";
// The same for distributed tables: their nodes get only what a statement sets, and only after the
// first one.
inline constexpr std::string_view kPropagateSettings =
    "SET LOCAL citus.propagate_set_commands = 'local'";
inline constexpr std::string_view kDoNotSyncOnNodes = "SET LOCAL synchronous_commit = off";
// For this transaction only: limits waits for locks, in milliseconds.
inline constexpr std::string_view kLimitLocks = "SELECT set_config('lock_timeout', '250', true)";

// 3 answer. Locks the session if the answer is running. Returns the position of its last piece, no
// row if it is not running.
inline constexpr std::string_view kLockAnswer =
    "SELECT coalesce((SELECT max(d.n) FROM reprise_deltas AS d WHERE d.tenant = $1::text"
    " AND d.session_id = $2::text AND d.answer = $3::text), 0) AS last FROM reprise_heads AS h"
    " WHERE h.tenant = $1::text AND h.session_id = $2::text AND h.answer = $3::text FOR UPDATE";
// 3 answer, 4 the piece's name, 5 part, 6 bytes, 7 the position of the last piece stored by its
// writer, or 0. Returns its position, no row if the answer is not running. An existing key (23505)
// means that the piece is already stored.
inline constexpr std::string_view kInsertDelta =
    "INSERT INTO reprise_deltas(tenant, session_id, answer, piece, part, body, n)"
    " SELECT h.tenant, h.session_id, $3::text, $4::text, $5::int8, $6::bytea,"
    " greatest((SELECT max(d.n) FROM reprise_deltas AS d WHERE d.tenant = $1::text"
    " AND d.session_id = $2::text AND d.answer = $3::text AND d.piece <> $4::text), $7::int8) + 1"
    " FROM reprise_heads AS h"
    " WHERE h.tenant = $1::text AND h.session_id = $2::text AND h.answer = $3::text RETURNING n";
// Restores a lost piece: 7 its position.
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
// 3 answer, 4 its start with the new lease. No row if it is not running.
inline constexpr std::string_view kRenewAnswer =
    "UPDATE reprise_heads SET answer_start = $4::bytea"
    " WHERE tenant = $1::text AND session_id = $2::text AND answer = $3::text RETURNING 1";
inline constexpr std::string_view kFindDeltas =
    "SELECT d.n, d.piece, d.body FROM reprise_heads AS h JOIN reprise_deltas AS d"
    " ON d.tenant = h.tenant AND d.session_id = h.session_id AND d.answer = h.answer"
    " WHERE h.tenant = $1::text AND h.session_id = $2::text ORDER BY d.n, d.piece, d.part";

// Lists are composed of few parts, so that the server finds the index for each. The states are part
// of the text: this lets the server plan only once, which takes longer than the list itself.
//
// A list by title looks at so many sessions in the order of lists and returns those that match, and
// where it has ended: part `cut_part`, before the slot `cut_slot`; both are null when it has looked
// at all. list.cpp decides how many, and when the index of titles is asked: it returns all sessions
// that it has when these are few, which `found` says.
//
// Both by title and by mode look at the copies in the heads. A list of a frequent author looks at
// kExaminedMax sessions and the rows beside their heads, and returns also the last one of them:
// `is_match` says which match.
inline constexpr std::size_t kExaminedMax = 500;
inline constexpr std::int64_t kFewSessions = 500;
struct ListShape {
  std::vector<std::int64_t> states;  // at least one
  std::vector<store::ListGroup> groups = {{}};
  std::size_t rows = 1;
  std::optional<std::int64_t> after = std::nullopt;  // a position in the order of this group
  bool folder = false;
  bool mode = false;
  bool prefix = false;
  bool short_id = false;
  bool title = false;
  bool answering = false;
  bool author = false;
  bool reads_authors = false;    // in the messages of each session, for a frequent author
  std::size_t examined_max = 0;  // in each part, of a title or of a folder's mode
  bool from_index = false;       // the few that the index of titles has
  bool distributed = false;  // the tables are, so that each statement must name its tenant plainly
  // Whether title and mode are compared in the rows beside the heads, not by their copies.
  bool compares_rows() const { return from_index || reads_authors; }
  // Whether a part scans the copies up to an end.
  bool scans_copies() const {
    return (title || (mode && folder)) && !from_index && !prefix && !short_id && !author;
  }
  std::size_t heads() const { return reads_authors ? std::max(rows, kExaminedMax) : rows; }
};
// Parameters: tenant; then those of the shape, in order: updated_us and session of the position,
// folder, mode, the prefix and the end of its range, the same of a short id and its pattern, title,
// author; and for a title in the index, its grams.
std::string list_statement(const ListShape& shape);
// Whether so many messages are of an author that finding all of their sessions takes longer than
// looking at the newest sessions: 2 author.
inline constexpr std::string_view kFindManyOfAuthor =
    "SELECT 1 FROM reprise_messages WHERE tenant = $1::text AND author = $2::bytea"
    " OFFSET 5000 LIMIT 1";

// Heads have copies of what stands in reprise_sessions, so that lists find it by activity: of the
// title its beginning, of the mode what index_key() makes of it.
inline constexpr std::size_t kTitleStart = 200;

// The contents of the index of titles. A title is represented by all sequences of three of its
// bytes, in hex and prefixed with the tenant; those after the first thousand are omitted, which a
// marker word shows.
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

// Artefacts: 3 step, 4 name.

inline constexpr std::string_view kDeleteArtefact =
    "DELETE FROM reprise_artefacts WHERE tenant = $1::text AND session_id = $2::text"
    " AND step = $3::int8 AND name = $4::text";
inline constexpr std::string_view kFindArtefactEnd =
    "SELECT coalesce(max(part), 0) AS last FROM reprise_artefacts WHERE tenant = $1::text"
    " AND session_id = $2::text AND step = $3::int8 AND name = $4::text";
// 5 part, 6 bytes.
inline constexpr std::string_view kInsertArtefact =
    "INSERT INTO reprise_artefacts(tenant, session_id, step, name, part, bytes)"
    " VALUES($1::text, $2::text, $3::int8, $4::text, $5::int8, $6::bytea)";
inline constexpr std::string_view kFindArtefact =
    "SELECT bytes FROM reprise_artefacts WHERE tenant = $1::text AND session_id = $2::text"
    " AND step = $3::int8 AND name = $4::text ORDER BY part";
inline constexpr std::string_view kListArtefacts =
    "SELECT step, name, sum(octet_length(bytes))::int8 AS size FROM reprise_artefacts"
    " WHERE tenant = $1::text AND session_id = $2::text GROUP BY step, name ORDER BY step, name";

// Blobs: 2 is the hash.

inline constexpr std::string_view kFindBlobPart =
    "SELECT bytes FROM reprise_blobs WHERE tenant = $1::text AND hash = $2::text"
    " AND part = $3::int8";
// 5 time, 6 client: the blob is not removed for a while even without references. `put_by` is set
// while it may be unreferenced, and cleared when that was checked.
inline constexpr std::string_view kInsertBlobPart =
    "INSERT INTO reprise_blobs(tenant, hash, part, bytes, put_us, put_by)"
    " VALUES($1::text, $2::text, $3::int8, $4::bytea, $5::int8, $6::text) ON CONFLICT DO NOTHING";
inline constexpr std::string_view kTouchBlob =
    "UPDATE reprise_blobs SET put_us = $3::int8, put_by = $4::text"
    " WHERE tenant = $1::text AND hash = $2::text AND part = 0 RETURNING 1";
inline constexpr std::string_view kListBlobs =
    "SELECT hash FROM reprise_blobs WHERE tenant = $1::text AND part = 0 AND hash > $2::text"
    " ORDER BY hash LIMIT 1";
// A purge: 2 is the session; only blobs put before 3 are removed. The first part represents all
// parts: putting the blob again updates it, which takes the blob out of this statement.
inline constexpr std::string_view kDeleteBlobsOfSession =
    "WITH gone AS (DELETE FROM reprise_blobs AS b WHERE b.tenant = $1::text AND b.part = 0"
    " AND b.put_us < $3::int8 AND b.hash IN (SELECT r.hash FROM reprise_blob_refs AS r"
    " WHERE r.tenant = $1::text AND r.session_id = $2::text) AND NOT EXISTS"
    " (SELECT 1 FROM reprise_blob_refs AS o WHERE o.tenant = $1::text AND o.hash = b.hash"
    " AND o.session_id <> $2::text) RETURNING b.hash)"
    " DELETE FROM reprise_blobs AS p USING gone AS g"
    " WHERE p.tenant = $1::text AND p.hash = g.hash AND p.part > 0";
// The other referenced blobs are checked again later, because another purge may be removing their
// last reference. 3 client.
inline constexpr std::string_view kDoubtBlobsOfSession =
    "UPDATE reprise_blobs AS b SET put_by = $3::text WHERE b.tenant = $1::text AND b.part = 0"
    " AND b.put_by = '' AND b.hash IN (SELECT r.hash FROM reprise_blob_refs AS r"
    " WHERE r.tenant = $1::text AND r.session_id = $2::text)";
// The oldest blobs that may be unreferenced: 2 put before this time, 3 limit.
#define REPRISE_OLDEST_PUT                                                          \
  "(SELECT d.hash FROM reprise_blobs AS d WHERE d.tenant = $1::text AND d.part = 0" \
  " AND d.put_by <> '' AND d.put_us < $2::int8 ORDER BY d.tenant, d.put_us LIMIT $3::int8)"
#define REPRISE_NAMES_OF_BLOB \
  "(SELECT 1 FROM reprise_blob_refs AS r WHERE r.tenant = $1::text AND r.hash = b.hash)"
// NOLINTBEGIN(bugprone-suspicious-missing-comma): each is put together by the macros.
inline constexpr std::string_view kDeleteUnreferencedBlobs =
    "WITH gone AS (DELETE FROM reprise_blobs AS b WHERE b.tenant = $1::text AND b.part = 0"
    " AND b.put_us < $2::int8 AND b.hash IN " REPRISE_OLDEST_PUT
    " AND NOT EXISTS " REPRISE_NAMES_OF_BLOB
    " RETURNING b.hash)"
    " DELETE FROM reprise_blobs AS p USING gone AS g"
    " WHERE p.tenant = $1::text AND p.hash = g.hash AND p.part > 0";
inline constexpr std::string_view kSettleReferencedBlobs =
    "UPDATE reprise_blobs AS b SET put_by = '' WHERE b.tenant = $1::text AND b.part = 0"
    " AND b.put_us < $2::int8 AND b.hash IN " REPRISE_OLDEST_PUT
    " AND EXISTS " REPRISE_NAMES_OF_BLOB;
// NOLINTEND(bugprone-suspicious-missing-comma)
inline constexpr std::string_view kCountUnnamedBlobs =
    "SELECT count(*) AS unnamed FROM reprise_blobs AS b WHERE b.tenant = $1::text AND b.part = 0"
    " AND b.put_by <> '' AND NOT EXISTS " REPRISE_NAMES_OF_BLOB;
inline constexpr std::string_view kFindMissingBlobs =
    "SELECT r.hash FROM reprise_blob_refs AS r WHERE r.tenant = $1::text"
    " EXCEPT SELECT b.hash FROM reprise_blobs AS b WHERE b.tenant = $1::text";

// The only statement about all tenants.
inline constexpr std::string_view kFindNextTenant =
    "SELECT tenant FROM reprise_heads WHERE tenant > $1::text ORDER BY tenant LIMIT 1";
// Expired operations of a page of sessions: 2 the session before the page. Returns the last of up
// to 500, null if there are none.
inline constexpr std::string_view kFindOperationsPage =
    "SELECT max(p.session_id) AS last FROM (SELECT h.session_id FROM reprise_heads AS h"
    " WHERE h.tenant = $1::text AND h.session_id > $2::text ORDER BY h.session_id LIMIT 500) AS p";
// Only sessions unchanged since 3 lose their operations; 4 the last session.
inline constexpr std::string_view kForgetOperations =
    "WITH gone AS (DELETE FROM reprise_once WHERE tenant = $1::text AND session_id > $2::text"
    " AND session_id <= $4::text AND name >= 'operation:'::bytea AND name < 'operation;'::bytea"
    " AND session_id IN (SELECT h.session_id FROM reprise_heads AS h WHERE h.tenant = $1::text"
    " AND h.session_id > $2::text AND h.session_id <= $4::text AND h.updated_us < $3::int8)"
    " RETURNING 1) SELECT count(*) AS forgotten FROM gone";

// Trash.

// 3 time, 4 the number of the state.
inline constexpr std::string_view kTrashSession =
    "UPDATE reprise_sessions AS s SET trashed_us = $3::int8, state_before_trash = h.state"
    " FROM reprise_heads AS h WHERE s.tenant = $1::text AND s.session_id = $2::text"
    " AND h.tenant = $1::text AND h.session_id = $2::text AND h.state <> $4::int8";
inline constexpr std::string_view kSetState =
    "UPDATE reprise_heads SET state = $3::int8 WHERE tenant = $1::text AND session_id = $2::text";
inline constexpr std::string_view kRestoreHead =
    "UPDATE reprise_heads AS h SET state = coalesce(s.state_before_trash, 0)"
    " FROM reprise_sessions AS s WHERE h.tenant = $1::text AND h.session_id = $2::text"
    " AND s.tenant = $1::text AND s.session_id = $2::text";
inline constexpr std::string_view kRestoreSession =
    "UPDATE reprise_sessions SET trashed_us = NULL, state_before_trash = NULL"
    " WHERE tenant = $1::text AND session_id = $2::text";
// Other sessions that share messages of the session.
inline constexpr std::string_view kFindSharing =
    "SELECT DISTINCT session_id FROM reprise_branches WHERE tenant = $1::text"
    " AND base_session = $2::text AND session_id <> $2::text ORDER BY session_id LIMIT 10";
#define REPRISE_DELETE_FROM(table) \
  "DELETE FROM " table " WHERE tenant = $1::text AND session_id = $2::text"
// NOLINTBEGIN(bugprone-suspicious-missing-comma): each is put together by the macro.
inline constexpr std::string_view kPurge[] = {
    REPRISE_DELETE_FROM("reprise_sessions"),  REPRISE_DELETE_FROM("reprise_branches"),
    REPRISE_DELETE_FROM("reprise_messages"),  REPRISE_DELETE_FROM("reprise_message_parts"),
    REPRISE_DELETE_FROM("reprise_once"),      REPRISE_DELETE_FROM("reprise_deltas"),
    REPRISE_DELETE_FROM("reprise_values"),    REPRISE_DELETE_FROM("reprise_artefacts"),
    REPRISE_DELETE_FROM("reprise_blob_refs"), REPRISE_DELETE_FROM("reprise_heads"),
};
// NOLINTEND(bugprone-suspicious-missing-comma)

// Verification: each statement checks a page of sessions in one snapshot: those after 2, up to 3.

// The last session of the page after 2, of any table; 2 or null if there are no more.
#define REPRISE_LAST_SESSION(table) \
  "(SELECT max(session_id) AS last FROM " table " WHERE tenant = $1::text)"
inline constexpr std::string_view kFindVerifiedPage =
    "SELECT coalesce(p.last, greatest(h.last, s.last, m.last)) AS last FROM "
    REPRISE_LAST_SESSION("reprise_heads") " AS h CROSS JOIN "
    REPRISE_LAST_SESSION("reprise_sessions") " AS s CROSS JOIN "
    REPRISE_LAST_SESSION("reprise_messages") " AS m LEFT JOIN"
    " (SELECT session_id AS last FROM reprise_heads WHERE tenant = $1::text"
    " AND session_id > $2::text ORDER BY session_id OFFSET 1999 LIMIT 1) AS p ON true";
#define REPRISE_OF_VERIFIED_PAGE(session) " AND " session " > $2::text AND " session " <= $3::text"
// Approximately.
inline constexpr std::string_view kCountToVerify =
    "SELECT coalesce(sum(head), 0)::int8 AS messages FROM reprise_heads WHERE tenant = $1::text";
inline constexpr std::string_view kVerifyMessages =
    "SELECT seq, created_us, more, role, content, detail, session_id, branch FROM reprise_messages"
    " WHERE tenant = $1::text" REPRISE_OF_VERIFIED_PAGE(
        "session_id") " ORDER BY session_id, branch, seq";
// The following ones return a session and the reason why it is damaged.
inline constexpr std::string_view kVerifyRows =
    "SELECT coalesce(h.session_id, s.session_id) AS session_id,"
    " 'a part of it is missing' AS reason FROM"
    " (SELECT session_id FROM reprise_heads WHERE tenant = $1::text"
    REPRISE_OF_VERIFIED_PAGE("session_id") ") AS h FULL JOIN"
    " (SELECT session_id FROM reprise_sessions WHERE tenant = $1::text"
    REPRISE_OF_VERIFIED_PAGE("session_id") ") AS s"
    " ON s.session_id = h.session_id WHERE h.session_id IS NULL OR s.session_id IS NULL";
inline constexpr std::string_view kVerifyBeginnings =
    "SELECT m.session_id, 'its first messages are missing' AS reason FROM"
    " (SELECT session_id, branch, min(seq) AS first_seq FROM reprise_messages"
    " WHERE tenant = $1::text" REPRISE_OF_VERIFIED_PAGE("session_id")
    " GROUP BY session_id, branch) AS m LEFT JOIN reprise_branches AS b"
    " ON b.tenant = $1::text AND b.session_id = m.session_id AND b.branch = m.branch"
    " WHERE m.first_seq <> coalesce(b.base_count, 0)";
inline constexpr std::string_view kVerifyHeads =
    "SELECT h.session_id, 'its messages end elsewhere than its head says' AS reason"
    " FROM reprise_heads AS h"
    " LEFT JOIN reprise_branches AS b ON b.tenant = h.tenant AND b.session_id = h.session_id"
    " AND b.branch = h.branch WHERE h.tenant = $1::text"
    REPRISE_OF_VERIFIED_PAGE("h.session_id") " AND h.head <> coalesce("
    "(SELECT max(m.seq)::numeric + 1 FROM reprise_messages AS m WHERE m.tenant = h.tenant"
    " AND m.session_id = h.session_id AND m.branch = h.branch), b.base_count, 0)";
// Of all sessions.
inline constexpr std::string_view kVerifyBases =
    "SELECT b.session_id, 'the session that it shares messages with is missing' AS reason"
    " FROM reprise_branches AS b WHERE b.tenant = $1::text AND b.base_session IN"
    " (SELECT c.base_session FROM reprise_branches AS c WHERE c.tenant = $1::text"
    " EXCEPT SELECT h.session_id FROM reprise_heads AS h WHERE h.tenant = $1::text)";

// The name of a statement in statistics: its first table with the operation ("UPDATE
// reprise_heads"), or its first word.
std::string statement_name(std::string_view sql);

}  // namespace reprise::postgres

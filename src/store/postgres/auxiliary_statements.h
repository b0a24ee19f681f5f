#pragma once

// The statements for data other than messages, for the trash and for verification; the rules of
// statements.h apply.

#include <string_view>

#include "store/postgres/statements.h"

namespace reprise::postgres {

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
inline constexpr std::string_view kFindSweptPage =
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

}  // namespace reprise::postgres

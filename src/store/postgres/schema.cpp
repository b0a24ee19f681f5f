#include "store/postgres/schema.h"

#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/text.h"
#include "reprise/environment.h"
#include "store/postgres/connection.h"
#include "store/postgres/server_error.h"
#include "store/postgres/statements.h"
#include "store/postgres/values.h"
#include "store/postgres/words.h"

namespace reprise::postgres {
namespace {

constexpr std::string_view kVersionTable =
    "CREATE TABLE IF NOT EXISTS reprise_schema("
    " version int8 PRIMARY KEY,"
    " made_us int8 NOT NULL)";
// Tables of Citus, which are queried only if it is installed.
constexpr std::string_view kFindCitus =
    "SELECT 1 WHERE to_regclass('pg_dist_partition') IS NOT NULL";
// 1 the signature of a function for appends, which counts if it is distributed as the tables are.
constexpr std::string_view kFindDistribution =
    "SELECT count(w.logicalrelid) AS words,"
    " (coalesce(has_function_privilege(to_regprocedure($1::text), 'EXECUTE'), false)"
    " AND EXISTS(SELECT FROM pg_dist_object AS f WHERE f.classid = 'pg_proc'::regclass AND"
    " f.objid = to_regprocedure($1::text) AND f.colocationid = h.colocationid))::int4 AS append"
    " FROM pg_dist_partition AS h LEFT JOIN"
    " pg_dist_partition AS w ON w.logicalrelid IN (to_regclass('reprise_words'),"
    " to_regclass('reprise_indexed'), to_regclass('reprise_indexing'))"
    " WHERE h.logicalrelid = to_regclass('reprise_heads') GROUP BY h.logicalrelid, h.colocationid";
constexpr std::string_view kClaimVersion =
    "INSERT INTO reprise_schema(version, made_us) VALUES($1::int8, $2::int8)"
    " ON CONFLICT DO NOTHING RETURNING version";

// Ids are compared bytewise, whatever the locale of the database. All other text is stored as
// bytea, because it may contain bytes that the server's text type does not allow.
// NOLINTBEGIN(bugprone-suspicious-missing-comma): long statements, one line per column.
constexpr std::string_view kTables[] = {
    "CREATE TABLE IF NOT EXISTS reprise_sessions("
    " tenant text COLLATE \"C\" NOT NULL,"
    " session_id text COLLATE \"C\" NOT NULL,"
    " title bytea NOT NULL,"
    " title_lower bytea NOT NULL,"
    " mode bytea NOT NULL,"
    " provider bytea NOT NULL,"
    " model bytea NOT NULL,"
    " working_dir bytea NOT NULL,"
    " created_us int8 NOT NULL,"
    " closed_us int8,"
    " trashed_us int8,"
    " state_before_trash int8,"
    " forked_from text,"
    " forked_at int8,"
    " PRIMARY KEY(tenant, session_id))",
    "CREATE TABLE IF NOT EXISTS reprise_heads("
    " tenant text COLLATE \"C\" NOT NULL,"
    " session_id text COLLATE \"C\" NOT NULL,"
    " head int8 NOT NULL,"
    " branch int8 NOT NULL,"
    " updated_us int8 NOT NULL,"
    " updated_slot int8 NOT NULL DEFAULT 0,"
    " ahead_us int8,"
    " state int8 NOT NULL,"
    " pinned int8 NOT NULL DEFAULT 0,"
    " folder bytea NOT NULL,"
    " title_start bytea NOT NULL DEFAULT '',"
    " mode_key bytea NOT NULL DEFAULT '',"
    " input_tokens int8 NOT NULL DEFAULT 0,"
    " output_tokens int8 NOT NULL DEFAULT 0,"
    " reasoning_tokens int8 NOT NULL DEFAULT 0,"
    " cached_tokens int8 NOT NULL DEFAULT 0,"
    " cost_nanos int8,"
    " price_source bytea NOT NULL DEFAULT '',"
    " answer text,"
    " answer_start bytea,"
    " PRIMARY KEY(tenant, session_id))",
    // Partial, although every row satisfies the condition: without statistics, these indexes look
    // as good as the key for finding one session, and every append would scan dead entries.
    // The first one has all that a title is looked for by.
    "CREATE INDEX IF NOT EXISTS reprise_by_slot_title ON"
    " reprise_heads(tenant, state, updated_slot DESC) INCLUDE (session_id, pinned, title_start)"
    " WHERE state >= 0",
    "CREATE INDEX IF NOT EXISTS reprise_by_folder_slot ON"
    " reprise_heads(tenant, folder, state, updated_slot DESC) WHERE state >= 0",
    "CREATE INDEX IF NOT EXISTS reprise_by_mode_slot ON"
    " reprise_heads(tenant, mode_key, state, updated_slot DESC) WHERE state >= 0",
    "CREATE INDEX IF NOT EXISTS reprise_answering_slot ON"
    " reprise_heads(tenant, updated_slot DESC) WHERE answer IS NOT NULL",
    "CREATE INDEX IF NOT EXISTS reprise_pinned ON"
    " reprise_heads(tenant, state, updated_slot DESC) WHERE pinned = 1",
    // The random end of a UUID, with which short ids begin.
    "CREATE INDEX IF NOT EXISTS reprise_by_short_id ON"
    " reprise_heads(tenant, substr(session_id, 25)) WHERE state >= 0",
    // Without fastupdate, a new title costs 0.3 ms, but searches need not read a list of pending
    // entries.
    "CREATE INDEX IF NOT EXISTS reprise_by_title ON reprise_sessions USING"
    " gin((" REPRISE_TITLE_GRAMS ")) WITH (fastupdate = off)",
    "CREATE TABLE IF NOT EXISTS reprise_branches("
    " tenant text COLLATE \"C\" NOT NULL,"
    " session_id text COLLATE \"C\" NOT NULL,"
    " branch int8 NOT NULL,"
    " base_session text COLLATE \"C\" NOT NULL,"
    " base_branch int8 NOT NULL,"
    " base_count int8 NOT NULL,"
    " PRIMARY KEY(tenant, session_id, branch))",
    "CREATE INDEX IF NOT EXISTS reprise_by_base ON reprise_branches(tenant, base_session)",
    "CREATE TABLE IF NOT EXISTS reprise_messages("
    " tenant text COLLATE \"C\" NOT NULL,"
    " session_id text COLLATE \"C\" NOT NULL,"
    " branch int8 NOT NULL,"
    " seq int8 NOT NULL,"
    " created_us int8 NOT NULL,"
    " more int8 NOT NULL,"
    " role bytea NOT NULL,"
    " content bytea NOT NULL,"
    " detail bytea,"
    " author bytea,"
    " PRIMARY KEY(tenant, session_id, branch, seq))",
    // Costs nothing for messages without an author.
    "CREATE INDEX IF NOT EXISTS reprise_by_author ON"
    " reprise_messages(tenant, author, session_id, branch, seq) WHERE author IS NOT NULL",
    "CREATE TABLE IF NOT EXISTS reprise_message_parts("
    " tenant text COLLATE \"C\" NOT NULL,"
    " session_id text COLLATE \"C\" NOT NULL,"
    " branch int8 NOT NULL,"
    " seq int8 NOT NULL,"
    " part int8 NOT NULL,"
    " bytes bytea NOT NULL,"
    " PRIMARY KEY(tenant, session_id, branch, seq, part))",
    "CREATE TABLE IF NOT EXISTS reprise_once("
    " tenant text COLLATE \"C\" NOT NULL,"
    " session_id text COLLATE \"C\" NOT NULL,"
    " name bytea NOT NULL,"
    " first_seq int8 NOT NULL,"
    " head int8 NOT NULL,"
    " PRIMARY KEY(tenant, session_id, name))",
    "CREATE TABLE IF NOT EXISTS reprise_deltas("
    " tenant text COLLATE \"C\" NOT NULL,"
    " session_id text COLLATE \"C\" NOT NULL,"
    " answer text COLLATE \"C\" NOT NULL,"
    " piece text COLLATE \"C\" NOT NULL,"
    " part int8 NOT NULL,"
    " n int8 NOT NULL,"
    " body bytea NOT NULL,"
    " PRIMARY KEY(tenant, session_id, answer, piece, part))",
    "CREATE INDEX IF NOT EXISTS reprise_by_n ON"
    " reprise_deltas(tenant, session_id, answer, n DESC)",
    "CREATE TABLE IF NOT EXISTS reprise_values("
    " tenant text COLLATE \"C\" NOT NULL,"
    " session_id text COLLATE \"C\" NOT NULL,"
    " name text COLLATE \"C\" NOT NULL,"
    " part int8 NOT NULL,"
    " bytes bytea NOT NULL,"
    " PRIMARY KEY(tenant, session_id, name, part))",
    "CREATE TABLE IF NOT EXISTS reprise_artefacts("
    " tenant text COLLATE \"C\" NOT NULL,"
    " session_id text COLLATE \"C\" NOT NULL,"
    " step int8 NOT NULL,"
    " name text COLLATE \"C\" NOT NULL,"
    " part int8 NOT NULL,"
    " bytes bytea NOT NULL,"
    " PRIMARY KEY(tenant, session_id, step, name, part))",
    "CREATE TABLE IF NOT EXISTS reprise_blobs("
    " tenant text COLLATE \"C\" NOT NULL,"
    " hash text COLLATE \"C\" NOT NULL,"
    " part int8 NOT NULL,"
    " put_us int8 NOT NULL,"
    " put_by text NOT NULL,"
    " bytes bytea NOT NULL,"
    " PRIMARY KEY(tenant, hash, part))",
    "CREATE INDEX IF NOT EXISTS reprise_by_put ON reprise_blobs(tenant, put_us)"
    " WHERE part = 0 AND put_by <> ''",
    "CREATE TABLE IF NOT EXISTS reprise_blob_refs("
    " tenant text COLLATE \"C\" NOT NULL,"
    " session_id text COLLATE \"C\" NOT NULL,"
    " hash text COLLATE \"C\" NOT NULL,"
    " PRIMARY KEY(tenant, session_id, hash))",
    "CREATE INDEX IF NOT EXISTS reprise_by_hash ON reprise_blob_refs(tenant, hash)",
    "CREATE TABLE IF NOT EXISTS reprise_words("
    " tenant text COLLATE \"C\" NOT NULL,"
    " session_id text COLLATE \"C\" NOT NULL,"
    " branch int8 NOT NULL,"
    " seq int8 NOT NULL,"
    " time_us int8 NOT NULL,"
    " bytes int8 NOT NULL,"
    " words tsvector NOT NULL,"
    " PRIMARY KEY(tenant, session_id, branch, seq))",
    "CREATE INDEX IF NOT EXISTS reprise_by_time ON"
    " reprise_words(tenant, time_us DESC, session_id DESC, branch DESC, seq DESC)",
    // The words of each message include its tenant's mark.
    "CREATE INDEX IF NOT EXISTS reprise_by_word ON reprise_words USING gin (words)",
    "CREATE TABLE IF NOT EXISTS reprise_indexed("
    " tenant text COLLATE \"C\" NOT NULL,"
    " session_id text COLLATE \"C\" NOT NULL,"
    " branch int8 NOT NULL,"
    " next_seq int8 NOT NULL,"
    " time_us int8 NOT NULL,"
    " PRIMARY KEY(tenant, session_id))",
    "CREATE TABLE IF NOT EXISTS reprise_indexing("
    " tenant text COLLATE \"C\" NOT NULL,"
    " compared_us int8 NOT NULL,"
    " messages int8 NOT NULL,"
    " PRIMARY KEY(tenant))",
};
// NOLINTEND(bugprone-suspicious-missing-comma)

constexpr Migration kMigrations[] = {{kVersion, "the tables", kTables}};

// The errors for concurrent creation of the same object.
bool is_concurrent_creation(std::string_view sqlstate) {
  return sqlstate == kDuplicateKey || sqlstate == "42P07" || sqlstate == "42710" ||
         sqlstate == "XX000" || remedy_for(sqlstate) == Remedy::again;
}

}  // namespace

Result<> create_version_table(Connection& connection) {
  constexpr int kAttemptsMax = 10;
  for (int attempt = 1;; ++attempt) {
    const auto made = connection.run_one({kVersionTable});
    if (made) {
      return {};
    }
    if (attempt == kAttemptsMax || !is_concurrent_creation(connection.failure().sqlstate)) {
      return std::unexpected(made.error());
    }
  }
}

Result<> migrate(Connection& connection, const Migration& migration) {
  const std::int64_t now = system_clock().now().time_since_epoch().count();
  REPRISE_ASSIGN(
      const auto claimed,
      connection.run({{kBegin}, {kLimitLocks}, {kClaimVersion, values(migration.number, now)}}));
  std::vector<Query> queries;
  if (!claimed.back().empty()) {
    for (const std::string_view statement : migration.statements) {
      queries.push_back({statement});
    }
  }
  queries.push_back({kCommit});
  return connection.execute(queries);
}

std::span<const Migration> migrations() {
  return kMigrations;
}

std::span<const std::string_view> schema_statements() {
  static constexpr std::string_view kAll[] = {kVersionTable, kFindVersions, kClaimVersion,
                                              kSetTenant};
  return kAll;
}

Result<std::set<std::int64_t>> find_applied(Connection& connection,
                                            std::span<const Migration> steps) {
  std::set<std::int64_t> applied;
  const auto found = connection.run_one({kFindVersions});
  if (!found) {
    return connection.failure().sqlstate == kNoTable
               ? Result<std::set<std::int64_t>>(applied)
               : Result<std::set<std::int64_t>>(std::unexpected(found.error()));
  }
  for (int row = 0; row < found->count(); ++row) {
    applied.insert(found->integer(row, "version"));
  }
  const std::int64_t newest = steps.back().number;
  if (!applied.empty() && *applied.rbegin() > newest) {
    return fail(Code::unsupported,
                cat("its tables were made by a newer version (format ", *applied.rbegin(),
                    "; this one knows ", newest, "): update reprise"));
  }
  if (!applied.empty() && *applied.begin() < kVersion) {
    return fail(Code::unsupported,
                "its tables were made by a build of Reprise before its first release;"
                " `reprise copy` of that build brings them over");
  }
  return applied;
}

Result<std::int64_t> find_version(Connection& connection, std::span<const Migration> steps) {
  REPRISE_ASSIGN(const auto applied, find_applied(connection, steps));
  std::int64_t version = 0;
  for (const Migration& step : steps) {
    if (!applied.contains(step.number)) {
      break;
    }
    version = step.number;
  }
  return version;
}

Result<Engine> find_engine(Connection& connection) {
  REPRISE_ASSIGN(const auto found, connection.run({{kFindCitus}, {kFindWordsAccess}}));
  Engine engine{.has_word_index = !found[1].empty()};
  if (!found[0].empty()) {
    const std::string signature = append_signature(append_function_shapes().back());
    REPRISE_ASSIGN(const Rows distributed,
                   connection.run_one({kFindDistribution, values(signature)}));
    engine.is_distributed = !distributed.empty();
    engine.has_append_function = engine.is_distributed && distributed.integer(0, "append") != 0;
    engine.has_word_index =
        engine.has_word_index && (!engine.is_distributed || distributed.integer(0, "words") == 3);
  }
  return engine;
}

}  // namespace reprise::postgres

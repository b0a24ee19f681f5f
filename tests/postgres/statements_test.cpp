// The statements only use what PostgreSQL and compatible engines have in common.

#include "store/postgres/statements.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <regex>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "postgres/server_support.h"
#include "store/postgres/rows.h"
#include "store/postgres/schema.h"
#include "store/postgres/words.h"
#include "store/query.h"
#include "support/postgres_server.h"

namespace reprise::test {
namespace {

std::vector<std::string> tables() {
  std::vector<std::string> found;
  for (const postgres::Migration& migration : postgres::migrations()) {
    for (const std::string_view statement : migration.statements) {
      found.emplace_back(statement);
    }
  }
  return found;
}

std::string replace_all(std::string text, std::string_view part, std::string_view replacement) {
  for (std::size_t at = text.find(part); at != std::string::npos;
       at = text.find(part, at + replacement.size())) {
    text.replace(at, part.size(), replacement);
  }
  return text;
}

// Excludes statements of the index of words, which use PostgreSQL's types of text search.
std::vector<std::string> without_text_search(const std::vector<std::string>& statements) {
  std::vector<std::string> all = statements;
  for (std::string& statement : all) {
    for (const std::string_view type : {"tsvector", "tsquery", "float4[]"}) {
      statement = replace_all(std::move(statement), type, "text");
    }
  }
  return all;
}

// All except settings on nodes, and those whose text depends on a shape.
constexpr std::string_view kStatements[] = {
    postgres::kBegin,
    postgres::kBeginSnapshot,
    postgres::kCommit,
    postgres::kRollback,
    postgres::kFindState,
    postgres::kLockHead,
    postgres::kFindValues,
    postgres::kFindValue,
    postgres::kDeleteValue,
    postgres::kInsertValue,
    postgres::kFindOnce,
    postgres::kInsertOnce,
    postgres::kFolders,
    postgres::kFindRequests,
    postgres::kInsertMessagePart,
    postgres::kInsertBlobRef,
    postgres::kLimitSilence,
    postgres::kFindUser,
    postgres::kInsertOnceAt,
    postgres::kInsertMessage,
    postgres::kAddCacheWritten,
    postgres::kSetAhead,
    postgres::kDeleteDeltas,
    postgres::kInsertBranch,
    postgres::kMoveToBranch,
    postgres::kFindHead,
    postgres::kFindBranch,
    postgres::kCountMessages,
    postgres::kReadForwards,
    postgres::kReadBackwards,
    postgres::kReadLast,
    postgres::kReadOne,
    postgres::kReadShort,
    postgres::kFindSimilar,
    postgres::kReadParts,
    postgres::kDoNotSync,
    postgres::kLimitLocks,
    postgres::kLockAnswer,
    postgres::kInsertDelta,
    postgres::kRestoreDelta,
    postgres::kInsertBlobRefOfAnswer,
    postgres::kFindAnswer,
    postgres::kRenewAnswer,
    postgres::kFindDeltas,
    postgres::kFindManyOfAuthor,
    postgres::kDeleteArtefact,
    postgres::kFindArtefactEnd,
    postgres::kInsertArtefact,
    postgres::kFindArtefact,
    postgres::kListArtefacts,
    postgres::kFindBlobPart,
    postgres::kInsertBlobPart,
    postgres::kTouchBlob,
    postgres::kListBlobs,
    postgres::kDeleteBlobsOfSession,
    postgres::kDoubtBlobsOfSession,
    postgres::kDeleteUnreferencedBlobs,
    postgres::kSettleReferencedBlobs,
    postgres::kCountUnnamedBlobs,
    postgres::kFindMissingBlobs,
    postgres::kFindOperationsPage,
    postgres::kForgetOperations,
    postgres::kTrashSession,
    postgres::kSetState,
    postgres::kRestoreHead,
    postgres::kRestoreSession,
    postgres::kFindSharing,
    postgres::kFindVerifiedPage,
    postgres::kVerifyMessages,
    postgres::kVerifyRows,
    postgres::kVerifyBeginnings,
    postgres::kVerifyHeads,
    postgres::kVerifyBases,
};

void add_append_statements(std::vector<std::string>& all) {
  for (unsigned bits = 0; bits < 1U << 4U; ++bits) {
    const auto has = [bits](unsigned bit) { return (bits >> bit & 1U) != 0; };
    const postgres::AppendShape shape{
        .single = has(0), .usage = has(1), .answer = has(2), .author = has(3)};
    all.push_back(postgres::append_statement(shape).text);
    all.push_back(postgres::move_statement(shape).text);
    all.push_back(postgres::append_call(shape).text);
  }
}

void add_list_statements(std::vector<std::string>& all) {
  constexpr unsigned kShapes = 1U << 9U;
  for (const bool mode : {false, true}) {
    all.push_back(postgres::list_statement(
        {.states = {0, 1}, .mode = mode, .title = true, .from_index = true, .distributed = true}));
  }
  for (unsigned bits = 0; bits < kShapes; ++bits) {
    const auto has = [bits](unsigned bit) { return (bits >> bit & 1U) != 0; };
    postgres::ListShape shape{.states = std::vector<std::int64_t>(1 + bits % 4),
                              .groups = store::groups_of({.ungrouped = has(0)}),
                              .rows = 21,
                              .after = has(1) ? std::optional<std::int64_t>(0) : std::nullopt,
                              .folder = has(2),
                              .mode = has(3),
                              .prefix = has(4),
                              .short_id = has(5),
                              .title = has(6),
                              .answering = has(7),
                              .author = has(8),
                              .examined_max = 1000};
    all.push_back(postgres::list_statement(shape));
    if (!has(4) && !has(5) && has(8)) {
      shape.reads_authors = true;
      all.push_back(postgres::list_statement(shape));
    }
  }
}

void add_word_statements(std::vector<std::string>& all) {
  for (const std::string_view one :
       {postgres::kDoNotCompile,  postgres::kDoNotNestLoops,  postgres::kFindIndexing,
        postgres::kClaimIndexing, postgres::kInsertIndexing,  postgres::kSaveCompared,
        postgres::kCountIndexed,  postgres::kFindDue,         postgres::kFindActiveDue,
        postgres::kCountDue,      postgres::kFindManyIndexed, postgres::kFindOrphans,
        postgres::kReadDue,       postgres::kFindCreated,     postgres::kHoldSession,
        postgres::kInsertWords,   postgres::kSaveIndexed,     postgres::kPurgeWords[0],
        postgres::kPurgeWords[1], postgres::kCountFolder,     postgres::kCountNewest}) {
    all.emplace_back(one);
  }
  for (unsigned bits = 0; bits < 128; ++bits) {
    const auto has = [bits](unsigned bit) { return (bits >> bit & 1U) != 0; };
    const bool of_sessions = has(4) || has(5);
    all.push_back(postgres::find_words_statement({.window = has(0),
                                                  .sessions = of_sessions && !has(0) && has(1),
                                                  .after = has(1),
                                                  .since = has(2),
                                                  .until = has(3),
                                                  .session = has(4),
                                                  .folder = has(5) && !has(4),
                                                  .counts = has(6)}));
  }
}

std::vector<std::string> rows_statements() {
  std::vector<std::string> all;
  for (const std::string_view one : kStatements) {
    all.emplace_back(one);
  }
  const postgres::SessionStatements& of_sessions = postgres::session_statements();
  for (const std::string* const one :
       {&of_sessions.insert_head, &of_sessions.insert_row, &of_sessions.update_head,
        &of_sessions.update_row, &of_sessions.find, &of_sessions.verify}) {
    all.push_back(*one);
  }
  for (const std::string_view one : postgres::kPurge) {
    all.emplace_back(one);
  }
  add_append_statements(all);
  add_list_statements(all);
  add_word_statements(all);
  return all;
}

std::vector<std::string> everything() {
  std::vector<std::string> all = without_text_search(rows_statements());
  for (const std::string& statement : without_text_search(tables())) {
    all.push_back(statement);
  }
  for (const std::string_view statement : postgres::schema_statements()) {
    all.emplace_back(statement);
  }
  return all;
}

// Words of features that not all engines have.
constexpr std::string_view kNotEverywhere[] = {
    "sequence",
    "serial",
    "identity",
    "nextval",
    "advisory",
    "listen",
    "notify",
    "trigger",
    "function",
    "language",
    "set",
    "reset",
    "temp",
    "temporary",
    "unlogged",
    "cursor",
    "hold",
    "prepare",
    "copy",
    "lock",
    "deallocate",
    "inherits",
    "ctid",
    "oid",
    "jsonb",
    "tsvector",
    "now",
    "random",
    "gen_random_uuid",
    "returns",
    "references",
    "exclude",
    "merge",
    "collate",
    "include",
    "gin",
};
// Used all the same (docs/teams.md, "Other engines").
constexpr std::string_view kExceptions[] = {
    R"( COLLATE "C" NOT NULL)",
    " INCLUDE (session_id, pinned, title_start)",
    "CREATE INDEX IF NOT EXISTS reprise_by_title ON reprise_sessions USING gin",
    "CREATE INDEX IF NOT EXISTS reprise_by_word ON reprise_words USING gin",
};

// Its identifiers and keywords, in lower case.
std::vector<std::string> words_of(std::string_view statement) {
  std::vector<std::string> words;
  bool is_within = false;
  for (const char c : statement) {
    const bool is_part = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
    if (is_part && !is_within) {
      words.emplace_back();
    }
    if (is_part) {
      words.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    is_within = is_part;
  }
  return words;
}

// Whether the SET there is that of `UPDATE table AS alias SET`, not a setting.
bool is_of_update(std::span<const std::string> words, std::size_t set) {
  const std::size_t first = set - std::min<std::size_t>(set, 4);
  const auto before = words.subspan(first, set - first);
  return std::ranges::find(before, "update") != before.end();
}

TEST(PostgresStatements, UseOnlyCommonFeatures) {
  for (const std::string& statement : everything()) {
    std::string examined = statement;
    for (const std::string_view exception : kExceptions) {
      examined = replace_all(std::move(examined), exception, "");
    }
    const std::vector<std::string> words = words_of(examined);
    for (std::size_t i = 0; i < words.size(); ++i) {
      const bool is_forbidden =
          words[i].starts_with("pg_") ||
          (std::ranges::find(kNotEverywhere, words[i]) != std::end(kNotEverywhere) &&
           !(words[i] == "set" && is_of_update(words, i)));
      EXPECT_FALSE(is_forbidden) << words[i] << " in: " << statement;
    }
  }
}

TEST(PostgresStatements, EveryKeyBeginsWithTheTenant) {
  const std::regex key("PRIMARY KEY\\(tenant(, (session_id|hash)[,)]|\\))");
  const std::regex index("^CREATE INDEX IF NOT EXISTS \\w+ ON \\w+\\(tenant, ");
  const std::regex grams(
      "^CREATE INDEX IF NOT EXISTS \\w+ ON \\w+ USING gin\\(\\(.*' ' \\|\\| tenant");
  for (const std::string& statement : tables()) {
    if (statement.starts_with("CREATE TABLE")) {
      EXPECT_TRUE(std::regex_search(statement, key)) << statement;
      EXPECT_EQ(statement.find("UNIQUE"), std::string::npos) << statement;
    } else if (statement.find("USING gin (words)") != std::string::npos) {
      continue;  // each of its words is combined with the tenant's mark
    } else if (statement.starts_with("CREATE")) {
      EXPECT_TRUE(std::regex_search(statement, index) || std::regex_search(statement, grams))
          << statement;
    }
  }
}

TEST(PostgresStatements, EveryStatementHasOneTenant) {
  for (const std::string& statement : rows_statements()) {
    const bool is_about_rows = statement.find("reprise_") != std::string::npos;
    EXPECT_EQ(is_about_rows, statement.find("$1::text") != std::string::npos) << statement;
  }
}

// Parameters compared with a column must have its type, or no index is used.
TEST(PostgresStatements, EveryParameterHasAType) {
  constexpr std::string_view kTypes[] = {"::int8", "::text", "::bytea"};
  for (const std::string& statement : everything()) {
    for (std::size_t at = statement.find('$'); at != std::string::npos;
         at = statement.find('$', at + 1)) {
      const std::size_t end = statement.find_first_not_of("0123456789", at + 1);
      const std::string_view after =
          end == std::string::npos ? "" : std::string_view(statement).substr(end);
      EXPECT_TRUE(end == at + 1 ||
                  std::ranges::any_of(
                      kTypes, [&](std::string_view type) { return after.starts_with(type); }))
          << statement;
    }
  }
}

TEST(PostgresStatements, AreNamedByOperationAndFirstTable) {
  EXPECT_EQ(postgres::statement_name(postgres::kBegin), "BEGIN");
  EXPECT_EQ(postgres::statement_name(postgres::kFindHead), "SELECT reprise_heads");
  EXPECT_EQ(postgres::statement_name(postgres::kInsertMessage), "INSERT reprise_messages");
  EXPECT_EQ(postgres::statement_name(postgres::append_statement({}).text), "UPDATE reprise_heads");
  EXPECT_EQ(postgres::statement_name(postgres::append_call({}).text), "SELECT reprise_append_1");
}

// The statement with values, so that it can be planned.
std::string with_values(const std::string& statement) {
  std::string text = statement;
  const std::pair<const char*, const char*> values[] = {
      {R"(\$[0-9]+::int8\[\])", "ARRAY[1::int8]"},
      {R"(\$[0-9]+::bytea\[\])", "ARRAY['x'::bytea]"},
      {R"(\$[0-9]+::int8)", "1::int8"},
      {R"(\$[0-9]+::bytea)", "'x'::bytea"},
      {R"(\$[0-9]+::text)", "'x'::text"},
  };
  for (const auto& [parameter, value] : values) {
    text = std::regex_replace(text, std::regex(parameter), value);
  }
  return text;
}

// On Citus (tests/postgres/citus): all rows of a tenant are on one node, so each statement has one
// task there. `verify` counts in all tables at once; the append in one statement is for plain
// tables.
TEST(PostgresStatements, GoToOneShardWhereTablesAreDistributed) {
  const std::string url = postgres_url("shards");
  if (query(url, "SELECT count(*) FROM pg_class WHERE relname = 'pg_dist_node'") == "0") {
    GTEST_SKIP() << "not on Citus";
  }
  std::set<std::string> left_out = {std::string(postgres::kVerifyHeads)};
  for (const postgres::AppendStatement& statement : postgres::append_statements()) {
    left_out.insert(statement.text);
  }
  std::vector<std::string> statements;
  for (const std::string& statement : rows_statements()) {
    if (statement.find("reprise_") != std::string::npos && !left_out.contains(statement)) {
      statements.push_back(with_values(statement));
    }
  }
  EXPECT_GT(statements.size(), 250U);
  const std::vector<std::string> all = plans(url, statements);
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_NE(all[i].find("\"Task Count\": 1,"), std::string::npos) << statements[i] << "\n"
                                                                    << all[i];
    EXPECT_EQ(all[i].find("Distributed Subplan"), std::string::npos) << statements[i];
  }
}

}  // namespace
}  // namespace reprise::test

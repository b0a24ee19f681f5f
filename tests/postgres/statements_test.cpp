// The statements only use what PostgreSQL and compatible engines have in common.

#include "store/postgres/statements.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "postgres/server_support.h"
#include "store/postgres/schema.h"
#include "store/postgres/auxiliary_statements.h"
#include "store/postgres/word_statements.h"
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

// Excludes statements of the index of words, which use PostgreSQL's types of text search.
std::vector<std::string> without_text_search(const std::vector<std::string>& statements) {
  const std::regex types("tsvector|tsquery|float4\\[\\]");
  std::vector<std::string> all;
  for (const std::string& statement : statements) {
    all.push_back(std::regex_replace(statement, types, "text"));
  }
  return all;
}

std::vector<std::string> rows_statements() {
  std::vector<std::string> all = postgres::all_statements();
  for (const std::string& statement : postgres::word_statements()) {
    all.push_back(statement);
  }
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

// Features that not all engines have, each with a characteristic word.
constexpr const char* kNotEverywhere[] = {
    "sequence",        "serial",   "identity",   "nextval", "advisory",   "listen",  "notify",
    "trigger",         "function", "language",   "set",     "reset",      "temp",    "temporary",
    "unlogged",        "cursor",   "hold",       "prepare", "deallocate", "copy",    "lock",
    "inherits",        "ctid",     "oid",        "jsonb",   "tsvector",   "now",     "random",
    "gen_random_uuid", "pg_\\w+",  "references", "exclude", "merge",      "returns", "collate",
    "include",         "gin",
};
// Used all the same (docs/teams.md, "Other engines").
constexpr const char* kExceptions[] = {
    R"( COLLATE "C" NOT NULL)",
    R"( INCLUDE \(session_id, pinned, title_start\))",
    R"(^CREATE INDEX IF NOT EXISTS reprise_by_title ON reprise_sessions USING gin)",
    R"(^CREATE INDEX IF NOT EXISTS reprise_by_word ON reprise_words USING gin)",
};

TEST(PostgresStatements, UseOnlyCommonFeatures) {
  std::string words;
  for (const char* word : kNotEverywhere) {
    words += words.empty() ? word : std::string("|") + word;
  }
  const std::regex forbidden("\\b(" + words + ")\\b", std::regex::icase);
  const std::regex update("UPDATE (\\w+ )?(AS \\w+ )?SET ");  // not a setting
  const std::vector<std::regex> exceptions(std::begin(kExceptions), std::end(kExceptions));
  for (const std::string& statement : everything()) {
    std::string rest = std::regex_replace(statement, update, "UPDATE $1 ");
    for (const std::regex& exception : exceptions) {
      rest = std::regex_replace(rest, exception, "");
    }
    std::smatch found;
    EXPECT_FALSE(std::regex_search(rest, found, forbidden)) << found.str() << " in: " << statement;
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
  const std::regex bare("\\$[0-9]+(?![0-9]|::(int8|text|bytea)\\b)");
  for (const std::string& statement : everything()) {
    EXPECT_FALSE(std::regex_search(statement, bare)) << statement;
  }
}

TEST(PostgresStatements, AreNamedByOperationAndFirstTable) {
  EXPECT_EQ(postgres::statement_name(postgres::kBegin), "BEGIN");
  EXPECT_EQ(postgres::statement_name(postgres::kFindHead), "SELECT reprise_heads");
  EXPECT_EQ(postgres::statement_name(postgres::kInsertMessage), "INSERT reprise_messages");
  EXPECT_EQ(postgres::statement_name(postgres::append_statement({}).text), "UPDATE reprise_heads");
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

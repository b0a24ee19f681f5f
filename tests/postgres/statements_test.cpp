// The statements keep to what PostgreSQL and the engines that speak its protocol have in common.

#include "store/postgres/statements.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "store/postgres/schema.h"

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

std::vector<std::string> everything() {
  std::vector<std::string> all = postgres::all_statements();
  for (const std::string& statement : tables()) {
    all.push_back(statement);
  }
  for (const std::string_view statement : postgres::schema_statements()) {
    all.emplace_back(statement);
  }
  return all;
}

// Each with a word that only it has.
constexpr const char* kNotEverywhere[] = {
    "sequence",        "serial",   "identity",   "nextval", "advisory",   "listen",  "notify",
    "trigger",         "function", "language",   "set",     "reset",      "temp",    "temporary",
    "unlogged",        "cursor",   "hold",       "prepare", "deallocate", "copy",    "lock",
    "inherits",        "ctid",     "oid",        "jsonb",   "tsvector",   "now",     "random",
    "gen_random_uuid", "pg_\\w+",  "references", "exclude", "merge",      "returns",
};

TEST(PostgresStatements, UseNothingThatOnlySomeEnginesHave) {
  std::string words;
  for (const char* word : kNotEverywhere) {
    words += words.empty() ? word : std::string("|") + word;
  }
  const std::regex forbidden("\\b(" + words + ")\\b", std::regex::icase);
  const std::regex update("UPDATE (\\w+ )?(AS \\w+ )?SET ");  // is no setting
  for (const std::string& statement : everything()) {
    const std::string rest = std::regex_replace(statement, update, "UPDATE $1 ");
    std::smatch found;
    EXPECT_FALSE(std::regex_search(rest, found, forbidden)) << found.str() << " in: " << statement;
  }
}

TEST(PostgresStatements, EveryKeyBeginsWithTheTenant) {
  const std::regex key("PRIMARY KEY\\(tenant, (session_id|hash)[,)]");
  const std::regex index("^CREATE INDEX IF NOT EXISTS \\w+ ON \\w+\\(tenant, ");
  for (const std::string& statement : tables()) {
    if (statement.starts_with("CREATE TABLE")) {
      EXPECT_TRUE(std::regex_search(statement, key)) << statement;
      EXPECT_EQ(statement.find("UNIQUE"), std::string::npos) << statement;
    } else if (statement.starts_with("CREATE")) {
      EXPECT_TRUE(std::regex_search(statement, index)) << statement;
    }
  }
}

TEST(PostgresStatements, EveryStatementIsOneTenants) {
  for (const std::string& statement : postgres::all_statements()) {
    const bool is_about_rows = statement.find("reprise_") != std::string::npos;
    EXPECT_EQ(is_about_rows, statement.find("$1::text") != std::string::npos) << statement;
  }
}

// What is compared with a column must have its type, or no index is used.
TEST(PostgresStatements, EveryParameterSaysItsType) {
  const std::regex bare("\\$[0-9]+(?![0-9]|::(int8|text|bytea)\\b)");
  for (const std::string& statement : everything()) {
    EXPECT_FALSE(std::regex_search(statement, bare)) << statement;
  }
}

}  // namespace
}  // namespace reprise::test

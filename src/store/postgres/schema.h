#pragma once

// The tables (docs/formats/postgres.md) and their migrations.
//
// Several clients may find an old database at once. The row of reprise_schema with the version's
// number decides: its unique key lets one of them insert it, in the transaction that creates the
// tables; the others wait for that transaction and then find it done.
//
// Tables are migrated while programs continue to write: new tables and columns come first, and a
// lock is waited for only briefly, again and again, because others queue behind it.

#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string_view>

#include "reprise/error.h"
#include "store/postgres/connection.h"

namespace reprise::postgres {

// The version of the first release, and the only row of reprise_schema in a new database; 1 to 5
// were of builds before it.
inline constexpr std::int64_t kVersion = 6;

// The versions that exist.
inline constexpr std::string_view kFindVersions = "SELECT version FROM reprise_schema";

// The step to version `number`.
struct Migration {
  std::int64_t number;
  std::string_view description;  // for display
  std::span<const std::string_view> statements;
  // Its time does not depend on the number of rows.
  bool is_quick() const {
    return statements.front().starts_with("CREATE TABLE") ||
           statements.front().starts_with("ALTER TABLE");
  }
};
// In order; the first one creates the tables of kVersion.
std::span<const Migration> migrations();
Result<> create_version_table(Connection& connection);
// Runs the step once; concurrent callers wait for its end. busy if another transaction holds a
// lock for longer than a moment: others queue behind a lock that is waited for.
Result<> migrate(Connection& connection, const Migration& migration);

// The numbers of the steps that were taken; none if there are no tables. unsupported for tables of
// a newer version, or of a build before the first release.
Result<std::set<std::int64_t>> find_applied(Connection& connection,
                                            std::span<const Migration> steps = migrations());
// The version up to which all steps were taken; 0 if there are no tables.
Result<std::int64_t> find_version(Connection& connection,
                                  std::span<const Migration> steps = migrations());
struct Engine {
  bool is_distributed = false;       // the tables are distributed over several nodes
  bool has_append_function = false;  // there is a function for appends, and this role may use it
  bool has_word_index = false;       // words are indexed, and this role may use the index
};
Result<Engine> find_engine(Connection& connection);
// All statements of the schema, for the test that checks them.
std::span<const std::string_view> schema_statements();

enum class DryRun : std::uint8_t { no, yes };

// For an administrator; builds indexes concurrently. Reports each step before it is executed, and
// what it waits for. Can be repeated after an interruption.
Result<> migrate_online(Connection& connection, DryRun dry_run,
                        const std::function<void(std::string_view)>& on_step,
                        std::span<const Migration> steps = migrations());

// When a program opens the tables for writing: creates them, or takes the quick steps that are
// missing; the others are left to migrate_online(). Waits for locks until `deadline`; busy if that
// is in vain. Returns find_version().
Result<std::int64_t> make_current(Connection& connection, Deadline deadline,
                                  std::span<const Migration> steps = migrations());

}  // namespace reprise::postgres

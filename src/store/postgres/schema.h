#pragma once

// The tables (docs/formats/postgres.md) and their migrations.
//
// Several clients may find an old database at once. The row of reprise_schema with the version's
// number decides: its unique key lets one of them insert it, in the transaction that creates the
// tables; the others wait for that transaction and then find it done.
//
// Tables are migrated while programs of this version and the previous one continue to write: new
// tables and columns come first, rows are changed in batches, each in its own transaction, and a
// lock is waited for only briefly, again and again, because others queue behind it.

#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string_view>

#include "reprise/error.h"
#include "store/postgres/connection.h"

namespace reprise::postgres {

inline constexpr std::int64_t kVersion = 4;
// Before this version, lists were ordered by the time itself.
inline constexpr std::int64_t kSlotsVersion = 3;
// Tables of older versions, or without a needed addition, can only be read.
inline constexpr std::int64_t kWritableVersion = 2;
// Lists by mode and title are quick with these.
inline constexpr std::int64_t kTitleAddition = -7;
inline constexpr std::int64_t kCopiesAddition = -10;

// The versions and additions that exist.
inline constexpr std::string_view kFindVersions = "SELECT version FROM reprise_schema";

// The migration to version `number` from the previous one. Additions, which older programs can
// ignore, are numbered from -1 downwards, because those programs only compare versions.
struct Migration {
  std::int64_t number;
  std::string_view description;  // for display
  std::span<const std::string_view> statements;
  bool is_needed = true;  // false for a mere optimization
  bool creates_table() const { return statements.front().starts_with("CREATE TABLE"); }
  // Its time does not depend on the number of rows.
  bool is_quick() const { return creates_table() || statements.front().starts_with("ALTER TABLE"); }
};
std::span<const Migration> migrations();
Result<> create_version_table(Connection& connection);
// Runs the migration once; concurrent callers wait for its end. busy if another transaction holds a
// lock for longer than a moment: others queue behind a lock that is waited for.
Result<> migrate(Connection& connection, const Migration& migration);

struct TablesVersion {
  std::int64_t version = 0;               // 0 if there are none
  std::set<std::int64_t> additions = {};  // the existing additions
  bool has_additions() const;             // all that statements require; excludes some indexes
  bool is_writable() const { return version >= kWritableVersion && has_additions(); }
  bool is_current() const;
};
Result<TablesVersion> find_version(Connection& connection);
struct Engine {
  bool is_distributed = false;       // the tables are distributed over several nodes
  bool has_append_function = false;  // there is a function for appends, and this role may use it
  bool has_word_index = false;       // words are indexed, and this role may use the index
};
Result<Engine> find_engine(Connection& connection);
// unsupported for a version newer than this program's.
Result<> check_version(std::int64_t version);
// All statements of the schema, for the test that checks them.
std::span<const std::string_view> schema_statements();

enum class DryRun : std::uint8_t { no, yes };

// For an administrator; builds indexes concurrently. Reports each step before it is executed, and
// what it waits for. Can be repeated after an interruption.
Result<> migrate_online(Connection& connection, DryRun dry_run,
                        const std::function<void(std::string_view)>& on_step);

// When a program opens the tables: creates or adds what writing requires and, if there are few
// rows, does the rest as far as nothing is in the way. What large tables lack is left to
// migrate_online(). Waits for locks until `deadline`. Returns what there is now; busy if a needed
// column could not be added.
Result<TablesVersion> make_current(Connection& connection, const TablesVersion& now,
                                   Deadline deadline);

}  // namespace reprise::postgres

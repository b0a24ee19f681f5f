#pragma once

// The tables as they are described in docs/formats/postgres.md, and how a database gets them.
//
// Several clients may find an old database at once. The row of reprise_schema with the version's
// number decides: its unique key lets one of them insert it, in the transaction that makes the
// tables; the others wait for that transaction and then find it done.

#include <cstdint>
#include <set>
#include <span>

#include "reprise/error.h"
#include "store/postgres/connection.h"

namespace reprise::postgres {

inline constexpr std::int64_t kVersion = 4;
// Before it, lists were read by the time itself. Such tables can still be read.
inline constexpr std::int64_t kSlotsVersion = 3;
// Lists by mode and title are quick with these.
inline constexpr std::int64_t kModeAddition = -6;
inline constexpr std::int64_t kTitleAddition = -7;

// What leads to version `number` from the one before. Additions, which programs that do not know
// them can leave alone, are numbered from -1 downwards: those take them for no version.
struct Migration {
  std::int64_t number;
  std::string_view what;  // for people
  std::span<const std::string_view> statements;
  bool is_needed = true;  // false for what only makes something faster
  bool makes_table() const { return statements.front().starts_with("CREATE TABLE"); }
};
std::span<const Migration> migrations();
Result<> make_version_table(Connection& connection);
// Once, whoever begins it; the others wait for its end.
Result<> migrate(Connection& connection, const Migration& migration);

struct TablesVersion {
  std::int64_t version = 0;               // 0 where there are none
  std::set<std::int64_t> additions = {};  // those that they have
  bool has_additions() const;             // all that statements need: not every index
  bool is_current() const;
};
Result<TablesVersion> find_version(Connection& connection);
struct Engine {
  bool is_distributed = false;  // the tables are spread over several nodes
  bool has_words = false;       // words are indexed, and this role may use that
};
Result<Engine> find_engine(Connection& connection);
// unsupported for one that is newer than this program.
Result<> check_version(std::int64_t version);
// What they are then. Indexes that only make something faster are left to migrate_beside() where
// building them would hold up others for long.
Result<TablesVersion> make_current(Connection& connection, const TablesVersion& now);

// All statements of the store, for the test that reads them.
std::span<const std::string_view> schema_statements();

}  // namespace reprise::postgres

// Repair: builds a new database with everything that can be read of a damaged one. The damaged one
// is not changed: if its structure is intact it is read normally, otherwise page by page. Data that
// cannot become messages is preserved byte for byte in the table reprise_damage of the new
// database.

#include "store/sqlite/repair.h"

#include <sqlite3.h>

#include "base/text.h"
#include "reprise/capabilities.h"
#include "store/rules.h"
#include "store/sqlite/connection.h"
#include "store/sqlite/copy.h"
#include "store/sqlite/database.h"
#include "store/sqlite/migrate.h"
#include "store/sqlite/original.h"
#include "store/sqlite/rows.h"
#include "store/sqlite/schema.h"
#include "store/sqlite/sqlite_store.h"

namespace reprise::sqlite {
namespace {

// Called for each readable row.
using Row = std::function<Result<>(const Statement& row)>;

struct CopiedColumn {
  std::string name;
  std::string value;  // "?", or an expression with a replacement for NULL
};

// A name for a column of any table.
std::string numbered(std::size_t column) {
  return cat("column_", column);
}

std::string select_columns(const std::vector<CopiedColumn>& columns) {
  std::string out;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    out += cat(i == 0 ? "" : ", ", columns[i].name, " AS ", numbered(i));
  }
  return out;
}

std::string insert_sql(std::string_view table, const std::vector<CopiedColumn>& columns) {
  return cat("INSERT OR IGNORE INTO ", table, "(", joined(columns, &CopiedColumn::name),
             ") VALUES(", joined(columns, &CopiedColumn::value), ")");
}

// Tables of another program may contain NULLs that ours do not allow. They are replaced by the
// default of the column, except the current time; keys are unchanged.
constexpr std::string_view kFilledColumns = R"(SELECT name,
  CASE WHEN "notnull" = 0 OR pk > 0 THEN '?'
    WHEN type = 'DATETIME' THEN 'coalesce(?, ''1970-01-01 00:00:00'')'
    WHEN dflt_value IS NOT NULL THEN 'coalesce(?, ' || dflt_value || ')'
    WHEN name IN ('model', 'role') THEN 'coalesce(?, '''')'
    ELSE '?' END AS value FROM pragma_table_info(?))";

class DatabaseRepair {
 public:
  DatabaseRepair(Connection& source, Connection& target, VerifyReport& report,
                 const ProgressSink& progress)
      : source_(source),
        target_(target),
        report_(report),
        progress_(progress),
        file_(source.name()) {}

  Result<> run();
  // The same for salvaged rows, with the damage found in their pages. Missing messages are
  // reported, too.
  Result<> run(std::vector<Damage> of_pages);

 private:
  Result<std::vector<CopiedColumn>> columns_of(std::string_view table);
  Result<> prepare();
  Result<> fill();
  Result<> each(const std::string& sql, std::string_view table, const Row& row);
  Result<> copy_sessions();
  Result<> copy_messages();
  Result<> copy_table(std::string_view table);
  Result<> copy_original(std::string_view table);
  Result<> insert(const std::string& sql, const Statement& row, std::size_t count);
  Result<> copy_message(const Statement& row, const std::string& sql, std::size_t count);
  Result<> record_damage(Damage damage, std::string_view bytes);
  Result<> repair_references();
  Result<> repair_retained();
  Result<> report_missing();

  Connection& source_;
  Connection& target_;
  VerifyReport& report_;
  const ProgressSink& progress_;
  std::int64_t total_ = 0;  // the number of messages to copy
  const std::string file_;
};

Result<> DatabaseRepair::run() {
  REPRISE_TRY(prepare());
  REPRISE_ASSIGN(Transaction transaction, Transaction::begin(target_));
  REPRISE_TRY(fill());
  return transaction.commit();
}

Result<> DatabaseRepair::run(std::vector<Damage> of_pages) {
  REPRISE_TRY(prepare());
  REPRISE_ASSIGN(Transaction transaction, Transaction::begin(target_));
  for (Damage& damage : of_pages) {
    REPRISE_TRY(record_damage(std::move(damage), ""));
  }
  REPRISE_TRY(fill());
  REPRISE_TRY(report_missing());
  return transaction.commit();
}

Result<> DatabaseRepair::fill() {
  REPRISE_TRY(copy_sessions());
  REPRISE_TRY(copy_messages());
  for (const Table& table : added_tables()) {
    REPRISE_TRY(copy_table(table.name));
  }
  REPRISE_TRY(repair_references());
  for (const std::string_view table : {kResultBlobsTable, kSnapshotsTable}) {
    REPRISE_TRY(copy_original(table));
  }
  REPRISE_TRY(target_.script(cat(fill_slots_sql(), triggers_sql())));
  return set_version(target_);
}

Result<> DatabaseRepair::prepare() {
  // Copied rows may violate foreign keys until the end.
  sqlite3_db_config(target_.handle(), SQLITE_DBCONFIG_ENABLE_FKEY, 0, nullptr);
  REPRISE_TRY(target_.script(tables_sql()));
  return target_.script(
      "CREATE TABLE reprise_damage(id INTEGER PRIMARY KEY, place TEXT NOT NULL,"
      " reason TEXT NOT NULL, bytes BLOB, UNIQUE(place, reason))");
}

Result<std::vector<CopiedColumn>> DatabaseRepair::columns_of(std::string_view table) {
  REPRISE_ASSIGN(Statement row, target_.query(kFilledColumns, table));
  std::vector<CopiedColumn> columns;
  REPRISE_TRY(row.each([&] { columns.push_back({row.text("name"), row.text("value")}); }));
  return columns;
}

Result<> DatabaseRepair::insert(const std::string& sql, const Statement& row, std::size_t count) {
  REPRISE_ASSIGN(Statement into, target_.prepare(sql));
  for (std::size_t i = 0; i < count; ++i) {
    into.bind_column(row, numbered(i));
  }
  return into.run();
}

Result<> DatabaseRepair::record_damage(Damage damage, std::string_view bytes) {
  REPRISE_TRY(
      target_.run("INSERT OR IGNORE INTO reprise_damage(place, reason, bytes) VALUES(?, ?, ?)",
                  damage.where, damage.reason, Blob{bytes}));
  if (target_.changes() != 0) {  // otherwise both walks have found it
    report_.damage.push_back(std::move(damage));
  }
  return {};
}

// Unreachable rows are damage of the table.
Result<> DatabaseRepair::each(const std::string& sql, std::string_view table, const Row& row) {
  auto rows = source_.prepare(sql);
  auto has_row = rows ? rows->step() : Result<bool>(std::unexpected(rows.error()));
  while (has_row && *has_row) {
    REPRISE_TRY(row(*rows));
    has_row = rows->step();
  }
  return has_row
             ? Result<>()
             : record_damage({cat(file_, ": ", table), std::move(has_row).error().message, ""}, "");
}

Result<> DatabaseRepair::copy_sessions() {
  REPRISE_ASSIGN(const auto columns, columns_of("sessions"));
  const std::string sql = insert_sql("sessions", columns);
  return each(cat("SELECT rowid AS rowid, id AS id, ", select_columns(columns), " FROM sessions"),
              "sessions", [&](const Statement& row) -> Result<> {
                REPRISE_TRY(insert(sql, row, columns.size()));
                if (target_.changes() != 0) {
                  ++report_.sessions;
                  return {};
                }
                return record_damage({row_location(file_, "sessions", row.integer("rowid")),
                                      "it cannot be restored", ""},
                                     row.bytes("id"));
              });
}

Result<> DatabaseRepair::copy_messages() {
  REPRISE_ASSIGN(const auto columns, columns_of("messages"));
  const std::string sql = insert_sql("messages", columns);
  total_ = source_.integer("SELECT count(*) FROM messages").value_or(0);
  return each(cat("SELECT ", message_select(), ", ", select_columns(columns), " FROM messages"),
              "messages",
              [&](const Statement& row) { return copy_message(row, sql, columns.size()); });
}

Result<> DatabaseRepair::copy_message(const Statement& row, const std::string& sql,
                                      std::size_t count) {
  if (progress_) {
    progress_({"recovering messages", report_.messages, total_});
  }
  Message message;
  std::optional<Damage> damage;
  if (!read_message(row, file_, message, damage) && damage) {
    return record_damage(*std::move(damage), row.bytes("content"));
  }
  REPRISE_TRY(insert(sql, row, count));
  if (target_.changes() != 0) {
    ++report_.messages;
    if (damage) {
      report_.damage.push_back(*std::move(damage));
    }
    return {};
  }
  return record_damage(Damage{row_location(file_, "messages", row.integer("id")),
                              "another message has its position", excerpt_of(row.bytes("content"))},
                       row.bytes("content"));
}

Result<> DatabaseRepair::copy_table(std::string_view table) {
  REPRISE_ASSIGN(const auto columns, columns_of(table));
  const std::string sql = insert_sql(table, columns);
  return each(
      cat("SELECT ", select_columns(columns), " FROM ", table), table,
      [&](const Statement& row) -> Result<> {
        REPRISE_TRY(insert(sql, row, columns.size()));
        return target_.changes() != 0
                   ? Result<>()
                   : record_damage(
                         {cat(file_, ": ", table), "it has rows that cannot be restored", ""}, "");
      });
}

// Copies a table of the original program, if it exists.
Result<> DatabaseRepair::copy_original(std::string_view table) {
  REPRISE_ASSIGN(
      Statement row,
      source_.query("SELECT sql FROM main.sqlite_schema WHERE type = 'table' AND name = ?", table));
  REPRISE_ASSIGN(const bool found, row.step());
  if (!found) {
    return {};
  }
  REPRISE_TRY(target_.run(row.text("sql")));
  REPRISE_TRY(copy_table(table));
  return target_.run(
      cat("DELETE FROM ", table, " WHERE session_id NOT IN (SELECT id FROM sessions)"));
}

// Adds lost rows of retained sessions, which their names and messages tell, and of those that they
// belong to.
Result<> DatabaseRepair::repair_retained() {
  REPRISE_TRY(
      target_.run("INSERT OR IGNORE INTO reprise_kept(id, kept_for, base_count, head)"
                  " SELECT session_id, substr(session_id, 1, instr(session_id, '~') - 1), min(seq),"
                  " max(seq) + 1 FROM reprise_kept_messages WHERE instr(session_id, '~') > 1"
                  " GROUP BY session_id"));
  REPRISE_TRY(
      target_.run("INSERT OR IGNORE INTO sessions(id, title, model, created_us, updated_us, head)"
                  " SELECT kept_for, 'Recovered', '', 0, 0, 0 FROM reprise_kept"
                  " WHERE kept_for NOT IN (SELECT id FROM sessions) GROUP BY kept_for"));
  report_.sessions += target_.changes();
  return target_.run(
      "DELETE FROM reprise_kept_messages"
      " WHERE session_id NOT IN (SELECT id FROM reprise_kept)");
}

// Adds sessions for orphaned messages, corrects heads, and removes rows without a session.
Result<> DatabaseRepair::repair_references() {
  REPRISE_TRY(repair_retained());
  REPRISE_TRY(
      target_.run("INSERT OR IGNORE INTO sessions(id, title, model, created_us, updated_us)"
                  " SELECT session_id, 'Recovered', '', 0, 0 FROM messages"
                  " WHERE session_id NOT IN (SELECT id FROM sessions) GROUP BY session_id"));
  report_.sessions += target_.changes();
  // Messages that a fork shares with a lost session are counted as missing.
  REPRISE_TRY(
      target_.run("INSERT OR IGNORE INTO sessions(id, title, model, created_us, updated_us, head)"
                  " SELECT base, 'Recovered', '', 0, 0, max(base_count) FROM sessions"
                  " WHERE base NOT IN (SELECT id FROM sessions UNION SELECT id FROM reprise_kept)"
                  " GROUP BY base"));
  REPRISE_TRY(target_.run(
      "UPDATE sessions SET head = max(CASE WHEN head BETWEEN 0 AND ?1 THEN head ELSE 0 END,"
      " CASE WHEN base_count BETWEEN 0 AND ?1 THEN base_count ELSE 0 END,"
      " coalesce((SELECT max(seq) + 1 FROM messages WHERE session_id = sessions.id), 0))",
      kSeqMax.value));
  for (const Table& table : added_tables()) {
    if (table.name != "reprise_blobs" && table.name != kPinsTable && table.name != kKeptTable &&
        table.name != kKeptMessagesTable) {
      REPRISE_TRY(target_.run(
          cat("DELETE FROM ", table.name, " WHERE session_id NOT IN (SELECT id FROM sessions)")));
    }
  }
  return {};
}

std::string session_location(std::string_view file, std::string_view session) {
  return cat(file, ": session ", session);
}

constexpr std::string_view kMissing =
    "SELECT id, count, missing FROM (SELECT s.id AS id, s.head - s.base_count AS count,"
    " s.head - s.base_count - (SELECT count(*) FROM messages AS m WHERE m.session_id = s.id"
    " AND m.seq >= s.base_count) AS missing FROM sessions AS s) WHERE missing > 0 ORDER BY id";

Result<> DatabaseRepair::report_missing() {
  REPRISE_ASSIGN(Statement row, target_.prepare(kMissing));
  return row.each([&]() -> Result<> {
    const std::int64_t missing = row.integer("missing");
    report_.messages_lost += missing;
    REPRISE_TRY(record_damage({session_location(file_, row.text("id")),
                               cat(missing, " of ", row.integer("count"),
                                   missing == 1 ? " messages is missing" : " messages are missing"),
                               ""},
                              ""));
    return {};
  });
}

Result<> repair_pages(const std::filesystem::path& file, std::chrono::milliseconds busy_timeout,
                      Connection& target, VerifyReport& report, const ProgressSink& progress) {
  REPRISE_ASSIGN(SalvagedRows salvaged, salvage_rows(file, busy_timeout, progress));
  REPRISE_ASSIGN(const SchemaVersion schema, schema_version_of(*salvaged.rows));
  if (schema == SchemaVersion::original) {
    REPRISE_TRY(create_original_views(*salvaged.rows));
  }
  return DatabaseRepair(*salvaged.rows, target, report, progress).run(std::move(salvaged.damage));
}

bool is_sound(Connection& connection) {
  auto check = connection.prepare("PRAGMA main.quick_check(1)");
  const auto row = check ? check->step() : Result<bool>(std::unexpected(check.error()));
  return row && *row && check->bytes("quick_check") == "ok";
}

}  // namespace

Result<std::unique_ptr<Connection>> salvaged_copy(const std::filesystem::path& file,
                                                  std::chrono::milliseconds busy_timeout,
                                                  const ProgressSink& progress) {
  REPRISE_ASSIGN(auto copy, Connection::open_temporary(file));
  VerifyReport report;
  REPRISE_TRY(repair_pages(file, busy_timeout, *copy, report, progress));
  return copy;
}

namespace {

Result<std::vector<Damage>> stored_damage(Statement row) {
  std::vector<Damage> damage;
  REPRISE_TRY(row.each([&] { damage.push_back({row.text("place"), row.text("reason"), ""}); }));
  return damage;
}

Result<std::int64_t> count_missing(Connection& salvaged) {
  return salvaged.integer(cat("SELECT coalesce(sum(missing), 0) FROM (", kMissing, ")"));
}

}  // namespace

Result<std::vector<Damage>> damage_of_salvaged(Connection& salvaged, std::string_view session) {
  const std::string file = salvaged.name();
  const std::string location = session_location(file, session);
  REPRISE_ASSIGN(
      Statement row,
      salvaged.query("SELECT place, reason FROM reprise_damage WHERE place IN (?, ?) ORDER BY id",
                     file, location));
  REPRISE_ASSIGN(auto damage, stored_damage(std::move(row)));
  REPRISE_ASSIGN(const std::int64_t missing,
                 session.empty() ? count_missing(salvaged) : Result<std::int64_t>(0));
  if (missing != 0) {
    damage.push_back(
        {file, missing == 1 ? "1 message is missing" : cat(missing, " messages are missing"), ""});
  }
  return damage;
}

Result<VerifyReport> report_of_salvaged(Connection& salvaged) {
  VerifyReport report;
  REPRISE_ASSIGN(report.sessions, salvaged.integer("SELECT count(*) FROM sessions"));
  REPRISE_ASSIGN(report.messages,
                 salvaged.integer("SELECT (SELECT count(*) FROM messages)"
                                  " + (SELECT count(*) FROM reprise_kept_messages)"));
  REPRISE_ASSIGN(report.messages_lost, count_missing(salvaged));
  REPRISE_ASSIGN(Statement row,
                 salvaged.prepare("SELECT place, reason FROM reprise_damage ORDER BY id"));
  REPRISE_ASSIGN(report.damage, stored_damage(std::move(row)));
  return report;
}

Result<VerifyReport> SqliteStore::repair_into(const std::filesystem::path& target) {
  return database_.read([&](const Database::Reader& reader) { return repair(reader, target); });
}

Result<VerifyReport> SqliteStore::repair(const Database::Reader& reader,
                                         const std::filesystem::path& target) {
  VerifyReport report;
  const auto by_pages = [&](Connection& empty) -> Result<> {
    REPRISE_TRY(repair_pages(database_.file(), database_.busy_timeout(), empty, report,
                             database_.progress()));
    return reader.check_unchanged();
  };
  if (reader.is_salvaged() || !is_sound(*reader)) {
    REPRISE_TRY(build_database(target, target, by_pages));
    return report;
  }
  REPRISE_ASSIGN(const Transaction snapshot, Transaction::begin(*reader, "BEGIN"));
  const auto by_rows = [&](Connection& empty) -> Result<> {
    REPRISE_TRY(DatabaseRepair(*reader, empty, report, database_.progress()).run());
    return reader.check_unchanged();
  };
  REPRISE_TRY(build_database(target, target, by_rows));
  return report;
}

}  // namespace reprise::sqlite

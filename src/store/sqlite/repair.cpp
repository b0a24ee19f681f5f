// Verification and repair: a new database with all that can be read of a damaged one. The damaged
// one is not touched. What cannot be a message any more stands in the table reprise_damage of the
// new database, byte by byte.

#include <sqlite3.h>

#include <algorithm>

#include "base/text.h"
#include "reprise/capabilities.h"
#include "store/sqlite/connection.h"
#include "store/sqlite/copy.h"
#include "store/sqlite/database.h"
#include "store/sqlite/migrate.h"
#include "store/sqlite/original.h"
#include "store/sqlite/rows.h"
#include "store/sqlite/schema.h"
#include "store/sqlite/sqlite_store.h"
#include "store/sqlite/verify.h"

namespace reprise::sqlite {
namespace {

constexpr std::int64_t kKeyMin = 0;  // SQLite gives no others
constexpr std::int64_t kKeyMax = std::numeric_limits<std::int64_t>::max();
constexpr int kProbesMax = 200'000;

// Called for each row that can be read.
using Row = std::function<Result<>(const Statement& row)>;

// Walks a damaged table in the order of an integer key. Pages that cannot be read are narrowed
// down by halves until only the rows in them are left out.
class Salvage {
 public:
  // `select` ends where " WHERE …" follows; its rows have the key.
  Salvage(Connection& source, std::string_view select, std::string_view key)
      : source_(source),
        key_(key),
        forwards_(cat(select, " WHERE ", key, " BETWEEN ? AND ? ORDER BY ", key)),
        backwards_(cat(forwards_, " DESC")) {}

  // An error is one of `row`; what could not be read is counted.
  Result<> run(const Row& row) {
    REPRISE_ASSIGN(const auto last_good, walk(forwards_, kKeyMin, kKeyMax, row));
    if (!last_good) {
      return {};
    }
    REPRISE_ASSIGN(const auto first_good, walk(backwards_, *last_good, kKeyMax, row));
    return probe(*last_good, first_good ? *first_good : *last_good, row);
  }

  const std::optional<Error>& fault() const { return fault_; }

 private:
  // Nothing when all rows of [from, to] were read, else the key the walk had come to.
  Result<std::optional<std::int64_t>> walk(const std::string& sql, std::int64_t from,
                                           std::int64_t to, const Row& row) {
    std::int64_t at = &sql == &backwards_ ? to : from;
    auto rows = source_.query(sql, from, to);
    if (!rows) {
      fault_ = rows.error();
      return at;
    }
    while (true) {
      const auto more = rows->step();
      if (!more) {
        fault_ = more.error();
        return at;
      }
      if (!*more) {
        return std::nullopt;
      }
      at = rows->integer(key_);
      REPRISE_TRY(row(*rows));
    }
  }

  // Rows of [from, to], in which something cannot be read.
  Result<> probe(std::int64_t from, std::int64_t to, const Row& row) {
    std::vector<std::pair<std::int64_t, std::int64_t>> left = {{from, to}};
    for (int count = 0; !left.empty() && count < kProbesMax; ++count) {
      const auto [low, high] = left.back();
      left.pop_back();
      REPRISE_ASSIGN(const auto at, walk(forwards_, low, high, row));
      if (!at || low >= high) {
        continue;
      }
      const std::int64_t next = std::max(*at, low);
      const std::int64_t middle = next + (high - next) / 2;
      if (middle < high) {
        left.emplace_back(middle + 1, high);
      }
      if (next < middle || next > low) {
        left.emplace_back(next == low ? low : next + 1, middle);
      }
    }
    return {};
  }

  Connection& source_;
  const std::string key_;
  const std::string forwards_;
  const std::string backwards_;
  std::optional<Error> fault_;
};

struct Filled {
  std::string name;
  std::string value;  // "?", or that with what stands for a NULL
};

std::string joined(const std::vector<Filled>& columns, std::string Filled::* part) {
  std::string out;
  for (const Filled& column : columns) {
    out += cat(out.empty() ? "" : ", ", column.*part);
  }
  return out;
}

// A column of any table, whatever that calls it.
std::string numbered(std::size_t column) {
  return cat("column_", column);
}

std::string select_columns(const std::vector<Filled>& columns) {
  std::string out;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    out += cat(i == 0 ? "" : ", ", columns[i].name, " AS ", numbered(i));
  }
  return out;
}

std::string insert_sql(std::string_view table, const std::vector<Filled>& columns) {
  return cat("INSERT OR IGNORE INTO ", table, "(", joined(columns, &Filled::name), ") VALUES(",
             joined(columns, &Filled::value), ")");
}

// A table that another program has made may hold NULLs where ours do not. For them stands what a
// new row would have, but no time of today; keys stay what they are.
constexpr std::string_view kFilledColumns = R"(SELECT name,
  CASE WHEN "notnull" = 0 OR pk > 0 THEN '?'
    WHEN type = 'DATETIME' THEN 'coalesce(?, ''1970-01-01 00:00:00'')'
    WHEN dflt_value IS NOT NULL THEN 'coalesce(?, ' || dflt_value || ')'
    WHEN name IN ('model', 'role') THEN 'coalesce(?, '''')'
    ELSE '?' END AS value FROM pragma_table_info(?))";

class Repairing {
 public:
  Repairing(Connection& source, Connection& target, VerifyReport& report)
      : source_(source), target_(target), report_(report), file_(source.name()) {}

  Result<> run();

 private:
  Result<std::vector<Filled>> columns_of(std::string_view table);
  Result<> prepare();
  Result<> copy_sessions();
  Result<> copy_messages();
  Result<> copy_table(std::string_view table);
  Result<> copy_original(std::string_view table);
  Result<> insert(const std::string& sql, const Statement& row, std::size_t count);
  Result<> copy_message(const Statement& row, const std::string& sql, std::size_t count);
  Result<> keep_damage(Damage damage, std::string_view bytes);
  Result<> note(std::string_view table, const std::optional<Error>& fault);
  Result<> make_whole();

  Connection& source_;
  Connection& target_;
  VerifyReport& report_;
  const std::string file_;
};

Result<> Repairing::run() {
  REPRISE_TRY(prepare());
  REPRISE_ASSIGN(Transaction transaction, Transaction::begin(target_));
  REPRISE_TRY(copy_sessions());
  REPRISE_TRY(copy_messages());
  for (const Table& table : own_tables()) {
    const auto is_there = table.name == kPinsTable ? has_table(source_, table.name) : true;
    if (!is_there || *is_there) {  // what cannot be known shows when it is copied
      REPRISE_TRY(copy_table(table.name));
    }
  }
  REPRISE_TRY(make_whole());
  for (const std::string_view table : {kResultBlobsTable, kSnapshotsTable}) {
    REPRISE_TRY(copy_original(table));
  }
  REPRISE_TRY(target_.script(cat(fill_slots_sql(), triggers_sql())));
  REPRISE_TRY(set_version(target_));
  return transaction.commit();
}

Result<> Repairing::prepare() {
  // What is copied is as broken as it was: rows may miss what they belong to until the end.
  sqlite3_db_config(target_.handle(), SQLITE_DBCONFIG_ENABLE_FKEY, 0, nullptr);
  REPRISE_TRY(target_.script(tables_sql()));
  return target_.script(
      "CREATE TABLE reprise_damage(id INTEGER PRIMARY KEY, place TEXT NOT NULL,"
      " reason TEXT NOT NULL, bytes BLOB, UNIQUE(place, reason))");
}

Result<std::vector<Filled>> Repairing::columns_of(std::string_view table) {
  REPRISE_ASSIGN(Statement row, target_.query(kFilledColumns, table));
  std::vector<Filled> columns;
  while (true) {
    REPRISE_ASSIGN(const bool more, row.step());
    if (!more) {
      return columns;
    }
    columns.push_back({row.text("name"), row.text("value")});
  }
}

Result<> Repairing::insert(const std::string& sql, const Statement& row, std::size_t count) {
  REPRISE_ASSIGN(Statement into, target_.prepare(sql));
  for (std::size_t i = 0; i < count; ++i) {
    into.bind_column(row, numbered(i));
  }
  return into.run();
}

Result<> Repairing::keep_damage(Damage damage, std::string_view bytes) {
  REPRISE_TRY(
      target_.run("INSERT OR IGNORE INTO reprise_damage(place, reason, bytes) VALUES(?, ?, ?)",
                  damage.where, damage.reason, Blob{bytes}));
  if (target_.changes() != 0) {  // else both walks have met it
    report_.damage.push_back(std::move(damage));
  }
  return {};
}

Result<> Repairing::note(std::string_view table, const std::optional<Error>& fault) {
  if (!fault) {
    return {};
  }
  return keep_damage({cat(file_, ": ", table), fault->message, ""}, "");
}

Result<> Repairing::copy_sessions() {
  REPRISE_ASSIGN(const auto columns, columns_of("sessions"));
  const std::string sql = insert_sql("sessions", columns);
  Salvage salvage(
      source_, cat("SELECT rowid AS rowid, id AS id, ", select_columns(columns), " FROM sessions"),
      "rowid");
  const Row copy = [&](const Statement& row) -> Result<> {
    REPRISE_TRY(insert(sql, row, columns.size()));
    if (target_.changes() != 0) {
      ++report_.sessions;
      return {};
    }
    REPRISE_ASSIGN(const std::int64_t again,
                   target_.integer("SELECT 1 FROM sessions WHERE id = ?", row.bytes("id")));
    return again != 0 ? Result<>()  // a row both walks have met
                      : keep_damage({row_place(file_, "sessions", row.integer("rowid")),
                                     "it cannot stand in the new database", ""},
                                    row.bytes("id"));
  };
  REPRISE_TRY(salvage.run(copy));
  return note("sessions", salvage.fault());
}

Result<> Repairing::copy_messages() {
  REPRISE_ASSIGN(const auto columns, columns_of("messages"));
  const std::string sql = insert_sql("messages", columns);
  Salvage salvage(source_,
                  cat("SELECT ", message_select(), ", ", select_columns(columns), " FROM messages"),
                  "id");
  REPRISE_TRY(
      salvage.run([&](const Statement& row) { return copy_message(row, sql, columns.size()); }));
  return note("messages", salvage.fault());
}

Result<> Repairing::copy_message(const Statement& row, const std::string& sql, std::size_t count) {
  Message message;
  std::optional<Damage> damage;
  if (!read_message(row, file_, message, damage) && damage) {
    return keep_damage(*std::move(damage), row.bytes("content"));
  }
  REPRISE_TRY(insert(sql, row, count));
  if (target_.changes() != 0) {
    ++report_.messages;
    if (damage) {
      report_.damage.push_back(*std::move(damage));
    }
    return {};
  }
  REPRISE_ASSIGN(const std::int64_t again,
                 target_.integer("SELECT 1 FROM messages WHERE id = ?", row.integer("id")));
  if (again != 0) {
    return {};  // a row both walks have met
  }
  return keep_damage(Damage{row_place(file_, "messages", row.integer("id")),
                            "another message has its place", excerpt_of(row.bytes("content"))},
                     row.bytes("content"));
}

Result<> Repairing::copy_table(std::string_view table) {
  REPRISE_ASSIGN(const auto columns, columns_of(table));
  const std::string sql = insert_sql(table, columns);
  std::optional<Error> fault;
  auto rows = source_.prepare(cat("SELECT ", select_columns(columns), " FROM ", table));
  auto more = rows ? rows->step() : Result<bool>(std::unexpected(rows.error()));
  while (more && *more) {
    REPRISE_TRY(insert(sql, *rows, columns.size()));
    if (target_.changes() == 0) {
      REPRISE_TRY(keep_damage(
          {cat(file_, ": ", table), "it has rows that cannot stand in the new database", ""}, ""));
    }
    more = rows->step();
  }
  if (!more) {
    fault = more.error();
  }
  return note(table, fault);
}

// A table of the original program's, where there is one.
Result<> Repairing::copy_original(std::string_view table) {
  REPRISE_ASSIGN(
      Statement row,
      source_.query("SELECT sql FROM main.sqlite_schema WHERE type = 'table' AND name = ?", table));
  REPRISE_ASSIGN(const bool found, row.step());
  if (!found) {
    return {};
  }
  REPRISE_TRY(target_.script(row.text("sql")));
  REPRISE_TRY(copy_table(table));
  return target_.run(
      cat("DELETE FROM ", table, " WHERE session_id NOT IN (SELECT id FROM sessions)"));
}

// Sessions for messages that lost theirs, heads that are right, nothing that belongs to nobody.
Result<> Repairing::make_whole() {
  REPRISE_TRY(
      target_.run("INSERT OR IGNORE INTO sessions(id, title, model, created_us, updated_us)"
                  " SELECT session_id, 'Recovered', '', 0, 0 FROM messages"
                  " WHERE session_id NOT IN (SELECT id FROM sessions) GROUP BY session_id"));
  REPRISE_TRY(target_.run(
      "UPDATE sessions SET created_at = '1970-01-01 00:00:00', updated_at = '1970-01-01 00:00:00'"
      " WHERE title = 'Recovered' AND created_us = 0 AND model = ''"));
  REPRISE_TRY(
      target_.run("UPDATE sessions SET head = max(head, base_count, coalesce((SELECT max(seq) + 1"
                  " FROM messages WHERE session_id = sessions.id), 0))"));
  for (const Table& table : own_tables()) {
    if (table.name != "reprise_blobs" && table.name != kPinsTable) {
      REPRISE_TRY(target_.run(
          cat("DELETE FROM ", table.name, " WHERE session_id NOT IN (SELECT id FROM sessions)")));
    }
  }
  return {};
}

}  // namespace

Result<VerifyReport> SqliteStore::verify() {
  REPRISE_ASSIGN(const Database::Reader reader, database_.reader());
  return verify_database(*reader);
}

Result<VerifyReport> SqliteStore::repair_into(const std::filesystem::path& target) {
  REPRISE_ASSIGN(const Database::Reader reader, database_.reader());
  REPRISE_ASSIGN(const Transaction snapshot, Transaction::begin(*reader, "BEGIN"));
  VerifyReport report;
  const auto fill = [&](Connection& empty) { return Repairing(*reader, empty, report).run(); };
  REPRISE_TRY(build_database(target, target, fill));
  return report;
}

}  // namespace reprise::sqlite

// Checks everything in a database and reports the damage.

#include <set>

#include "base/encode.h"
#include "base/text.h"
#include "reprise/capabilities.h"
#include "store/rules.h"
#include "store/sqlite/connection.h"
#include "store/sqlite/database.h"
#include "store/sqlite/repair.h"
#include "store/sqlite/rows.h"
#include "store/sqlite/sqlite_store.h"

namespace reprise::sqlite {
namespace {

class DatabaseCheck {
 public:
  DatabaseCheck(Connection& connection, const ProgressSink& progress)
      : connection_(connection), progress_(progress), file_(connection.name()) {}

  VerifyReport run() {
    const ProgressHandler watch(connection_, [this] { report_progress(); });
    total_ = connection_.integer("SELECT count(*) FROM messages").value_or(0);
    report_progress();
    check_structure();
    check_sessions();
    check_messages();
    check_sharing();
    check_blobs();
    report_progress();
    return std::move(report_);
  }

 private:
  void add(std::string where, std::string reason) {
    report_.damage.push_back({std::move(where), std::move(reason), ""});
  }
  // Calls `row` for each row. Rows that SQLite cannot reach are reported as damage, too.
  void each(std::string_view sql, const std::function<void(const Statement&)>& row);
  // Reports each row as damage: its place is the table and column `row`, its reason column
  // `reason`.
  void each_is_damage(std::string_view table, std::string_view sql);
  void check_structure();
  void check_sessions();
  void check_messages();
  void check_sharing();
  void check_blobs();
  Result<std::string> hash_of(std::string_view hash);

  void report_progress() const {
    if (progress_) {
      progress_({"verifying", report_.messages, report_.messages == 0 ? 0 : total_});
    }
  }

  Connection& connection_;
  const ProgressSink& progress_;
  const std::string file_;
  std::int64_t total_ = 0;                  // number of messages
  std::set<std::string> referenced_blobs_;  // by messages or by references
  VerifyReport report_;
};

void DatabaseCheck::each(std::string_view sql, const std::function<void(const Statement&)>& row) {
  auto rows = connection_.prepare(sql);
  const auto done =
      rows ? rows->each([&] { row(*rows); }) : Result<>(std::unexpected(rows.error()));
  if (!done) {
    add(file_, done.error().message);
  }
}

void DatabaseCheck::each_is_damage(std::string_view table, std::string_view sql) {
  each(sql, [&](const Statement& row) {
    add(row_location(file_, table, row.integer("row")), row.text("reason"));
  });
}

void DatabaseCheck::check_structure() {
  each("PRAGMA main.integrity_check(100)", [&](const Statement& row) {
    if (row.bytes("integrity_check") != "ok") {
      add(file_, row.text("integrity_check"));
    }
  });
  each("PRAGMA main.foreign_key_check", [&](const Statement& row) {
    add(row_location(file_, row.text("table"), row.integer("rowid")),
        cat("refers to nothing in ", row.text("parent")));
  });
}

void DatabaseCheck::check_sessions() {
  each(cat("SELECT ", info_select(),
           " FROM sessions AS s LEFT JOIN reprise_answers AS a ON a.session_id = s.id AND a.n = 0"
           " WHERE s.kept_for IS NULL"),
       [&](const Statement& row) {
         InfoRow read = read_info(row, file_);
         ++report_.sessions;
         if (read.damage) {
           report_.damage.push_back(*std::move(read.damage));
         }
       });
  each_is_damage("sessions",
                 "SELECT rowid AS row, 'session ' || id || ' is partly removed: purge it again'"
                 " AS reason FROM sessions"
                 " WHERE state = 'trashed' AND state_before_trash = 'trashed'");
}

void DatabaseCheck::check_messages() {
  each(cat("SELECT ", message_select(), " FROM messages"), [&](const Statement& row) {
    Message message;
    std::optional<Damage> damage;
    read_message(row, file_, message, damage);
    ++report_.messages;
    for (const BlobHash& hash : store::blobs_in(message.blocks)) {
      referenced_blobs_.insert(hash.str());
    }
    if (damage) {
      report_.damage.push_back(*std::move(damage));
    }
  });
  each_is_damage("messages",
                 "SELECT id AS row, 'the position ' || seq || ' is not a number' AS reason"
                 " FROM messages WHERE typeof(seq) <> 'integer'");
}

void DatabaseCheck::check_sharing() {
  each_is_damage("sessions",
                 "SELECT rowid AS row, 'it has messages beyond its head ' || head AS reason"
                 " FROM sessions AS s"
                 " WHERE head <= (SELECT max(seq) FROM messages AS m WHERE m.session_id = s.id)");
  each_is_damage("sessions",
                 "SELECT s.rowid AS row,"
                 " 'the messages it shares with ' || s.base || ' are missing' AS reason"
                 " FROM sessions AS s LEFT JOIN sessions AS b ON b.id = s.base"
                 " WHERE s.base IS NOT NULL AND (b.id IS NULL OR b.head < s.base_count)");
}

void DatabaseCheck::check_blobs() {
  each("SELECT DISTINCT hash FROM reprise_blob_refs",
       [&](const Statement& row) { referenced_blobs_.insert(row.text("hash")); });
  each("SELECT DISTINCT hash FROM reprise_blobs",
       [&](const Statement& row) { referenced_blobs_.erase(row.text("hash")); });
  for (const std::string& hash : referenced_blobs_) {
    add(cat(file_, ": blob ", hash), "messages name it, but it is missing");
  }
  each("SELECT DISTINCT hash FROM reprise_blobs", [&](const Statement& row) {
    const std::string name = row.text("hash");
    const auto hash = hash_of(name);
    if (!hash) {
      add(cat(file_, ": blob ", name), hash.error().message);
    } else if (*hash != name) {
      add(cat(file_, ": blob ", name), "its bytes do not match its name");
    }
  });
}

Result<std::string> DatabaseCheck::hash_of(std::string_view hash) {
  REPRISE_ASSIGN(
      Statement row,
      connection_.query("SELECT bytes FROM reprise_blobs WHERE hash = ? ORDER BY n", hash));
  std::string bytes;
  REPRISE_TRY(row.each([&] { bytes += row.bytes("bytes"); }));
  REPRISE_ASSIGN(const auto found, sha256(bytes));
  return found.str();
}

}  // namespace

Result<VerifyReport> SqliteStore::verify() {
  return database_.read([this](const Database::Reader& reader) -> Result<VerifyReport> {
    if (reader.is_salvaged()) {
      return report_of_salvaged(*reader);
    }
    // A snapshot, whatever others write meanwhile.
    // Not committed: a damaged database may refuse even that.
    REPRISE_ASSIGN(const Transaction snapshot, Transaction::begin(*reader, "BEGIN"));
    return DatabaseCheck(*reader, database_.progress()).run();
  });
}

}  // namespace reprise::sqlite

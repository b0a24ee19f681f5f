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
#include "store/sqlite/schema.h"
#include "store/sqlite/sqlite_store.h"

namespace reprise::sqlite {
namespace {

constexpr std::string_view kMessageTables[] = {"messages", kKeptMessagesTable};

class DatabaseCheck {
 public:
  DatabaseCheck(Connection& connection, const ProgressSink& progress)
      : connection_(connection), progress_(progress), file_(connection.name()) {}

  VerifyReport run() {
    const ProgressHandler watch(connection_, [this] { report_progress(); });
    for (const std::string_view table : kMessageTables) {
      total_ += connection_.integer(cat("SELECT count(*) FROM ", table)).value_or(0);
    }
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
  using Row = std::function<void(const Statement&)>;
  // Calls `row` for each row.
  Result<> walk(std::string_view sql, const Row& row);
  // Rows that SQLite cannot reach are damage of `place`, which is reported once.
  void report_unreadable(const std::string& place, const Result<>& walked);
  void each(const std::string& place, std::string_view sql, const Row& row) {
    report_unreadable(place, walk(sql, row));
  }
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
  std::set<std::string> unreadable_;        // places with rows that SQLite cannot reach
  VerifyReport report_;
};

Result<> DatabaseCheck::walk(std::string_view sql, const Row& row) {
  REPRISE_ASSIGN(Statement rows, connection_.prepare(sql));
  return rows.each([&] { row(rows); });
}

void DatabaseCheck::report_unreadable(const std::string& place, const Result<>& walked) {
  if (!walked && unreadable_.insert(place).second) {
    add(place, walked.error().code == Code::corrupt ? "some of its rows cannot be read"
                                                    : walked.error().message);
  }
}

void DatabaseCheck::each_is_damage(std::string_view table, std::string_view sql) {
  each(file_, sql, [&](const Statement& row) {
    add(row_location(file_, table, row.integer("row")), row.text("reason"));
  });
}

// Many lines of SQLite are about one place, so the first is enough.
void DatabaseCheck::check_structure() {
  std::vector<std::string> lines;
  const auto walked = walk("PRAGMA main.integrity_check(100)", [&](const Statement& row) {
    const std::string text = row.text("integrity_check");
    for (const std::string_view line : split(text, '\n')) {
      if (line != "ok" && !line.starts_with("***")) {
        lines.emplace_back(line);
      }
    }
  });
  if (!lines.empty()) {
    add(file_, cat("its structure is damaged (SQLite: ", lines.front(),
                   lines.size() == 1 ? "" : cat(", and ", lines.size() - 1, " more"), ")"));
    unreadable_.insert(file_);
  }
  report_unreadable(file_, walked);
  each(file_, "PRAGMA main.foreign_key_check", [&](const Statement& row) {
    add(row_location(file_, row.text("table"), row.integer("rowid")),
        cat("refers to nothing in ", row.text("parent")));
  });
}

void DatabaseCheck::check_sessions() {
  each(cat(file_, ": sessions"),
       cat("SELECT ", info_select(),
           " FROM sessions AS s LEFT JOIN reprise_answers AS a ON a.session_id = s.id AND a.n = 0"),
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
  for (const std::string_view table : kMessageTables) {
    each(cat(file_, ": ", table), cat("SELECT ", message_select(), " FROM ", table),
         [&](const Statement& row) {
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
  }
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
                 " FROM sessions AS s LEFT JOIN (SELECT id, head FROM sessions"
                 " UNION ALL SELECT id, head FROM reprise_kept) AS b ON b.id = s.base"
                 " WHERE s.base IS NOT NULL AND (b.id IS NULL OR b.head < s.base_count)");
}

void DatabaseCheck::check_blobs() {
  const std::string blobs = cat(file_, ": blobs");
  each(blobs, "SELECT DISTINCT hash FROM reprise_blob_refs",
       [&](const Statement& row) { referenced_blobs_.insert(row.text("hash")); });
  each(blobs, "SELECT DISTINCT hash FROM reprise_blobs",
       [&](const Statement& row) { referenced_blobs_.erase(row.text("hash")); });
  for (const std::string& hash : referenced_blobs_) {
    add(cat(file_, ": blob ", hash), "messages name it, but it is missing");
  }
  each(blobs, "SELECT DISTINCT hash FROM reprise_blobs", [&](const Statement& row) {
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

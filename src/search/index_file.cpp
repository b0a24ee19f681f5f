#include "search/index_file.h"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>

#include "base/assert.h"
#include "base/file.h"
#include "base/text.h"
#include "search/tokenizer.h"
#include "store/sqlite/library.h"

namespace reprise::search {
namespace {

using sqlite::Connection;
using sqlite::OpenMode;
using std::chrono::steady_clock;

constexpr std::int64_t kApplicationId = 0x52505349;  // "RPSI"
constexpr std::int64_t kVersion = 10;
constexpr std::chrono::milliseconds kBusy{10'000};

constexpr std::string_view kTables = R"(
CREATE TABLE sources(
  id INTEGER PRIMARY KEY, url TEXT NOT NULL UNIQUE, mark TEXT NOT NULL, position TEXT NOT NULL,
  complete INTEGER NOT NULL);
CREATE TABLE sessions(
  key INTEGER PRIMARY KEY, source INTEGER NOT NULL, id TEXT NOT NULL, short_id TEXT NOT NULL,
  origin TEXT NOT NULL, head INTEGER NOT NULL,
  updated_us INTEGER NOT NULL, first INTEGER NOT NULL, next INTEGER NOT NULL,
  tail INTEGER NOT NULL, fingerprint INTEGER NOT NULL, folder INTEGER NOT NULL, hidden INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  has_unique_short_id INTEGER NOT NULL,
  UNIQUE(source, id));
CREATE INDEX sessions_by_short_id ON sessions(source, short_id);
CREATE INDEX sessions_by_origin ON sessions(source, origin) WHERE origin <> '';
CREATE INDEX sessions_hidden ON sessions(source, id) WHERE hidden = 1;
CREATE TABLE shards(
  id INTEGER PRIMARY KEY, source INTEGER NOT NULL, docs INTEGER NOT NULL, dead INTEGER NOT NULL);
CREATE INDEX shards_by_source ON shards(source);
CREATE TABLE docs(
  id INTEGER PRIMARY KEY, session INTEGER NOT NULL, seq INTEGER NOT NULL,
  time_ms INTEGER NOT NULL, bytes INTEGER NOT NULL);
CREATE TABLE runs(
  shard INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL,
  oldest_ms INTEGER NOT NULL, newest_ms INTEGER NOT NULL, slack_ms INTEGER NOT NULL,
  PRIMARY KEY(shard, first)) WITHOUT ROWID;
CREATE TABLE placed(
  session INTEGER NOT NULL, shard INTEGER NOT NULL, PRIMARY KEY(session, shard)) WITHOUT ROWID;
CREATE INDEX placed_by_shard ON placed(shard);
CREATE TABLE pending(
  session INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL,
  PRIMARY KEY(session, first)) WITHOUT ROWID;
)";

// Of the statements above, as SQLite stores them.
constexpr std::string_view kSelectTables =
    "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL"
    " AND name NOT GLOB 'words_*' AND name NOT GLOB 'vocabulary_*'";
// What is wrong if a query returns a row.
struct Contradiction {
  std::string_view query;
  std::string_view what;
};
constexpr std::array kContradictions = {
    Contradiction{"SELECT 1 FROM shards AS s LEFT JOIN sources AS o ON o.id = s.source"
                  " WHERE o.id IS NULL LIMIT 1",
                  "a shard has no source"},
    Contradiction{"SELECT 1 FROM shards AS s WHERE 5 <>"
                  " (SELECT count(*) FROM sqlite_schema WHERE name IN ('words_' || s.id,"
                  "  'words_' || s.id || '_data', 'words_' || s.id || '_idx',"
                  "  'words_' || s.id || '_config', 'vocabulary_' || s.id)) LIMIT 1",
                  "a shard has no words"},
    Contradiction{"SELECT 1 WHERE (SELECT count(*) FROM shards) <> (SELECT count(*)"
                  " FROM sqlite_schema WHERE sql GLOB 'CREATE VIRTUAL TABLE words_*')",
                  "words have no shard"},
    Contradiction{"SELECT 1 FROM shards AS s WHERE s.docs <>"
                  " (SELECT ifnull(sum(r.last - r.first + 1), 0) FROM runs AS r"
                  "  WHERE r.shard = s.id) LIMIT 1",
                  "the runs of a shard are not all of it"},
    Contradiction{"SELECT 1 FROM shards AS s WHERE (s.id << 20) + s.docs IS NOT"
                  " (SELECT max(d.id) FROM docs AS d WHERE d.id < (s.id + 1) << 20) LIMIT 1",
                  "a shard lacks messages"},
    Contradiction{"SELECT 1 FROM (SELECT max(id) >> 20 AS shard FROM docs)"
                  " WHERE shard IS NOT NULL AND shard NOT IN (SELECT id FROM shards)",
                  "messages have no shard"},
    Contradiction{"SELECT 1 FROM shards AS s WHERE NOT EXISTS"
                  " (SELECT 1 FROM placed AS p WHERE p.shard = s.id) LIMIT 1",
                  "a shard has no sessions"},
    Contradiction{"SELECT 1 FROM (SELECT min(session) AS session FROM placed UNION ALL"
                  " SELECT max(session) FROM placed) AS p LEFT JOIN sessions AS s"
                  " ON s.key = p.session WHERE p.session IS NOT NULL AND s.key IS NULL LIMIT 1",
                  "a session is missing"},
};

constexpr std::string_view kFiles[] = {"-wal", "-shm", "-journal", ""};

}  // namespace

Result<SessionId> parse_indexed(Connection& db, std::string_view id) {
  auto parsed = SessionId::parse(id);
  return parsed ? std::move(parsed) : db.wrong_content("a session's id is none");
}

std::string words_table(std::int64_t shard) {
  return cat("words_", shard);
}

std::string vocabulary_table(std::int64_t shard) {
  return cat("vocabulary_", shard);
}

Result<std::unique_ptr<IndexFile>> IndexFile::open(const std::filesystem::path& file) {
  REPRISE_TRY(make_private_folders(folder_of(file)));
  REPRISE_ASSIGN(const std::filesystem::path resolved, resolve_folder_of(file));
  std::unique_ptr<IndexFile> index(new IndexFile(resolved));
  auto opened = index->open_or_create();
  if (!opened && opened.error().code == Code::io && !index->is_damaged() &&
      index->open_for_reading()) {
    index->cannot_write_ = std::move(opened).error();
    return index;
  }
  REPRISE_TRY(std::move(opened));
  return index;
}

bool IndexFile::is_rebuildable(const Result<>& connected) const {
  return !connected && (is_damaged() || connected.error().code == Code::not_found);
}

Result<> IndexFile::open_or_create() {
  if (!lock_) {
    REPRISE_ASSIGN(lock_, LockFile::open(file_.native() + ".lock"));
  }
  auto connected = connect();
  if (is_rebuildable(connected)) {
    REPRISE_ASSIGN(const LockFile::Hold hold, lock_->acquire(steady_clock::now() + kBusy));
    connected = connect();  // another process was first
    if (is_rebuildable(connected)) {
      connected = rebuild();
    }
  }
  return connected;
}

// SQLite needs no other file to read one without a log.
Result<> IndexFile::open_for_reading() {
  lock_.reset();
  db_.reset();
  REPRISE_TRY(check_source(file_));
  REPRISE_ASSIGN(const auto log, find_status(cat(file_.native(), "-wal")));
  const bool has_log = log && log->st_size > 0;
  REPRISE_ASSIGN(db_, Connection::open(file_, has_log ? OpenMode::read : OpenMode::read_immutable,
                                       kBusy, sqlite::Pages::checked));
  return configure();
}

Result<> IndexFile::connect() {
  db_.reset();
  REPRISE_ASSIGN(const FileKind kind, kind_of(file_));
  if (kind == FileKind::none) {
    return fail(Code::not_found, cat("there is no index ", file_.native()));
  }
  REPRISE_TRY(check_target(file_));
  REPRISE_ASSIGN(db_, Connection::open(file_, OpenMode::write, kBusy, sqlite::Pages::checked));
  return configure();
}

Result<> IndexFile::configure() {
  REPRISE_TRY(
      db_->script("PRAGMA synchronous=NORMAL;PRAGMA secure_delete=ON;PRAGMA temp_store=MEMORY;"
                  "PRAGMA cache_size=-8000;PRAGMA mmap_size=0"));
  REPRISE_ASSIGN(const std::int64_t id, db_->integer("PRAGMA application_id"));
  REPRISE_ASSIGN(const std::int64_t version, db_->integer("PRAGMA user_version"));
  if (id != kApplicationId || version != kVersion) {
    return db_->wrong_content("not a search index of this version");
  }
  REPRISE_TRY(check_content());
  return add_tokenizer(*db_);
}

// Costs as much as there are shards. The rest is checked where it is read.
Result<> IndexFile::check_content() {
  // One state of it, also while another process writes.
  REPRISE_ASSIGN(const auto view, sqlite::Transaction::begin(*db_, "BEGIN"));
  REPRISE_ASSIGN(const std::vector<std::string> tables, db_->texts(kSelectTables));
  const bool has_all =
      std::ssize(tables) == std::ranges::count(kTables, ';') &&
      std::ranges::all_of(tables, [](const std::string& sql) { return kTables.contains(sql); });
  if (!has_all) {
    return db_->wrong_content("tables of the search index are missing");
  }
  for (const auto& [query, what] : kContradictions) {
    REPRISE_ASSIGN(const std::int64_t found, db_->integer(query));
    if (found != 0) {
      return db_->wrong_content(what);
    }
  }
  return {};
}

Result<> IndexFile::refresh() {
  if (!lock_) {
    return open_for_reading();  // a file without a log is read as if nobody changed it
  }
  if (db_ != nullptr && !db_->has_moved()) {
    return {};
  }
  return open_or_create();
}

Result<LockFile::Hold> IndexFile::lock(std::chrono::milliseconds wait) {
  if (!lock_) {
    REPRISE_ASSERT(cannot_write_);
    return std::unexpected(*cannot_write_);
  }
  REPRISE_ASSIGN(LockFile::Hold hold, lock_->acquire(steady_clock::now() + wait));
  if (db_ == nullptr || db_->has_moved()) {
    const auto connected = connect();
    REPRISE_TRY(is_rebuildable(connected) ? rebuild() : connected);
  }
  return hold;
}

Result<> IndexFile::rebuild() {
  REPRISE_TRY(remove_parts());
  REPRISE_TRY(create());
  return connect();
}

Result<> IndexFile::remove_parts() {
  db_.reset();
  for (const std::string_view part : kFiles) {
    REPRISE_TRY(remove_if_exists(cat(file_.native(), part)));
  }
  return {};
}

Result<> IndexFile::remove(const std::filesystem::path& file) {
  REPRISE_ASSIGN(const std::filesystem::path resolved, resolve_folder_of(file));
  IndexFile index(resolved);
  REPRISE_ASSIGN(index.lock_, LockFile::open(resolved.native() + ".lock"));
  REPRISE_ASSIGN(const LockFile::Hold hold, index.lock_->acquire(steady_clock::now() + kBusy));
  return index.remove_parts();
}

Result<> IndexFile::create() {
  REPRISE_TRY(open_file(file_, O_RDWR | O_CREAT | O_EXCL, 0600));
  REPRISE_ASSIGN(const auto db,
                 Connection::open(file_, OpenMode::write, kBusy, sqlite::Pages::checked));
  REPRISE_TRY(db->script(cat("PRAGMA page_size=", sqlite::kCheckedPageBytes)));
  return db->script(
      cat("BEGIN;", kTables, "PRAGMA application_id=", kApplicationId,
          ";PRAGMA user_version=", kVersion, ";COMMIT",
          sqlite::can_map(file_.native() + ".lock") ? ";PRAGMA journal_mode=WAL" : ""));
}

Result<> IndexFile::checkpoint() {
  REPRISE_ASSIGN(auto checkpoint, db_->query("PRAGMA wal_checkpoint(PASSIVE)"));
  return checkpoint.run();
}

Result<> IndexFile::trim_wal() {
  constexpr int kPagesMax = 128;
  if (db_->wal_pages() <= kPagesMax) {
    return {};
  }
  db_->set_busy_timeout(std::chrono::milliseconds(0));
  auto trimmed = checkpoint_clean();
  db_->set_busy_timeout(kBusy);
  return trimmed || trimmed.error().code == Code::busy ? Result<>() : std::move(trimmed);
}

Result<> IndexFile::checkpoint_clean() {
  REPRISE_ASSIGN(auto checkpoint, db_->query("PRAGMA wal_checkpoint(TRUNCATE)"));
  REPRISE_ASSIGN(const bool row, checkpoint.step());
  if (row && checkpoint.integer("busy") != 0) {
    return fail(Code::busy, cat(file_.native(),
                                " is being read, and its log may hold words of "
                                "removed sessions: search again later"));
  }
  return {};
}

}  // namespace reprise::search

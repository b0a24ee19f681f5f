#include "search/index_file.h"

#include <fcntl.h>

#include <chrono>
#include <memory>

#include "base/file.h"
#include "base/text.h"
#include "search/tokenizer.h"

namespace reprise::search {
namespace {

using sqlite::Connection;
using sqlite::OpenMode;

constexpr std::int64_t kApplicationId = 0x52505349;  // "RPSI"
constexpr std::int64_t kVersion = 9;
constexpr std::chrono::milliseconds kBusy{10'000};

constexpr std::string_view kTables = R"(
CREATE TABLE sources(
  id INTEGER PRIMARY KEY, url TEXT NOT NULL UNIQUE, mark TEXT NOT NULL, position TEXT NOT NULL);
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

}  // namespace

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
  REPRISE_ASSIGN(index->lock_, LockFile::open(resolved.native() + ".lock"));
  const auto can_rebuild = [](const Error& error) {
    return error.code == Code::not_found || error.code == Code::corrupt;
  };
  auto connected = index->connect();
  if (!connected && can_rebuild(connected.error())) {
    REPRISE_ASSIGN(const LockFile::Hold hold, index->lock(kBusy));
    connected = index->connect();  // another process was first
    if (!connected && can_rebuild(connected.error())) {
      connected = index->rebuild();
    }
  }
  REPRISE_TRY(std::move(connected));
  return index;
}

Result<> IndexFile::connect() {
  REPRISE_ASSIGN(const FileKind kind, kind_of(file_));
  if (kind == FileKind::none) {
    return fail(Code::not_found, cat("there is no index ", file_.native()));
  }
  REPRISE_TRY(check_target(file_));
  REPRISE_ASSIGN(db_, Connection::open(file_, OpenMode::write, kBusy));
  REPRISE_TRY(add_tokenizer(*db_));
  REPRISE_TRY(
      db_->script("PRAGMA synchronous=NORMAL;PRAGMA secure_delete=ON;PRAGMA temp_store=MEMORY;"
                  "PRAGMA cache_size=-8000"));
  REPRISE_ASSIGN(const std::int64_t id, db_->integer("PRAGMA application_id"));
  REPRISE_ASSIGN(const std::int64_t version, db_->integer("PRAGMA user_version"));
  if (id != kApplicationId || version != kVersion) {
    return fail(Code::corrupt, cat(file_.native(), " is not a search index of this version"));
  }
  return {};
}

Result<LockFile::Hold> IndexFile::lock(std::chrono::milliseconds wait) {
  return lock_->acquire(std::chrono::steady_clock::now() + wait);
}

Result<> IndexFile::rebuild() {
  db_.reset();
  for (const std::string_view part : {"-wal", "-shm", "-journal", ""}) {
    REPRISE_TRY(remove_if_exists(cat(file_.native(), part)));
  }
  REPRISE_TRY(create());
  return connect();
}

Result<> IndexFile::create() {
  REPRISE_TRY(open_file(file_, O_RDWR | O_CREAT | O_EXCL, 0600));
  REPRISE_ASSIGN(const auto db, Connection::open(file_, OpenMode::write, kBusy));
  REPRISE_TRY(db->script("PRAGMA journal_mode=WAL"));
  return db->script(cat("BEGIN;", kTables, "PRAGMA application_id=", kApplicationId,
                        ";PRAGMA user_version=", kVersion, ";COMMIT"));
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

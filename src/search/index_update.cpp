#include "search/index_update.h"

#include <algorithm>

#include "base/assert.h"
#include "base/text.h"
#include "base/transient.h"
#include "reprise/message.h"
#include "reprise/session.h"
#include "search/batch.h"
#include "search/change_token.h"
#include "search/forget.h"

namespace reprise::search {
namespace {

constexpr int kFailuresMax = 3;

std::int64_t unix_us(Time time) {
  return time.time_since_epoch().count();
}

}  // namespace

Result<std::int64_t> find_source(sqlite::Connection& db, std::string_view url) {
  return db.integer("SELECT id FROM sources WHERE url = ?", url);
}

Result<bool> lacks_parts(sqlite::Connection& db, std::string_view url) {
  REPRISE_ASSIGN(const std::int64_t is_whole,
                 db.integer("SELECT complete AND NOT EXISTS (SELECT 1 FROM pending AS p"
                            " CROSS JOIN sessions AS s ON s.key = p.session"
                            " WHERE s.source = o.id) FROM sources AS o WHERE o.url = ?",
                            url));
  return is_whole == 0;
}

Result<bool> is_unchanged(sqlite::Connection& db, const SearchSource& source) {
  const std::string token = change_token(source.url);
  REPRISE_ASSIGN(
      const std::int64_t count,
      db.integer("SELECT count(*) FROM sources WHERE url = ? AND mark = ?", source.url, token));
  return !token.empty() && count == 1;
}

IndexUpdate::IndexUpdate(IndexFile& index, const SearchSource& source,
                         const SearchIndexOptions& options)
    : index_(index), source_(*source.source), url_(source.url), options_(options) {}

IndexUpdate::~IndexUpdate() = default;

Result<bool> IndexUpdate::run() {
  const std::string token = change_token(url_);
  REPRISE_TRY(find_or_add_source());
  batch_ = std::make_unique<Batch>(index_, source_row_);
  sessions_.emplace(index_.db(), source_, source_row_);
  REPRISE_ASSIGN(const SessionChanges changed, changes());
  if (changed.is_known) {
    REPRISE_TRY(sessions().load_changed(changed));
  } else {
    REPRISE_TRY(load_all());
  }
  REPRISE_TRY(plan());
  REPRISE_TRY(index_pending());
  REPRISE_TRY(index_sessions());
  REPRISE_TRY(index_dropped(changed.is_known));
  REPRISE_TRY(stopped_ ? batch().write() : batch().write_last());
  std::ranges::for_each(sessions().damage(), [this](const Damage& part) { report(part); });
  if (!stopped_) {
    REPRISE_TRY(index_.db().run(
        "UPDATE sources SET mark = ?1, position = ?2, complete = 1 WHERE id = ?3"
        " AND (mark <> ?1 OR position <> ?2 OR complete = 0)",
        is_whole_ ? token : "", is_whole_ ? changed.position : position_, source_row_));
  }
  REPRISE_TRY(index_.trim_wal());
  return !stopped_;
}

Batch& IndexUpdate::batch() {
  REPRISE_ASSERT(batch_ != nullptr);
  return *batch_;
}

SessionList& IndexUpdate::sessions() {
  REPRISE_ASSERT(sessions_);
  return *sessions_;
}

Result<> IndexUpdate::find_or_add_source() {
  REPRISE_TRY(index_.db().run(
      "INSERT OR IGNORE INTO sources(url, mark, position, complete) VALUES(?, '', '', 0)", url_));
  REPRISE_ASSIGN(auto row,
                 index_.db().query("SELECT id, position FROM sources WHERE url = ?", url_));
  REPRISE_TRY(row.step());
  source_row_ = row.integer("id");
  position_ = row.text("position");
  return {};
}

// Unknown while parts of any sessions are pending.
Result<SessionChanges> IndexUpdate::changes() {
  ChangeReader* const reader = source_.capabilities().change_reader;
  if (reader == nullptr) {
    return SessionChanges();
  }
  REPRISE_ASSIGN(const bool pending, has_pending());
  return reader->changes_since(pending ? "" : position_);
}

Result<bool> IndexUpdate::has_pending() {
  REPRISE_ASSIGN(const std::int64_t found,
                 index_.db().integer("SELECT 1 FROM pending AS p CROSS JOIN sessions AS s"
                                     " ON s.key = p.session WHERE s.source = ? LIMIT 1",
                                     source_row_));
  return found != 0;
}

// Of shards that were dropped while indexing.
Result<> IndexUpdate::index_dropped(bool is_partial_list) {
  REPRISE_ASSIGN(bool is_pending, has_pending());
  if (is_pending) {
    REPRISE_TRY(batch().write());  // with what was pending before
    REPRISE_ASSIGN(is_pending, has_pending());
  }
  if (!is_pending || stopped_) {
    return {};
  }
  if (is_partial_list) {
    tasks_.clear();
    REPRISE_TRY(load_all());
  }
  return index_pending();
}

Result<> IndexUpdate::load_all() {
  REPRISE_TRY(sessions().load_all());
  REPRISE_ASSIGN(const std::vector<std::int64_t> deleted, sessions().deleted());
  return deleted.empty() ? Result<>() : forget_sessions(index_, deleted);
}

Result<> IndexUpdate::plan() {
  REPRISE_ASSIGN(auto transaction, sqlite::Transaction::begin(index_.db()));
  for (const Listed& session : sessions().listed()) {
    REPRISE_TRY(plan_session(session));
  }
  REPRISE_TRY(transaction.commit());
  // Oldest first, so that rows are written in ascending time.
  std::ranges::sort(tasks_, {}, [](const Task& task) { return task.session->updated_at; });
  for (const Task& task : tasks_) {
    total_ += std::max<std::int64_t>(task.session->head.value - task.row.next, 0);
  }
  return {};
}

Result<> IndexUpdate::plan_session(const Listed& session) {
  sqlite::Connection& db = index_.db();
  const std::int64_t first = sessions().first_of_own(session).value;
  const Row* const found = sessions().row(session.id);
  if (found == nullptr) {
    return add_session(session, first);
  }
  const Row& row = *found;
  if (row.hidden != session.hidden) {
    REPRISE_TRY(db.run("UPDATE sessions SET hidden = ? WHERE key = ?",
                       std::int64_t{session.hidden ? 1 : 0}, row.key));
  }
  const bool is_placed = row.first == first && row.folder == session.folder;
  if (session.hidden ||
      (row.head == session.head.value && row.updated_us == unix_us(session.updated_at) &&
       row.revision == session.revision && is_placed)) {
    return {};
  }
  tasks_.push_back({&session, row});
  if (session.revision != 0) {  // incomplete until it is indexed
    REPRISE_TRY(db.run("UPDATE sessions SET head = -1 WHERE key = ?", row.key));
  }
  return is_placed ? Result<>() : restart_session(tasks_.back());
}

// Call in a transaction. Trashed sessions have rows, too, so that they need not be listed again.
Result<> IndexUpdate::add_session(const Listed& session, std::int64_t first) {
  sqlite::Connection& db = index_.db();
  const std::string brief = short_id(session.id);
  REPRISE_TRY(
      db.run("UPDATE sessions SET has_unique_short_id = 0 WHERE source = ? AND short_id = ?",
             source_row_, brief));
  REPRISE_TRY(
      db.run("INSERT INTO sessions(source, id, short_id, origin, head, updated_us, first, next,"
             " tail, fingerprint, folder, hidden, revision, has_unique_short_id)"
             " VALUES(?1, ?2, ?3, ?4, -1, 0, ?5, ?6, 0, 0, ?7, ?8, 0,"
             " NOT EXISTS (SELECT 1 FROM sessions WHERE source = ?1 AND short_id = ?3))",
             source_row_, session.id.str(), brief,
             session.forked_from ? session.forked_from->session.str() : std::string(), first, first,
             session.folder, std::int64_t{session.hidden ? 1 : 0}));
  if (!session.hidden) {
    REPRISE_ASSIGN(const std::int64_t key, db.integer("SELECT last_insert_rowid()"));
    tasks_.push_back(
        {&session, {.key = key, .first = first, .next = first, .folder = session.folder}});
  }
  return {};
}

// Call in a transaction: indexes the session from its start.
Result<> IndexUpdate::restart_session(Task& task) {
  REPRISE_TRY(mark_dead(index_.db(), task.row.key));
  const std::int64_t first = sessions().first_of_own(*task.session).value;
  task.row.first = task.row.next = first;
  return index_.db().run(
      "UPDATE sessions SET head = -1, first = ?, next = ?, folder = ? WHERE key = ?", first, first,
      task.session->folder, task.row.key);
}

Result<> IndexUpdate::index_pending() {
  struct Pending {
    std::string id;
    std::int64_t key;
    Seq first;
    Seq last;
  };
  std::vector<Pending> ranges;
  {
    REPRISE_ASSIGN(
        auto rows,
        index_.db().query("SELECT s.id AS id, s.key AS key, p.first AS first, p.last AS last"
                          " FROM pending AS p CROSS JOIN sessions AS s ON s.key = p.session"
                          " WHERE s.source = ? ORDER BY s.updated_us, p.first",
                          source_row_));
    REPRISE_TRY(rows.each([&] {
      ranges.push_back({rows.text("id"), rows.integer("key"), Seq{rows.integer("first")},
                        Seq{rows.integer("last")}});
      total_ += ranges.back().last.value - ranges.back().first.value + 1;
    }));
  }
  for (const Pending& range : ranges) {
    if (stopped_) {
      break;
    }
    // Branches are listed only if their session has changed.
    REPRISE_ASSIGN(const SessionId id, parse_indexed(index_.db(), range.id));
    REPRISE_TRY(sessions().load(id));
    const Listed* const listed = sessions().find(range.id);
    if (listed == nullptr) {
      continue;
    }
    const Task task{listed, {.key = range.key}};
    batch().set_pending(range.last);
    last_time_ = task.session->created_at;
    const auto read =
        source_.read(task.session->id, {.from = range.first, .to = range.last.next()},
                     [&](Message&& message) { return take(task, std::move(message)); });
    REPRISE_TRY(skip_unreadable(task.session->id, read));
    REPRISE_TRY(failure_);
    // What could not be read stays pending, so that the next update tries again.
    if (!stopped_ && (read || read.error().code == Code::not_found)) {
      batch().finish_pending(range.key);
    }
  }
  batch().set_pending(std::nullopt);
  return {};
}

Result<> IndexUpdate::index_sessions() {
  for (Task& task : tasks_) {
    if (stopped_) {
      break;
    }
    REPRISE_TRY(index_session(task));
  }
  return {};
}

Result<> IndexUpdate::index_session(Task& task) {
  auto read = read_messages(task);
  if (read && !*read) {
    REPRISE_TRY(batch().write());
    REPRISE_ASSIGN(auto transaction, sqlite::Transaction::begin(index_.db()));
    REPRISE_TRY(restart_session(task));
    REPRISE_TRY(transaction.commit());
    read = read_messages(task);
  }
  REPRISE_TRY(failure_);
  if (!read) {
    return skip_unreadable(task.session->id, std::unexpected(read.error()));
  }
  if (!stopped_) {
    batch().finish({.session = task.row.key,
                    .head = task.session->head,
                    .updated_at = task.session->updated_at,
                    .revision = task.session->revision});
  }
  return {};
}

// A session that was deleted or cannot be read does not prevent indexing the others, unless the
// whole source seems to fail.
Result<> IndexUpdate::skip_unreadable(const SessionId& id, const Result<ReadReport>& read) {
  if (read || read.error().code == Code::not_found) {
    return {};
  }
  if (is_transient(read.error()) && ++failures_ > kFailuresMax) {
    return std::unexpected(read.error());
  }
  report({id.str(), read.error().message, ""});
  return {};
}

void IndexUpdate::report(const Damage& damage) {
  is_whole_ = false;
  if (reported_.insert(cat(damage.where, ": ", damage.reason)).second && options_.on_damage) {
    options_.on_damage(damage);
  }
}

Result<bool> IndexUpdate::read_messages(const Task& task) {
  const Row& row = task.row;
  bool is_checked = row.next <= row.first;
  last_time_ = task.session->created_at;
  tail_ = {};
  const auto sink = [&](Message&& message) {
    if (is_checked) {
      return take(task, std::move(message));
    }
    tail_.add(message, texts_of(message));
    last_time_ = std::max(last_time_, message.created_at);
    const std::int64_t next = message.seq.value + 1;
    is_checked = next == row.next && tail_.fingerprint == row.fingerprint;
    return is_checked || next < row.next ? Flow::proceed : Flow::stop;
  };
  REPRISE_TRY(
      source_.read(task.session->id, {.from = Seq{is_checked ? row.next : row.tail}}, sink));
  return is_checked;
}

Flow IndexUpdate::take(const Task& task, Message&& message) {
  if (message.created_at != Time{}) {
    last_time_ = message.created_at;
  }
  std::string attributes = attributes_of(message, task.row.key, task.session->folder_token);
  Texts texts = texts_of(message);
  tail_.add(message, texts);
  batch().add({.session = task.row.key,
               .seq = message.seq,
               .time_ms = unix_ms(last_time_),
               .attributes = std::move(attributes),
               .texts = std::move(texts)},
              tail_);
  ++done_;
  if (batch().is_full()) {
    failure_ = batch().write();
    if (!failure_) {
      return Flow::stop;
    }
  }
  return report_progress() ? Flow::proceed : Flow::stop;
}

bool IndexUpdate::report_progress() {
  if (options_.on_progress && done_ % 64 == 0 &&
      options_.on_progress({"indexing", done_, std::max(done_, total_)}) == Flow::stop) {
    stopped_ = true;
  }
  return !stopped_;
}

}  // namespace reprise::search

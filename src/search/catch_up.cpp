#include "search/catch_up.h"

#include <algorithm>

#include "base/assert.h"
#include "base/hash.h"
#include "base/text.h"
#include "search/change_mark.h"
#include "search/forget.h"

namespace reprise::search {
namespace {

std::int64_t micros(Time time) {
  return time.time_since_epoch().count();
}

std::int64_t millis(Time time) {
  return std::chrono::floor<std::chrono::milliseconds>(time).time_since_epoch().count();
}

}  // namespace

Result<std::int64_t> find_source(sqlite::Connection& db, std::string_view url) {
  return db.integer("SELECT id FROM sources WHERE url = ?", url);
}

Result<bool> is_unchanged(sqlite::Connection& db, const SearchSource& source) {
  const std::string mark = change_mark(source.url);
  REPRISE_ASSIGN(
      const std::int64_t same,
      db.integer("SELECT count(*) FROM sources WHERE url = ? AND mark = ?", source.url, mark));
  return !mark.empty() && same == 1;
}

Result<bool> CatchUp::run() {
  const std::string mark = change_mark(url_);
  REPRISE_TRY(find_or_add_source());
  batch_.emplace(index_, source_row_);
  REPRISE_TRY(load_rows());
  REPRISE_TRY(list_sessions());
  REPRISE_TRY(forget_gone());
  REPRISE_TRY(plan());
  REPRISE_TRY(index_pending());
  REPRISE_TRY(index_sessions());
  REPRISE_TRY(index_pending());  // of shards that were dropped meanwhile
  REPRISE_TRY(batch().write());
  if (!stopped_) {
    REPRISE_TRY(index_.db().run("UPDATE sources SET mark = ?1 WHERE id = ?2 AND mark != ?1", mark,
                                source_row_));
  }
  return !stopped_;
}

Batch& CatchUp::batch() {
  REPRISE_ASSERT(batch_);
  return *batch_;
}

Result<> CatchUp::find_or_add_source() {
  REPRISE_ASSIGN(source_row_, find_source(index_.db(), url_));
  if (source_row_ == 0) {
    REPRISE_TRY(index_.db().run("INSERT INTO sources(url, mark) VALUES(?, '')", url_));
    REPRISE_ASSIGN(source_row_, find_source(index_.db(), url_));
  }
  return {};
}

Result<> CatchUp::load_rows() {
  REPRISE_ASSIGN(auto rows,
                 index_.db().query("SELECT key, id, head, updated_us, first, next, fingerprint,"
                                   " folder, hidden FROM sessions WHERE source = ?",
                                   source_row_));
  while (true) {
    REPRISE_ASSIGN(const bool row, rows.step());
    if (!row) {
      return {};
    }
    Row& one = rows_[rows.text("id")];
    one.key = rows.integer("key");
    one.head = rows.integer("head");
    one.updated_us = rows.integer("updated_us");
    one.first = rows.integer("first");
    one.next = rows.integer("next");
    one.fingerprint = rows.integer("fingerprint");
    one.folder = rows.integer("folder");
    one.hidden = rows.integer("hidden") != 0;
  }
}

Result<> CatchUp::list_sessions() {
  SessionQuery query{.states = {SessionState::active, SessionState::closed, SessionState::archived,
                                SessionState::trashed},
                     .ungrouped = true,
                     .limit = kPageMax};
  do {
    REPRISE_ASSIGN(SessionPage page, of_source(source_.list(query)));
    for (const SessionInfo& info : page.sessions) {
      listed_.push_back({.id = info.id,
                         .head = info.head,
                         .created_at = info.created_at,
                         .updated_at = info.updated_at,
                         .folder = static_cast<std::int64_t>(fnv1a(info.working_dir)),
                         .folder_token = fact_token(Fact::folder, info.working_dir),
                         .hidden = info.state == SessionState::trashed,
                         .forked_from = info.forked_from});
    }
    query.after = std::move(page.next);
  } while (!query.after.empty());
  for (const Listed& session : listed_) {
    by_id_[session.id.str()] = &session;
    if (const auto row = rows_.find(session.id.str()); row != rows_.end()) {
      row->second.listed = true;
    }
  }
  return {};
}

// What it shares with the session it was forked from is found there, if that can be found.
Seq CatchUp::first_of_own(const Listed& session) const {
  if (!session.forked_from) {
    return Seq{0};
  }
  const auto origin = by_id_.find(session.forked_from->session.str());
  const bool has_shared = origin != by_id_.end() && !origin->second->hidden &&
                          origin->second->head >= session.forked_from->at;
  return has_shared ? session.forked_from->at : Seq{0};
}

// A session may have moved from one page of the list to another meanwhile.
Result<> CatchUp::forget_gone() {
  std::vector<std::int64_t> gone;
  for (const auto& [id, row] : rows_) {
    if (row.listed) {
      continue;
    }
    REPRISE_ASSIGN(const SessionId session, SessionId::parse(id));
    REPRISE_ASSIGN(const auto found, of_source(source_.find(session)));
    if (!found) {
      gone.push_back(row.key);
    }
  }
  return gone.empty() ? Result<>() : forget_sessions(index_, gone);
}

Result<> CatchUp::plan() {
  REPRISE_ASSIGN(auto transaction, sqlite::Transaction::begin(index_.db()));
  for (const Listed& session : listed_) {
    REPRISE_TRY(plan_one(session));
  }
  REPRISE_TRY(transaction.commit());
  // The oldest first, so that what is written ascends in time.
  std::ranges::sort(tasks_, {}, [](const Task& task) { return task.session->updated_at; });
  for (const Task& task : tasks_) {
    total_ += std::max<std::int64_t>(task.session->head.value - task.row.next, 0);
  }
  return {};
}

Result<> CatchUp::plan_one(const Listed& session) {
  sqlite::Connection& db = index_.db();
  const std::int64_t first = first_of_own(session).value;
  const auto found = rows_.find(session.id.str());
  if (found == rows_.end()) {
    if (session.hidden) {
      return {};
    }
    REPRISE_TRY(
        db.run("INSERT INTO sessions(source, id, head, updated_us, first, next,"
               " fingerprint, folder, hidden) VALUES(?, ?, -1, 0, ?, ?, 0, ?, 0)",
               source_row_, session.id.str(), first, first, session.folder));
    REPRISE_ASSIGN(const std::int64_t key, db.integer("SELECT last_insert_rowid()"));
    tasks_.push_back(
        {&session, {.key = key, .first = first, .next = first, .folder = session.folder}});
    return {};
  }
  const Row& row = found->second;
  if (row.hidden != session.hidden) {
    REPRISE_TRY(db.run("UPDATE sessions SET hidden = ? WHERE key = ?",
                       std::int64_t{session.hidden ? 1 : 0}, row.key));
  }
  const bool is_placed = row.first <= first && row.folder == session.folder;
  if (session.hidden || (row.head == session.head.value &&
                         row.updated_us == micros(session.updated_at) && is_placed)) {
    return {};
  }
  tasks_.push_back({&session, row});
  return is_placed ? Result<>() : begin_again(tasks_.back());
}

// In a transaction: all of the session is indexed anew.
Result<> CatchUp::begin_again(Task& task) {
  REPRISE_TRY(bury(index_.db(), task.row.key));
  const std::int64_t first = first_of_own(*task.session).value;
  task.row.first = task.row.next = first;
  return index_.db().run(
      "UPDATE sessions SET head = -1, first = ?, next = ?, folder = ? WHERE key = ?", first, first,
      task.session->folder, task.row.key);
}

Result<> CatchUp::index_pending() {
  struct Pending {
    std::string id;
    std::int64_t key;
    Seq first;
    Seq last;
  };
  std::vector<Pending> all;
  {
    REPRISE_ASSIGN(
        auto rows,
        index_.db().query("SELECT s.id AS id, s.key AS key, p.first AS first, p.last AS last"
                          " FROM pending AS p JOIN sessions AS s ON s.key = p.session"
                          " WHERE s.source = ? ORDER BY s.updated_us, p.first",
                          source_row_));
    while (true) {
      REPRISE_ASSIGN(const bool row, rows.step());
      if (!row) {
        break;
      }
      all.push_back({rows.text("id"), rows.integer("key"), Seq{rows.integer("first")},
                     Seq{rows.integer("last")}});
      total_ += all.back().last.value - all.back().first.value + 1;
    }
  }
  for (const Pending& part : all) {
    const auto listed = by_id_.find(part.id);
    if (listed == by_id_.end() || stopped_) {
      continue;
    }
    const Task task{listed->second, {.key = part.key}};
    batch().set_pending(part.last);
    last_time_ = task.session->created_at;
    REPRISE_TRY(pass_unreadable(
        source_.read(task.session->id, {.from = part.first, .to = part.last.next()},
                     [&](Message&& message) { return take(task, std::move(message)); })));
    REPRISE_TRY(failure_);
    if (!stopped_) {
      batch().finish_pending(part.key);
    }
  }
  batch().set_pending(std::nullopt);
  return {};
}

Result<> CatchUp::index_sessions() {
  for (Task& task : tasks_) {
    if (stopped_) {
      break;
    }
    REPRISE_TRY(index_one(task));
  }
  return {};
}

Result<> CatchUp::index_one(Task& task) {
  auto read = read_on(task);
  if (read && !*read) {
    REPRISE_TRY(batch().write());
    REPRISE_ASSIGN(auto transaction, sqlite::Transaction::begin(index_.db()));
    REPRISE_TRY(begin_again(task));
    REPRISE_TRY(transaction.commit());
    read = read_on(task);
  }
  REPRISE_TRY(failure_);
  if (!read) {
    return pass_unreadable(std::unexpected(read.error()));
  }
  if (!stopped_) {
    batch().finish(task.row.key, task.session->head, task.session->updated_at);
  }
  return {};
}

// A session that is gone by now, or cannot be read, does not keep the others from being indexed.
Result<> CatchUp::pass_unreadable(const Result<ReadReport>& read) {
  if (read || read.error().code == Code::not_found || read.error().code == Code::corrupt) {
    return {};
  }
  source_failed_ = true;
  return std::unexpected(read.error());
}

Result<bool> CatchUp::read_on(const Task& task) {
  const Row& row = task.row;
  bool is_checked = row.next <= row.first;
  last_time_ = task.session->created_at;
  const auto sink = [&](Message&& message) {
    if (is_checked) {
      return take(task, std::move(message));
    }
    is_checked = message.seq.value + 1 == row.next &&
                 fingerprint(message.created_at, texts_of(message)) == row.fingerprint;
    last_time_ = std::max(last_time_, message.created_at);
    return is_checked ? Flow::go_on : Flow::stop;
  };
  REPRISE_TRY(
      source_.read(task.session->id, {.from = Seq{is_checked ? row.next : row.next - 1}}, sink));
  return is_checked;
}

Flow CatchUp::take(const Task& task, Message&& message) {
  if (message.created_at != Time{}) {
    last_time_ = message.created_at;
  }
  std::string facts = facts_of(message, task.row.key, task.session->folder_token);
  batch().add({.session = task.row.key,
               .seq = message.seq,
               .time_ms = millis(last_time_),
               .facts = std::move(facts),
               .texts = texts_of(message)},
              message.created_at);
  ++done_;
  if (batch().is_full()) {
    failure_ = batch().write();
    if (!failure_) {
      return Flow::stop;
    }
  }
  return tell_progress() ? Flow::go_on : Flow::stop;
}

bool CatchUp::tell_progress() {
  if (options_.on_progress && done_ % 64 == 0 &&
      options_.on_progress({"indexing", done_, std::max(done_, total_)}) == Flow::stop) {
    stopped_ = true;
  }
  return !stopped_;
}

}  // namespace reprise::search

#include "search/forget.h"

#include <algorithm>
#include <set>
#include <vector>

#include "base/text.h"

namespace reprise::search {
namespace {

using sqlite::Connection;

Result<std::vector<std::int64_t>> shards_of(Connection& db, std::int64_t session) {
  std::vector<std::int64_t> shards;
  REPRISE_ASSIGN(auto rows, db.query("SELECT shard FROM placed WHERE session = ?", session));
  REPRISE_TRY(rows.each([&] { shards.push_back(rows.integer("shard")); }));
  return shards;
}

struct DocumentKey {
  std::int64_t session;
  std::int64_t seq;
  friend auto operator<=>(const DocumentKey&, const DocumentKey&) = default;
};

// The live documents of a shard, without those of sessions to be removed, ordered by session.
Result<std::vector<DocumentKey>> live_documents(Connection& db, std::int64_t shard,
                                                const std::set<std::int64_t>& removed) {
  std::vector<DocumentKey> documents;
  REPRISE_ASSIGN(auto rows,
                 db.query("SELECT session, seq FROM docs WHERE id >= ? AND id < ? AND seq >= 0",
                          document_id(shard, 0), document_id(shard + 1, 0)));
  REPRISE_TRY(rows.each([&] {
    const DocumentKey document{rows.integer("session"), rows.integer("seq")};
    if (!removed.contains(document.session)) {
      documents.push_back(document);
    }
  }));
  std::ranges::sort(documents);
  return documents;
}

// Adds them as ranges of consecutive messages.
Result<> add_pending(Connection& db, const std::vector<DocumentKey>& documents) {
  for (std::size_t i = 0; i < documents.size();) {
    std::size_t end = i + 1;
    while (end < documents.size() && documents[end].session == documents[i].session &&
           documents[end].seq == documents[end - 1].seq + 1) {
      ++end;
    }
    REPRISE_TRY(db.run("INSERT OR REPLACE INTO pending(session, first, last) VALUES(?, ?, ?)",
                       documents[i].session, documents[i].seq, documents[end - 1].seq));
    i = end;
  }
  return {};
}

Result<> drop_shard(Connection& db, std::int64_t shard, const std::set<std::int64_t>& removed) {
  REPRISE_ASSIGN(const std::vector<DocumentKey> documents, live_documents(db, shard, removed));
  REPRISE_TRY(add_pending(db, documents));
  REPRISE_TRY(
      db.script(cat("DROP TABLE ", vocabulary_table(shard), ";DROP TABLE ", words_table(shard))));
  REPRISE_TRY(db.run("DELETE FROM docs WHERE id >= ? AND id < ?", document_id(shard, 0),
                     document_id(shard + 1, 0)));
  REPRISE_TRY(db.run("DELETE FROM runs WHERE shard = ?", shard));
  REPRISE_TRY(db.run("DELETE FROM placed WHERE shard = ?", shard));
  return db.run("DELETE FROM shards WHERE id = ?", shard);
}

}  // namespace

Result<> mark_dead(Connection& db, std::int64_t session) {
  REPRISE_ASSIGN(const std::vector<std::int64_t> shards, shards_of(db, session));
  for (const std::int64_t shard : shards) {
    REPRISE_TRY(
        db.run("UPDATE docs SET seq = -1 - seq WHERE id >= ? AND id < ? AND session = ?"
               " AND seq >= 0",
               document_id(shard, 0), document_id(shard + 1, 0), session));
    REPRISE_TRY(db.run("UPDATE shards SET dead = dead + ? WHERE id = ?", db.changes(), shard));
    REPRISE_ASSIGN(const std::int64_t is_mostly_dead,
                   db.integer("SELECT dead * 2 > docs FROM shards WHERE id = ?", shard));
    if (is_mostly_dead != 0) {
      REPRISE_TRY(drop_shard(db, shard, {session}));
    }
  }
  return db.run("DELETE FROM pending WHERE session = ?", session);
}

Result<> forget_sessions(IndexFile& index, std::span<const std::int64_t> sessions) {
  Connection& db = index.db();
  const std::set<std::int64_t> removed(sessions.begin(), sessions.end());
  std::set<std::int64_t> shards;
  REPRISE_ASSIGN(auto transaction, sqlite::Transaction::begin(db));
  for (const std::int64_t session : removed) {
    REPRISE_ASSIGN(const std::vector<std::int64_t> session_shards, shards_of(db, session));
    shards.insert(session_shards.begin(), session_shards.end());
  }
  for (const std::int64_t shard : shards) {
    REPRISE_TRY(drop_shard(db, shard, removed));
  }
  for (const std::int64_t session : removed) {
    REPRISE_TRY(db.run("DELETE FROM pending WHERE session = ?", session));
    REPRISE_TRY(db.run("DELETE FROM sessions WHERE key = ?", session));
  }
  REPRISE_TRY(db.run("UPDATE sources SET mark = ''"));
  REPRISE_TRY(transaction.commit());
  return index.checkpoint_clean();
}

}  // namespace reprise::search

// Indexes the words of messages in the server.

#include <algorithm>
#include <iterator>
#include <tuple>

#include "base/text.h"
#include "reprise/capabilities.h"
#include "store/postgres/connection.h"
#include "store/postgres/database.h"
#include "store/postgres/postgres_store.h"
#include "store/postgres/rows.h"
#include "store/postgres/sessions.h"
#include "store/postgres/statements.h"
#include "store/postgres/values.h"
#include "store/postgres/words.h"

namespace reprise::postgres {
namespace {

// All sessions are compared with the index; with many sessions only at this interval, and in
// between only those that were active since.
constexpr std::int64_t kCompareEach = 600'000'000;  // microseconds
constexpr std::int64_t kClockSlack = 600'000'000;   // the tolerated difference of clocks
// The limits of kReadDue.
constexpr int kDueRowsMax = 500;
constexpr std::size_t kDueBytesMax = std::size_t{1} << 20;
constexpr std::int64_t kEntriesPerReport = 64;

// Indexes everything new until nothing is left, or until another process is indexing.
class WordIndexer {
 public:
  using Indexer = std::function<WordEntry(const Message&)>;
  WordIndexer(Database& database, const Indexer& entry_of,
              const WordIndex::IndexProgress& on_progress)
      : database_(database), entry_of_(entry_of), on_progress_(on_progress) {}

  Result<bool> run();

 private:
  enum class Step : std::uint8_t { more, done, busy, stopped };
  struct Due {
    SessionId id;
    std::int64_t branch;  // the current branch
    std::int64_t head;
    std::int64_t from_branch;  // the branch up to which it is indexed
    std::int64_t from_seq;
    std::int64_t time_us;   // the latest known time
    bool is_whole = false;  // everything due was read
  };

  Key key(const SessionId& id) const { return {database_.tenant(), id}; }
  Query due_query() const {
    return active_since_us_ ? Query{kFindActiveDue, values(database_.tenant(), *active_since_us_)}
                            : Query{kFindDue, values(database_.tenant(), from_)};
  }
  Result<> find_work(Connection& connection);
  Result<> run_one(const Query& query);
  Result<> index_batch(Connection& connection);
  static std::vector<Due> read_due(const Rows& rows);
  Result<> delete_orphans(Connection& connection);
  Result<> index_due(Connection& connection, std::vector<Due> all);
  Result<std::vector<Query>> index_session(Connection& connection, Due& due, const Rows& rows);

  Database& database_;
  const Indexer& entry_of_;
  const WordIndex::IndexProgress& on_progress_;
  Step step_ = Step::more;
  bool has_state_ = false;                       // the tenant has a row
  std::optional<std::int64_t> active_since_us_;  // nullopt if all sessions are compared
  std::optional<std::int64_t> compared_us_;      // saved when all of them are indexed
  std::string from_;                             // where the comparison continues
  bool has_orphans_ = false;
  bool is_last_page_ = false;  // nothing is due but the sessions of this batch
  std::int64_t done_ = 0;
  std::int64_t total_ = 0;
};

// Without a lock, because usually there is no work.
Result<> WordIndexer::find_work(Connection& connection) {
  const std::string& tenant = database_.tenant();
  REPRISE_ASSIGN(
      const std::vector<Rows> known,
      connection.run({{kFindIndexing, values(tenant)}, {kFindManyIndexed, values(tenant)}}));
  const Rows& state = known[0];
  has_state_ = !state.empty();
  active_since_us_.reset();
  compared_us_.reset();
  if (has_state_ && !known[1].empty()) {
    const std::int64_t now_us = state.integer(0, "now_us");
    const std::int64_t compared_us = state.integer(0, "compared_us");
    if (compared_us <= now_us && now_us - compared_us < kCompareEach) {
      active_since_us_ = compared_us - kClockSlack;
    } else {
      compared_us_ = now_us;
    }
  }
  std::vector<Query> queries = {
      {kBegin}, {active_since_us_ ? kDoNotCompile : kDoNotNestLoops}, due_query()};
  if (!active_since_us_) {
    queries.push_back({kFindOrphans, values(tenant)});
  }
  queries.push_back({kCommit});
  connection.set_deadline(database_.deadline());  // comparing all sessions may take long
  REPRISE_ASSIGN(const std::vector<Rows> found, connection.run(queries));
  const Rows& due = found[2];
  has_orphans_ = !active_since_us_ && !found[3].empty();
  step_ = due.empty() && !has_orphans_ ? Step::done : Step::more;
  if (!active_since_us_ && !due.empty()) {
    from_ = due.text(0, "session_id");  // nothing is due before it
  }
  if (due.count() == kDueMax) {
    REPRISE_ASSIGN(const Rows count, connection.run_one({kCountDue, values(tenant)}));
    total_ = count.integer(0, "messages");
  }
  return {};
}

Result<bool> WordIndexer::run() {
  REPRISE_TRY(database_.read([this](Connection& connection) { return find_work(connection); }));
  if (step_ == Step::more && !has_state_) {
    REPRISE_TRY(run_one({kInsertIndexing, values(database_.tenant())}));
  }
  while (step_ == Step::more) {
    REPRISE_TRY(database_.write_derived(
        [this](Connection& connection) { return index_batch(connection); }));
  }
  if (step_ == Step::done && compared_us_) {
    REPRISE_TRY(run_one({kSaveCompared, values(database_.tenant(), *compared_us_)}));
  }
  return step_ == Step::done;
}

Result<> WordIndexer::run_one(const Query& query) {
  return database_.write_derived(
      [&query](Connection& connection) -> Result<> { return connection.execute({query}); });
}

// The process that locks the tenant's row indexes; others do not wait.
Result<> WordIndexer::index_batch(Connection& connection) {
  REPRISE_ASSIGN(
      const auto claimed,
      connection.run(
          {{kBegin}, {kDoNotCompile}, {kClaimIndexing, values(database_.tenant())}, due_query()}));
  std::vector<Due> due = read_due(claimed[3]);
  is_last_page_ = claimed[3].count() < kDueMax;
  if (claimed[2].empty()) {
    step_ = Step::busy;
  } else if (has_orphans_) {
    return delete_orphans(connection);
  } else if (due.empty()) {
    step_ = Step::done;
  } else {
    return index_due(connection, std::move(due));
  }
  return connection.execute({{kRollback}});
}

// Sessions with invalid ids are not indexed.
std::vector<WordIndexer::Due> WordIndexer::read_due(const Rows& rows) {
  std::vector<Due> due;
  for (int row = 0; row < rows.count(); ++row) {
    const RowView view{rows, row};
    if (auto id = SessionId::parse(view.bytes("session_id"))) {
      due.push_back({.id = *std::move(id),
                     .branch = view.integer("branch"),
                     .head = view.integer("head"),
                     .from_branch = view.integer("from_branch"),
                     .from_seq = view.integer("from_seq"),
                     .time_us = view.integer("time_us")});
    }
  }
  return due;
}

Result<> WordIndexer::delete_orphans(Connection& connection) {
  REPRISE_ASSIGN(const Rows gone, connection.run_one({kFindOrphans, values(database_.tenant())}));
  std::vector<Query> queries;
  for (int row = 0; row < gone.count(); ++row) {
    for (const std::string_view statement : kPurgeWords) {
      queries.push_back({statement, values(database_.tenant(), gone.bytes(row, "session_id"))});
    }
  }
  queries.push_back({kCommit});
  REPRISE_TRY(connection.run(queries));
  has_orphans_ = !gone.empty();
  return {};
}

Result<> WordIndexer::index_due(Connection& connection, std::vector<Due> all) {
  std::vector<Query> reads;
  for (const Due& due : all) {
    reads.push_back({kReadDue, values_of(key(due.id), due.from_branch, due.from_seq)});
    reads.push_back({kFindCreated, values_of(key(due.id))});
  }
  REPRISE_ASSIGN(const std::vector<Rows> read, connection.run(reads));
  reads.clear();
  std::vector<std::vector<Query>> inserts;
  std::vector<Query> holds;
  const std::int64_t done_before = done_;
  for (std::size_t i = 0; i < all.size(); ++i) {
    Due& due = all[i];
    if (const Rows& created = read[2 * i + 1]; due.time_us == 0 && !created.empty()) {
      due.time_us = created.integer(0, "created_us");
    }
    REPRISE_ASSIGN(inserts.emplace_back(), index_session(connection, due, read[2 * i]));
    if (step_ == Step::stopped) {
      return connection.execute({{kRollback}});
    }
    holds.push_back({kHoldSession, values_of(key(due.id))});
  }
  connection.set_deadline(database_.deadline());
  REPRISE_ASSIGN(const std::vector<Rows> head_check, connection.run(holds));
  std::vector<Query> writes;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Due& due = all[i];
    if (head_check[i].empty()) {
      continue;  // the session was purged
    }
    std::ranges::move(inserts[i], std::back_inserter(writes));
    writes.push_back(
        {kSaveIndexed, values_of(key(due.id), due.from_branch, due.from_seq, due.time_us)});
  }
  writes.push_back({kCountIndexed, values(database_.tenant(), done_ - done_before)});
  writes.push_back({kCommit});
  REPRISE_TRY(connection.run(writes));
  const auto partial = std::ranges::find(all, false, &Due::is_whole);
  from_ = partial == all.end() ? all.back().id.str() : partial->id.str();
  if (partial == all.end() && is_last_page_) {
    step_ = Step::done;
  }
  return {};
}

// The statements for indexing a session; updates `due` to the indexed position.
Result<std::vector<Query>> WordIndexer::index_session(Connection& connection, Due& due,
                                                      const Rows& rows) {
  std::vector<Query> inserts;
  std::size_t bytes = 0;
  for (int at = 0; at < rows.count(); ++at) {
    const RowView view{rows, at};
    MessageRow row = read_row(view);
    bytes += row.content.size();
    due.from_branch = view.integer("branch");
    due.from_seq = row.seq.value + 1;
    std::string content;
    if (row.more > 0) {
      REPRISE_ASSIGN(
          const Rows parts,
          connection.run_one({kReadParts, values_of(key(due.id), due.from_branch, row.seq.value)}));
      join_parts(row, parts, content);
    }
    Message message;
    std::optional<Damage> damage;
    const bool is_good = read_message(row, "", message, damage);
    if (message.created_at != Time{}) {
      due.time_us = microseconds_of(message.created_at);
    }
    if (is_good) {
      const WordEntry entry = entry_of_(message);
      inserts.push_back(
          {kInsertWords, values_of(key(due.id), due.from_branch, row.seq.value, due.time_us,
                                   entry.bytes, vector_of(entry, database_.tenant()))});
    }
    ++done_;
    if (done_ % kEntriesPerReport == 0 &&
        on_progress_(done_, std::max(done_, total_)) == Flow::stop) {
      step_ = Step::stopped;
      return inserts;
    }
  }
  due.is_whole = rows.count() < kDueRowsMax && bytes < kDueBytesMax;
  if (due.is_whole) {
    const auto head = std::pair(due.branch, due.head);
    std::tie(due.from_branch, due.from_seq) =
        std::max(head, std::pair(due.from_branch, due.from_seq));
  }
  return inserts;
}

}  // namespace

Result<bool> PostgresStore::index_words(const std::function<WordEntry(const Message&)>& entry_of,
                                        const IndexProgress& on_progress) {
  return WordIndexer(database_, entry_of, on_progress).run();
}

}  // namespace reprise::postgres

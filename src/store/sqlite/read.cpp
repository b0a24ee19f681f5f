#include "store/sqlite/read.h"

#include <algorithm>

#include "base/text.h"
#include "reprise/store.h"
#include "store/rules.h"
#include "store/sqlite/connection.h"
#include "store/sqlite/database.h"
#include "store/sqlite/forks.h"
#include "store/sqlite/original.h"
#include "store/sqlite/rows.h"

namespace reprise::sqlite {
namespace {

// Who looks only at the end of a session should not pay for a long page; each one is longer.
constexpr std::size_t kFirstPageRows = 8;
constexpr std::size_t kPageRowsMax = 256;
constexpr std::size_t kPageBytes = std::size_t{1} << 20;
constexpr std::size_t kDamageMax = 1000;

class Reading {
 public:
  Reading(Database& database, const SessionId& id, const ReadRange& range)
      : database_(database), id_(id), range_(range), current_(id.str()), file_(database.name()) {}

  Result<ReadReport> run(const MessageSink& sink) {
    while (true) {
      REPRISE_TRY(next_page());
      for (Message& message : page_) {
        if (sink(std::move(message)) == Flow::stop) {
          return std::move(report_);
        }
      }
      if (from_ >= to_) {
        return std::move(report_);
      }
      page_rows_ = std::min(page_rows_ * 2, kPageRowsMax);
    }
  }

 private:
  Result<> next_page();
  Result<> find_version(Connection& connection);
  Result<> read_segment(Connection& connection, const Segment& segment);
  Result<> read_rows(Connection& connection, Statement& row, const Segment& segment);
  Result<> take(Connection& connection, const Statement& row);
  void advance(std::int64_t seq);
  bool page_is_full() const { return rows_ >= page_rows_ || bytes_ >= kPageBytes; }

  Database& database_;
  const SessionId& id_;
  const ReadRange range_;
  std::string current_;  // the session whose rows are read: the kept one after a replacement
  const std::string file_;
  std::optional<std::int64_t> generation_;
  std::int64_t from_ = 0;  // what is left: [from_, to_)
  std::int64_t to_ = 0;
  std::vector<Message> page_;
  std::size_t page_rows_ = kFirstPageRows;
  std::size_t rows_ = 0;
  std::size_t bytes_ = 0;
  ReadReport report_;
};

Result<> Reading::next_page() {
  page_.clear();
  rows_ = 0;
  bytes_ = 0;
  REPRISE_ASSIGN(const Database::Reader reader, database_.reader());
  REPRISE_ASSIGN(Transaction snapshot, Transaction::begin(*reader, "BEGIN"));
  REPRISE_TRY(find_version(*reader));
  REPRISE_ASSIGN(auto segments, segments_of(*reader, current_, from_, to_));
  if (range_.newest_first) {
    std::ranges::reverse(segments);
  }
  for (const Segment& segment : segments) {
    if (page_is_full()) {
      break;
    }
    REPRISE_TRY(read_segment(*reader, segment));
  }
  return snapshot.commit();
}

// The first page decides which messages there are; later ones stay with that state.
Result<> Reading::find_version(Connection& connection) {
  REPRISE_ASSIGN(Statement row,
                 connection.query("SELECT generation, head FROM sessions WHERE id = ?", id_.str()));
  REPRISE_ASSIGN(const bool found, row.step());
  if (!found) {
    return std::unexpected(store::no_session(id_));
  }
  if (!generation_) {
    generation_ = row.integer("generation");
    const auto span = store::clamp(range_, Seq{row.integer("head")});
    from_ = span.from;
    to_ = span.to;
  } else if (row.integer("generation") != *generation_) {
    current_ = kept_name(id_.str(), *generation_);
  }
  return {};
}

Result<> Reading::read_segment(Connection& connection, const Segment& segment) {
  static const std::string forwards =
      cat("SELECT ", message_select(),
          " FROM messages WHERE session_id = ? AND seq >= ? AND seq < ? ORDER BY seq");
  static const std::string backwards = cat(forwards, " DESC");
  REPRISE_ASSIGN(Statement row, connection.query(range_.newest_first ? backwards : forwards,
                                                 segment.session, segment.from, segment.to));
  return read_rows(connection, row, segment);
}

Result<> Reading::read_rows(Connection& connection, Statement& row, const Segment& segment) {
  while (!page_is_full()) {
    REPRISE_ASSIGN(const bool more, row.step());
    if (!more) {
      advance(range_.newest_first ? segment.from : segment.to - 1);
      return {};
    }
    REPRISE_TRY(take(connection, row));
    ++rows_;
    bytes_ += row.size("content");
  }
  return {};
}

Result<> Reading::take(Connection& connection, const Statement& row) {
  std::optional<Damage> damage;
  Message& message = page_.emplace_back();
  const bool is_good = read_message(row, file_, message, damage);
  advance(message.seq.value);
  if (is_good) {
    REPRISE_TRY(name_result_blobs(connection, message.blocks));
  } else {
    page_.pop_back();
  }
  if (damage) {
    ++report_.damaged;
    if (report_.damage.size() < kDamageMax) {
      report_.damage.push_back(*std::move(damage));
    }
  }
  return {};
}

// `seq` is done.
void Reading::advance(std::int64_t seq) {
  if (range_.newest_first) {
    to_ = seq;
  } else {
    from_ = seq + 1;
  }
}

}  // namespace

Result<ReadReport> read_messages(Database& database, const SessionId& id, const ReadRange& range,
                                 const MessageSink& sink) {
  return Reading(database, id, range).run(sink);
}

}  // namespace reprise::sqlite

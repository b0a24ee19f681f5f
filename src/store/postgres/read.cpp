#include "store/postgres/read.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "reprise/error.h"
#include "reprise/store.h"
#include "reprise/types.h"
#include "store/facts.h"
#include "store/postgres/branches.h"
#include "store/postgres/connection.h"
#include "store/postgres/database.h"
#include "store/postgres/rows.h"
#include "store/postgres/sessions.h"
#include "store/postgres/statements.h"
#include "store/postgres/values.h"

namespace reprise::postgres {
namespace {

// Who looks only at the end of a session should not pay for a long page; each one is longer.
constexpr std::int64_t kFirstPageRows = 16;
constexpr std::int64_t kPageRowsMax = 1024;
constexpr std::size_t kPageBytes = std::size_t{1} << 20;
constexpr std::size_t kDamageMax = 1000;

// Pages are fetched whole when they are small, and the connection is free while they are delivered.
// One that would be large is delivered as it comes.
class Reading {
 public:
  Reading(Database& database, const SessionId& id, const ReadRange& range, const MessageSink& sink)
      : database_(database),
        id_(id),
        range_(range),
        sink_(sink),
        place_(cat(database.name(), ": session ", id.str())) {}

  Result<ReadReport> run() {
    REPRISE_TRY(find_segments());
    while (!segments_.empty() && !is_stopped_) {
      REPRISE_TRY(database_.read([this](Connection& one) { return fetch_page(one); }));
      REPRISE_TRY(deliver());
      page_rows_ = std::min(page_rows_ * 4, kPageRowsMax);
    }
    return std::move(report_);
  }

 private:
  struct Fetched {
    Branch branch;
    MessageRow row;
  };
  Result<> find_segments();
  Result<> fetch_page(Connection& connection);
  Result<> deliver();
  Result<bool> complete(Fetched& fetched);
  void expect(std::int64_t seq);
  void report(Damage damage);

  Database& database_;
  const SessionId& id_;
  const ReadRange range_;
  const MessageSink& sink_;
  const std::string place_;
  std::deque<Segment> segments_;  // what is left to fetch, in the order of reading
  std::int64_t page_rows_ = kFirstPageRows;
  std::vector<Fetched> page_;
  std::size_t page_bytes_ = 0;
  bool is_stopped_ = false;
  ReadReport report_;
};

// What there is now is what is read: a branch's messages never change.
Result<> Reading::find_segments() {
  std::vector<Segment> segments;
  REPRISE_TRY(database_.read([&](Connection& connection) -> Result<> {
    REPRISE_ASSIGN(const Rows head,
                   connection.run_one({kFindHead, values_of({database_.tenant(), id_})}));
    if (head.empty()) {
      return std::unexpected(store::no_session(id_));
    }
    const auto [from, to] = store::clamp(range_, Seq{head.integer(0, 0)});
    REPRISE_ASSIGN(
        segments, segments_of(connection, database_.tenant(), {id_, head.integer(0, 1)}, from, to));
    return {};
  }));
  if (range_.newest_first) {
    std::ranges::reverse(segments);
  }
  segments_.assign(segments.begin(), segments.end());
  return {};
}

Result<> Reading::fetch_page(Connection& connection) {
  const Segment& segment = segments_.front();
  REPRISE_TRY(connection.begin_rows(
      {range_.newest_first ? kReadBackwards : kReadForwards,
       values_of({database_.tenant(), segment.branch.session}, segment.branch.number, segment.from,
                 segment.to, page_rows_)}));
  std::int64_t rows = 0;
  while (true) {
    REPRISE_ASSIGN(const auto row, connection.next_row());
    if (!row) {
      break;
    }
    ++rows;
    const Fetched& fetched = page_.emplace_back(segment.branch, read_row(*row, 0));
    expect(fetched.row.seq.value);
    page_bytes_ += fetched.row.bytes();
    if (page_bytes_ >= kPageBytes) {
      REPRISE_TRY(deliver());
      connection.set_deadline(database_.deadline());
      if (is_stopped_) {
        return {};
      }
    }
  }
  if (rows < page_rows_) {
    expect(range_.newest_first ? segment.from - 1 : segment.to);
  }
  if (segment.from >= segment.to) {
    segments_.pop_front();
  }
  return {};
}

// `seq` is the next that is there; those before it should have been.
void Reading::expect(std::int64_t seq) {
  Segment& segment = segments_.front();
  const std::int64_t wanted = range_.newest_first ? segment.to - 1 : segment.from;
  const std::int64_t missing = range_.newest_first ? wanted - seq : seq - wanted;
  if (missing > 0) {
    report({cat(place_, " message ", wanted), cat(missing, " messages are missing"), ""});
    report_.damaged += missing - 1;
  }
  if (range_.newest_first) {
    segment.to = seq;
  } else {
    segment.from = seq + 1;
  }
}

void Reading::report(Damage damage) {
  ++report_.damaged;
  if (report_.damage.size() < kDamageMax) {
    report_.damage.push_back(std::move(damage));
  }
}

Result<> Reading::deliver() {
  for (Fetched& fetched : std::exchange(page_, {})) {
    if (is_stopped_) {
      break;
    }
    REPRISE_ASSIGN(const bool is_whole, complete(fetched));
    if (!is_whole) {
      report({cat(place_, " message ", fetched.row.seq.value), "a part of it is missing",
              fetched.row.content.substr(0, kExcerptMax)});
      continue;
    }
    ReadMessage read = read_message(fetched.row, place_);
    if (read.damage) {
      report(*std::move(read.damage));
    }
    is_stopped_ = read.message && sink_(*std::move(read.message)) == Flow::stop;
  }
  page_bytes_ = 0;
  return {};
}

// With a long content's later pieces. False when they are not all there.
Result<bool> Reading::complete(Fetched& fetched) {
  if (fetched.row.more == 0) {
    return true;
  }
  const Key key{database_.tenant(), fetched.branch.session};
  REPRISE_ASSIGN(const Rows parts, database_.read_for<Rows>([&](Connection& connection) {
    return connection.run_one(
        {kReadParts, values_of(key, fetched.branch.number, fetched.row.seq.value)});
  }));
  for (int i = 0; i < parts.count(); ++i) {
    fetched.row.content += parts.bytes(i, 0);
  }
  return parts.count() == fetched.row.more;
}

}  // namespace

Result<ReadReport> read_messages(Database& database, const SessionId& id, const ReadRange& range,
                                 const MessageSink& sink) {
  return Reading(database, id, range, sink).run();
}

}  // namespace reprise::postgres

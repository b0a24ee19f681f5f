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

// Who looks only at the end of a session should not pay for a long page; each one is longer, as
// far as the messages so far let it stay below kPageBytes.
constexpr std::int64_t kFirstPageRows = 16;
constexpr std::int64_t kPageRowsMax = 8192;
constexpr std::int64_t kPageGrowth = 8;
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
      choose_page_rows();
    }
    return std::move(report_);
  }

 private:
  // A message that came; or, while parts of it stand elsewhere, the row that came.
  struct Fetched {
    ReadMessage read;
    std::optional<Rows> open;
  };
  void choose_page_rows();
  Result<> find_segments();
  Result<> fetch_page(Connection& connection);
  Result<> deliver();
  Result<ReadMessage> complete(const Rows& open);
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
  std::optional<Branch> page_branch_;
  std::size_t page_bytes_ = 0;
  // Of all that came.
  std::int64_t bytes_ = 0;
  std::int64_t rows_ = 0;
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
  page_branch_ = segment.branch;
  std::int64_t rows = 0;
  while (true) {
    REPRISE_ASSIGN(auto row, connection.next_row());
    if (!row) {
      break;
    }
    ++rows;
    const MessageRow message = read_row(*row, 0);
    expect(message.seq.value);
    page_bytes_ += message.bytes();
    bytes_ += static_cast<std::int64_t>(message.bytes());
    ++rows_;
    if (message.more == 0) {
      page_.emplace_back(read_message(message, place_), std::nullopt);
    } else {
      page_.emplace_back(ReadMessage(), *std::move(row));
    }
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

void Reading::choose_page_rows() {
  const std::int64_t each = bytes_ / std::max<std::int64_t>(rows_, 1) + 1;
  const std::int64_t fitting = static_cast<std::int64_t>(kPageBytes) / (each * 2);
  page_rows_ =
      std::clamp(fitting, kFirstPageRows, std::min(page_rows_ * kPageGrowth, kPageRowsMax));
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
  for (Fetched& fetched : page_) {
    if (is_stopped_) {
      break;
    }
    if (const auto open = std::exchange(fetched.open, std::nullopt); open) {
      REPRISE_ASSIGN(fetched.read, complete(*open));
    }
    ReadMessage& read = fetched.read;
    if (read.damage) {
      report(*std::move(read.damage));
    }
    is_stopped_ = read.message && sink_(*std::move(read.message)) == Flow::stop;
  }
  page_.clear();  // its memory is for the next one
  page_bytes_ = 0;
  return {};
}

// With a long content's later pieces.
Result<ReadMessage> Reading::complete(const Rows& open) {
  MessageRow row = read_row(open, 0);
  const Branch branch = page_branch_.value_or(Branch{id_, 0});  // every page has one
  const Key key{database_.tenant(), branch.session};
  REPRISE_ASSIGN(const Rows parts, database_.read_for<Rows>([&](Connection& connection) {
    return connection.run_one({kReadParts, values_of(key, branch.number, row.seq.value)});
  }));
  std::string content(row.content);
  for (int i = 0; i < parts.count(); ++i) {
    content += parts.bytes(i, 0);
  }
  if (parts.count() != row.more) {
    content.resize(std::min(content.size(), kExcerptMax));
    return ReadMessage{std::nullopt, Damage{cat(place_, " message ", row.seq.value),
                                            "a part of it is missing", std::move(content)}};
  }
  row.content = content;
  return read_message(row, place_);
}

}  // namespace

Result<ReadReport> read_messages(Database& database, const SessionId& id, const ReadRange& range,
                                 const MessageSink& sink) {
  return Reading(database, id, range, sink).run();
}

}  // namespace reprise::postgres

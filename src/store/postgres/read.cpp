#include "store/postgres/read.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "reprise/error.h"
#include "reprise/message.h"
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

// Who looks only at the end of a session should not pay for many messages; each batch is longer, as
// far as the messages so far let it stay below kBatchBytes.
constexpr std::int64_t kFirstBatch = 16;
constexpr std::int64_t kBatchMax = 8192;
constexpr std::int64_t kBatchGrowth = 16;
constexpr std::size_t kBatchBytes = std::size_t{1} << 21;
// So many rows are in memory at once twice, however long they are.
constexpr std::int64_t kPageRows = 256;
constexpr std::size_t kDamageMax = 1000;

// Messages are fetched in batches, and the connection is free while one is delivered. A batch
// comes in pages, each asked for before the one before it is looked at.
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
      REPRISE_TRY(database_.read([this](Connection& one) { return fetch(one); }));
      REPRISE_TRY(deliver());
      choose_batch();
    }
    return std::move(report_);
  }

 private:
  // A message that came; or, while parts of it stand elsewhere, the row that came.
  struct Fetched {
    Message message = {};
    bool is_good = true;
    std::optional<Damage> damage = {};
    std::shared_ptr<const Rows> page = {};
    int row = 0;
    void read(const MessageRow& from, std::string_view place) {
      is_good = read_message(from, place, message, damage);
    }
  };
  void choose_batch();
  Result<> find_segments();
  Result<> fetch(Connection& connection);
  Result<> ask(Connection& connection, Segment& left, std::int64_t rows) const;
  std::size_t add(const std::shared_ptr<const Rows>& page);
  Result<> deliver();
  Result<> complete(MessageRow row, Fetched& fetched);
  void expect(std::int64_t seq);
  void report(Damage damage);

  Database& database_;
  const SessionId& id_;
  const ReadRange range_;
  const MessageSink& sink_;
  const std::string place_;
  std::deque<Segment> segments_;  // what is left to fetch, in the order of reading
  std::int64_t batch_rows_ = kFirstBatch;
  std::vector<Fetched> batch_;
  std::optional<Branch> batch_branch_;
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

Result<> Reading::fetch(Connection& connection) {
  const Segment& segment = segments_.front();
  batch_branch_ = segment.branch;
  batch_.reserve(static_cast<std::size_t>(batch_rows_));
  Segment left = segment;  // what was not asked for
  std::int64_t wanted = batch_rows_;
  std::deque<std::int64_t> asked;  // the rows of each page under way
  std::size_t bytes = 0;
  while (true) {
    while (asked.size() < 2 && wanted > 0 && left.from < left.to) {
      asked.push_back(std::min(wanted, kPageRows));
      wanted -= asked.back();
      REPRISE_TRY(ask(connection, left, asked.back()));
    }
    if (asked.empty()) {
      break;
    }
    REPRISE_ASSIGN(Rows page, connection.take());
    connection.set_deadline(database_.deadline());
    const bool is_last = page.count() < asked.front();
    asked.pop_front();
    bytes += add(std::make_shared<const Rows>(std::move(page)));
    if (is_last) {
      expect(range_.newest_first ? segment.from - 1 : segment.to);
    }
    if (is_last || bytes >= kBatchBytes) {
      wanted = 0;
    }
  }
  if (segment.from >= segment.to) {
    segments_.pop_front();
  }
  return {};
}

// As if no message were missing: where some are, the next page begins with messages of this one.
Result<> Reading::ask(Connection& connection, Segment& left, std::int64_t rows) const {
  const auto [branch, from, to] = left;
  (range_.newest_first ? left.to : left.from) += range_.newest_first ? -rows : rows;
  return connection.begin(
      {range_.newest_first ? kReadBackwards : kReadForwards,
       values_of({database_.tenant(), branch.session}, branch.number, from, to, rows)});
}

// Returns how many bytes came with it.
std::size_t Reading::add(const std::shared_ptr<const Rows>& page) {
  const Segment& segment = segments_.front();
  std::size_t bytes = 0;
  for (int at = 0; at < page->count(); ++at) {
    const MessageRow row = read_row(*page, at);
    if (row.seq.value < segment.from || row.seq.value >= segment.to) {
      continue;  // came with the page before
    }
    expect(row.seq.value);
    bytes += row.bytes();
    Fetched& fetched = batch_.emplace_back();
    if (row.more == 0) {
      fetched.read(row, place_);
    } else {
      fetched.page = page;
      fetched.row = at;
    }
  }
  bytes_ += static_cast<std::int64_t>(bytes);
  rows_ += page->count();
  return bytes;
}

void Reading::choose_batch() {
  const std::int64_t each = bytes_ / std::max<std::int64_t>(rows_, 1) + 1;
  const std::int64_t fitting = static_cast<std::int64_t>(kBatchBytes) / (each * 2);
  batch_rows_ = std::clamp(fitting, kFirstBatch, std::min(batch_rows_ * kBatchGrowth, kBatchMax));
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
  for (Fetched& fetched : batch_) {
    if (is_stopped_) {
      break;
    }
    if (const auto page = std::exchange(fetched.page, nullptr); page) {
      REPRISE_TRY(complete(read_row(*page, fetched.row), fetched));
    }
    if (fetched.damage) {
      report(*std::move(fetched.damage));
    }
    is_stopped_ = fetched.is_good && sink_(std::move(fetched.message)) == Flow::stop;
  }
  batch_.clear();  // its memory is for the next one
  return {};
}

// With a long content's later pieces.
Result<> Reading::complete(MessageRow row, Fetched& fetched) {
  const Branch branch = batch_branch_.value_or(Branch{id_, 0});  // every batch has one
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
    fetched.is_good = false;
    fetched.damage = Damage{cat(place_, " message ", row.seq.value), "a part of it is missing",
                            std::move(content)};
    return {};
  }
  row.content = content;
  fetched.read(row, place_);
  return {};
}

}  // namespace

Result<ReadReport> read_messages(Database& database, const SessionId& id, const ReadRange& range,
                                 const MessageSink& sink) {
  return Reading(database, id, range, sink).run();
}

}  // namespace reprise::postgres

// Reads and finds messages.

#include <algorithm>
#include <deque>
#include <iterator>
#include <map>

#include "base/text.h"
#include "reprise/source.h"
#include "store/postgres/connection.h"
#include "store/postgres/database.h"
#include "store/postgres/postgres_store.h"
#include "store/postgres/rows.h"
#include "store/postgres/sessions.h"
#include "store/postgres/statements.h"
#include "store/postgres/values.h"
#include "store/query.h"
#include "store/rules.h"

namespace reprise::postgres {
namespace {

// The first page is short, so that reading only the end of a session is cheap.
constexpr std::int64_t kFirstPage = 16;
constexpr std::int64_t kPageMax = 256;
constexpr std::size_t kPageBytes = std::size_t{1} << 18;

// Messages are read in pages, each requested before the previous one is delivered. The sink may use
// the store, on another connection; a page in progress must not block a server or a pooler
// meanwhile, so only small ones are requested ahead. If the connection breaks, reading continues on
// another one at the same message.
class SegmentReader {
 public:
  SegmentReader(Database& database, const SessionId& id, const ReadRange& range,
                const MessageSink& sink)
      : database_(database),
        id_(id),
        range_(range),
        sink_(sink),
        location_(cat(database.name(), ": session ", id.str())) {}

  // Reads the visible messages of the session.
  Result<ReadReport> run() {
    REPRISE_TRY(find_segments());
    return read_segments();
  }

  // Reads its replaced messages.
  Result<ReadReport> run_replaced() {
    REPRISE_TRY(find_replaced());
    return read_segments();
  }

 private:
  Result<ReadReport> read_segments() {
    while (!segments_.empty() && !is_stopped_) {
      REPRISE_TRY(database_.read([this](Connection& connection) {
        const std::int64_t before = delivered_;
        auto read = read_segment(connection);
        // After partial delivery, the next attempt continues from there with the full timeout.
        return delivered_ > before ? Result<>() : read;
      }));
    }
    return std::move(report_);
  }

  Result<> find_segments();
  Result<> find_replaced();
  Result<> read_segment(Connection& connection);
  Result<> request_page(Connection& connection, Segment& unrequested);
  Result<Rows> next_page(Connection& connection);
  Result<> deliver(Connection& connection, const Rows& page);
  Result<bool> complete(Connection& connection, MessageRow& row, std::string& content);
  void choose_page(std::size_t bytes, int rows);
  void expect(std::int64_t seq);
  void report(Damage damage);

  Database& database_;
  const SessionId& id_;
  const ReadRange range_;
  const MessageSink& sink_;
  const std::string location_;
  std::deque<Segment> segments_;  // the remaining segments, in the order of reading
  std::int64_t page_rows_ = kFirstPage;
  bool is_ahead_ = true;                // whether to request pages ahead, while they are small
  std::deque<std::int64_t> requested_;  // the number of rows of each undelivered page
  std::deque<Rows> received_;           // those already received
  std::int64_t delivered_ = 0;
  bool is_stopped_ = false;
  ReadReport report_;
};

// Determines the snapshot: a branch's messages are immutable.
Result<> SegmentReader::find_segments() {
  std::vector<Segment> segments;
  Seq end;
  REPRISE_TRY(database_.read([&](Connection& connection) -> Result<> {
    REPRISE_ASSIGN(Head head, find_head(connection, {database_.tenant(), id_}));
    end = head.seq;
    const auto [from, to] = store::clamp(range_, end);
    REPRISE_ASSIGN(segments,
                   segments_of(connection, database_.tenant(), std::move(head), from, to));
    return {};
  }));
  if (!store::is_valid_head(end)) {
    report({location_, store::head_out_of_range(end), ""});
  }
  if (range_.newest_first) {
    std::ranges::reverse(segments);
  }
  segments_.assign(segments.begin(), segments.end());
  return {};
}

Result<> SegmentReader::find_replaced() {
  return database_.read([&](Connection& connection) -> Result<> {
    REPRISE_ASSIGN(const std::vector<Segment> replaced,
                   replaced_segments(connection, {database_.tenant(), id_}));
    segments_.assign(replaced.begin(), replaced.end());
    return {};
  });
}

// Reads the first segment from where the previous connection left it.
Result<> SegmentReader::read_segment(Connection& connection) {
  const Segment& segment = segments_.front();
  Segment unrequested = segment;  // the part not requested yet
  requested_.clear();
  received_.clear();
  bool is_last = false;
  while (true) {
    while (!is_last && !is_stopped_ && unrequested.from < unrequested.to &&
           requested_.size() < (is_ahead_ ? 2 : 1)) {
      REPRISE_TRY(request_page(connection, unrequested));
    }
    if (requested_.empty()) {
      break;
    }
    REPRISE_ASSIGN(const Rows page, next_page(connection));
    is_last = is_last || page.count() < requested_.front();
    requested_.pop_front();
    REPRISE_TRY(deliver(connection, page));
    connection.set_deadline(database_.deadline());
  }
  if (!is_stopped_) {
    expect(range_.newest_first ? segment.from - 1 : segment.to);
    segments_.pop_front();
  }
  return {};
}

// Assumes that no message is missing; otherwise the next page begins with messages of this one.
Result<> SegmentReader::request_page(Connection& connection, Segment& unrequested) {
  const auto [branch, from, to] = unrequested;
  requested_.push_back(page_rows_);
  (range_.newest_first ? unrequested.to : unrequested.from) +=
      range_.newest_first ? -page_rows_ : page_rows_;
  return connection.begin(
      {range_.newest_first ? kReadBackwards : kReadForwards,
       values_of({database_.tenant(), branch.session}, branch.number, from, to, page_rows_)});
}

Result<Rows> SegmentReader::next_page(Connection& connection) {
  if (received_.empty()) {
    return connection.fetch_rows();
  }
  Rows page = std::move(received_.front());
  received_.pop_front();
  return page;
}

Result<> SegmentReader::deliver(Connection& connection, const Rows& page) {
  const Segment& segment = segments_.front();
  std::size_t bytes = 0;
  for (int at = 0; at < page.count() && !is_stopped_; ++at) {
    MessageRow row = read_row({page, at});
    if (row.seq.value < segment.from || row.seq.value >= segment.to) {
      continue;  // was in the previous page
    }
    bytes += row.bytes();
    std::string content;
    bool is_good = true;
    if (row.more > 0) {
      REPRISE_ASSIGN(is_good, complete(connection, row, content));
    }
    expect(row.seq.value);
    ++delivered_;
    Message message;
    std::optional<Damage> damage;
    if (!is_good) {
      damage = Damage{cat(location_, " message ", row.seq.value), "a part of it is missing",
                      store::excerpt_of(content)};
    } else {
      is_good = read_message(row, location_, message, damage);
    }
    if (damage) {
      report(*std::move(damage));
    }
    is_stopped_ = is_good && sink_(std::move(message)) == Flow::stop;
  }
  choose_page(bytes, page.count());
  return {};
}

// Joins the parts of a long content.
Result<bool> SegmentReader::complete(Connection& connection, MessageRow& row,
                                     std::string& content) {
  while (received_.size() < requested_.size()) {
    REPRISE_ASSIGN(Rows page, connection.fetch_rows());
    received_.push_back(std::move(page));
  }
  const Branch& branch = segments_.front().branch;
  connection.set_deadline(database_.deadline());  // the sink has used the time so far
  REPRISE_ASSIGN(const Rows parts,
                 connection.run_one({kReadParts, values_of({database_.tenant(), branch.session},
                                                           branch.number, row.seq.value)}));
  return join_parts(row, parts, content);
}

void SegmentReader::choose_page(std::size_t bytes, int rows) {
  constexpr std::int64_t kPageMin = 4;
  is_ahead_ = bytes <= kPageBytes;
  const std::size_t each = bytes / static_cast<std::size_t>(std::max(rows, 1)) + 1;
  page_rows_ = std::clamp(static_cast<std::int64_t>(kPageBytes / each), kPageMin, kPageMax);
}

// `seq` is the next existing message; missing ones before it are reported.
void SegmentReader::expect(std::int64_t seq) {
  Segment& segment = segments_.front();
  const std::int64_t expected = range_.newest_first ? segment.to - 1 : segment.from;
  const std::int64_t missing = range_.newest_first ? expected - seq : seq - expected;
  if (missing > 0) {
    report({cat(location_, " message ", expected), cat(missing, " messages are missing"), ""});
    report_.damaged += missing - 1;
  }
  if (range_.newest_first) {
    segment.to = seq;
  } else {
    segment.from = seq + 1;
  }
}

void SegmentReader::report(Damage damage) {
  ++report_.damaged;
  if (report_.damage.size() < store::kDamageMax) {
    report_.damage.push_back(std::move(damage));
  }
}

// The sessions and messages of some places, in one round trip.
class MessageLookup {
 public:
  using MessageRef = MessageFinder::MessageRef;
  using Found = MessageFinder::Found;
  MessageLookup(Database& database, std::span<const MessageRef> refs)
      : database_(database), refs_(refs) {}

  Result<std::vector<std::optional<Found>>> run() {
    std::vector<Query> queries;
    for (const MessageRef& ref : refs_) {
      const Key key{database_.tenant(), ref.session};
      if (sessions_.try_emplace(ref.session, queries.size()).second) {
        queries.push_back({session_statements().find, values_of(key)});
        const std::string brief = short_id(ref.session);
        queries.push_back({kFindSimilar, values_of(key, brief, store::after_prefix(brief))});
      }
    }
    const std::size_t messages = queries.size();
    for (const MessageRef& ref : refs_) {
      queries.push_back({kReadOne, values_of({database_.tenant(), ref.session}, ref.seq.value)});
    }
    REPRISE_ASSIGN(rows_,
                   database_.read([&](Connection& connection) { return connection.run(queries); }));
    std::vector<std::optional<Found>> all(refs_.size());
    for (std::size_t i = 0; i < refs_.size(); ++i) {
      all[i] = found(sessions_.at(refs_[i].session), messages + i);
    }
    return all;
  }

 private:
  // Of the results of two statements about the session, and one about the message.
  std::optional<Found> found(std::size_t session, std::size_t message) const {
    if (rows_[session].empty() || rows_[message].empty() || rows_[message].is_null(0, "content")) {
      return std::nullopt;
    }
    InfoRow info = read_info({rows_[session], 0}, database_.name());
    Message read;
    std::optional<Damage> damage;
    if (!info.info || info.damage ||
        !read_message(read_row({rows_[message], 0}), database_.name(), read, damage) || damage) {
      return std::nullopt;
    }
    return Found{.session = *std::move(info.info),
                 .message = std::move(read),
                 .has_unique_short_id = rows_[session + 1].empty()};
  }

  Database& database_;
  std::span<const MessageRef> refs_;
  std::map<SessionId, std::size_t> sessions_;  // where their results begin
  std::vector<Rows> rows_;
};

}  // namespace

Result<ReadReport> PostgresStore::read(const SessionId& id, ReadRange range,
                                       const MessageSink& sink) {
  return SegmentReader(database_, id, range, sink).run();
}

Result<ReadReport> PostgresStore::read_replaced(const SessionId& id, const MessageSink& sink) {
  return SegmentReader(database_, id, {}, sink).run_replaced();
}

Result<std::vector<std::optional<Message>>> PostgresStore::last_messages(
    std::span<const SessionId> ids) {
  std::vector<Query> queries;
  queries.reserve(ids.size());
  for (const SessionId& id : ids) {
    queries.push_back({kReadLast, values_of({database_.tenant(), id})});
  }
  REPRISE_ASSIGN(const std::vector<Rows> found, database_.read([&queries](Connection& connection) {
    return connection.run(queries);
  }));
  std::vector<std::optional<Message>> out(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (found[i].empty() || found[i].is_null(0, "content")) {
      continue;
    }
    Message message;
    std::optional<Damage> damage;
    if (read_message(read_row({found[i], 0}), database_.name(), message, damage) && !damage) {
      out[i] = std::move(message);
    }
  }
  return out;
}

Result<std::vector<std::optional<MessageFinder::Found>>> PostgresStore::find_messages(
    std::span<const MessageRef> refs) {
  constexpr std::size_t kPlacesMax = 64;  // of a round trip
  std::vector<std::optional<MessageFinder::Found>> results;
  while (!refs.empty()) {
    const auto page = refs.first(std::min(refs.size(), kPlacesMax));
    REPRISE_ASSIGN(auto found, MessageLookup(database_, page).run());
    std::ranges::move(found, std::back_inserter(results));
    refs = refs.subspan(page.size());
  }
  return results;
}

namespace {

// The sessions of a round trip, from rows of kReadShort in any order.
class ShortSessions {
 public:
  explicit ShortSessions(std::span<const SessionId> ids) : sessions_(ids.size()) {
    for (std::size_t i = 0; i < ids.size(); ++i) {
      places_.emplace(ids[i].str(), i);
    }
  }

  void add(const RowView& row) {
    ShortSession& session = sessions_[places_.find(row.bytes("session_id"))->second];
    session.messages.resize(static_cast<std::size_t>(row.integer("head")));
    session.exists = true;
    if (row.is_null("seq")) {
      return;
    }
    const MessageRow read = read_row(row);
    std::optional<Damage> damage;
    const auto at = static_cast<std::size_t>(read.seq.value);
    if (!row.is_null("content") && at < session.messages.size() &&
        read_message(read, "", session.messages[at], damage) && !damage) {
      ++session.read;
    }
  }

  void move_to(std::vector<std::optional<std::vector<Message>>>& out) {
    for (ShortSession& session : sessions_) {
      const bool is_complete = session.exists && session.read == session.messages.size();
      out.push_back(is_complete ? std::optional(std::move(session.messages)) : std::nullopt);
    }
  }

 private:
  struct ShortSession {
    bool exists = false;
    std::vector<Message> messages;
    std::size_t read = 0;  // the number of messages without damage
  };
  std::map<std::string, std::size_t, std::less<>> places_;
  std::vector<ShortSession> sessions_;
};

std::string joined(std::span<const SessionId> ids) {
  std::string text;
  for (const SessionId& id : ids) {
    text += cat(text.empty() ? "" : " ", id.str());
  }
  return text;
}

}  // namespace

Result<std::vector<std::optional<std::vector<Message>>>> PostgresStore::short_sessions(
    std::span<const SessionId> ids) {
  constexpr std::size_t kSessionsMax = 64;  // of a round trip
  std::vector<std::optional<std::vector<Message>>> results;
  while (!ids.empty()) {
    const auto page = ids.first(std::min(ids.size(), kSessionsMax));
    const Query query = {kReadShort, values(database_.tenant(), joined(page))};
    REPRISE_ASSIGN(const Rows rows, database_.read([&query](Connection& connection) {
      return connection.run_one(query);
    }));
    ShortSessions sessions(page);
    for (int row = 0; row < rows.count(); ++row) {
      sessions.add({rows, row});
    }
    sessions.move_to(results);
    ids = ids.subspan(page.size());
  }
  return results;
}

}  // namespace reprise::postgres

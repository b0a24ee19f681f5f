// Reads a session's messages in pages, so that memory is bounded and a slow sink blocks neither a
// statement nor the log. The messages are nevertheless those of one state of the session: if a
// suffix is replaced between two pages, reading continues in the retained session with the old
// suffix.

#include <algorithm>
#include <iterator>

#include "base/assert.h"
#include "base/json_write.h"
#include "base/text.h"
#include "reprise/source.h"
#include "store/rules.h"
#include "store/sqlite/connection.h"
#include "store/sqlite/database.h"
#include "store/sqlite/original.h"
#include "store/sqlite/repair.h"
#include "store/sqlite/rows.h"
#include "store/sqlite/sessions.h"
#include "store/sqlite/sqlite_store.h"

namespace reprise::sqlite {
namespace {

// Pages grow, so that reading only the end of a session is cheap.
constexpr std::size_t kFirstPageRows = 8;
constexpr std::size_t kPageRowsMax = 256;
constexpr std::size_t kPageBytes = std::size_t{1} << 20;

class PagedReader {
 public:
  PagedReader(Database& database, const SessionId& id, const ReadRange& range)
      : database_(database), id_(id), range_(range), file_(database.name()), cursor_{id.str()} {}

  Result<ReadReport> run(const MessageSink& sink) {
    while (true) {
      REPRISE_TRY(next_page());
      for (Message& message : page_) {
        if (sink(std::move(message)) == Flow::stop) {
          return std::move(report_);
        }
      }
      if (cursor_.from >= cursor_.to) {
        return std::move(report_);
      }
      page_rows_ = std::min(page_rows_ * 2, kPageRowsMax);
    }
  }

 private:
  Result<> next_page();
  Result<> read_page(const Database::Reader& reader);
  Result<> report_salvaged(Connection& connection);
  Result<> find_version(Connection& connection);
  void report(const Statement& session, std::string reason);
  Result<> read_segment(Connection& connection, const Segment& segment);
  Result<> read_rows(Connection& connection, Statement& row, const Segment& segment);
  Result<> add_message(Connection& connection, const Statement& row);
  void advance(std::int64_t seq);
  bool page_is_full() const { return rows_ >= page_rows_ || bytes_ >= kPageBytes; }

  Database& database_;
  const SessionId& id_;
  const ReadRange range_;
  const std::string file_;
  struct Cursor {
    std::string session;  // whose rows are read; the retained session after a replacement
    std::optional<std::int64_t> generation = std::nullopt;
    std::int64_t from = 0;  // the remaining range: [from, to)
    std::int64_t to = 0;
  };
  Cursor cursor_;
  std::vector<Message> page_;
  std::size_t page_rows_ = kFirstPageRows;
  std::size_t rows_ = 0;
  std::size_t bytes_ = 0;
  bool is_salvaged_ = false;
  ReadReport report_;
};

Result<> PagedReader::next_page() {
  const Cursor before = cursor_;
  const ReadReport report_before = report_;
  return database_.read([&](const Database::Reader& reader) {
    cursor_ = before;  // repeats the page if damage stopped the first attempt
    report_ = report_before;
    return read_page(reader);
  });
}

Result<> PagedReader::read_page(const Database::Reader& reader) {
  page_.clear();
  rows_ = 0;
  bytes_ = 0;
  REPRISE_ASSIGN(Transaction snapshot, Transaction::begin(*reader, "BEGIN"));
  REPRISE_TRY(find_version(*reader));
  REPRISE_ASSIGN(auto segments, segments_of(*reader, cursor_.session, cursor_.from, cursor_.to));
  if (range_.newest_first) {
    std::ranges::reverse(segments);
  }
  for (const Segment& segment : segments) {
    if (page_is_full()) {
      break;
    }
    REPRISE_TRY(read_segment(*reader, segment));
  }
  REPRISE_TRY(snapshot.commit());
  return reader.is_salvaged() ? report_salvaged(*reader) : Result<>();
}

// Only once, because it concerns the whole session.
Result<> PagedReader::report_salvaged(Connection& connection) {
  if (std::exchange(is_salvaged_, true)) {
    return {};
  }
  REPRISE_ASSIGN(std::vector<Damage> damage, damage_of_salvaged(connection, id_.str()));
  report_.damaged += static_cast<std::int64_t>(damage.size());
  std::ranges::move(damage, std::back_inserter(report_.damage));
  return {};
}

void PagedReader::report(const Statement& session, std::string reason) {
  ++report_.damaged;
  report_.damage.push_back(
      {row_location(file_, "sessions", session.integer("row")), std::move(reason), ""});
}

// The first page determines the state; later pages continue in it.
Result<> PagedReader::find_version(Connection& connection) {
  REPRISE_ASSIGN(
      Statement row,
      connection.query("SELECT rowid AS row, generation, head, EXISTS (SELECT 1 FROM messages"
                       " WHERE session_id = sessions.id AND seq >= sessions.head) AS has_more"
                       " FROM sessions WHERE id = ?",
                       id_.str()));
  REPRISE_ASSIGN(const bool found, row.step());
  if (!found) {
    return std::unexpected(store::no_session(id_));
  }
  if (!cursor_.generation) {
    cursor_.generation = row.integer("generation");
    const Seq head{row.integer("head")};
    const auto span = store::clamp(range_, head);
    cursor_.from = span.from;
    cursor_.to = span.to;
    if (!store::is_valid_head(head)) {
      report(row, store::head_out_of_range(head));
    } else if (row.integer("has_more") != 0 && range_.to > head) {
      report(row, cat("it has messages beyond its head ", head.value));
    }
  } else if (row.integer("generation") != *cursor_.generation) {
    cursor_.session = retained_name(id_.str(), *cursor_.generation);
  }
  return {};
}

Result<> PagedReader::read_segment(Connection& connection, const Segment& segment) {
  const std::string sql = cat("SELECT ", message_select(), " FROM ", table_of(segment),
                              " WHERE session_id = ? AND seq >= ? AND seq < ? ORDER BY seq",
                              range_.newest_first ? " DESC" : "");
  REPRISE_ASSIGN(Statement row, connection.query(sql, segment.session, segment.from, segment.to));
  return read_rows(connection, row, segment);
}

Result<> PagedReader::read_rows(Connection& connection, Statement& row, const Segment& segment) {
  const store::Column content = row.column("content");
  while (!page_is_full()) {
    REPRISE_ASSIGN(const bool has_row, row.step());
    if (!has_row) {
      advance(range_.newest_first ? segment.from : segment.to - 1);
      return {};
    }
    REPRISE_TRY(add_message(connection, row));
    ++rows_;
    bytes_ += row.size(content);
  }
  return {};
}

Result<> PagedReader::add_message(Connection& connection, const Statement& row) {
  std::optional<Damage> damage;
  Message& message = page_.emplace_back();
  const bool is_good = read_message(row, file_, message, damage);
  advance(message.seq.value);
  if (is_good) {
    REPRISE_TRY(set_result_blobs(connection, message.blocks));
  } else {
    page_.pop_back();
  }
  if (damage) {
    ++report_.damaged;
    if (report_.damage.size() < store::kDamageMax) {
      report_.damage.push_back(*std::move(damage));
    }
  }
  return {};
}

// Records that `seq` was delivered.
void PagedReader::advance(std::int64_t seq) {
  if (range_.newest_first) {
    cursor_.to = seq;
  } else {
    cursor_.from = seq + 1;
  }
}

struct ReplacedMessages {
  std::vector<Message> messages;
  ReadReport report;
};

// All at once, because there are few.
Result<ReplacedMessages> find_replaced(const Database::Reader& reader, const SessionId& id,
                                       const std::string& file) {
  static const std::string query =
      cat("SELECT ", message_select(),
          " FROM reprise_kept_messages WHERE session_id IN"
          " (SELECT id FROM reprise_kept WHERE kept_for = ?1)"
          " ORDER BY CAST(substr(session_id, length(?1) + 2) AS INTEGER), seq");
  REPRISE_TRY(count_replaced(*reader, id));
  REPRISE_ASSIGN(Statement row, reader->query(query, id.str()));
  ReplacedMessages found;
  const auto add_message = [&]() -> Result<> {
    Message message;
    std::optional<Damage> damage;
    if (read_message(row, file, message, damage)) {
      REPRISE_TRY(set_result_blobs(*reader, message.blocks));
      found.messages.push_back(std::move(message));
    }
    if (damage) {
      ++found.report.damaged;
      found.report.damage.push_back(*std::move(damage));
    }
    return {};
  };
  REPRISE_TRY(row.each(add_message));
  return found;
}

// A session, and which of its messages are rows of its own.
struct SessionRange {
  SessionInfo info;
  std::int64_t from;
  std::int64_t to;
};

// The undamaged sessions of the places, in their order.
Result<std::vector<SessionRange>> find_session_ranges(
    Connection& connection, std::span<const MessageFinder::MessageRef> messages) {
  static const std::string sql =
      cat("SELECT ", info_select(),
          ", CASE WHEN s.base IS NULL THEN 0 ELSE s.base_count END AS own_from, s.head AS own_to"
          " FROM json_each(?) AS j CROSS JOIN sessions AS s ON s.id = j.value"
          " LEFT JOIN reprise_answers AS a ON a.session_id = s.id AND a.n = 0");
  std::string ids;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    if (i == 0 || messages[i].session != messages[i - 1].session) {
      ids += i == 0 ? '[' : ',';
      json::append_string(ids, messages[i].session.str());
    }
  }
  ids += ids.empty() ? "[]" : "]";
  REPRISE_ASSIGN(Statement row, connection.query(sql, ids));
  const std::string file = connection.name();
  std::vector<SessionRange> rows;
  rows.reserve(messages.size());
  REPRISE_TRY(row.each([&] {
    InfoRow read = read_info(row, file);
    if (read.info && !read.damage) {
      rows.emplace_back(*std::move(read.info), row.integer("own_from"), row.integer("own_to"));
    }
  }));
  return rows;
}

// {"SESSION":SEQ,…}
std::string refs_json(std::span<const MessageFinder::MessageRef> messages) {
  std::string refs;
  json::ObjectWriter object(refs);
  for (const auto& [session, seq] : messages) {
    object.field(session.str(), seq.value);
  }
  object.close();
  return refs;
}

// False if it is damaged.
Result<bool> read_undamaged(Connection& connection, const Statement& row, std::string_view file,
                            Message& message) {
  std::optional<Damage> damage;
  if (!read_message(row, file, message, damage) || damage) {
    return false;
  }
  REPRISE_TRY(set_result_blobs(connection, message.blocks));
  return true;
}

// Of one state of the store. A statement for each message would take twice as long.
Result<std::vector<std::optional<MessageFinder::Found>>> read_messages_at(
    Connection& connection, std::span<const MessageFinder::MessageRef> messages) {
  static const std::string sql =
      cat("WITH refs(session, position) AS (SELECT key, value FROM json_each(?)) SELECT ",
          message_select(),
          ", session FROM refs CROSS JOIN messages ON session_id = session AND seq = position");
  const std::string refs = refs_json(messages);
  REPRISE_ASSIGN(Transaction snapshot, Transaction::begin(connection, "BEGIN"));
  std::vector<std::optional<MessageFinder::Found>> found(messages.size());
  {
    REPRISE_ASSIGN(std::vector<SessionRange> sessions, find_session_ranges(connection, messages));
    REPRISE_ASSIGN(Statement row, connection.query(sql, refs));
    const std::string file = connection.name();
    auto session = sessions.begin();
    std::size_t next = 0;
    REPRISE_TRY(row.each([&]() -> Result<> {
      while (messages[next].session.str() != row.bytes("session") ||
             messages[next].seq.value != row.integer("seq")) {
        ++next;  // it has no row
        REPRISE_ASSERT(next < messages.size());
      }
      const std::size_t at = next++;
      const SessionId& id = messages[at].session;
      const auto range = std::find_if(session, sessions.end(),
                                      [&id](const SessionRange& own) { return own.info.id == id; });
      if (range == sessions.end()) {
        return {};
      }
      session = range;
      if (messages[at].seq.value < range->from || messages[at].seq.value >= range->to) {
        return {};
      }
      const bool is_last = next == messages.size() || messages[next].session != id;
      MessageFinder::Found& hit =
          found[at].emplace(is_last ? std::move(range->info) : range->info, Message{});
      REPRISE_ASSIGN(const bool is_good, read_undamaged(connection, row, file, hit.message));
      if (!is_good) {
        found[at].reset();
      }
      return {};
    }));
  }
  REPRISE_TRY(snapshot.commit());
  return found;
}

}  // namespace

Result<std::vector<std::optional<MessageFinder::Found>>> SqliteStore::find_messages(
    std::span<const MessageRef> messages) {
  return database_.read(
      [&](const Database::Reader& reader) -> Result<std::vector<std::optional<Found>>> {
        if (reader.is_salvaged()) {
          return std::vector<std::optional<Found>>(messages.size());
        }
        return read_messages_at(*reader, messages);
      });
}

Result<ReadReport> SqliteStore::read(const SessionId& id, ReadRange range,
                                     const MessageSink& sink) {
  return PagedReader(database_, id, range).run(sink);
}

Result<ReadReport> SqliteStore::read_replaced(const SessionId& id, const MessageSink& sink) {
  REPRISE_ASSIGN(ReplacedMessages found, database_.read([&](const Database::Reader& reader) {
    return find_replaced(reader, id, database_.name());
  }));
  for (Message& message : found.messages) {
    if (sink(std::move(message)) == Flow::stop) {
      break;
    }
  }
  return std::move(found.report);
}

}  // namespace reprise::sqlite

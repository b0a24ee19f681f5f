// Checks everything of a tenant and reports the damage.

#include <algorithm>

#include "base/text.h"
#include "reprise/capabilities.h"
#include "store/postgres/connection.h"
#include "store/postgres/database.h"
#include "store/postgres/postgres_store.h"
#include "store/postgres/rows.h"
#include "store/postgres/statements.h"
#include "store/postgres/values.h"
#include "store/rules.h"

namespace reprise::postgres {
namespace {

constexpr std::int64_t kMessagesPerReport = 100;

class Verification {
 public:
  Verification(Database& database, BlobReader& blobs)
      : database_(database), blobs_(blobs), progress_(database.progress()) {}

  Result<VerifyReport> run() {
    if (progress_) {
      REPRISE_ASSIGN(const Rows rows,
                     database_.read_one({kCountToVerify, values(database_.tenant())}));
      total_ = rows.integer(0, "messages");
    }
    REPRISE_TRY(check_sessions());
    report_progress();
    REPRISE_TRY(check_messages());
    report_progress();
    const auto add_session = [this](const Rows& row) {
      add(cat("session ", row.bytes(0, "session_id")), row.text(0, "reason"));
    };
    for (const std::string_view statement : {kVerifyRows, kVerifyBeginnings, kVerifyHeads}) {
      REPRISE_TRY(each_page(statement, add_session));
    }
    const Values tenant = values(database_.tenant());
    REPRISE_TRY(each({kVerifyBases, tenant}, add_session));
    REPRISE_TRY(each({kFindMissingBlobs, tenant}, [this](const Rows& row) {
      add(cat("blob ", row.bytes(0, "hash")), "messages name it, but it is missing");
    }));
    REPRISE_TRY(check_blobs());
    return std::move(report_);
  }

 private:
  void add(std::string_view where, std::string reason) {
    report_.damage.push_back({cat(database_.name(), ": ", where), std::move(reason), ""});
  }
  void add(std::optional<Damage> damage) {
    if (damage) {
      report_.damage.push_back(*std::move(damage));
    }
  }

  // Of all sessions, a page at a time: no statement takes longer in a larger store.
  Result<> each_page(std::string_view statement, const std::function<void(const Rows&)>& work) {
    std::string after;
    while (true) {
      REPRISE_ASSIGN(const Rows end,
                     database_.read_one({kFindVerifiedPage, values(database_.tenant(), after)}));
      const std::string last = end.text(0, "last");
      if (last <= after) {
        return {};
      }
      REPRISE_TRY(each({statement, values(database_.tenant(), after, last)}, work));
      after = last;
    }
  }

  // Processes rows one by one as they arrive.
  Result<> each(const Query& query, const std::function<void(const Rows&)>& work) {
    const VerifyReport before = report_;
    const LastMessage message_before = last_message_;
    return database_.read([&](Connection& connection) -> Result<> {
      report_ = before;  // another attempt checks all of them again
      last_message_ = message_before;
      REPRISE_TRY(connection.begin(query));
      while (true) {
        REPRISE_ASSIGN(const auto row, connection.fetch_row());
        if (!row) {
          return {};
        }
        work(*row);
        connection.set_deadline(database_.deadline());
      }
    });
  }

  Result<> check_sessions() {
    return each_page(session_statements().verify, [this](const Rows& row) {
      ++report_.sessions;
      add(read_info({row, 0}, database_.name()).damage);
    });
  }

  Result<> check_messages() {
    return each_page(kVerifyMessages, [this](const Rows& row) {
      const std::string location = cat(database_.name(), ": session ", row.bytes(0, "session_id"));
      const std::string branch = cat(location, "/", row.integer(0, "branch"));
      MessageRow message = read_row({row, 0});
      if (branch == last_message_.branch && message.seq != last_message_.next) {
        report_.damage.push_back(
            {cat(location, " message ", last_message_.next.value), "it is missing", ""});
      }
      last_message_ = {branch, store::is_valid_position(message.seq) ? message.seq.next() : Seq{}};
      ++report_.messages;
      if (report_.messages % kMessagesPerReport == 0) {
        report_progress();
      }
      std::string content;
      std::optional<Damage> damage;
      if (Message read;
          complete(message, content, row.text(0, "session_id"), row.integer(0, "branch"))) {
        read_message(message, location, read, damage);
      } else {
        damage =
            Damage{cat(location, " message ", message.seq.value), "a part of it is missing", ""};
      }
      add(std::move(damage));
    });
  }

  // `content` stores the joined parts.
  bool complete(MessageRow& message, std::string& content, const std::string& session,
                std::int64_t branch) {
    if (message.more == 0) {
      return true;
    }
    const auto parts = database_.read_one(
        {kReadParts, values(database_.tenant(), session, branch, message.seq.value)});
    return parts && join_parts(message, *parts, content);
  }

  Result<> check_blobs() {
    std::string hash;
    while (true) {
      REPRISE_ASSIGN(const Rows next,
                     database_.read_one({kListBlobs, values(database_.tenant(), hash)}));
      if (next.empty()) {
        return {};
      }
      hash = next.text(0, "hash");
      const auto parsed = BlobHash::parse(hash);
      const auto read = parsed ? blobs_.read_blob(*parsed, [](auto) { return Flow::proceed; })
                               : Result<>(std::unexpected(parsed.error()));
      if (!read) {
        add(cat("blob ", hash), read.error().message);
      }
    }
  }

  void report_progress() const {
    if (progress_) {
      progress_({"verifying", report_.messages, std::max(report_.messages, total_)});
    }
  }

  struct LastMessage {
    std::string branch;
    Seq next;  // the position after it
  };

  Database& database_;
  BlobReader& blobs_;
  const ProgressSink& progress_;
  std::int64_t total_ = 0;  // the approximate number of messages
  VerifyReport report_;
  LastMessage last_message_;
};

}  // namespace

Result<VerifyReport> PostgresStore::verify() {
  return Verification(database_, *this).run();
}

}  // namespace reprise::postgres

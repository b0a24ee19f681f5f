#include "store/postgres/connection.h"

#include <libpq-fe.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <postgres_ext.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/assert.h"
#include "base/text.h"
#include "reprise/error.h"
#include "reprise/store_statistics.h"
#include "store/call.h"
#include "store/postgres/libpq_library.h"
#include "store/postgres/server_error.h"
#include "store/postgres/statements.h"
#include "store/postgres/url.h"
#include "store/postgres/values.h"

namespace reprise::postgres {
namespace {

std::string name_of(std::size_t statement) {
  return cat("reprise_", statement);
}

int milliseconds_until(Deadline deadline) {
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
  return static_cast<int>(std::clamp<std::chrono::milliseconds::rep>(left.count(), 0, 3'600'000));
}

}  // namespace

Result<std::unique_ptr<Connection>> Connection::open(const Parameters& parameters,
                                                     Deadline deadline) {
  REPRISE_ASSIGN(const LibpqLibrary* const libpq, libpq_library());
  std::vector<const char*> keywords;
  std::vector<const char*> values;
  for (const auto& [keyword, value] : parameters) {
    keywords.push_back(keyword.c_str());
    values.push_back(value.c_str());
  }
  keywords.push_back(nullptr);
  values.push_back(nullptr);
  PGconn* const raw = libpq->connect_start(keywords.data(), values.data(), 0);
  if (raw == nullptr) {
    return fail(Code::io, "out of memory while connecting");
  }
  std::unique_ptr<Connection> connection(new Connection(*libpq, raw));
  REPRISE_TRY(store::timed(&StoreCounts::connections, "connect",
                           [&] { return connection->finish_connecting(deadline); }));
  connection->waited_ = {};
  return connection;
}

Connection::~Connection() {
  libpq_.finish(connection_);
}

Result<> Connection::finish_connecting(Deadline deadline) {
  deadline_ = deadline;
  libpq_.set_notice_receiver(connection_, on_warning, this);
  libpq_.set_error_verbosity(connection_, PQERRORS_VERBOSE);  // with the SQLSTATE
  PostgresPollingStatusType next = PGRES_POLLING_WRITING;
  while (libpq_.status(connection_) != CONNECTION_BAD && next != PGRES_POLLING_OK &&
         next != PGRES_POLLING_FAILED) {
    REPRISE_TRY(wait(next == PGRES_POLLING_READING ? POLLIN : POLLOUT));
    next = libpq_.connect_poll(connection_);
  }
  if (libpq_.status(connection_) != CONNECTION_OK || libpq_.enter_pipeline(connection_) != 1 ||
      libpq_.set_nonblocking(connection_, 1) != 0) {
    failure_.is_lost = true;
    Error error = connect_error(libpq_.error_message(connection_));
    if (libpq_.needs_password(connection_) != 0) {
      error.code = Code::unauthorized;
    }
    return std::unexpected(std::move(error));
  }
  libpq_.set_error_verbosity(connection_, PQERRORS_DEFAULT);
  return {};
}

void Connection::set_deadline(Deadline deadline) {
  constexpr std::chrono::minutes kTransferMax{10};
  const auto now = std::chrono::steady_clock::now();
  deadline_ = deadline;
  timeout_ = deadline - now;
  transfer_end_ = now + kTransferMax;
}

// The bytes that the server's machine has confirmed and sent; 0 if the system does not say.
std::uint64_t Connection::count_transferred() const {
  tcp_info info{};
  socklen_t size = sizeof info;
  const int failed = ::getsockopt(libpq_.socket(connection_), IPPROTO_TCP, TCP_INFO, &info, &size);
  return failed == 0 ? info.tcpi_bytes_acked + info.tcpi_bytes_received : 0;
}

// At the deadline: whether to wait on, because a large request or result is being transferred.
bool Connection::extend_deadline() {
  constexpr std::uint64_t kMovedMin = 16'384;
  const std::uint64_t before = transferred_;
  transferred_ = count_transferred();
  const auto now = std::chrono::steady_clock::now();
  if (transferred_ < before + kMovedMin || timeout_.count() <= 0 || now >= transfer_end_) {
    return false;
  }
  deadline_ = now + timeout_;
  return true;
}

Result<std::vector<Rows>> Connection::run(std::span<const Query> queries) {
  failure_ = {};
  error_.reset();
  not_replicated_ = false;
  REPRISE_TRY(send_all(queries));
  REPRISE_TRY(begin_collecting());
  std::vector<Rows> rows;
  rows.reserve(queries.size());
  for (const Sent& sent : std::exchange(sent_, {})) {
    REPRISE_TRY(collect(sent, rows));
  }
  REPRISE_TRY(end_round_trip());
  return rows;
}

Result<Rows> Connection::run_one(const Query& query) {
  REPRISE_ASSIGN(auto rows, run(std::span(&query, 1)));
  return std::move(rows.front());
}

Result<> Connection::execute(std::span<const Query> queries) {
  REPRISE_TRY(run(queries));
  return {};
}

// A round trip is named after its first statement with a table.
void Connection::count(std::string_view text) {
  if (store::Call::is_watched() && part_.find(' ') == std::string::npos) {
    part_ = statement_name(text);
  }
}

void Connection::end_count() {
  const auto waited = std::exchange(waited_, {});
  if (const std::string part = std::exchange(part_, {}); !part.empty()) {
    store::Call::add(&StoreCounts::round_trips, part, waited);
  }
}

// The setting lasts for the transaction: behind a pooler, the next one may use another server
// connection.
Result<> Connection::send_tenant() {
  if (tenant_.empty()) {
    return {};
  }
  REPRISE_TRY(send({kSetTenant, values(tenant_)}));
  sent_.back().is_silent = true;
  return {};
}

Result<> Connection::send_all(std::span<const Query> queries) {
  bool begins = libpq_.transaction_status(connection_) == PQTRANS_IDLE;
  for (const Query& query : queries) {
    const bool is_begin = query.text.starts_with(kBegin);
    if (begins && !is_begin) {
      REPRISE_TRY(send_tenant());
    }
    REPRISE_TRY(send(query));
    if (is_begin) {
      REPRISE_TRY(send_tenant());
    }
    begins = query.text == kCommit || query.text == kRollback;
  }
  return {};
}

Result<> Connection::send(const Query& query) {
  count(query.text);
  const Values::Bound bound = query.values.bound();
  const std::size_t statement =
      query.hash != 0 ? query.hash : std::hash<std::string_view>()(query.text);
  int sent = 0;
  if (prepare_ == Prepare::unnamed) {
    const std::string text(query.text);
    sent = libpq_.send_query(connection_, text.c_str(), bound.count(), nullptr, bound.values.data(),
                             bound.lengths.data(), bound.formats.data(), 1);
  } else {
    const std::string name = name_of(statement);
    if (!prepared_.contains(statement)) {
      const std::string text(query.text);
      if (libpq_.send_prepare(connection_, name.c_str(), text.c_str(), 0, nullptr) != 1) {
        return fail_connection(Code::io, libpq_.error_message(connection_));
      }
      prepared_.insert(statement);
      sent_.push_back({statement, true});
    }
    sent = libpq_.send_prepared(connection_, name.c_str(), bound.count(), bound.values.data(),
                                bound.lengths.data(), bound.formats.data(), 1);
  }
  if (sent != 1) {
    return fail_connection(Code::io, libpq_.error_message(connection_));
  }
  sent_.push_back({statement, false});
  return {};
}

// Waits for `events` or for input: the server may have to be read before more can be sent.
Result<short> Connection::wait(short events) {
  while (true) {
    pollfd descriptor{libpq_.socket(connection_), events, 0};
    const bool is_timed = store::Call::is_watched();
    const auto start = is_timed ? std::chrono::steady_clock::now() : Deadline();
    const int ready = ::poll(&descriptor, 1, milliseconds_until(deadline_));
    if (is_timed) {
      waited_ += std::chrono::steady_clock::now() - start;
    }
    if (ready > 0) {
      return descriptor.revents;
    }
    if (ready == 0 && extend_deadline()) {
      continue;
    }
    if (ready == 0) {
      return fail_connection(Code::timeout, "the server did not answer in time");
    }
    if (errno != EINTR) {
      return fail_connection(Code::io, "cannot wait for the server");
    }
  }
}

Result<> Connection::flush() {
  transferred_ = count_transferred();
  while (true) {
    const int left = libpq_.flush(connection_);
    if (left < 0) {
      return fail_connection(Code::io, libpq_.error_message(connection_));
    }
    if (left == 0) {
      return {};
    }
    REPRISE_ASSIGN(const short ready, wait(POLLIN | POLLOUT));
    if ((ready & POLLIN) != 0 && libpq_.consume_input(connection_) != 1) {
      return fail_connection(Code::io, libpq_.error_message(connection_));
    }
  }
}

Result<PGresult*> Connection::next_result() {
  while (libpq_.is_busy(connection_) != 0) {
    REPRISE_TRY(wait(POLLIN));
    if (libpq_.consume_input(connection_) != 1) {
      break;  // the result has the error
    }
  }
  PGresult* const result = libpq_.get_result(connection_);
  if (result != nullptr) {
    if (const auto status = libpq_.result_status(result);
        status != PGRES_FATAL_ERROR && status != PGRES_NONFATAL_ERROR) {
      return result;
    }
    record_error(result);
    libpq_.clear(result);
    if (libpq_.status(connection_) != CONNECTION_BAD) {
      return next_result();
    }
  }
  if (libpq_.status(connection_) == CONNECTION_BAD) {
    return fail_connection(Code::io, error_ ? error_->message : libpq_.error_message(connection_));
  }
  return nullptr;
}

Result<> Connection::begin_collecting() {
  if (libpq_.pipeline_sync(connection_) != 1) {
    return fail_connection(Code::io, libpq_.error_message(connection_));
  }
  return flush();
}

Result<> Connection::collect(const Sent& sent, std::vector<Rows>& rows) {
  bool is_done = false;
  while (true) {
    REPRISE_ASSIGN(PGresult* const result, next_result());
    if (result == nullptr) {
      break;
    }
    Rows returned(libpq_, result);
    if (libpq_.result_status(result) != PGRES_PIPELINE_ABORTED) {
      is_done = true;
      if (!sent.is_preparation && !sent.is_silent) {
        rows.push_back(std::move(returned));
      }
    }
  }
  if (sent.is_preparation && !is_done) {
    prepared_.erase(sent.statement);
  }
  return {};
}

Result<> Connection::end_round_trip() {
  REPRISE_ASSIGN(PGresult* const sync, next_result());
  libpq_.clear(sync);
  end_count();
  if (error_) {
    return first_error();
  }
  if (not_replicated_) {
    failure_ = {.sqlstate = "01000", .may_be_stored = true};
    return fail(Code::io, "the server has stored it, but its standby has not confirmed it");
  }
  return {};
}

Result<> Connection::begin(const Query& query) {
  if (sent_.empty()) {
    failure_ = {};
    error_.reset();
    not_replicated_ = false;
  }
  REPRISE_TRY(send_tenant());
  REPRISE_TRY(send(query));
  return begin_collecting();
}

Result<Rows> Connection::fetch_rows() {
  std::vector<Rows> rows;
  for (bool is_silent = true; is_silent;) {
    REPRISE_ASSERT(!sent_.empty());  // begin() was called
    const Sent sent = sent_.front();
    is_silent = sent.is_preparation || sent.is_silent;
    REPRISE_TRY(collect(sent, rows));
    sent_.erase(sent_.begin());
  }
  REPRISE_TRY(end_round_trip());
  return std::move(rows.front());
}

Result<std::optional<Rows>> Connection::fetch_row() {
  while (!sent_.empty()) {
    const Sent sent = sent_.front();
    if (sent.is_preparation || sent.is_silent) {
      std::vector<Rows> none;
      REPRISE_TRY(collect(sent, none));
      sent_.erase(sent_.begin());
      continue;
    }
    // Fails after the first row has arrived, which is expected.
    libpq_.single_row_mode(connection_);
    REPRISE_ASSIGN(PGresult* const result, next_result());
    if (result == nullptr) {
      sent_.erase(sent_.begin());
      continue;
    }
    Rows row(libpq_, result);
    if (libpq_.result_status(result) == PGRES_SINGLE_TUPLE) {
      return row;
    }
  }
  REPRISE_TRY(end_round_trip());
  return std::nullopt;
}

// Keeps the first error: later ones follow from it.
void Connection::record_error(const PGresult* result) {
  if (error_) {
    return;
  }
  const char* const sqlstate = libpq_.error_field(result, PG_DIAG_SQLSTATE);
  const char* const message = libpq_.error_field(result, PG_DIAG_MESSAGE_PRIMARY);
  failure_.sqlstate = sqlstate == nullptr ? "" : sqlstate;
  const std::string_view text = message == nullptr ? libpq_.error_message(connection_) : message;
  error_ = server_error(failure_.sqlstate, text);
  // Not of row-level security, which has the same code.
  const char* const function = libpq_.error_field(result, PG_DIAG_SOURCE_FUNCTION);
  if (failure_.sqlstate == kNoPrivilege && function != nullptr &&
      std::string_view(function) == "aclcheck_error") {
    failure_.grant = missing_grant(text, libpq_.user(connection_));
  } else if (failure_.sqlstate == kNoSchema) {
    failure_.grant = cat("GRANT USAGE ON SCHEMA public TO \"", libpq_.user(connection_), "\"");
  }
}

std::unexpected<Error> Connection::first_error() {
  return std::unexpected(std::exchange(error_, std::nullopt).value_or(Error{}));
}

std::unexpected<Error> Connection::fail_connection(Code code, std::string_view message) {
  sent_.clear();
  end_count();
  failure_.is_lost = true;
  failure_.may_be_stored = true;
  return fail(code, one_line(message));
}

bool Connection::is_usable() const {
  return !failure_.is_lost && sent_.empty() && libpq_.status(connection_) == CONNECTION_OK;
}

bool Connection::is_idle() const {
  return is_usable() && libpq_.transaction_status(connection_) == PQTRANS_IDLE;
}

// A commit whose wait was cancelled "succeeds" with a warning. Its text depends on the server's
// language, but the name of the reporting function does not.
void Connection::on_warning(void* self, const PGresult* notice) {
  auto& connection = *static_cast<Connection*>(self);
  const char* const function = connection.libpq_.error_field(notice, PG_DIAG_SOURCE_FUNCTION);
  if (function != nullptr && std::string_view(function) == "SyncRepWaitForLSN") {
    connection.not_replicated_ = true;
  }
}

}  // namespace reprise::postgres

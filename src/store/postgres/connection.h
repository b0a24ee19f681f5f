#pragma once

// One connection to a server. Wraps libpq's pipeline mode with results and deadlines: no call waits
// beyond its deadline, unless bytes are still being transferred. One thread at a time.

#include <libpq-fe.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <unordered_set>
#include <vector>

#include "reprise/error.h"
#include "store/postgres/libpq_library.h"
#include "store/postgres/url.h"
#include "store/postgres/values.h"

namespace reprise::postgres {

using Deadline = std::chrono::steady_clock::time_point;

// A statement with the values of its parameters.
struct Query {
  std::string_view text;
  Values values = {};
  std::size_t hash = 0;  // of the text; 0 if it was not computed yet
};

// The details of the last error.
struct Failure {
  std::string sqlstate = {};   // "" if it is not from the server
  std::string grant = {};      // the statement that grants the missing right; "" if unknown
  bool is_lost = false;        // the connection is unusable
  bool may_be_stored = false;  // a commit was sent, and its outcome is unknown
};

enum class Prepare : std::uint8_t {
  named,    // prepared once per connection
  unnamed,  // prepared each time: behind a pooler, the server connection may change
};

class Connection {
 public:
  // unauthorized for a rejected user or password, not_found for a missing database, timeout, io.
  static Result<std::unique_ptr<Connection>> open(const Parameters& parameters, Deadline deadline);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // For all subsequent calls. While bytes of a large request or result arrive, the deadline is
  // extended by the same time again, for at most ten minutes.
  void set_deadline(Deadline deadline);
  void set_prepare(Prepare prepare) { prepare_ = prepare; }
  // The tenant of all subsequent transactions, which is first sent to the server for its policies;
  // "" sends nothing.
  void set_tenant(std::string_view tenant) { tenant_ = tenant; }

  // Runs all queries in one round trip and, unless they begin one themselves, in one transaction.
  // The first error ends it; see failure().
  Result<std::vector<Rows>> run(std::span<const Query> queries);
  Result<std::vector<Rows>> run(std::initializer_list<Query> queries) {
    return run(std::span(queries.begin(), queries.size()));
  }
  Result<Rows> run_one(const Query& query);
  // The same without rows.
  Result<> execute(std::span<const Query> queries);
  Result<> execute(std::initializer_list<Query> queries) {
    return execute(std::span(queries.begin(), queries.size()));
  }

  // Sends a statement in a round trip of its own without waiting for it. Several may be in
  // progress; their results are taken in order, and until then no other statement may run on this
  // connection.
  Result<> begin(const Query& query);
  Result<Rows> fetch_rows();  // all rows of one statement
  // Or row by row, so that only one is in memory; nullopt after the last one.
  Result<std::optional<Rows>> fetch_row();

  bool is_usable() const;  // neither broken nor with pending rows
  bool is_idle() const;    // usable, and not in a transaction
  const Failure& failure() const { return failure_; }

 private:
  // A sent message whose response is pending; in the order of sending.
  struct Sent {
    std::size_t statement;  // a hash of its text
    bool is_preparation;
    bool is_silent = false;  // its rows are discarded
  };

  Connection(const LibpqLibrary& libpq, PGconn* connection)
      : libpq_(libpq), connection_(connection) {}
  Result<> finish_connecting(Deadline deadline);
  Result<> send(const Query& query);
  Result<> send_tenant();
  Result<> send_all(std::span<const Query> queries);
  Result<> flush();
  Result<short> wait(short events);
  std::uint64_t count_transferred() const;
  bool extend_deadline();
  Result<PGresult*> next_result();
  Result<> begin_collecting();
  Result<> collect(const Sent& sent, std::vector<Rows>& rows);
  Result<> end_round_trip();
  void record_error(const PGresult* result);
  void count(std::string_view text);
  void end_count();
  std::unexpected<Error> fail_connection(Code code, std::string_view message);
  std::unexpected<Error> first_error();
  static void on_warning(void* self, const PGresult* notice);

  const LibpqLibrary& libpq_;
  PGconn* const connection_;
  Deadline deadline_ = {};
  std::chrono::steady_clock::duration timeout_{0};  // until the deadline, when it was set
  Deadline transfer_end_ = {};                      // the deadline is not extended beyond it
  std::uint64_t transferred_ = 0;                   // at the last deadline or request
  Prepare prepare_ = Prepare::named;
  std::string tenant_;
  std::unordered_set<std::size_t> prepared_;  // or being prepared
  std::vector<Sent> sent_;
  std::optional<Error> error_;  // the first error of the statements in progress
  bool not_replicated_ = false;
  // Statistics of the current round trip.
  std::string part_;  // its first statement
  std::chrono::steady_clock::duration waited_{0};
  Failure failure_;
};

}  // namespace reprise::postgres

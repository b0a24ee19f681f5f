#pragma once

// One connection to a server, with libpq's pipeline behind results and deadlines: nothing waits
// longer than its deadline. One thread at a time.

#include <libpq-fe.h>

#include <chrono>
#include <cstddef>
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
  std::size_t hash = 0;  // of the text; 0 when nobody has taken it yet
};

// What stands behind the last error.
struct Failure {
  std::string sqlstate = {};   // "" when it did not come from the server
  bool is_lost = false;        // the connection is of no more use
  bool may_be_stored = false;  // a commit was under way and its outcome is not known
};

enum class Prepare : std::uint8_t {
  named,    // once for each connection
  unnamed,  // each time: behind a pooler, a connection is not always the same server's
};

class Connection {
 public:
  // unauthorized for a refused user or password, not_found for a missing database, timeout, io.
  static Result<std::unique_ptr<Connection>> open(const Parameters& parameters, Deadline deadline);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // For all that follows.
  void set_deadline(Deadline deadline) { deadline_ = deadline; }
  void set_prepare(Prepare prepare) { prepare_ = prepare; }
  // Whom each transaction serves from now on, which it tells the server's policies first; "" for
  // nothing.
  void set_tenant(std::string_view tenant) { tenant_ = tenant; }

  // All of them in one round trip and, when they do not begin one themselves, in one transaction.
  // The first error ends it; see failure().
  Result<std::vector<Rows>> run(std::span<const Query> queries);
  Result<std::vector<Rows>> run(std::initializer_list<Query> queries) {
    return run(std::span(queries.begin(), queries.size()));
  }
  Result<Rows> run_one(const Query& query);

  // A statement in a round trip of its own, which nobody waits for yet. Several may be under way;
  // what they return is taken in their order, and until then nothing else may run here.
  Result<> begin(const Query& query);
  Result<Rows> take();  // all rows of one
  // Or one by one as they come, so that memory holds only one; nullopt after the last one.
  Result<std::optional<Rows>> take_row();

  bool is_usable() const;  // neither broken nor with rows that nobody took
  bool is_idle() const;    // usable, and not in a transaction
  const Failure& failure() const { return failure_; }

 private:
  // What was sent and has to be answered, in this order.
  struct Sent {
    std::size_t statement;  // a hash of its text
    bool is_preparation;
    bool is_silent = false;  // nobody is given its rows
  };

  Connection(const LibpqLibrary& libpq, PGconn* connection)
      : libpq_(libpq), connection_(connection) {}
  Result<> finish_connecting(Deadline deadline);
  Result<> send(const Query& query);
  Result<> send_tenant();
  Result<> send_all(std::span<const Query> queries);
  Result<> flush();
  Result<short> wait(short events);
  Result<PGresult*> next_result();
  Result<> begin_collecting();
  Result<> collect(const Sent& sent, std::vector<Rows>& rows);
  Result<> end_round_trip();
  void refuse(const PGresult* result);
  void count(std::string_view text);
  void end_count();
  std::unexpected<Error> lose(Code code, std::string_view what);
  std::unexpected<Error> refused();
  static void on_notice(void* self, const PGresult* notice);

  const LibpqLibrary& libpq_;
  PGconn* const connection_;
  Deadline deadline_ = {};
  Prepare prepare_ = Prepare::named;
  std::string tenant_;
  std::unordered_set<std::size_t> prepared_;  // or about to be
  std::vector<Sent> sent_;
  std::optional<Error> error_;  // the first of the statements under way
  bool not_replicated_ = false;
  // For statistics, of the round trip under way.
  std::string part_;  // its first statement
  std::chrono::steady_clock::duration waited_{0};
  Failure failure_;
};

}  // namespace reprise::postgres

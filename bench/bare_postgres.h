#pragma once

// The minimum cost of the same work on a PostgreSQL server: libpq and plain tables.

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>

struct pg_conn;

namespace bench {

// A connection with prepared statements. Ends the program on an error of the server.
class BarePostgres {
 public:
  explicit BarePostgres(const std::string& url);

  // Runs statements without results.
  void run(const std::string& sql);
  // The first row and column of the result of a statement.
  std::string text(const std::string& sql);
  std::int64_t number(const std::string& sql);
  // Creates the tables. Called once, before the functions below.
  void make_tables();
  // One round trip through the pipeline: a prepared INSERT, and the commit.
  void append(const std::string& session, std::int64_t seq, const std::string& content);
  // Reads the newest `limit` rows of a tenant; returns their number.
  int list(const std::string& tenant, int limit);
  // Copies a session's messages in order, with COPY; returns the number of bytes.
  std::size_t copy(const std::string& session);

 private:
  struct Finish {
    void operator()(pg_conn* connection) const;
  };
  void prepare(const char* name, const char* sql);
  int round_trip(const char* name, std::initializer_list<const char*> values);

  std::unique_ptr<pg_conn, Finish> connection_;
};

}  // namespace bench

#pragma once

// The least that the same work costs on a PostgreSQL server: libpq and plain tables.

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>

struct pg_conn;

namespace bench {

// One connection, which keeps its statements prepared. Ends the program with the server's error.
class BarePostgres {
 public:
  explicit BarePostgres(const std::string& url);

  // Statements without results.
  void run(const std::string& sql);
  // What a statement returns in its first row and column.
  std::string text(const std::string& sql);
  std::int64_t number(const std::string& sql);
  // Once, before the two below; makes the tables.
  void make_tables();
  // One round trip through the pipeline: a prepared INSERT, and the commit.
  void append(const std::string& session, std::int64_t seq, const std::string& content);
  // The newest `limit` rows of a tenant; how many came.
  int list(const std::string& tenant, int limit);
  // COPY of a session's messages, in order; how many bytes came.
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

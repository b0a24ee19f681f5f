#include "bare_postgres.h"

#include <libpq-fe.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>

#include "measure.h"

namespace bench {
namespace {

constexpr const char* kTables =
    "CREATE TABLE IF NOT EXISTS bare_messages(session_id text COLLATE \"C\" NOT NULL, seq int8 NOT "
    "NULL, created_us int8 NOT NULL, role text NOT NULL, content bytea NOT NULL,"
    " PRIMARY KEY(session_id, seq));"
    "CREATE TABLE IF NOT EXISTS bare_sessions(tenant text COLLATE \"C\" NOT NULL, session_id text"
    " COLLATE \"C\" NOT NULL, updated_us int8 NOT NULL, created_us int8 NOT NULL, title bytea NOT"
    " NULL, model bytea NOT NULL, folder bytea NOT NULL, head int8 NOT NULL,"
    " PRIMARY KEY(tenant, session_id));"
    "CREATE INDEX IF NOT EXISTS bare_by_activity ON bare_sessions(tenant, updated_us DESC,"
    " session_id DESC)";
constexpr const char* kInsert =
    "INSERT INTO bare_messages VALUES($1::text, $2::int8, 1, 'user', $3::bytea)";
constexpr const char* kList =
    "SELECT session_id, updated_us, created_us, title, model, folder, head FROM bare_sessions"
    " WHERE tenant = $1::text ORDER BY updated_us DESC, session_id DESC LIMIT $2::int8";

using ResultPtr = std::unique_ptr<PGresult, decltype(&PQclear)>;

}  // namespace

void BarePostgres::Finish::operator()(pg_conn* connection) const {
  PQfinish(connection);
}

BarePostgres::BarePostgres(const std::string& url) : connection_(PQconnectdb(url.c_str())) {
  require(PQstatus(connection_.get()) == CONNECTION_OK, PQerrorMessage(connection_.get()));
}

void BarePostgres::run(const std::string& sql) {
  const ResultPtr result(PQexec(connection_.get(), sql.c_str()), PQclear);
  const ExecStatusType status = PQresultStatus(result.get());
  require(status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK,
          PQerrorMessage(connection_.get()));
}

void BarePostgres::make_tables() {
  run("SET client_min_messages = warning");
  run(kTables);
  prepare("insert", kInsert);
  prepare("list", kList);
}

void BarePostgres::prepare(const char* name, const char* sql) {
  const ResultPtr result(PQprepare(connection_.get(), name, sql, 0, nullptr), PQclear);
  require(PQresultStatus(result.get()) == PGRES_COMMAND_OK, PQerrorMessage(connection_.get()));
}

std::string BarePostgres::text(const std::string& sql) {
  const ResultPtr result(PQexec(connection_.get(), sql.c_str()), PQclear);
  require(PQresultStatus(result.get()) == PGRES_TUPLES_OK && PQntuples(result.get()) == 1,
          PQerrorMessage(connection_.get()));
  return PQgetvalue(result.get(), 0, 0);
}

std::int64_t BarePostgres::number(const std::string& sql) {
  return std::strtoll(text(sql).c_str(), nullptr, 10);
}

// Returns the number of rows.
int BarePostgres::round_trip(const char* name, std::initializer_list<const char*> values) {
  PGconn* const connection = connection_.get();
  require(PQenterPipelineMode(connection) == 1, "no pipeline");
  require(PQsendQueryPrepared(connection, name, static_cast<int>(values.size()), values.begin(),
                              nullptr, nullptr, 1) == 1 &&
              PQpipelineSync(connection) == 1,
          PQerrorMessage(connection));
  const ResultPtr result(PQgetResult(connection), PQclear);
  const ExecStatusType status = PQresultStatus(result.get());
  require(status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK, PQerrorMessage(connection));
  require(PQgetResult(connection) == nullptr, "one statement has one result");
  const ResultPtr sync(PQgetResult(connection), PQclear);
  require(PQresultStatus(sync.get()) == PGRES_PIPELINE_SYNC, PQerrorMessage(connection));
  require(PQexitPipelineMode(connection) == 1, PQerrorMessage(connection));
  return PQntuples(result.get());
}

void BarePostgres::append(const std::string& session, std::int64_t seq,
                          const std::string& content) {
  round_trip("insert", {session.c_str(), std::to_string(seq).c_str(), content.c_str()});
}

int BarePostgres::list(const std::string& tenant, int limit) {
  return round_trip("list", {tenant.c_str(), std::to_string(limit).c_str()});
}

std::size_t BarePostgres::copy(const std::string& session) {
  PGconn* const connection = connection_.get();
  const std::string sql =
      "COPY (SELECT seq, created_us, more, role, content, detail FROM reprise_messages"
      " WHERE tenant = 'default' AND session_id = '" +
      session + "' ORDER BY seq) TO STDOUT (FORMAT binary)";
  const ResultPtr transaction(PQexec(connection, sql.c_str()), PQclear);
  require(PQresultStatus(transaction.get()) == PGRES_COPY_OUT, PQerrorMessage(connection));
  std::size_t bytes = 0;
  char* row = nullptr;
  int length = 0;
  while ((length = PQgetCopyData(connection, &row, 0)) > 0) {
    bytes += static_cast<std::size_t>(length);
    PQfreemem(row);
  }
  const ResultPtr ended(PQgetResult(connection), PQclear);
  require(PQresultStatus(ended.get()) == PGRES_COMMAND_OK, PQerrorMessage(connection));
  require(PQgetResult(connection) == nullptr, "a copy has one end");
  return bytes;
}

}  // namespace bench

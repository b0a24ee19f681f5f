#include "postgres/server_support.h"

#include <cstddef>
#include <memory>

#include "base/text.h"
#include "reprise/environment.h"
#include "store/postgres/connection.h"
#include "store/postgres/url.h"
#include "store/postgres/values.h"
#include "support/must.h"
#include "support/postgres_server.h"

namespace reprise::test {
std::unique_ptr<postgres::Connection> connect(std::string_view url) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  const auto place = must(postgres::parse_url(url));
  auto connection = must(postgres::Connection::open(place.servers.front(), deadline));
  connection->set_deadline(deadline);
  connection->set_prepare(postgres::Prepare::unnamed);
  return connection;
}

std::string new_tenant() {
  return make_session_id(system_clock(), system_entropy()).str();
}

void run(std::string_view url, std::string_view sql) {
  must(connect(url)->run_one({sql}));
}

void distribute(std::string_view url) {
  run(url,
      "CREATE TABLE pg_dist_partition AS"
      " SELECT to_regclass('reprise_heads') AS logicalrelid, 1 AS colocationid");
  run(url, "CREATE TABLE pg_dist_object(classid oid, objid oid, colocationid int)");
  run(url,
      "CREATE FUNCTION create_distributed_function(f regprocedure, text, colocate_with text)"
      " RETURNS void LANGUAGE sql AS 'INSERT INTO pg_dist_object SELECT ''pg_proc''::regclass, f,"
      " colocationid FROM pg_dist_partition'");
}

std::string query(std::string_view url, std::string_view sql) {
  const auto connection = connect(url);
  const std::string statement = cat("WITH x(value) AS (", sql, ") SELECT value::text FROM x");
  const postgres::Rows rows = must(connection->run_one({statement}));
  return rows.empty() ? "" : rows.text(0, "value");
}

std::vector<std::string> plans(std::string_view url, const std::vector<std::string>& statements) {
  const auto connection = connect(url);
  std::vector<std::string> all;
  for (const std::string& statement : statements) {
    const std::string explain = cat("EXPLAIN (COSTS OFF, FORMAT JSON) ", statement);
    all.push_back(must(connection->run_one({explain})).text(0, "query plan"));
  }
  return all;
}

Holder::Holder(std::string_view url, std::string_view sql) : connection_(connect(url)) {
  must(connection_->run({{"BEGIN"}, {sql}}));
}
Holder::~Holder() = default;

std::string new_database() {
  std::string name = cat("d", new_tenant());
  std::erase(name, '-');
  const std::string shared = postgres_url("default");
  run(shared, cat("CREATE DATABASE ", name, " STRATEGY FILE_COPY"));
  const std::size_t slash = shared.rfind('/');
  return cat(shared.substr(0, slash + 1), name, "?tenant=default");
}

}  // namespace reprise::test

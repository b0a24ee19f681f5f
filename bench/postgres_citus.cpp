// The PostgreSQL store on Citus, with its tables distributed by tenant, compared with plain tables
// that are distributed in the same way on the same cluster.

#include "bare_postgres.h"
#include "measure.h"
#include "messages.h"
#include "postgres_rows.h"

namespace bench {
namespace {

constexpr int kSessions = 1000;
constexpr const char* kTenant = "listed";

void make_bare_tables(BarePostgres& bare) {
  bare.make_tables();
  bare.run(
      "CREATE TABLE bare_appends(tenant text COLLATE \"C\", session_id text COLLATE \"C\", seq "
      "int8,"
      " created_us int8 NOT NULL, role text NOT NULL, content bytea NOT NULL,"
      " PRIMARY KEY(tenant, session_id, seq))");
  for (const std::string table : {"bare_appends", "bare_sessions"}) {
    bare.run("SELECT create_distributed_table('" + table +
             "', 'tenant', colocate_with => 'reprise_heads')");
  }
}

// A second apart, as in the rows for a plain server.
void add_sessions(BarePostgres& bare) {
  const std::string times = " FROM generate_series(0, " + std::to_string(kSessions - 1) + ") AS i";
  bare.run(
      "INSERT INTO reprise_sessions(tenant, session_id, title, title_lower, mode, provider, model,"
      " working_dir, created_us) SELECT 'listed', 's' || i, 'A session', 'a session', 'code',"
      " 'echo', 'echo', '/home', i" +
      times);
  bare.run(
      "INSERT INTO reprise_heads(tenant, session_id, head, branch, updated_us, updated_slot, state,"
      " folder) SELECT 'listed', 's' || i, 20, 0, i::int8 * 1000000, i::int8 * 1000000 >> 26, 0,"
      " '/home'" +
      times);
  bare.run(
      "INSERT INTO bare_sessions SELECT 'listed', 's' || i, i, i, 'A session', 'echo',"
      " '/home', 20" +
      times);
  for (const std::string table : {"reprise_sessions", "reprise_heads", "bare_sessions"}) {
    bare.run("VACUUM ANALYZE " + table);
  }
}

void appends(const Server& server, const Scale& scale, const std::filesystem::path& folder) {
  const std::string url = server.database("bench");
  const std::string statement =
      "INSERT INTO bare_appends VALUES('t0', 's' || :client_id || '-' || :round, :seq, 1, 'user',"
      " :text::bytea)";
  const auto script = write_script(folder / "citus.sql", statement);
  const std::vector<Client> one = clients_of(url, 1);
  const std::vector<Client> all = clients_of(url, kClients);
  Samples of_one;
  Samples of_all;
  Samples bare;
  for (int round = 0; round < scale.rounds; ++round) {
    bare.add(run_pgbench(server,
                         "-t " + std::to_string(scale.clients_appends) +
                             " -D seq=0 -D round=" + std::to_string(round) +
                             " -D text=" + plain_text() + " -f " + script.string(),
                         url));
    of_one.add(append_by_all(one, scale.clients_appends));
    of_all.add(append_by_all(all, scale.clients_appends));
  }
  print(row_of("citus", "append by 16 clients, pgbench with an INSERT", of_one, bare, "per s",
               at_least(0.7)));
  print(row_of("citus", "16 tenants, compared with one", of_all, of_one, "per s", at_least(4)));
}

void lists(const Server& server, const Scale& scale, BarePostgres& bare) {
  add_sessions(bare);
  const auto store = open(server.database("bench"), kTenant);
  Samples ours;
  Samples limit;
  for (int i = 0; i < scale.rounds * scale.appends; ++i) {
    limit.add(time_us([&] { require(bare.list(kTenant, kPage) == kPage, "a page is short"); }));
    ours.add(time_us([&] {
      require(must(store->list({.limit = kPage})).sessions.size() == kPage, "a page is short");
    }));
  }
  print(row_of("citus", "newest 20, beside a bare SELECT", ours, limit, "us", at_most(1.5)));
}

}  // namespace

void citus(const Server& server, const Scale& scale, const std::filesystem::path& folder) {
  BarePostgres bare(server.database("bench"));
  make_bare_tables(bare);
  appends(server, scale, folder);
  lists(server, scale, bare);
}

}  // namespace bench

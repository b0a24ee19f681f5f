// The cost of the PostgreSQL store compared with libpq, pgbench and plain tables on the same
// server.
//
// usage: postgres_bench FOLDER URL_OF_SERVER PGBENCH [--smoke|--full] [--row
// append|clients|read|tenants|streams|commands|list|partitions|citus]
//
// The row citus runs only if it is named. It needs a database `bench` on a Citus coordinator, with
// the store's tables distributed by tenant (bench/run citus).

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>

#include "bare_postgres.h"
#include "grown_store.h"
#include "measure.h"
#include "messages.h"
#include "postgres_rows.h"
#include "reprise/capabilities.h"
#include "reprise/store.h"
#include "store/postgres/statements.h"

namespace bench {
namespace {

namespace fs = std::filesystem;
using reprise::Message;

void one_client(const Server& server, const Scale& scale) {
  const std::string url = make_database(server, "appends");
  const auto store = open(url, "default");
  const reprise::SessionId id = add_session(*store);
  BarePostgres bare(url);
  bare.make_tables();
  const std::string text = plain_text();
  Samples ours;
  Samples limit;
  for (std::int64_t seq = 0; seq < std::int64_t{scale.rounds} * scale.appends; ++seq) {
    limit.add(time_us([&] { bare.append("s", seq, text); }));
    ours.add(time_us([&] { append(*store, id); }));
  }
  print(row_of("pg", "append, 500 bytes, beside a bare INSERT", ours, limit, "us", at_most(1.3)));
}

// The store's own statement for an append, for pgbench: the varying values are composed of its
// variables, all others are constant.
std::string own_append() {
  const std::string_view values[] = {
      "'default'", "('own-' || :client_id)",
      "NULL",      "1",
      "1",         "(('operation:' || :client_id || '-' || :round || '-' || :seq)::bytea)",
      "0",         "'user'",
      ":text",     "NULL"};
  std::string sql = reprise::postgres::append_statement({.single = true}).text;
  for (std::size_t number = std::size(values); number > 0; --number) {
    const std::string name = "$" + std::to_string(number);
    for (std::size_t at = sql.find(name); at != std::string::npos; at = sql.find(name, at)) {
      sql.replace(at, name.size(), values[number - 1]);
    }
  }
  return sql;
}

void many_clients(const Server& server, const Scale& scale, const fs::path& folder) {
  const std::string url = make_database(server, "clients");
  BarePostgres(url).make_tables();
  const fs::path bare_script =
      write_script(folder / "insert.sql",
                   "INSERT INTO bare_messages VALUES('s' || :client_id || '-' || :round, :seq, 1,"
                   " 'user', :text::bytea)");
  const fs::path own_script = write_script(folder / "own.sql", own_append());
  const std::vector<Client> clients = clients_of(url, 1);
  BarePostgres(url).run(
      "INSERT INTO reprise_heads(tenant, session_id, head, branch, updated_us,"
      " updated_slot, state, folder) SELECT 'default', 'own-' || i, 0, 0, 0, 0, 0, '/' FROM "
      "generate_series(0, 15) AS i");
  const auto pgbench = [&](int round, const fs::path& script) {
    return run_pgbench(server,
                       "-t " + std::to_string(scale.clients_appends) +
                           " -D seq=0 -D round=" + std::to_string(round) +
                           " -D text=" + plain_text() + " -f " + script.string(),
                       url);
  };
  Samples ours;
  Samples bare;
  Samples own;
  for (int round = 0; round < scale.rounds; ++round) {
    bare.add(pgbench(round, bare_script));
    own.add(pgbench(round, own_script));
    ours.add(append_by_all(clients, scale.clients_appends));
  }
  print(row_of("pg", "append by 16 clients, pgbench with its statement", ours, own, "per s",
               at_least(0.8)));
  print(row_of("pg", "append by 16 clients, pgbench with an INSERT", ours, bare, "per s",
               at_least(0.8)));
}

void reading(const Server& server, const Scale& scale) {
  const std::string url = make_database(server, "reading");
  const auto store = open(url, "default");
  const reprise::SessionId id = add_session(*store);
  must(store->append(id, std::vector<Message>(10'000, message_of("user", 200)), {}));
  BarePostgres bare(url);
  bare.run("VACUUM ANALYZE");
  Samples ours;
  Samples limit;
  for (int round = 0; round < scale.rounds * 3; ++round) {
    limit.add(time_us([&] { require(bare.copy(id.str()) > 2'000'000, "lost rows"); }) / 1000);
    ours.add(time_us([&] {
               std::int64_t count = 0;
               must(store->read(id, {}, [&count](Message&&) {
                 ++count;
                 return reprise::Flow::proceed;
               }));
               require(count == 10'000, "lost messages");
             }) /
             1000);
  }
  print(row_of("pg", "read 10,000 messages, beside COPY", ours, limit, "ms", at_most(1.3)));
}

void tenants(const Server& server, const Scale& scale) {
  const auto store = open(make_database(server, "tenants"), "default");
  Samples ours;
  for (int i = 0; i < scale.rounds * scale.appends; ++i) {
    ours.add(time_us([&] { must(store->capabilities().tenants->of("t" + std::to_string(i))); }));
  }
  print_absolute("pg", "open the sessions of another tenant", ours.median(), "us", at_most(100));
}

}  // namespace

std::string plain_text() {
  return std::string(500, 'x');
}

double run_pgbench(const Server& server, const std::string& options, const std::string& url) {
  const std::string command = server.pgbench + " -n -M prepared -j 2 -c " +
                              std::to_string(kClients) + " " + options + " '" + url + "' 2>&1";
  // NOLINTNEXTLINE(cert-env33-c): words of our own.
  FILE* const output = ::popen(command.c_str(), "r");
  require(output != nullptr, "pgbench does not start");
  std::array<char, 4096> line{};
  std::string printed;
  double tps = 0;
  while (std::fgets(line.data(), line.size(), output) != nullptr) {
    printed += line.data();
    // NOLINTNEXTLINE(cert-err34-c): a line that is another one is no number.
    (void)std::sscanf(line.data(), "tps = %lf", &tps);
  }
  ::pclose(output);
  require(tps > 0, printed);
  return tps;
}

fs::path write_script(const fs::path& file, const std::string& statement) {
  std::ofstream(file) << "\\set seq :seq + 1\n" << statement << ";\n";
  return file;
}

std::vector<Client> clients_of(const std::string& url, int tenants) {
  std::vector<Client> clients;
  for (int i = 0; i < kClients; ++i) {
    std::unique_ptr<reprise::Store> store = open(url, "t" + std::to_string(i % tenants));
    const reprise::SessionId session = add_session(*store);
    clients.push_back({std::move(store), session});
  }
  return clients;
}

double append_by_all(const std::vector<Client>& clients, int appends) {
  const double elapsed = time_us([&] {
    std::vector<std::jthread> threads;
    threads.reserve(clients.size());
    for (const Client& client : clients) {
      threads.emplace_back([&client, appends] {
        for (int i = 0; i < appends; ++i) {
          append(*client.store, client.session);
        }
      });
    }
  });
  return 1e6 * static_cast<double>(clients.size()) * appends / elapsed;
}

namespace {

int run(const std::vector<std::string>& words) {
  require(words.size() >= 4, "usage: see the head of postgres_bench.cpp");
  Scale scale;
  if (std::ranges::count(words, "--smoke") > 0) {
    scale = {.rounds = 2, .appends = 5, .clients_appends = 5, .sessions = 20'000};
  } else if (std::ranges::count(words, "--full") > 0) {
    scale.sessions = 1'000'000;
  }
  const Server server{words[2] + "/", words[3]};
  const auto is_selected = [&](std::string_view row) {
    const auto at = std::ranges::find(words, "--row");
    return at == words.end() || (at + 1 != words.end() && *(at + 1) == row);
  };
  if (is_selected("append")) {
    one_client(server, scale);
  }
  if (is_selected("clients")) {
    many_clients(server, scale, words[1]);
  }
  if (is_selected("read")) {
    reading(server, scale);
  }
  if (is_selected("tenants")) {
    tenants(server, scale);
  }
  if (is_selected("streams")) {
    streams(server, scale);
  }
  if (is_selected("commands")) {
    commands(server, scale);
  }
  if (is_selected("list")) {
    lists_and_growth(server, scale);
  }
  if (is_selected("partitions")) {
    partitions(server, scale);
  }
  if (std::ranges::count(words, "citus") > 0) {
    citus(server, scale, words[1]);
  }
  return 0;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  return bench::run({argv, argv + argc});
}

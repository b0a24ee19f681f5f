// What the PostgreSQL store costs beside libpq, pgbench and plain tables on the same server.
//
// usage: postgres_bench FOLDER URL_OF_SERVER PGBENCH [--smoke|--full] [--row NAME]

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "bare_postgres.h"
#include "grown_store.h"
#include "measure.h"
#include "messages.h"
#include "reprise/message.h"
#include "reprise/open_store.h"
#include "reprise/store.h"
#include "reprise/types.h"

namespace bench {
namespace {

namespace fs = std::filesystem;
using reprise::Message;

constexpr int kClients = 16;
constexpr int kPage = 20;

struct Scale {
  int rounds = 9;
  int appends = 100;          // a round
  int clients_appends = 200;  // a round and client
  std::int64_t sessions = 100'000;
};

struct Server {
  std::string url;      // up to the database's name
  std::string pgbench;  // the program
  std::string database(const std::string& name) const { return url + name; }
};

std::unique_ptr<reprise::Store> open(const std::string& url, const std::string& tenant) {
  return must(
      reprise::open_store(url + "?tenant=" + tenant, {.busy_timeout = std::chrono::minutes(1)}));
}

void append(reprise::Store& store, const reprise::SessionId& id) {
  must(store.append(id, {message_of("user", 500)}, {}));
}

std::string make_database(const Server& server, const std::string& name) {
  BarePostgres(server.database("postgres")).run("CREATE DATABASE " + name);
  return server.database(name);
}

// Which means the same to a shell, to pgbench and to the server.
std::string plain_text() {
  return std::string(500, 'x');
}

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

// The transactions a second that pgbench says it has done; `options` are those of its script.
double run_pgbench(const Server& server, const std::string& options, const std::string& url) {
  const std::string command = server.pgbench + " -n -M prepared -j 2 -c " +
                              std::to_string(kClients) + " " + options + " '" + url + "' 2>&1";
  // NOLINTNEXTLINE(cert-env33-c): words of our own.
  FILE* const output = ::popen(command.c_str(), "r");
  require(output != nullptr, "pgbench does not start");
  std::array<char, 4096> line{};
  std::string said;
  double tps = 0;
  while (std::fgets(line.data(), line.size(), output) != nullptr) {
    said += line.data();
    // NOLINTNEXTLINE(cert-err34-c): a line that is another one is no number.
    (void)std::sscanf(line.data(), "tps = %lf", &tps);
  }
  ::pclose(output);
  require(tps > 0, said);
  return tps;
}

void many_clients(const Server& server, const Scale& scale, const fs::path& folder) {
  const std::string url = make_database(server, "clients");
  BarePostgres(url).make_tables();
  const fs::path script = folder / "insert.sql";
  std::ofstream(script) << "\\set seq :seq + 1\n"
                           "INSERT INTO bare_messages VALUES('s' || :client_id || '-' || :round,"
                           " :seq, 1, 'user', :text::bytea);\n";
  std::vector<std::unique_ptr<reprise::Store>> stores;
  std::vector<reprise::SessionId> ids;
  for (int client = 0; client < kClients; ++client) {
    stores.push_back(open(url, "default"));
    ids.push_back(add_session(*stores.back()));
  }
  const auto append_many = [&](std::size_t client) {
    for (int i = 0; i < scale.clients_appends; ++i) {
      append(*stores[client], ids[client]);
    }
  };
  Samples ours;
  Samples limit;
  for (int round = 0; round < scale.rounds; ++round) {
    limit.add(run_pgbench(server,
                          "-t " + std::to_string(scale.clients_appends) +
                              " -D seq=0 -D round=" + std::to_string(round) +
                              " -D text=" + plain_text() + " -f " + script.string(),
                          url));
    const double all = time_us([&] {
      std::vector<std::jthread> threads;
      threads.reserve(kClients);
      for (std::size_t client = 0; client < kClients; ++client) {
        threads.emplace_back([&append_many, client] { append_many(client); });
      }
    });
    ours.add(1e6 * kClients * scale.clients_appends / all);
  }
  print(row_of("pg", "append by 16 clients, beside pgbench", ours, limit, "per s", at_least(0.8)));
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
                 return reprise::Flow::go_on;
               }));
               require(count == 10'000, "lost messages");
             }) /
             1000);
  }
  print(row_of("pg", "read 10,000 messages, beside COPY", ours, limit, "ms", at_most(1.3)));
}

// How much there is in a database.
struct Size {
  std::int64_t sessions;
  std::int64_t tenants;
  std::int64_t messages;
};

std::string grow(const Server& server, const std::string& name, const Size& size) {
  const std::string url = make_database(server, name);
  open(url, "t0");
  BarePostgres bare(url);
  bare.make_tables();
  const std::string sessions =
      " FROM generate_series(0, " + std::to_string(size.sessions - 1) + ") AS i";
  const std::string key = "'t' || i % " + std::to_string(size.tenants) + ", 's' || i";
  const std::string head = std::to_string(size.messages / size.sessions);
  bare.run(
      "INSERT INTO reprise_sessions(tenant, session_id, title, title_lower, mode, provider, model,"
      " working_dir, created_us) SELECT " +
      key + ", 'A session', 'a session', 'code', 'echo', 'echo', '/home', i" + sessions);
  bare.run(
      "INSERT INTO reprise_heads(tenant, session_id, head, branch, updated_us, state, folder)"
      " SELECT " +
      key + ", " + head + ", 0, i, 0, '/home'" + sessions);
  bare.run("INSERT INTO bare_sessions SELECT " + key + ", i, i, 'A session', 'echo', '/home', " +
           head + sessions);
  bare.run(
      "INSERT INTO reprise_messages(tenant, session_id, branch, seq, created_us, more, role,"
      " content) SELECT " +
      key + R"(, 0, seq, i, 0, 'user', '[{"type":"text","text":"Hello"}]')" + sessions +
      ", generate_series(0, " + head + " - 1) AS seq");
  bare.run("VACUUM ANALYZE");
  bare.run("CHECKPOINT");
  return url;
}

// The first ten tenants in turn, each with connections of its own.
class Tenants {
 public:
  explicit Tenants(const std::string& url) {
    for (int tenant = 0; tenant < 10; ++tenant) {
      names_.push_back("t" + std::to_string(tenant));
      stores_.push_back(open(url, names_.back()));
      bare_.push_back(std::make_unique<BarePostgres>(url));
      bare_.back()->make_tables();
    }
  }
  void list(int turn) const {
    require(must(store(turn).list({.limit = kPage})).sessions.size() == kPage, "a page is short");
  }
  void append_one(int turn) const {
    append(store(turn), must(reprise::SessionId::parse("s" + std::to_string(turn % 10))));
  }
  void list_bare(int turn) const {
    const std::size_t tenant = static_cast<std::size_t>(turn) % 10;
    require(bare_[tenant]->list(names_[tenant], kPage) == kPage, "a page is short");
  }

 private:
  reprise::Store& store(int turn) const { return *stores_[static_cast<std::size_t>(turn) % 10]; }

  std::vector<std::string> names_;
  std::vector<std::unique_ptr<reprise::Store>> stores_;
  std::vector<std::unique_ptr<BarePostgres>> bare_;
};

void lists_and_growth(const Server& server, const Scale& scale) {
  const Size few = {1000, 10, 20'000};
  const Size many = {scale.sessions, 1000, scale.sessions * 20};
  const Tenants small(grow(server, "few", few));
  const Tenants large(grow(server, "many", many));
  Samples lists_small;
  Samples lists_large;
  Samples lists_bare;
  Samples appends_small;
  Samples appends_large;
  for (int turn = 0; turn < scale.rounds * scale.appends; ++turn) {
    lists_small.add(time_us([&] { small.list(turn); }));
    lists_large.add(time_us([&] { large.list(turn); }));
    lists_bare.add(time_us([&] { large.list_bare(turn); }));
    appends_small.add(time_us([&] { small.append_one(turn); }));
    appends_large.add(time_us([&] { large.append_one(turn); }));
  }
  const std::string sessions = std::to_string(many.sessions);
  print(row_of("pg", "newest 20 of " + sessions + ", beside a SELECT", lists_large, lists_bare,
               "us", at_most(1.5)));
  print(row_of("pg", "newest 20 of " + sessions + ", beside 1,000", lists_large, lists_small, "us",
               at_most(1.3)));
  print(row_of("pg", "append at " + std::to_string(many.messages) + ", beside 20,000",
               appends_large, appends_small, "us", at_most(1.3)));
}

int run(const std::vector<std::string>& words) {
  require(words.size() >= 4, "usage: see the head of postgres_bench.cpp");
  Scale scale;
  if (std::ranges::count(words, "--smoke") > 0) {
    scale = {.rounds = 2, .appends = 5, .clients_appends = 5, .sessions = 20'000};
  } else if (std::ranges::count(words, "--full") > 0) {
    scale.sessions = 1'000'000;
  }
  const Server server{words[2] + "/", words[3]};
  const auto wanted = [&](std::string_view row) {
    const auto at = std::ranges::find(words, "--row");
    return at == words.end() || (at + 1 != words.end() && *(at + 1) == row);
  };
  if (wanted("append")) {
    one_client(server, scale);
  }
  if (wanted("clients")) {
    many_clients(server, scale, words[1]);
  }
  if (wanted("read")) {
    reading(server, scale);
  }
  if (wanted("list")) {
    lists_and_growth(server, scale);
  }
  return 0;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  return bench::run({argv, argv + argc});
}

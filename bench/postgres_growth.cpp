// What size and partitions do to the PostgreSQL store.

#include <sstream>

#include "bare_postgres.h"
#include "measure.h"
#include "messages.h"
#include "postgres_rows.h"
#include "reprise/open_store.h"

namespace bench {
namespace {

constexpr int kPage = 20;

// How much there is in a database.
struct Size {
  std::int64_t sessions;
  std::int64_t tenants;
  std::int64_t messages;
};

// In the way that docs/teams.md says; only those tables that grow.
void partition(BarePostgres& bare, int partitions) {
  for (const std::string table : {"messages", "message_parts", "once", "deltas", "values",
                                  "artefacts", "branches", "blob_refs"}) {
    const std::string name = "reprise_" + table;
    bare.run("ALTER TABLE " + name + " RENAME TO plain");
    bare.run("CREATE TABLE " + name +
             " (LIKE plain INCLUDING ALL) PARTITION BY HASH (tenant, session_id)");
    bare.run("DROP TABLE plain");
    for (int i = 0; i < partitions; ++i) {
      std::ostringstream part;
      part << "CREATE TABLE " << name << "_" << i << " PARTITION OF " << name
           << " FOR VALUES WITH (MODULUS " << partitions << ", REMAINDER " << i << ")";
      bare.run(part.str());
    }
  }
}

std::string grow(const Server& server, const std::string& name, const Size& size,
                 int partitions = 0) {
  const std::string url = make_database(server, name);
  open(url, "t0");
  BarePostgres bare(url);
  if (partitions > 0) {
    partition(bare, partitions);
  }
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
      "INSERT INTO reprise_heads(tenant, session_id, head, branch, updated_us,"
      " updated_slot, state, folder) SELECT " +
      key + ", " + head + ", 0, i::int8 * 1000000, i::int8 * 1000000 >> 26, 0, '/home'" + sessions);
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

}  // namespace

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

void partitions(const Server& server, const Scale& scale) {
  const Size size = {10'000, 10, 200'000};
  const Tenants whole(grow(server, "whole", size));
  for (const int count : {1, 16, 64}) {
    const std::string number = std::to_string(count);
    const Tenants parts(grow(server, "parts" + number, size, count));
    Samples lists;
    Samples lists_whole;
    Samples appends;
    Samples appends_whole;
    for (int turn = 0; turn < scale.rounds * scale.appends; ++turn) {
      lists_whole.add(time_us([&] { whole.list(turn); }));
      lists.add(time_us([&] { parts.list(turn); }));
      appends_whole.add(time_us([&] { whole.append_one(turn); }));
      appends.add(time_us([&] { parts.append_one(turn); }));
    }
    print(row_of("pg", "append, " + number + " partitions, beside none", appends, appends_whole,
                 "us", at_most(1.3)));
    print(row_of("pg", "newest 20, " + number + " partitions, beside none", lists, lists_whole,
                 "us", at_most(1.3)));
  }
}

}  // namespace bench

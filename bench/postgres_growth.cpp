// The effect of size and partitions on the PostgreSQL store.

#include <sstream>

#include "bare_postgres.h"
#include "measure.h"
#include "messages.h"
#include "postgres_rows.h"
#include "reprise/capabilities.h"
#include "reprise/open_store.h"
#include "store/postgres/schema.h"

namespace bench {
namespace {

// The size of a database.
struct Size {
  std::int64_t sessions;
  std::int64_t tenants;
  std::int64_t messages;
};

// Partitions the growing tables as described in docs/teams.md.
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

// The first ten tenants in turn, each with its own connections.
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

// Half of the sessions belong to one tenant, the others to a thousand. Their ids are UUIDs in the
// order of their activity; some titles, modes and authors are rare and old.
std::string grow_a_team(const Server& server, std::int64_t sessions) {
  std::string url = make_database(server, "team");
  open(url, "big");
  BarePostgres bare(url);
  // Built at the end, which is faster.
  bare.run("DROP INDEX reprise_by_title, reprise_by_mode_slot, reprise_by_slot_title");
  bare.run(
      "CREATE TABLE one AS SELECT i, CASE WHEN i % 2 = 0 THEN 'big' ELSE 't' || i / 2 % 1000 END"
      " AS tenant, '01900000-' || lpad(to_hex(i / 65536), 4, '0') || '-7' ||"
      " lpad(to_hex(i % 4096), 3, '0') || '-8000-' || left(md5(i::text), 12) AS id,"
      " convert_to(CASE WHEN i % 100000 = 10 THEN 'The rare Walrus ' ELSE 'What to do about ' END"
      " || left(md5(i::text), 8) || ' in the ' || (ARRAY['parser', 'kitchen', 'report',"
      " 'garden', 'server'])[1 + i % 5], 'UTF8') AS title FROM generate_series(0, " +
      std::to_string(sessions - 1) + ") AS i");
  bare.run(
      "INSERT INTO reprise_sessions(tenant, session_id, title, title_lower, mode, provider, model,"
      " working_dir, created_us) SELECT tenant, id, title, convert_to(lower(convert_from(title,"
      " 'UTF8')), 'UTF8'), CASE WHEN i % 10000 = 10 THEN 'plan'::bytea WHEN i < " +
      std::to_string(sessions * 6 / 1000) +
      " THEN 'draft' ELSE 'code' END, 'echo', 'echo', '/home', i * 20000000::int8 FROM one");
  bare.run(
      "INSERT INTO reprise_heads(tenant, session_id, head, branch, updated_us, updated_slot, state,"
      " folder, title_start, mode_key) SELECT s.tenant, id, 2, 0, i * 20000000::int8,"
      " i * 20000000::int8 >> 26, 0, convert_to('/home/' || i % 50, 'UTF8'), title_lower, mode"
      " FROM one JOIN reprise_sessions AS s ON s.tenant = one.tenant AND s.session_id = one.id");
  bare.run(
      "INSERT INTO reprise_messages(tenant, session_id, branch, seq, created_us, more, role,"
      " content, author) SELECT tenant, id, 0, seq, i, 0, 'user',"
      R"( '[{"type":"text","text":"Hello"}]', CASE WHEN i % 10000 = 10 THEN 'Ann'::bytea END)"
      " FROM one, generate_series(0, 1) AS seq");
  bare.run(
      "INSERT INTO reprise_once(tenant, session_id, name, first_seq, head) SELECT tenant, id,"
      " convert_to('operation:' || i, 'UTF8'), 0, 2 FROM one");
  for (const std::string_view statement : reprise::postgres::migrations().front().statements) {
    bare.run(std::string(statement));
  }
  bare.run("VACUUM ANALYZE");
  bare.run("CHECKPOINT");
  return url;
}

// The ids of at most `count` sessions of a tenant, spread over all times.
std::vector<reprise::SessionId> some_of(const std::string& url, const std::string& tenant,
                                        int count) {
  std::istringstream words(BarePostgres(url).text(
      "SELECT string_agg(id, ' ') FROM (SELECT id FROM one WHERE tenant = '" + tenant +
      "' ORDER BY md5(id) LIMIT " + std::to_string(count) + ") AS found"));
  std::vector<reprise::SessionId> ids;
  for (std::string word; words >> word;) {
    ids.push_back(must(reprise::SessionId::parse(word)));
  }
  return ids;
}

constexpr double kCommandMax = 10'000;  // microseconds

void commands_of(const std::string& url, const std::string& tenant, int times) {
  const auto store = open(url, tenant);
  const auto ids = some_of(url, tenant, times);
  const auto print_times = [&](const std::string& what, const auto& call) {
    Samples times_us;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      times_us.add(time_us([&] { call(i); }));
    }
    print_absolute("pg", what + (tenant == "big" ? ", of half" : ", of 1 in 2,000"),
                   times_us.median(), "us", at_most(kCommandMax));
  };
  const auto lists = [&](const std::string& what, const reprise::SessionQuery& query) {
    print_times(what, [&](std::size_t) { must(store->list(query)); });
  };
  lists("list", {});
  lists("list a folder, newest", {.working_dir = "/home/7", .limit = 1});
  lists("list a title of many", {.title_contains = "kitchen"});
  lists("list a title of few", {.title_contains = "rare walrus"});
  lists("list a title of none", {.title_contains = "nobody's"});
  // In the random part of the titles.
  lists("list a title of one in 700", {.title_contains = "a6f"});
  lists("list a title of one in 250", {.title_contains = "a6 in"});
  lists("list a title of one in 80", {.title_contains = "6 in the g"});
  lists("list two bytes of none", {.title_contains = "q!"});
  lists("list a mode of many", {.mode = "code"});
  lists("list a mode of few", {.mode = "plan"});
  lists("list a mode of the oldest", {.mode = "draft"});
  lists("list a mode of none", {.mode = "none"});
  lists("list an author of few", {.author = must(reprise::Author::parse("Ann"))});
  lists("list an author of none", {.author = must(reprise::Author::parse("Bob"))});
  print_times("find by id", [&](std::size_t i) { must(store->find(ids[i])); });
  print_times("find by the beginning of an id",
              [&](std::size_t i) { must(store->list({.id_prefix = ids[i].str().substr(0, 18)})); });
  print_times("find by short id", [&](std::size_t i) {
    must(store->list({.short_id_prefix = ids[i].str().substr(24, 8)}));
  });
  print_times("append", [&](std::size_t i) { append(*store, ids[i]); });
  print_times("rename", [&](std::size_t i) { must(store->update(ids[i], {.title = "Another"})); });
  print_times("move to the trash", [&](std::size_t i) {
    must(store->capabilities().trash->trash(ids[i], reprise::Time{}));
  });
  print_times("purge", [&](std::size_t i) { must(store->capabilities().trash->purge(ids[i])); });
}

}  // namespace

void commands(const Server& server, const Scale& scale) {
  const std::string url = grow_a_team(server, scale.sessions);
  commands_of(url, "big", scale.appends);
  commands_of(url, "t7", scale.appends);
  const double all = time_us([&] {
    must(must(reprise::open_store(url + "?tenant=big"))
             ->capabilities()
             .tenants->forget_operations(std::chrono::hours(1)));
  });
  print_absolute("pg", "sweep of half, for each 500 sessions",
                 all / (static_cast<double>(scale.sessions) / 1000), "us", at_most(kCommandMax));
}

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

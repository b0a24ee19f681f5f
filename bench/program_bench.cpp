// The cost of the program compared with a minimal program: rows 1 to 6, 10 and 13. The two run
// alternately, with the same instant server.
//
// usage: program_bench FOLDER GROWN_FOLDER BIN_FOLDER PROGRAM [--smoke|--full] [--row N]

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "bare_sqlite.h"
#include "grown_store.h"
#include "instant_server.h"
#include "measure.h"
#include "reprise/store.h"
#include "spawn.h"

namespace bench {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

struct Place {
  fs::path folder;
  fs::path grown;  // databases cached for the next run
  fs::path floors;
  std::string program;
  Words environment = {};
  int runs = 41;
  std::int64_t sessions = 100'000;

  fs::path bare_sessions(std::int64_t count) const {
    return grown / ("sessions_bare_" + std::to_string(count) + ".db");
  }
};

struct Costs {
  Samples wall;
  Samples first_byte;
  Samples cpu;
  Samples peak_mb;
  Samples written_kb;

  void add(const Cost& cost, const InstantServer* server) {
    wall.add(cost.wall_us / 1000);
    cpu.add(cost.cpu_us / 1000);
    peak_mb.add(cost.peak_kb / 1024);
    written_kb.add(cost.written_kb);
    if (server != nullptr) {
      first_byte.add(micros_between(cost.begin, server->first_byte()) / 1000);
    }
  }
};

struct Pair {
  Costs ours;
  Costs limit;
};

// Runs both alternately; the first run of each only warms the caches.
Pair alternate(const Place& place, const Words& ours, const Words& limit,
               const InstantServer* server = nullptr) {
  Pair pair;
  for (int run = 0; run <= place.runs; ++run) {
    const Cost limit_cost = spawn(limit, place.environment);
    if (run > 0) {
      pair.limit.add(limit_cost, server);
    }
    const Cost our_cost = spawn(ours, place.environment);
    if (run > 0) {
      pair.ours.add(our_cost, server);
    }
  }
  return pair;
}

Words ask(const Place& place, const fs::path& db, const InstantServer& server, const Words& more,
          std::string_view provider = "openai-chat") {
  Words words = {
      place.program,         "--store",    "sqlite:" + db.string(), "ask",     "--provider",
      std::string(provider), "--base-url", server.base_url(),       "--model", "m"};
  words.insert(words.end(), more.begin(), more.end());
  words.emplace_back("And now?");
  return words;
}

Words floor_turn(const Place& place, const fs::path& db, std::string_view session,
                 const InstantServer& server) {
  return {(place.floors / "floor_turn").string(), db.string(), std::string(session),
          server.base_url() + "/chat/completions", "And now?"};
}

// The number of sync calls, counted by strace; negative if it cannot trace.
double count_syncs(const Place& place, Words command) {
  const fs::path trace = place.folder / "trace.txt";
  fs::remove(trace);
  const Words strace = {"/usr/bin/strace", "-f", "-qq", "-e", "trace=fsync,fdatasync,msync", "-o",
                        trace.string()};
  if (!fs::exists(strace[0])) {
    return -1;
  }
  command.insert(command.begin(), strace.begin(), strace.end());
  spawn(command, place.environment);
  double syncs = 0;
  std::ifstream lines(trace);
  for (std::string line; std::getline(lines, line);) {
    syncs += line.find("sync(") != std::string::npos ? 1 : 0;
  }
  return syncs;
}

void starting(const Place& place) {
  const Words limit = {(place.floors / "floor_sqlite").string(), "version"};
  for (const char* flag : {"--version", "--help"}) {
    const Pair pair = alternate(place, {place.program, flag}, limit);
    print(row_of("1", flag, pair.ours.wall, pair.limit.wall, "ms", at_most(1.5)));
  }
}

// Rows 2, 3 and 10: a new turn and a resumed one, of a short session.
void short_turns(const Place& place, InstantServer& server, Samples& written) {
  const fs::path db = place.folder / "turns.db";
  const fs::path bare = place.folder / "turns_bare.db";
  std::string id;
  {
    const auto store = open_grown(db);
    id = add_session(*store).str();
    const BareSqlite create(bare);
  }
  const Words fresh = ask(place, db, server, {"--new"});
  const Pair first_exchange =
      alternate(place, fresh, floor_turn(place, bare, "new", server), &server);
  const Words resumed = ask(place, db, server, {"-r", id});
  const Pair again = alternate(place, resumed, floor_turn(place, bare, "s", server), &server);
  print(row_of("2", "first request byte, new session", first_exchange.ours.first_byte,
               first_exchange.limit.first_byte, "ms", at_most(1.3)));
  print(row_of("2", "first request byte, resumed", again.ours.first_byte, again.limit.first_byte,
               "ms", at_most(1.3)));
  print(row_of("3", "durable turn, new session", first_exchange.ours.wall,
               first_exchange.limit.wall, "ms", at_most(1.4)));
  print(
      row_of("3", "durable turn, resumed", again.ours.wall, again.limit.wall, "ms", at_most(1.4)));
  print_absolute("3", "syncs of a new turn", count_syncs(place, fresh), "syncs", at_most(3));
  print_absolute("3", "syncs of a resumed turn", count_syncs(place, resumed), "syncs", at_most(3));
  print_absolute("3", "peak memory of a turn", again.ours.peak_mb.median(), "MB", at_most(16));
  written = again.ours.written_kb;
}

// Creates the databases in a separate process: the peak memory of this one is counted as that of
// every program it starts.
void prepare(const Place& place) {
  for (const std::int64_t count : {std::int64_t{10}, std::int64_t{10'000}, place.sessions}) {
    grown_sessions(place.grown, count);
    const fs::path bare = place.bare_sessions(count);
    if (!fs::exists(bare)) {
      BareSqlite(bare).add_sessions(count);
    }
  }
  const auto store = open_grown(place.folder / "long_turns.db");
  const reprise::SessionId large = add_large_session(*store);
  BareSqlite copy(place.folder / "long_turns_bare.db");
  copy.begin();
  const auto messages = reprise::read_all(*store, large);
  require(messages.has_value(), "cannot read the large session");
  for (const reprise::Message& message : *messages) {
    copy.append("s", message.seq.value, message.role, reprise::plain_text(message));
  }
  copy.commit();
  std::ofstream(place.folder / "ids") << large.str() << '\n' << add_session(*store).str() << '\n';
}

Place with_config(Place place, std::string_view config) {
  const fs::path folder = place.folder / "config" / "reprise";
  fs::create_directories(folder);
  std::ofstream(folder / "config.toml") << config;
  place.environment.push_back("XDG_CONFIG_HOME=" + folder.parent_path().string());
  return place;
}

// Rows 4, 5 and 10: 2,000 messages, 10 MB.
void long_turns(const Place& place, InstantServer& server, const Samples& written_short) {
  const fs::path db = place.folder / "long_turns.db";
  const fs::path bare = place.folder / "long_turns_bare.db";
  std::string id;
  std::string short_id;
  std::ifstream(place.folder / "ids") >> id >> short_id;
  const Pair pair = alternate(place, ask(place, db, server, {"-r", id}),
                              floor_turn(place, bare, "s", server), &server);
  require(server.body_bytes() > 10'000'000, "the long history was not sent");
  print(row_of("4", "resumed turn, 2,000 messages, 10 MB", pair.ours.wall, pair.limit.wall, "ms",
               at_most(1.3)));
  print(row_of("4", "its first request byte", pair.ours.first_byte, pair.limit.first_byte, "ms",
               at_most(1.3)));
  print_absolute("4", "its peak memory", pair.ours.peak_mb.median(), "MB", at_most(32));
  print_absolute("10", "written by a turn, short history", written_short.median(), "KB",
                 at_most(80));
  print_absolute("10", "written by a turn, 10 MB of history", pair.ours.written_kb.median(), "KB",
                 at_most(80));

  const Place keeping = with_config(place, "[providers.openai-responses]\nstore = true\n");
  const Words first = ask(keeping, db, server, {"-r", short_id}, "openai-responses");
  const Words by_id = ask(keeping, db, server, {"-r", id}, "openai-responses");
  spawn(first, keeping.environment);
  const Pair linked = alternate(keeping, by_id, first, &server);
  print(row_of("5", "resumed by response id, 10 MB (limit: short)", linked.ours.wall,
               linked.limit.wall, "ms", at_most(1.2)));
  require(server.body_bytes() < 10'000, "a session with a response id was sent again");
}

// Row 6: lists, whose cost must not depend on the number of sessions.
void lists(const Place& place) {
  Samples small;
  for (const std::int64_t count : {std::int64_t{10}, std::int64_t{10'000}, place.sessions}) {
    const fs::path db = grown_sessions(place.grown, count);
    const fs::path bare = place.bare_sessions(count);
    const Pair pair =
        alternate(place, {place.program, "--store", "sqlite:" + db.string(), "list", "--all"},
                  {(place.floors / "floor_sqlite").string(), "list", bare.string()});
    print(row_of("6", "list, " + std::to_string(count) + " sessions", pair.ours.wall,
                 pair.limit.wall, "ms", at_most(2)));
    if (count == 10) {
      small = pair.ours.wall;
    } else {
      print(row_of("6", "the same beside ours of 10", pair.ours.wall, small, "ms", at_most(1.3)));
    }
  }
}

// Row 13: the cost of a delta at full speed, and at 1,000 per second.
void streaming(const Place& place, InstantServer& server, bool smoke) {
  const fs::path db = place.folder / "stream.db";
  const fs::path bare = place.folder / "stream_bare.db";
  {
    const BareSqlite create(bare);
  }
  const Words ours = ask(place, db, server, {"--new"});
  const Words limit = floor_turn(place, bare, "s", server);
  const std::int64_t deltas = smoke ? 1'000 : 50'000;
  Place few = place;
  few.runs = smoke ? 1 : 7;
  server.set_answering({.deltas = 3});
  const Pair idle = alternate(few, ours, limit);
  server.set_answering({.deltas = deltas});
  const Pair busy = alternate(few, ours, limit);
  const auto per_delta = [&](const Costs& with, const Costs& without) {
    return (with.cpu.median() - without.cpu.median()) * 1000 / static_cast<double>(deltas);
  };
  print_absolute("13", "a delta, all at once (libcurl floor)", per_delta(busy.limit, idle.limit),
                 "us", at_most(3));
  print_absolute("13", "a delta, all at once", per_delta(busy.ours, idle.ours), "us", at_most(3));

  const double seconds = smoke ? 0.2 : 5;
  server.set_answering(
      {.deltas = static_cast<std::int64_t>(seconds * 1000), .pause = std::chrono::milliseconds(1)});
  const auto core = [&](const Words& command, const Costs& without) {
    const Cost steady = spawn(command, place.environment);
    return (steady.cpu_us - without.cpu.median() * 1000) / (seconds * 1e6) * 100;
  };
  print_absolute("13", "1,000 deltas a second, of a core (libcurl floor)", core(limit, idle.limit),
                 "%", at_most(2));
  print_absolute("13", "1,000 deltas a second, of a core", core(ours, idle.ours), "%", at_most(2));
  const double syncs = count_syncs(place, ours);
  print_absolute("13", "syncs in 50 ms of streaming", syncs / (seconds * 20), "syncs", at_most(1));
  server.set_answering({});
}

int run(const Words& words) {
  require(words.size() >= 5,
          "usage: program_bench FOLDER GROWN_FOLDER BIN_FOLDER PROGRAM [--smoke|--full] [--row N]");
  const bool smoke = std::ranges::count(words, "--smoke") > 0;
  Place place{.folder = words[1], .grown = words[2], .floors = words[3], .program = words[4]};
  place.environment = {"PATH=/usr/bin:/bin", "HOME=" + (place.folder / "home").string(),
                       "OPENAI_API_KEY=measured", "LANG=C.UTF-8"};
  if (smoke) {
    place.runs = 2;
    place.sessions = 1'000;
  } else if (std::ranges::count(words, "--full") > 0) {
    place.sessions = 1'000'000;
  }
  fs::create_directories(place.folder / "home");
  if (std::ranges::count(words, "--prepare") > 0) {
    prepare(place);
    return 0;
  }
  Words prepare_words = words;
  prepare_words[0] = "/proc/self/exe";
  prepare_words.emplace_back("--prepare");
  spawn(prepare_words, place.environment);
  InstantServer server;
  Samples written;
  const auto is_selected = [&](std::string_view row) {
    const auto at = std::ranges::find(words, "--row");
    return at == words.end() || (at + 1 != words.end() && *(at + 1) == row);
  };
  if (is_selected("1")) {
    starting(place);
  }
  if (is_selected("2")) {
    short_turns(place, server, written);
  }
  if (is_selected("4")) {
    long_turns(place, server, written);
  }
  if (is_selected("6")) {
    lists(place);
  }
  if (is_selected("13")) {
    streaming(place, server, smoke);
  }
  return 0;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  return bench::run({argv, argv + argc});
}

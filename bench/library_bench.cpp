// The cost of the library compared with bare SQLite, within one process: rows 7 to 11.
//
// usage: library_bench FOLDER GROWN_FOLDER [--smoke|--full] [--row N]

#include <algorithm>
#include <filesystem>
#include <memory>
#include <thread>

#include "bare_sqlite.h"
#include "grown_store.h"
#include "measure.h"
#include "messages.h"
#include "reprise/store.h"

namespace bench {
namespace {

namespace fs = std::filesystem;
using reprise::Message;

struct Scale {
  int rounds = 15;
  int appends = 40;           // per round
  int threads_appends = 100;  // per round and thread
  std::int64_t sessions = 100'000;
  std::int64_t messages = 100'000;
};

void append(reprise::Store& store, const reprise::SessionId& id, std::vector<Message> messages) {
  const auto done = store.append(id, std::move(messages), {});
  require(done.has_value(), done ? "" : done.error().message);
}

// Rows 7 and 7b: one durable message after another; then eight threads through one store.
void durable_appends(const fs::path& folder, const Scale& scale) {
  const auto store = open_grown(folder / "append.db");
  const reprise::SessionId id = add_session(*store);
  BareSqlite bare(folder / "append_bare.db");
  const std::string text = text_of(500);
  std::int64_t seq = 0;
  Samples ours;
  Samples limit;
  Samples threads_ours;
  std::vector<reprise::SessionId> ids;
  ids.reserve(8);
  for (int i = 0; i < 8; ++i) {
    ids.push_back(add_session(*store));
  }
  const auto append_many = [&](const reprise::SessionId& to) {
    for (int i = 0; i < scale.threads_appends; ++i) {
      append(*store, to, {message_of("user", 500)});
    }
  };
  for (int round = 0; round < scale.rounds; ++round) {
    for (int i = 0; i < scale.appends; ++i) {
      limit.add(1e6 / time_us([&] { bare.append(id.str(), seq++, "user", text); }));
      ours.add(1e6 / time_us([&] { append(*store, id, {message_of("user", 500)}); }));
    }
    const double elapsed = time_us([&] {
      std::vector<std::jthread> threads;
      threads.reserve(ids.size());
      for (const reprise::SessionId& to : ids) {
        threads.emplace_back([&append_many, &to] { append_many(to); });
      }
    });
    threads_ours.add(1e6 * 8 * scale.threads_appends / elapsed);
  }
  print(row_of("7", "durable append, 500 bytes", ours, limit, "per s", at_least(0.95)));
  print(row_of("7", "the same, 8 threads (limit: one thread)", threads_ours, ours, "per s",
               at_least(4)));
}

// Row 8: 1,000 messages in one append.
void batches(const fs::path& folder, const Scale& scale) {
  const auto store = open_grown(folder / "batch.db");
  const reprise::SessionId id = add_session(*store);
  BareSqlite bare(folder / "batch_bare.db");
  const std::string text = text_of(500);
  std::int64_t seq = 0;
  Samples ours;
  Samples limit;
  for (int round = 0; round < scale.rounds * 2; ++round) {
    limit.add(1e9 / time_us([&] {
                bare.begin();
                for (int i = 0; i < 1000; ++i) {
                  bare.append(id.str(), seq++, "user", text);
                }
                bare.commit();
              }));
    std::vector<Message> messages(1000, message_of("user", 500));
    ours.add(1e9 / time_us([&] { append(*store, id, std::move(messages)); }));
  }
  print(row_of("8", "batch of 1,000 messages", ours, limit, "per s", at_least(0.75)));
}

// Row 9: 10,000 messages into values.
void reading(const fs::path& folder, const Scale& scale) {
  const auto store = open_grown(folder / "read.db");
  const reprise::SessionId id = add_session(*store);
  append(*store, id, std::vector<Message>(10'000, message_of("user", 200)));
  BareSqlite bare(folder / "read_bare.db");
  const std::string text = text_of(200);
  bare.begin();
  for (int i = 0; i < 10'000; ++i) {
    bare.append(id.str(), i, "user", text);
  }
  bare.commit();
  Samples ours;
  Samples limit;
  for (int round = 0; round < scale.rounds * 2; ++round) {
    limit.add(time_us([&] { require(bare.read(id.str()).size() == 10'000, "lost rows"); }) / 1000);
    ours.add(time_us([&] {
               const auto messages = reprise::read_all(*store, id);
               require(messages && messages->size() == 10'000, "lost messages");
             }) /
             1000);
  }
  print(row_of("9", "read 10,000 messages into values", ours, limit, "ms", at_most(2)));
}

// Row 10: the size on disk of 10 MB of text in 2,000 messages, the history of row 4.
void disk(const fs::path& folder) {
  const fs::path database_folder = folder / "disk";
  fs::create_directories(database_folder);
  {
    const auto store = open_grown(database_folder / "disk.db");
    const reprise::SessionId id = add_session(*store);
    for (int turn = 0; turn < 1000; ++turn) {
      append(*store, id, {message_of("user", 5'000), message_of("assistant", 5'000)});
    }
  }
  double bytes = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(database_folder)) {
    bytes += static_cast<double>(entry.file_size());
  }
  print({.number = "10",
         .name = "disk for 10 MB of text in 1,000 turns",
         .ours = bytes / 1e6,
         .limit = 10,
         .unit = "MB",
         .goal = at_most(1.2)});
}

// Row 11: long sessions and full stores compared with empty ones.
void growth(const fs::path& folder, const fs::path& grown, const Scale& scale) {
  const auto empty = open_grown(folder / "empty.db");
  const reprise::SessionId small = add_session(*empty);
  const auto long_store = open_grown(folder / "long.db");
  const reprise::SessionId large = add_long_session(*long_store, scale.messages);
  Samples ours;
  Samples limit;
  for (int i = 0; i < scale.rounds * scale.appends; ++i) {
    limit.add(time_us([&] { append(*empty, small, {message_of("user", 500)}); }));
    ours.add(time_us([&] { append(*long_store, large, {message_of("user", 500)}); }));
  }
  print(row_of("11", "append at " + std::to_string(scale.messages) + " messages", ours, limit, "us",
               at_most(1.2)));

  const auto full = open_grown(grown_sessions(grown, scale.sessions));
  const auto few = open_grown(grown_sessions(grown, 100));
  Samples page_ours;
  Samples page_limit;
  const auto page = [](reprise::Store& store) {
    const auto sessions = store.list({.limit = 20});
    require(sessions && sessions->sessions.size() == 20, "a page of 20 sessions is short");
  };
  for (int i = 0; i < scale.rounds * 20; ++i) {
    page_limit.add(time_us([&] { page(*few); }));
    page_ours.add(time_us([&] { page(*full); }));
  }
  print(row_of("11", "page of 20 at " + std::to_string(scale.sessions) + " sessions", page_ours,
               page_limit, "us", at_most(1.2)));
}

int run(const std::vector<std::string>& words) {
  require(words.size() >= 3, "usage: library_bench FOLDER GROWN_FOLDER [--smoke|--full] [--row N]");
  Scale scale;
  if (std::ranges::count(words, "--smoke") > 0) {
    scale = {.rounds = 2, .appends = 5, .threads_appends = 5, .sessions = 1000, .messages = 1000};
  } else if (std::ranges::count(words, "--full") > 0) {
    scale.sessions = 1'000'000;
    scale.messages = 1'000'000;
  }
  const fs::path folder = words[1];
  const auto is_selected = [&](std::string_view row) {
    const auto at = std::ranges::find(words, "--row");
    return at == words.end() || (at + 1 != words.end() && *(at + 1) == row);
  };
  if (is_selected("7")) {
    durable_appends(folder, scale);
  }
  if (is_selected("8")) {
    batches(folder, scale);
  }
  if (is_selected("9")) {
    reading(folder, scale);
  }
  if (is_selected("10")) {
    disk(folder);
  }
  if (is_selected("11")) {
    growth(folder, words[2], scale);
  }
  return 0;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  return bench::run({argv, argv + argc});
}

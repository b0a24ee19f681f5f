// How costs grow: each call on stores of 1,000 to 1,000,000 sessions, on sessions of 100 to
// 1,000,000 messages, measured alternately. Prints lines of CSV for bench/plot:
// growing,call,size,value,unit.
//
// usage: growth_bench FOLDER GROWN_FOLDER [--smoke|--full]

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "grown_store.h"
#include "measure.h"
#include "messages.h"
#include "reprise/store.h"

namespace bench {
namespace {

namespace fs = std::filesystem;
using reprise::Durability;
using reprise::SessionId;
using reprise::Store;

constexpr int kSeen = 100;  // messages of a resumed session: more than fit into a budget

// A store of some size, and the session that is used.
struct Grown {
  std::int64_t size;
  fs::path file;
  std::unique_ptr<Store> store;
  SessionId id;
};

struct Call {
  std::string name;
  int rounds;
  std::function<void(Grown&)> run;
};

void append(Grown& grown) {
  must(grown.store->append(grown.id, {message_of("user", 500)}, {.durability = Durability::os}));
}

void list(Grown& grown) {
  must(grown.store->list({.limit = 20}));
}

// Like a new process.
void resume(Grown& grown) {
  const auto store = open_grown(grown.file);
  const auto session = must(store->find(grown.id));
  if (!session) {
    give_up("the session is gone");
  }
  const std::int64_t head = session->info.head.value;
  must(reprise::read_all(
      *store, grown.id,
      {.from = reprise::Seq(std::max<std::int64_t>(head - kSeen, 0)), .newest_first = true}));
}

// Titles are "session number 1" and so on: searches a rare and a common word.
void search_rare(Grown& grown) {
  must(grown.store->list({.title_contains = "number 99", .limit = 20}));
}
void search_none(Grown& grown) {
  must(grown.store->list({.title_contains = "nobody has this", .limit = 20}));
}

void measure(const std::string& growing, std::vector<Grown>& stores, const Call& call) {
  std::vector<Samples> samples(stores.size());
  for (int round = 0; round < call.rounds; ++round) {
    for (std::size_t i = 0; i < stores.size(); ++i) {
      samples[i].add(time_us([&] { call.run(stores[i]); }));
    }
  }
  for (std::size_t i = 0; i < stores.size(); ++i) {
    std::printf("%s,%s,%lld,%.1f,us\n", growing.c_str(), call.name.c_str(),
                static_cast<long long>(stores[i].size), samples[i].median());
  }
  (void)std::fflush(stdout);  // a lost line shows itself
}

double bytes_of(const fs::path& file) {
  double bytes = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(file.parent_path())) {
    if (entry.path().native().starts_with(file.native())) {
      bytes += static_cast<double>(entry.file_size());
    }
  }
  return bytes;
}

// The size of the store's files per byte of text in its messages.
void disk(const std::vector<Grown>& stores, double text_bytes) {
  for (const Grown& grown : stores) {
    std::printf("messages,bytes on disk per byte of text,%lld,%.2f,ratio\n",
                static_cast<long long>(grown.size),
                bytes_of(grown.file) / (text_bytes * static_cast<double>(grown.size)));
  }
}

int run(const std::vector<std::string>& words) {
  require(words.size() >= 3, "usage: growth_bench FOLDER GROWN_FOLDER [--smoke|--full]");
  const bool smoke = std::ranges::count(words, "--smoke") > 0;
  const bool full = std::ranges::count(words, "--full") > 0;
  const std::int64_t largest = full ? 1'000'000 : smoke ? 1000 : 100'000;
  const int rounds = smoke ? 3 : 200;
  const fs::path folder = words[1];

  std::vector<Grown> stores;
  for (std::int64_t size = 1000; size <= largest; size *= 10) {
    const fs::path file = folder / ("sessions_" + std::to_string(size) + ".db");
    fs::copy_file(grown_sessions(words[2], size), file);
    auto store = open_grown(file);
    SessionId id = add_long_session(*store, kSeen);
    stores.push_back({size, file, std::move(store), std::move(id)});
  }
  for (const Call& call : {Call{"append", rounds, append}, Call{"list of 20", rounds, list},
                           Call{"resume", rounds, resume}, Call{"title found", rounds, search_rare},
                           Call{"title not there", std::min(rounds, 10), search_none}}) {
    measure("sessions", stores, call);
  }

  stores.clear();
  for (std::int64_t size = 100; size <= largest; size *= 10) {
    const fs::path file = folder / ("messages_" + std::to_string(size) + ".db");
    auto store = open_grown(file);
    SessionId id = add_long_session(*store, size, 500);
    stores.push_back({size, file, std::move(store), std::move(id)});
  }
  disk(stores, 500);
  for (const Call& call : {Call{"append", rounds, append}, Call{"list of 20", rounds, list},
                           Call{"resume", rounds, resume}}) {
    measure("messages", stores, call);
  }
  return 0;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  return bench::run({argv, argv + argc});
}

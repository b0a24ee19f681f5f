// Searching compared with bare FTS5: the same messages in a store of ours with its index, and in
// one FTS5 table with their texts. Both return the newest 20 with snippets. With --growth, the cost
// of searching and indexing in stores of 1,000 to 1,000,000 messages, as lines of CSV for
// bench/plot. With --server=URL, the same searches in a PostgreSQL store.
//
// usage: search_bench FOLDER GROWN_FOLDER [PROGRAM] [--growth|--server=URL] [--smoke|--full]

#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "grown_store.h"
#include "measure.h"
#include "messages.h"
#include "reprise/open_store.h"
#include "reprise/search.h"
#include "search_texts.h"
#include "spawn.h"

namespace bench {
namespace {

namespace fs = std::filesystem;
using reprise::Durability;
using reprise::SearchOrder;
using reprise::SearchQuery;

constexpr std::size_t kPickerHits = 100;

struct Case {
  const char* number;
  const char* name;
  const char* ours;
  const char* bare;
};
constexpr std::array<Case, 4> kCases = {{{"S1", "search: a rare word", "rareword", "rareword"},
                                         {"S2", "search: a frequent word", "the", "the"},
                                         {"S3", "search: a phrase", "\"of the\"", "\"of the\""},
                                         {"S4", "search: two frequent words", "the of", "the of"}}};

double file_bytes(const fs::path& file) {
  return static_cast<double>(fs::file_size(file));
}

double peak_mb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

// A store with a complete index.
struct Searched {
  Searched(const fs::path& file, const fs::path& index_file)
      : Searched("sqlite:" + file.native(), open_grown(file), index_file) {}
  Searched(std::string url, std::unique_ptr<reprise::Store> opened, const fs::path& index_file)
      : store(std::move(opened)),
        source{std::move(url), store.get()},
        index(must(reprise::SearchIndex::open(index_file))) {}

  std::size_t search(const SearchQuery& query) {
    const reprise::SearchSource sources[] = {source};
    return must(index->search(sources, query)).hits.size();
  }
  void update_index() { must(index->update_index(source)); }
  void append() {
    must(
        store->append(last(), {message_of("user", kMessageBytes)}, {.durability = Durability::os}));
  }
  reprise::SessionId last() const { return must(store->list({.limit = 1})).sessions.front().id; }

  std::unique_ptr<reprise::Store> store;
  reprise::SearchSource source;
  std::unique_ptr<reprise::SearchIndex> index;
};

SearchQuery query_of(const char* words, SearchOrder order = SearchOrder::newest) {
  return {.terms = must(reprise::parse_search(words)), .order = order};
}

std::unique_ptr<Bare> measure_indexing(Searched& searched, const fs::path& work,
                                       std::int64_t count) {
  Samples ours;
  Samples limit;
  const double before_mb = peak_mb();
  ours.add(static_cast<double>(count) / time_us([&] { searched.update_index(); }) * 1e6);
  const double memory = peak_mb() - before_mb;
  auto bare = std::make_unique<Bare>(work / "bare.db");
  limit.add(static_cast<double>(count) / time_us([&] { bare->fill(count); }) * 1e6);
  print(row_of("S6", "indexing: messages a second", ours, limit, "1/s", at_least(0.7)));
  print_absolute("S6m", "indexing: memory", memory, "MB", at_most(128));
  const double text = static_cast<double>(count) * kMessageBytes;
  print_absolute("S7", "index: bytes for each byte of text",
                 file_bytes(work / "state" / "reprise" / "search.db") / text, "", at_most(0.6));
  return bare;
}

void measure_queries(Searched& searched, Bare& bare) {
  const auto rounds = [&](const Case& one, SearchOrder order, const char* bare_order, int times) {
    Samples a;
    Samples b;
    const SearchQuery query = query_of(one.ours, order);
    for (int i = 0; i < times; ++i) {
      std::size_t hits = 0;
      int rows = 0;
      a.add(time_us([&] { hits = searched.search(query); }));
      b.add(time_us([&] { rows = bare.find(one.bare, bare_order); }));
      require(hits == static_cast<std::size_t>(rows), "not the same number of hits");
    }
    return std::pair(a, b);
  };
  for (const Case& one : kCases) {
    const auto [a, b] = rounds(one, SearchOrder::newest, "rowid DESC", 41);
    print(row_of(one.number, one.name, a, b, "us", at_most(1.5)));
  }
  const auto [a, b] = rounds(kCases[3], SearchOrder::relevance, "rank", 5);
  print_absolute("S5", "search: two frequent words by relevance", a.median() / 1000, "ms",
                 at_most(100));
  print(row_of("S5b", "the same beside bare FTS5", a, b, "us", at_most(1)));
}

// The work of the picker for each key: the index is updated, and the last word is a prefix.
void measure_keys(Searched& searched) {
  Samples keys;
  Texts texts;
  for (int round = 0; round < 20; ++round) {
    const std::string words = texts.next().substr(0, 20);
    if (round % 4 == 0) {
      searched.append();
    }
    for (std::size_t typed = 1; typed <= words.size(); ++typed) {
      const std::string query = words.substr(0, typed);
      auto terms = reprise::parse_search(query);
      if (!terms) {
        continue;
      }
      terms->back().prefix = query.back() != ' ' && terms->back().text.size() >= 3;
      keys.add(time_us([&] {
        searched.update_index();
        (void)searched.search({.terms = *terms, .limit = kPickerHits});
      }));
    }
  }
  print_absolute("S10", "a key in the picker's search, 99th", keys.at(0.99) / 1000, "ms",
                 at_most(16));
}

void measure_following(Searched& searched) {
  Samples nothing_new;
  Samples appended;
  for (int i = 0; i < 21; ++i) {
    searched.append();
    appended.add(time_us([&] { searched.update_index(); }));
    nothing_new.add(time_us([&] { searched.update_index(); }));
  }
  print_absolute("S8", "catching up with nothing new", nothing_new.median() / 1000, "ms",
                 at_most(3));
  print_absolute("S9", "catching up after an append", appended.median() / 1000, "ms", at_most(3));
}

// The same appends to a store that is occasionally searched, and to one that never is.
void measure_appends(const fs::path& work) {
  const auto prepare = [&](const char* name) {
    auto searched = std::make_unique<Searched>(work / name, work / (std::string(name) + ".search"));
    (void)add_long_session(*searched->store, 100, kMessageBytes);
    return searched;
  };
  const auto indexed = prepare("indexed.db");
  const auto plain = prepare("plain.db");
  Samples a;
  Samples b;
  const auto append = [](Searched& searched, const reprise::SessionId& id) {
    must(searched.store->append(id, {message_of("user", kMessageBytes)}, {}));
  };
  const auto one = indexed->last();
  const auto other = plain->last();
  for (int i = 0; i < 400; ++i) {
    if (i % 20 == 0) {
      indexed->update_index();
    }
    const auto first = [&] { a.add(time_us([&] { append(*indexed, one); })); };
    const auto second = [&] { b.add(time_us([&] { append(*plain, other); })); };
    if (i % 2 == 0) {
      first();
      second();
    } else {
      second();
      first();
    }
  }
  print(row_of("S11", "durable append to an indexed store", a, b, "us", at_most(1.02)));
}

void measure_program(const fs::path& work, const fs::path& file, const std::string& program,
                     Searched& searched) {
  const auto run = [&](const char* words) {
    return spawn({program, "--store", "sqlite:" + file.native(), "search", words},
                 {"HOME=" + work.native(), "XDG_STATE_HOME=" + (work / "state").native()});
  };
  const auto report = [](const std::string& number, const std::string& name, const Samples& wall,
                         const Samples& cpu) {
    print_absolute(number, name, wall.median() / 1000, "ms", at_most(6));
    print_absolute(number + "c", name + ", of a core", cpu.median() / 1000, "ms", at_most(6));
  };
  for (const Case& one : kCases) {
    Samples wall;
    Samples cpu;
    for (int i = 0; i < 21; ++i) {
      const Cost cost = run(one.ours);
      wall.add(cost.wall_us);
      cpu.add(cost.cpu_us);
    }
    report(std::string(one.number) + "p", std::string(one.name) + ", the program", wall, cpu);
  }
  Samples wall;
  Samples cpu;
  for (int i = 0; i < 21; ++i) {
    searched.append();
    const Cost cost = run("rareword");
    wall.add(cost.wall_us);
    cpu.add(cost.cpu_us);
  }
  report("S9p", "the program after an append", wall, cpu);
}

void measure_all(const fs::path& work, const fs::path& grown, const std::string& program,
                 std::int64_t count) {
  // A copy, because messages are added.
  const fs::path file = work / "messages.db";
  copy_database(grown_messages(grown, count), file);
  Searched searched(file, work / "state" / "reprise" / "search.db");
  const auto bare = measure_indexing(searched, work, count);
  measure_queries(searched, *bare);
  measure_following(searched);
  measure_keys(searched);
  measure_appends(work);
  if (!program.empty()) {
    measure_program(work, file, program, searched);
  }
}

// The same messages in a PostgreSQL store with its index in the server.
void measure_server(const fs::path& work, const fs::path& grown, const std::string& url,
                    const std::string& program, std::int64_t count) {
  const fs::path file = work / "local.db";
  copy_database(grown_messages(grown, count), file);
  Searched local(file, work / "local.search");
  local.update_index();
  Searched server(url, must(reprise::open_store(url)), work / "server.search");
  add_messages(*server.store, count);
  const double indexing = time_us([&] { server.update_index(); });
  print_absolute("W1", "words: indexing, messages a second",
                 static_cast<double>(count) / indexing * 1e6, "1/s", at_least(5000));
  const auto rounds = [&](const std::string& number, const Case& one, SearchOrder order,
                          int times) {
    const SearchQuery query = query_of(one.ours, order);
    Samples a;
    Samples b;
    for (int i = 0; i < times; ++i) {
      std::size_t here = 0;
      std::size_t there = 0;
      a.add(time_us([&] { there = server.search(query); }) / 1000);
      b.add(time_us([&] { here = local.search(query); }) / 1000);
      require(here == there, "not the same number of hits");
    }
    const std::string_view by = order == SearchOrder::relevance ? ", by relevance" : "";
    print(row_of(number, std::string(one.name).append(by), a, b, "ms", at_most(10)));
  };
  for (const Case& one : kCases) {
    rounds(std::string("W").append(one.number), one, SearchOrder::newest, 41);
  }
  rounds("WS5", kCases[3], SearchOrder::relevance, 5);
  Samples nothing_new;
  Samples appended;
  for (int i = 0; i < 21; ++i) {
    server.append();
    appended.add(time_us([&] { server.update_index(); }));
    nothing_new.add(time_us([&] { server.update_index(); }));
  }
  print_absolute("WS8", "catching up with nothing new", nothing_new.median() / 1000, "ms",
                 at_most(20));
  print_absolute("WS9", "catching up after an append", appended.median() / 1000, "ms", at_most(20));
  if (program.empty()) {
    return;
  }
  for (const Case& one : kCases) {
    Samples wall;
    for (int i = 0; i < 21; ++i) {
      wall.add(spawn({program, "--store", url, "search", one.ours},
                     {"HOME=" + work.native(), "XDG_STATE_HOME=" + (work / "state").native()})
                   .wall_us);
    }
    print_absolute(std::string("W").append(one.number).append("p"),
                   std::string(one.name).append(", the program"), wall.median() / 1000, "ms",
                   at_most(100));
  }
}

void measure_growth(const fs::path& work, const fs::path& grown, std::int64_t largest) {
  for (std::int64_t count = 1'000; count <= largest; count *= 10) {
    const fs::path file = work / ("grown_" + std::to_string(count) + ".db");
    copy_database(grown_messages(grown, count), file);
    Searched searched(file, work / (file.stem().native() + ".search"));
    searched.update_index();
    const auto row = [count](const char* call, const Samples& samples) {
      std::printf("search,%s,%lld,%.1f,us\n", call, static_cast<long long>(count),
                  samples.median());
    };
    const auto sample = [](int times, const auto& call) {
      Samples samples;
      for (int i = 0; i < times; ++i) {
        samples.add(time_us(call));
      }
      return samples;
    };
    for (const Case& one : kCases) {
      const SearchQuery query = query_of(one.ours);
      row(one.name + std::string_view("search: ").size(),
          sample(21, [&] { (void)searched.search(query); }));
    }
    const SearchQuery ranked = query_of(kCases[3].ours, SearchOrder::relevance);
    row("by relevance", sample(5, [&] { (void)searched.search(ranked); }));
    Samples appended;
    for (int i = 0; i < 21; ++i) {
      searched.append();
      appended.add(time_us([&] { searched.update_index(); }));
    }
    row("catching up", appended);
    fs::remove(file);
  }
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  std::int64_t count = 100'000;
  bool growth = false;
  std::string server;
  std::erase_if(words, [&](const std::string& word) {
    growth = growth || word == "--growth";
    server = word.starts_with("--server=") ? word.substr(9) : server;
    count = word == "--smoke" ? 2'000 : word == "--full" ? 1'000'000 : count;
    return word.starts_with("--");
  });
  if (words.size() < 2) {
    bench::give_up(
        "usage: search_bench FOLDER GROWN_FOLDER [PROGRAM] [--growth|--server=URL] "
        "[--smoke|--full]");
  }
  if (growth) {
    bench::measure_growth(words[0], words[1], count);
    return 0;
  }
  if (!server.empty()) {
    bench::measure_server(words[0], words[1], server, words.size() > 2 ? words[2] : "", count);
    return 0;
  }
  bench::measure_all(words[0], words[1], words.size() > 2 ? words[2] : "", count);
  return 0;
}

// Searching beside bare FTS5: the same messages in a store of ours with its index, and in one FTS5
// table that holds their texts. Both give the newest 20 with snippets.
//
// usage: search_bench FOLDER GROWN_FOLDER [PROGRAM] [--smoke|--full]

#include <sqlite3.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <memory>
#include <random>

#include "grown_store.h"
#include "measure.h"
#include "messages.h"
#include "reprise/open_source.h"
#include "reprise/search.h"
#include "spawn.h"

namespace bench {
namespace {

namespace fs = std::filesystem;
using reprise::Durability;
using reprise::SearchOrder;
using reprise::SearchQuery;

constexpr std::size_t kMessageBytes = 500;
constexpr int kPerSession = 100;
constexpr std::size_t kVocabulary = 40'000;

// Words as often as in a language: the n-th is 1/n as frequent as the first.
class Texts {
 public:
  Texts() {
    std::mt19937 letters(7);
    double sum = 0;
    for (std::size_t i = 0; i < kVocabulary; ++i) {
      std::string word;
      const std::size_t least = i > 300 ? 5 : i > 20 ? 3 : 2;
      const std::size_t size = least + letters() % 4;
      while (word.size() < size) {
        word += static_cast<char>('a' + letters() % 26);
      }
      words_.push_back(word);
      sum += 1.0 / static_cast<double>(i + 1);
      sums_.push_back(sum);
    }
    words_[0] = "the";
    words_[1] = "of";
  }

  std::string next() {
    std::string text;
    while (text.size() < kMessageBytes) {
      const double at = std::uniform_real_distribution<double>(0, sums_.back())(random_);
      const auto found = std::ranges::lower_bound(sums_, at);
      text += words_[static_cast<std::size_t>(found - sums_.begin())];
      text += random_() % 12 == 0 ? ". " : " ";
    }
    if (random_() % 20'000 == 0) {
      text.replace(100, 9, " rareword ");
    }
    text.resize(kMessageBytes);
    return text;
  }

 private:
  std::mt19937 random_{42};
  std::vector<std::string> words_;
  std::vector<double> sums_;
};

reprise::Time time_of(std::int64_t message) {
  return reprise::Time(std::chrono::seconds(1'700'000'000 + message * 7));
}

fs::path grown_messages(const fs::path& folder, std::int64_t count) {
  fs::path file = folder / ("search_" + std::to_string(count) + ".db");
  if (fs::exists(file)) {
    return file;
  }
  const fs::path unfinished = folder / "unfinished_search.db";
  for (const char* part : {"", "-wal", "-shm", ".lock"}) {
    fs::remove(unfinished.native() + part);
  }
  {
    const auto store = open_grown(unfinished);
    Texts texts;
    for (std::int64_t i = 0; i < count; i += kPerSession) {
      const auto id = add_session(*store);
      std::vector<reprise::Message> batch;
      for (int j = 0; j < kPerSession; ++j) {
        batch.push_back({.role = j % 2 == 0 ? "user" : "assistant"});
        batch.back().blocks.emplace_back(reprise::TextBlock{.text = texts.next(), .extra = {}});
        batch.back().created_at = time_of(i + j);
      }
      must(store->append(id, std::move(batch), {.durability = Durability::os}));
    }
  }
  fs::rename(unfinished, file);
  for (const char* part : {"-wal", "-shm"}) {
    if (fs::exists(unfinished.native() + part)) {
      fs::rename(unfinished.native() + part, file.native() + part);
    }
  }
  return file;
}

class Bare {
 public:
  explicit Bare(const fs::path& file) {
    require(sqlite3_open(file.c_str(), &db_) == SQLITE_OK, "cannot open " + file.string());
    run("PRAGMA journal_mode=WAL;PRAGMA synchronous=NORMAL");
  }
  ~Bare() { sqlite3_close(db_); }
  Bare(const Bare&) = delete;
  Bare& operator=(const Bare&) = delete;

  void run(const std::string& sql) {
    require(sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK,
            sqlite3_errmsg(db_));
  }

  void fill(std::int64_t count) {
    run("CREATE VIRTUAL TABLE t USING fts5(text, tokenize='unicode61 remove_diacritics 2')");
    sqlite3_stmt* insert = nullptr;
    sqlite3_prepare_v2(db_, "INSERT INTO t(rowid, text) VALUES(?, ?)", -1, &insert, nullptr);
    Texts texts;
    run("BEGIN");
    for (std::int64_t i = 0; i < count; ++i) {
      const std::string text = texts.next();
      sqlite3_bind_int64(insert, 1, i + 1);
      sqlite3_bind_text(insert, 2, text.data(), static_cast<int>(text.size()), SQLITE_STATIC);
      sqlite3_step(insert);
      sqlite3_reset(insert);
      if (i % 10'000 == 9'999) {
        run("COMMIT;BEGIN");
      }
    }
    sqlite3_finalize(insert);
    run("COMMIT");
  }

  // How many rows.
  int find(const std::string& words, const char* order) {
    const std::string sql = std::string(
                                "SELECT rowid, snippet(t, 0, '*', '*', '…', 24) FROM t"
                                " WHERE t MATCH ? ORDER BY ") +
                            order + " LIMIT 20";
    sqlite3_stmt*& query = queries_[order];
    if (query == nullptr) {
      require(sqlite3_prepare_v2(db_, sql.c_str(), -1, &query, nullptr) == SQLITE_OK,
              sqlite3_errmsg(db_));
    }
    sqlite3_bind_text(query, 1, words.data(), static_cast<int>(words.size()), SQLITE_STATIC);
    int rows = 0;
    while (sqlite3_step(query) == SQLITE_ROW) {
      ++rows;
    }
    sqlite3_reset(query);
    return rows;
  }

 private:
  sqlite3* db_ = nullptr;
  std::map<std::string, sqlite3_stmt*> queries_;
};

struct Case {
  const char* number;
  const char* what;
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

void measure_all(const fs::path& work, const fs::path& grown, const std::string& program,
                 std::int64_t count) {
  const fs::path file = grown_messages(grown, count);
  const auto store = must(reprise::open_source("sqlite:" + file.native()));
  const reprise::SearchSource source{"sqlite:" + file.native(), store.get()};
  const fs::path state = work / "state" / "reprise";
  auto index = must(reprise::SearchIndex::open(state / "search.db"));

  Samples ours;
  Samples limit;
  const double before_mb = peak_mb();
  ours.add(static_cast<double>(count) / time_us([&] { must(index->catch_up(source)); }) * 1e6);
  const double memory = peak_mb() - before_mb;
  Bare bare(work / "bare.db");
  limit.add(static_cast<double>(count) / time_us([&] { bare.fill(count); }) * 1e6);
  print(row_of("S6", "indexing: messages a second", ours, limit, "1/s", at_least(0.7)));
  print_absolute("S6m", "indexing: memory", memory, "MB", at_most(128));
  const double text = static_cast<double>(count) * kMessageBytes;
  print_absolute("S7", "index: bytes for each byte of text", file_bytes(state / "search.db") / text,
                 "", at_most(0.6));

  const reprise::SearchSource sources[] = {source};
  const auto rounds = [&](const Case& one, SearchOrder order, const char* bare_order, int times) {
    Samples a;
    Samples b;
    const SearchQuery query{.terms = must(reprise::parse_search(one.ours)), .order = order};
    for (int i = 0; i < times; ++i) {
      std::size_t hits = 0;
      int rows = 0;
      a.add(time_us([&] { hits = must(index->search(sources, query)).hits.size(); }));
      b.add(time_us([&] { rows = bare.find(one.bare, bare_order); }));
      require(hits == static_cast<std::size_t>(rows), "not the same number of hits");
    }
    return std::pair(a, b);
  };
  for (const Case& one : kCases) {
    const auto [a, b] = rounds(one, SearchOrder::newest, "rowid DESC", 41);
    print(row_of(one.number, one.what, a, b, "us", at_most(1.5)));
  }
  const auto [a, b] = rounds(kCases[3], SearchOrder::relevance, "rank", 5);
  print_absolute("S5", "search: two frequent words by relevance", a.median() / 1000, "ms",
                 at_most(100));
  print(row_of("S5b", "the same beside bare FTS5", a, b, "us", at_most(1)));
  Samples nothing_new;
  for (int i = 0; i < 21; ++i) {
    nothing_new.add(time_us([&] { must(index->catch_up(source)); }));
  }
  print_absolute("S8", "catching up with nothing new", nothing_new.median() / 1000, "ms",
                 at_most(3));
  if (program.empty()) {
    return;
  }
  for (const Case& one : kCases) {
    Samples runs;
    for (int i = 0; i < 21; ++i) {
      runs.add(spawn({program, "--store", "sqlite:" + file.native(), "search", one.ours},
                     {"HOME=" + work.native(), "XDG_STATE_HOME=" + (work / "state").native()})
                   .wall_us);
    }
    print_absolute(std::string(one.number) + "p", std::string(one.what) + ", the program",
                   runs.median() / 1000, "ms", at_most(6));
  }
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  std::int64_t count = 100'000;
  std::erase_if(words, [&count](const std::string& word) {
    count = word == "--smoke" ? 2'000 : word == "--full" ? 1'000'000 : count;
    return word.starts_with("--");
  });
  if (words.size() < 2) {
    bench::give_up("usage: search_bench FOLDER GROWN_FOLDER [PROGRAM] [--smoke|--full]");
  }
  bench::measure_all(words[0], words[1], words.size() > 2 ? words[2] : "", count);
  return 0;
}

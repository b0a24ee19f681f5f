#include "search_texts.h"

#include <sqlite3.h>

#include <algorithm>

#include "grown_store.h"
#include "measure.h"
#include "messages.h"

namespace bench {
namespace {

namespace fs = std::filesystem;
using reprise::Durability;

constexpr int kPerSession = 100;
constexpr std::size_t kVocabulary = 40'000;

reprise::Time time_of(std::int64_t message) {
  return reprise::Time(std::chrono::seconds(1'700'000'000 + message * 7));
}

}  // namespace

Texts::Texts() {
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

std::string Texts::next() {
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

void add_messages(reprise::Store& store, std::int64_t count) {
  Texts texts;
  for (std::int64_t i = 0; i < count; i += kPerSession) {
    const auto id = add_session(store);
    std::vector<reprise::Message> batch;
    for (int j = 0; j < kPerSession; ++j) {
      batch.push_back({.role = j % 2 == 0 ? "user" : "assistant"});
      batch.back().blocks.emplace_back(reprise::TextBlock{.text = texts.next(), .extra = {}});
      batch.back().created_at = time_of(i + j);
    }
    must(store.append(id, std::move(batch), {.durability = Durability::os}));
  }
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
    add_messages(*store, count);
  }
  fs::rename(unfinished, file);
  for (const char* part : {"-wal", "-shm"}) {
    if (fs::exists(unfinished.native() + part)) {
      fs::rename(unfinished.native() + part, file.native() + part);
    }
  }
  return file;
}

void copy_database(const fs::path& from, const fs::path& to) {
  for (const char* part : {"", "-wal"}) {
    if (fs::exists(from.native() + part)) {
      fs::copy_file(from.native() + part, to.native() + part);
    }
  }
}

Bare::Bare(const fs::path& file) {
  require(sqlite3_open(file.c_str(), &db_) == SQLITE_OK, "cannot open " + file.string());
  run("PRAGMA journal_mode=WAL;PRAGMA synchronous=NORMAL");
}
Bare::~Bare() {
  sqlite3_close(db_);
}

void Bare::run(const std::string& sql) {
  require(sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK,
          sqlite3_errmsg(db_));
}

void Bare::fill(std::int64_t count) {
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

int Bare::find(const std::string& words, const char* order) {
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

}  // namespace bench

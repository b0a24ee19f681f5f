#pragma once

// The searched data: messages in a store, and the same texts in one table of bare FTS5.

#include <filesystem>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "reprise/store.h"

struct sqlite3;
struct sqlite3_stmt;

namespace bench {

inline constexpr std::size_t kMessageBytes = 500;

// Words with the frequencies of a language: the n-th is 1/n as frequent as the first.
class Texts {
 public:
  Texts();
  std::string next();

 private:
  std::mt19937 random_{42};
  std::vector<std::string> words_;
  std::vector<double> sums_;
};

void add_messages(reprise::Store& store, std::int64_t count);
// A store with `count` of them, cached in `folder`.
std::filesystem::path grown_messages(const std::filesystem::path& folder, std::int64_t count);
// Copies a database with its log.
void copy_database(const std::filesystem::path& from, const std::filesystem::path& to);

class Bare {
 public:
  explicit Bare(const std::filesystem::path& file);
  ~Bare();
  Bare(const Bare&) = delete;
  Bare& operator=(const Bare&) = delete;

  void fill(std::int64_t count);
  // The number of rows among the first 20.
  int find(const std::string& words, const char* order);

 private:
  void run(const std::string& sql);

  sqlite3* db_ = nullptr;
  std::map<std::string, sqlite3_stmt*> queries_;
};

}  // namespace bench

#pragma once

// The reference for a store on SQLite: the same rows in minimal tables, with prepared statements
// and no additional data. WAL, synchronous=FULL.

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

namespace bench {

struct BareMessage {
  std::int64_t seq = 0;
  std::string role;
  std::string content;
};

struct BareSession {
  std::string id;
  std::string title;
  std::int64_t updated = 0;
};

enum class Tables : std::uint8_t {
  plain,     // a row of messages has no key
  original,  // like those of the program that defined the format
};

class BareSqlite {
 public:
  explicit BareSqlite(const std::filesystem::path& file, Tables tables = Tables::plain);
  ~BareSqlite();
  BareSqlite(const BareSqlite&) = delete;
  BareSqlite& operator=(const BareSqlite&) = delete;

  void add_session(std::string_view id);  // in the original tables
  void begin();
  void commit();
  void append(std::string_view session, std::int64_t seq, std::string_view role,
              std::string_view content);
  std::vector<BareMessage> read(std::string_view session);
  void add_sessions(std::int64_t count);
  std::vector<BareSession> newest(int count);

 private:
  sqlite3_stmt* prepare(const char* sql);
  void run(const char* sql);

  const Tables tables_;
  sqlite3* db_ = nullptr;
  sqlite3_stmt* append_ = nullptr;
};

}  // namespace bench

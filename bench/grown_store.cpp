#include "grown_store.h"

#include <sqlite3.h>

#include <algorithm>

#include "measure.h"
#include "messages.h"
#include "reprise/open_store.h"

namespace bench {
namespace {

constexpr std::int64_t kBatch = 1000;

reprise::Message message_of(std::string_view role, std::string text) {
  reprise::Message message;
  message.role = role;
  message.blocks.emplace_back(reprise::TextBlock{.text = std::move(text), .extra = {}});
  message.created_at = reprise::system_clock().now();
  return message;
}

class Sql {
 public:
  explicit Sql(const std::filesystem::path& file) {
    require(sqlite3_open(file.c_str(), &db_) == SQLITE_OK, "cannot open " + file.string());
  }
  ~Sql() { sqlite3_close(db_); }
  Sql(const Sql&) = delete;
  Sql& operator=(const Sql&) = delete;

  // The first column of all rows.
  std::vector<std::string> rows(const std::string& sql) {
    std::vector<std::string> out;
    const auto add = [](void* rows, int, char** values, char**) {
      static_cast<std::vector<std::string>*>(rows)->emplace_back(values[0] ? values[0] : "");
      return 0;
    };
    require(sqlite3_exec(db_, sql.c_str(), add, &out, nullptr) == SQLITE_OK, sqlite3_errmsg(db_));
    return out;
  }

 private:
  sqlite3* db_ = nullptr;
};

// Copies the only session with other ids and titles, 40 seconds apart.
void multiply(const std::filesystem::path& file, std::int64_t count) {
  Sql sql(file);
  std::string names;
  std::string values;
  for (const std::string& name : sql.rows("SELECT name FROM pragma_table_info('sessions')")) {
    names += (names.empty() ? "" : ", ") + name;
    std::string value = "s." + name;
    if (name == "id") {
      value = "printf('01980000-0000-7000-8000-%012x', i)";
    } else if (name == "title") {
      value = "'session number ' || i";
    } else if (name.ends_with("_us")) {
      value = "s." + name + " - i * 40000000";
    }
    values += (values.empty() ? "" : ", ") + value;
  }
  sql.rows("WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < " +
           std::to_string(count) + ") INSERT INTO sessions(" + names + ") SELECT " + values +
           " FROM n, (SELECT * FROM sessions LIMIT 1) AS s");
  sql.rows("PRAGMA wal_checkpoint(TRUNCATE)");
}

}  // namespace

std::unique_ptr<reprise::Store> open_grown(const std::filesystem::path& file) {
  return must(reprise::open_sqlite_store(file));
}

reprise::SessionId add_session(reprise::Store& store) {
  auto& clock = reprise::system_clock();
  reprise::Session session{
      .info = {.id = reprise::make_session_id(clock, reprise::system_entropy())}};
  session.info.title = "measured";
  session.info.provider = "openai-chat";
  session.info.model = "m";
  session.info.working_dir = "/";
  session.info.created_at = session.info.updated_at = clock.now();
  const auto done = store.create(session);
  require(done.has_value(), done ? "" : done.error().message);
  return session.info.id;
}

reprise::SessionId add_long_session(reprise::Store& store, std::int64_t count, std::size_t bytes) {
  reprise::SessionId id = add_session(store);
  for (std::int64_t i = 0; i < count; i += kBatch) {
    std::vector<reprise::Message> batch(static_cast<std::size_t>(std::min(kBatch, count - i)),
                                        message_of("user", text_of(bytes)));
    must(store.append(id, std::move(batch), {.durability = reprise::Durability::os}));
  }
  return id;
}

reprise::SessionId add_large_session(reprise::Store& store) {
  reprise::SessionId id = add_session(store);
  std::string text;
  while (text.size() < 5'000) {
    text += "Some \"quoted\" words of a long answer, and\na new line.\n";
  }
  for (int i = 0; i < 1000; ++i) {
    reprise::Message answer = message_of("assistant", text);
    answer.provider = "openai-responses";
    answer.model = "m";
    answer.response_id = "resp_0";
    must(store.append(id, {message_of("user", text), std::move(answer)},
                      {.durability = reprise::Durability::os}));
  }
  return id;
}

std::filesystem::path grown_sessions(const std::filesystem::path& folder, std::int64_t count) {
  std::filesystem::path file = folder / ("sessions_" + std::to_string(count) + ".db");
  if (!std::filesystem::exists(file)) {
    const std::filesystem::path unfinished = folder / "unfinished.db";
    std::filesystem::remove(unfinished);
    {
      const auto store = open_grown(unfinished);
      add_session(*store);
    }
    multiply(unfinished, count);
    std::filesystem::rename(unfinished, file);
  }
  return file;
}

}  // namespace bench

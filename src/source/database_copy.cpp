#include "source/database_copy.h"

#include <algorithm>

#include "base/file.h"
#include "base/json_scan.h"
#include "base/json_write.h"
#include "base/text.h"
#include "source/file.h"
#include "source/values.h"
#include "store/paths.h"

namespace reprise::source {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBeginningMax = 1U << 20;
constexpr std::string_view kDatabaseMark = "SQLite format 3";

// "" if there is no such file.
Result<std::string> beginning_of(const fs::path& file) {
  auto bytes = read_beginning(file, kBeginningMax);
  return !bytes && bytes.error().code != Code::io ? Result<std::string>("") : std::move(bytes);
}

}  // namespace

bool is_own_database(const fs::path& file) {
  constexpr std::size_t kApplicationIdAt = 68;
  const std::string bytes = beginning_of(file).value_or("");  // using it reports the error
  return std::string_view(bytes).substr(0, kApplicationIdAt + 4).ends_with("RPRS");
}

Result<std::shared_ptr<Database>> DatabaseCopy::refresh() {
  std::string state = sqlite::foreign_state(file_);
  if (copy_ && state == state_) {
    return copy_;
  }
  const auto start = ReuseTime::Clock::now();
  REPRISE_ASSIGN(copy_, Database::open(file_, tables_));
  state_ = std::move(state);
  reuse_.begin(start);
  return copy_;
}

Result<std::shared_ptr<Database>> DatabaseCopy::current() {
  return copy_ && !reuse_.is_over() ? Result<std::shared_ptr<Database>>(copy_) : refresh();
}

std::string DatabaseCopy::state() {
  return copy_ && !reuse_.is_over() ? state_ : sqlite::foreign_state(file_);
}

Result<bool> is_database_with(const fs::path& file, std::span<const TableSignature> signatures) {
  REPRISE_ASSIGN(const std::string beginning, beginning_of(file));
  if (!beginning.starts_with(kDatabaseMark)) {
    return false;
  }
  // Table definitions are text near the beginning of the file or in the WAL. If none of the names
  // occurs there, the copy for a closer check is avoided.
  REPRISE_ASSIGN(const std::string log, beginning_of(store::beside(file, "-wal")));
  if (std::ranges::none_of(signatures, [&](const TableSignature& signature) {
        return beginning.contains(signature.column) || log.contains(signature.column);
      })) {
    return false;
  }
  std::vector<std::string_view> tables;
  for (const TableSignature& signature : signatures) {
    tables.push_back(signature.table);
  }
  const auto database = Database::open(file, tables);
  if (!database && database.error().code != Code::corrupt &&
      database.error().code != Code::not_found) {
    return std::unexpected(database.error());
  }
  // A damaged database is not recognised.
  return database && std::ranges::all_of(signatures, [&](const TableSignature& signature) {
           return (*database)->has_column(signature.table, signature.column);
         });
}

RawJson row_json(const sqlite::Statement& row, std::initializer_list<std::string_view> columns) {
  std::string out;
  json::ObjectWriter object(out);
  for (const std::string_view column : columns) {
    if (row.is_integer(column)) {
      object.field(column, row.integer(column));
    } else if (!row.is_null(column)) {
      object.field(column, std::string_view(row.text(column)));
    }
  }
  object.close();
  return json::take(out);
}

std::string json_column(const sqlite::Statement& row, std::string_view column) {
  auto parsed = RawJson::parse(row.text(column));
  return parsed ? parsed->text() : "null";
}

void for_each_row(Result<sqlite::Statement> rows, std::string_view where, ReadReport& report,
                  const std::function<void(sqlite::Statement&)>& each) {
  if (!rows) {
    return add_damage(report, {std::string(where), rows.error().message, ""});
  }
  for (;;) {
    const auto has_row = rows->step();
    if (!has_row) {
      return add_damage(report, {std::string(where), has_row.error().message, ""});
    }
    if (!*has_row) {
      return;
    }
    each(*rows);
  }
}

void for_session_row(Database& database, const TableColumns& from, const SessionId& id,
                     ReadReport& report, const std::function<void(sqlite::Statement&)>& each) {
  for_each_row(is_generated_id(id)
                   ? database.select(from.table, from.columns, "")
                   : database.select(from.table, from.columns, "WHERE id = ?", id.str()),
               from.table, report, [&](sqlite::Statement& row) {
                 if (session_id_of(row.text("id")) == id) {
                   each(row);
                 }
               });
}

std::map<std::string, std::int64_t> count_rows(Database& database, std::string_view table,
                                               std::string_view column, ReadReport& report) {
  std::map<std::string, std::int64_t> counts;
  for_each_row(database.select(table, {column}, ""), table, report,
               [&](sqlite::Statement& row) { ++counts[row.text(column)]; });
  return counts;
}

Time time_column(const sqlite::Statement& row, std::string_view column) {
  return sniffed_time(std::string_view(row.text(column))).value_or(Time{});
}

}  // namespace reprise::source

#include "store/sqlite/known_tables.h"

#include <algorithm>
#include <span>

#include "store/sqlite/original.h"
#include "store/sqlite/schema.h"

namespace reprise::sqlite {
namespace {

constexpr std::size_t kHashDigits = 64;

bool is_hash(const StoredValue& value) {
  return value.bytes.size() == kHashDigits &&
         value.bytes.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// Distinguishes a table of ours from an index whose entries have the same types.
bool is_of(std::string_view table, std::span<const StoredValue> values) {
  if (table == "reprise_todos") {
    return values.size() == 2 && values[1].bytes.starts_with('[');
  }
  if (table == "reprise_once") {
    return values.size() > 2 && values[1].bytes.find(':') != std::string_view::npos;
  }
  if (table == "reprise_blob_refs") {
    return values.size() == 2 && is_hash(values[1]);
  }
  return table != kPinsTable || is_hash(values[0]);
}

bool fits(const KnownColumn& column, const StoredValue& value, bool is_truncated) {
  using Type = StoredValue::Type;
  if (column.is_rowid) {
    return value.type == Type::null;
  }
  if (value.type == Type::null) {
    return !column.is_not_null || is_truncated;
  }
  if (column.type == "INTEGER") {
    return value.type == Type::integer;
  }
  if (column.type == "TEXT") {
    return value.type == Type::text;
  }
  return column.type != "BLOB" || value.type == Type::blob;
}

}  // namespace

std::vector<KnownTable> known_tables() {
  std::vector<KnownTable> tables = {{"sessions", ""}, {"messages", ""}};
  for (const Table& table : added_tables()) {
    tables.push_back({std::string(table.name), ""});
  }
  for (const std::string_view name : {kResultBlobsTable, kSnapshotsTable}) {
    tables.push_back({std::string(name), ""});
  }
  return tables;
}

Result<> read_columns(Connection& schema, KnownTable& table) {
  REPRISE_ASSIGN(
      const std::int64_t without_rowid,
      schema.integer("SELECT wr FROM pragma_table_list WHERE schema = 'main' AND name = ?",
                     table.name));
  REPRISE_ASSIGN(Statement row,
                 schema.query("SELECT name, upper(type) AS type, \"notnull\", pk,"
                              " sum(pk > 0) OVER () AS keys FROM pragma_table_info(?) ORDER BY cid",
                              table.name));
  table.is_index = without_rowid != 0;
  table.columns.clear();
  return row.each([&] {
    const bool is_key = row.integer("pk") == 1 && row.integer("keys") == 1;
    table.columns.push_back({row.text("name"), row.text("type"), row.integer("notnull") != 0,
                             is_key && !table.is_index && row.bytes("type") == "INTEGER"});
  });
}

bool fits(const KnownTable& table, const StoredRow& row, bool is_index) {
  const std::size_t least = std::min<std::size_t>(2, table.columns.size());
  if (table.is_index != is_index || row.values.size() < least ||
      row.values.size() > table.columns.size()) {
    return false;
  }
  for (std::size_t i = 0; i < row.values.size(); ++i) {
    if (!fits(table.columns[i], row.values[i], row.is_truncated)) {
      return false;
    }
  }
  return is_of(table.name, row.values);
}

}  // namespace reprise::sqlite

#include "store/sqlite/original.h"

#include <sqlite3.h>

#include <cstddef>
#include <mutex>

#include "base/encode.h"
#include "base/json_scan.h"
#include "base/json_write.h"
#include "reprise/message.h"
#include "store/sqlite/connection.h"

namespace reprise::sqlite {
namespace {

// The row that a text refers to; "" if there is none.
std::string_view reference_in(std::string_view text) {
  constexpr std::string_view kMark = "ref_id=\"";
  const std::size_t mark = text.rfind(kMark);
  if (mark == std::string_view::npos) {
    return "";
  }
  const std::string_view id = text.substr(mark + kMark.size());
  const std::size_t end = id.find('"');
  return end == std::string_view::npos ? "" : id.substr(0, end);
}

}  // namespace

Result<bool> has_table(Connection& connection, std::string_view name) {
  REPRISE_ASSIGN(const std::int64_t found,
                 connection.integer(
                     "SELECT 1 FROM main.sqlite_schema WHERE type = 'table' AND name = ?", name));
  return found != 0;
}

Result<> set_result_blobs(Connection& connection, std::vector<Block>& blocks) {
  for (Block& block : blocks) {
    auto* const result = std::get_if<ToolResultBlock>(&block);
    const std::string_view row =
        result == nullptr || result->blob ? std::string_view() : reference_in(result->text);
    if (row.empty()) {
      continue;
    }
    REPRISE_ASSIGN(const bool exists, has_table(connection, kResultBlobsTable));
    if (!exists) {
      return {};
    }
    REPRISE_ASSIGN(
        Statement found,
        connection.query("SELECT content FROM main.tool_result_blobs WHERE id = ?", row));
    REPRISE_ASSIGN(const bool has_row, found.step());
    if (has_row) {
      REPRISE_ASSIGN(result->blob, sha256(found.bytes("content")));
    }
  }
  return {};
}

Result<std::optional<std::string>> ResultBlobs::find(Connection& connection, const BlobHash& hash) {
  REPRISE_ASSIGN(const bool exists, has_table(connection, kResultBlobsTable));
  if (!exists) {
    return std::nullopt;
  }
  const std::lock_guard guard(mutex_);
  if (const auto row = rows_.find(hash.str()); row != rows_.end()) {
    return row->second;
  }
  REPRISE_ASSIGN(Statement rows,
                 connection.query("SELECT id, rowid AS row, content FROM main.tool_result_blobs"));
  REPRISE_TRY(rows.each([&]() -> Result<> {
    // A replaced row gets another rowid.
    std::string id = rows.text("id");
    const auto known = row_ids_.find(id);
    if (known == row_ids_.end() || known->second != rows.integer("row")) {
      REPRISE_ASSIGN(const BlobHash content, sha256(rows.bytes("content")));
      rows_.insert_or_assign(content.str(), id);
      row_ids_.insert_or_assign(std::move(id), rows.integer("row"));
    }
    return {};
  }));
  const auto row = rows_.find(hash.str());
  return row == rows_.end() ? std::nullopt : std::optional(row->second);
}

Result<std::optional<std::string>> ResultBlobs::piece(Connection& connection, std::string_view row,
                                                      std::int64_t from, std::int64_t bytes) {
  REPRISE_ASSIGN(Statement found,
                 connection.query("SELECT substr(CAST(content AS BLOB), ?, ?) AS piece"
                                  " FROM main.tool_result_blobs WHERE id = ?",
                                  from + 1, bytes, row));
  REPRISE_ASSIGN(const bool has_row, found.step());
  if (!has_row || (from > 0 && found.bytes("piece").empty())) {
    return std::nullopt;
  }
  return std::string(found.bytes("piece"));
}

Result<std::optional<std::string>> find_snapshot(Connection& connection, const SessionId& id) {
  REPRISE_ASSIGN(const bool exists, has_table(connection, kSnapshotsTable));
  if (!exists) {
    return std::nullopt;
  }
  REPRISE_ASSIGN(
      Statement row,
      connection.query("SELECT messages, token_count, created_at FROM main.session_snapshots"
                       " WHERE session_id = ?",
                       id.str()));
  REPRISE_ASSIGN(const bool found, row.step());
  if (!found) {
    return std::nullopt;
  }
  const auto messages = RawJson::parse(row.text("messages"));
  std::string json;
  json::ObjectWriter object(json);
  object.raw("messages",
             messages ? messages->text() : RawJson::string(row.text("messages")).text());
  object.field("token_count", row.integer("token_count"))
      .field("created_at", row.text("created_at"));
  object.close();
  return json;
}

Result<> move_snapshot_to_artefacts(Connection& connection, const SessionId& id) {
  // Uses the schema in memory, which is current since the statements of this transaction.
  const int status = sqlite3_table_column_metadata(connection.handle(), "main",
                                                   std::string(kSnapshotsTable).c_str(), nullptr,
                                                   nullptr, nullptr, nullptr, nullptr, nullptr);
  if (status != SQLITE_OK) {
    return {};
  }
  REPRISE_ASSIGN(const auto snapshot, find_snapshot(connection, id));
  if (!snapshot) {
    return {};
  }
  REPRISE_TRY(
      connection.run("DELETE FROM reprise_artefacts WHERE session_id = ? AND step = 0 AND name = ?",
                     id.str(), kSnapshotName));
  REPRISE_TRY(
      connection.run("INSERT INTO reprise_artefacts(session_id, step, name, n, bytes)"
                     " VALUES(?, 0, ?, 0, ?)",
                     id.str(), kSnapshotName, Blob{*snapshot}));
  return connection.run("DELETE FROM main.session_snapshots WHERE session_id = ?", id.str());
}

Result<bool> save_snapshot(Connection& connection, const SessionId& id, std::string_view bytes) {
  REPRISE_ASSIGN(const bool exists, has_table(connection, kSnapshotsTable));
  const std::string_view messages = json::find_member(bytes, "messages");
  std::int64_t tokens = 0;
  std::string created_at;
  if (!exists || !messages.starts_with('[') ||
      !json::Scanner(json::find_member(bytes, "token_count")).integer(tokens) ||
      !json::Scanner(json::find_member(bytes, "created_at")).string(created_at)) {
    return false;
  }
  REPRISE_TRY(connection.run(
      "INSERT OR REPLACE INTO main.session_snapshots(session_id, messages, token_count, created_at)"
      " VALUES(?, ?, ?, ?)",
      id.str(), messages, tokens, created_at));
  return true;
}

}  // namespace reprise::sqlite

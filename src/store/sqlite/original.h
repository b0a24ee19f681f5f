#pragma once

// What the original program keeps in tables of its own (docs/formats/sqlite.md): large results of
// tools, and snapshots of conversations. A database need not have the tables.

#include <map>
#include <mutex>

#include "reprise/message.h"
#include "store/sqlite/connection.h"

namespace reprise::sqlite {

inline constexpr std::string_view kResultBlobsTable = "tool_result_blobs";
inline constexpr std::string_view kSnapshotsTable = "session_snapshots";

Result<bool> has_table(Connection& connection, std::string_view name);

// A result of a tool that was too large for the message has a reference in its text instead, which
// names a row. It gets that row's content as its blob.
Result<> name_result_blobs(Connection& connection, std::vector<Block>& blocks);

// Which row has the content of a hash. Thread-safe.
class ResultBlobs {
 public:
  Result<std::optional<std::string>> find(Connection& connection, const BlobHash& hash);
  // Of the row's content; nullopt beyond its end.
  static Result<std::optional<std::string>> piece(Connection& connection, std::string_view row,
                                                  std::int64_t from, std::int64_t bytes);

 private:
  std::mutex mutex_;
  std::map<std::string, std::string, std::less<>> rows_;    // by hash; guarded by mutex_
  std::map<std::string, std::int64_t, std::less<>> known_;  // the rows in it; guarded by mutex_
};

// The snapshot is shown as an artefact of step 0.
inline constexpr std::string_view kSnapshotName = "session_snapshot.json";
inline bool is_snapshot(Step step, std::string_view name) {
  return step.value == 0 && name == kSnapshotName;
}
// {"messages":[…],"token_count":N,"created_at":"…"}
Result<std::optional<std::string>> find_snapshot(Connection& connection, const SessionId& id);
// The original program prefers a snapshot to the messages when it resumes, also to newer ones.
// Before messages are added its snapshot becomes an artefact of ours, which the original does not
// look at.
Result<> set_snapshot_aside(Connection& connection, const SessionId& id);
// False when the database has no place for it, or the bytes are no snapshot.
Result<bool> save_snapshot(Connection& connection, const SessionId& id, std::string_view bytes);

}  // namespace reprise::sqlite

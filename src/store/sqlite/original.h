#pragma once

// Data in the original program's own tables (docs/formats/sqlite.md): large results of tools, and
// snapshots of conversations. The tables are optional.

#include <map>
#include <mutex>

#include "reprise/message.h"
#include "store/sqlite/connection.h"

namespace reprise::sqlite {

inline constexpr std::string_view kResultBlobsTable = "tool_result_blobs";
inline constexpr std::string_view kSnapshotsTable = "session_snapshots";

Result<bool> has_table(Connection& connection, std::string_view name);

// Instead of a tool result too large for the message, its text has a reference to a row. The
// content of that row becomes the block's blob.
Result<> set_result_blobs(Connection& connection, std::vector<Block>& blocks);

// Finds the row with the content of a hash. Thread-safe.
class ResultBlobs {
 public:
  Result<std::optional<std::string>> find(Connection& connection, const BlobHash& hash);
  // A piece of the row's content; nullopt after its end.
  static Result<std::optional<std::string>> piece(Connection& connection, std::string_view row,
                                                  std::int64_t from, std::int64_t bytes);

 private:
  std::mutex mutex_;
  std::map<std::string, std::string, std::less<>> rows_;      // by hash; guarded by mutex_
  std::map<std::string, std::int64_t, std::less<>> row_ids_;  // in rows_; guarded by mutex_
};

// The snapshot is shown as an artefact of step 0.
inline constexpr std::string_view kSnapshotName = "session_snapshot.json";
inline bool is_snapshot(Step step, std::string_view name) {
  return step.value == 0 && name == kSnapshotName;
}
// {"messages":[…],"token_count":N,"created_at":"…"}
Result<std::optional<std::string>> find_snapshot(Connection& connection, const SessionId& id);
// When it resumes, the original program prefers a snapshot to the messages, even to newer ones. So
// before messages are added, its snapshot becomes an artefact of ours, which the original does not
// read.
Result<> move_snapshot_to_artefacts(Connection& connection, const SessionId& id);
// False if the database has no table for it, or the bytes are not a snapshot.
Result<bool> save_snapshot(Connection& connection, const SessionId& id, std::string_view bytes);

}  // namespace reprise::sqlite
